/* failure.h - errors of an exchange, with advice */
#pragma once

#include "base/arena.h"

#include <curl/curl.h>

/*
 * An error for a code of libcurl: the server, libcurl's message (may be empty),
 * and what to do.  Never NULL; in the arena, or static if out of memory.  If a
 * retry cannot help, its metadata has {"final": true}.
 */
const allm_error *failure_of(struct arena *a, CURLcode code, const char *host,
                             const char *said);

/* A proxy that did not connect to the host, by the status of its answer to
 * CONNECT; final.  The message does not contain the URL of the proxy. */
const allm_error *failure_proxy(struct arena *a, long status, const char *host);

/* The library itself refuses the request; final. */
const allm_error *failure_refuse(struct arena *a, const char *reason,
                                 const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The message of such an error, for a request whose URL is not an option of an
 * engine; in the arena, or the error's own. */
const char *failure_plain(struct arena *a, const allm_error *e);

/* The host and port of a URL, without user and password; in the arena, or
 * "". */
const char *failure_host(struct arena *a, const char *url);
