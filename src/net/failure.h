/* failure.h - why an exchange failed, in words that help */
#ifndef NET_FAILURE_H
#define NET_FAILURE_H

#include "base/arena.h"

#include <curl/curl.h>

/*
 * An error for a code of libcurl: which server it was about, what libcurl says
 * (may be empty), and what to do.  Never NULL; made in the arena, or static
 * where memory is lacking.  Where another attempt cannot help, its metadata
 * says so: {"final": true}.
 */
const allm_error *failure_of(struct arena *a, CURLcode code, const char *host,
                             const char *said);

/* A proxy that did not lead to the host, by the status of its answer to
 * CONNECT; final.  Nothing of the proxy's address is in it. */
const allm_error *failure_proxy(struct arena *a, long status, const char *host);

/* We ourselves refuse; final. */
const allm_error *failure_refuse(struct arena *a, const char *reason,
                                 const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The host and port of an address, without user and password; in the arena,
 * or "". */
const char *failure_host(struct arena *a, const char *url);

#endif
