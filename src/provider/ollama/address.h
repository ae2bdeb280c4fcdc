/* address.h - where an Ollama server is, by what people call it */
#ifndef PROVIDER_OLLAMA_ADDRESS_H
#define PROVIDER_OLLAMA_ADDRESS_H

#include "base/buf.h"

/*
 * The address of /api/VERB, such as "chat".  `base` is a URL, or what the server itself takes
 * for its variable OLLAMA_HOST:
 *
 *      host  host:port  :port  [::1]:port  http://host:port/path
 *
 * Without a scheme it is http, without that and a port it is 11434.  The
 * address on which a server listens everywhere (0.0.0.0, [::]) is this machine.
 * False: there is no host in it.
 */
bool ollama_address_add(struct buf *out, struct slice base, const char *verb);

#endif
