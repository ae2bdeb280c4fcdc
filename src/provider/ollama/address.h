/* address.h - where an Ollama server is, by what people call it */
#ifndef PROVIDER_OLLAMA_ADDRESS_H
#define PROVIDER_OLLAMA_ADDRESS_H

#include "allm_ext.h"
#include "base/buf.h"

/*
 * Append the address of /api/VERB, such as "chat".  `base` is a URL, or what the
 * server itself accepts in its variable OLLAMA_HOST:
 *
 *      host  host:port  :port  [::1]:port  http://host:port/path
 *
 * The default scheme is http.  The default port is 11434 if there is no scheme
 * either.  The address on which a server listens on all interfaces (0.0.0.0,
 * [::]) is this machine.  False: there is no host in it.
 */
bool ollama_address_add(struct buf *out, struct slice base, const char *verb);

/* The same as the address of a request.  NULL, or an error. */
const allm_error *ollama_address_write(const allm_call *call, allm_http *http,
                                       const char *verb);

#endif
