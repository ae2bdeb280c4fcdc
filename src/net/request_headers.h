/* request_headers.h - the headers of a request, checked, in libcurl's form */
#pragma once

#include "allm.h"
#include "base/arena.h"

#include <curl/curl.h>

/* Why the request cannot be sent: an address or a header that is not valid; the
 * error is made in the arena.  NULL: it can. */
const allm_error *request_headers_check(const allm_http_view *view,
                                        struct arena *why);

/* The headers as a list for libcurl, the secret one among them.  All memory is
 * from the arena, which should wipe it.  False: no memory. */
bool request_headers_list(struct arena *a, const allm_http_view *view,
                          struct curl_slist **out);
