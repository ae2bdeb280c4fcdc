/* address.h - the URL of an Ollama server, from any common notation */
#pragma once

#include "allm_ext.h"
#include "base/buf.h"

/*
 * Append the URL of /api/VERB, such as "chat".  `base` is a URL, or anything
 * that the server itself accepts in the variable OLLAMA_HOST:
 *
 *      host  host:port  :port  [::1]:port  http://host:port/path
 *
 * The default scheme is http.  Without a scheme, the default port is 11434.  If
 * the server listens on all interfaces (0.0.0.0, [::]), we connect to this
 * machine.  False: there is no host.
 */
bool ollama_address_add(struct buf *out, struct slice base, const char *verb);

/* The same, as the URL of a request.  Returns NULL, or an error. */
const allm_error *ollama_address_write(const allm_call *call, allm_http *http,
                                       const char *verb);
