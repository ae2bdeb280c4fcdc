/*
 * fetch.h - download a file from a URL, without a key
 *
 * The URL is the call's base_url.  The result is a JSON string with the bytes
 * as received.  A redirect is an error "redirected" with "location" in its
 * metadata: the caller decides whether to follow it.
 */
#pragma once

#include "base/arena.h"
#include "provider/registry.h"

enum { FETCH_LIMIT = 25 * 1000 * 1000, FETCH_MS = 30000, FETCH_HOPS = 5 };

extern const struct registry_row fetch_row;

/*
 * What is wrong with a URL, as a reason; NULL: it may be fetched.  It must be
 * https, or on this machine, and contain no user or password.
 */
const char *fetch_fault(const char *url);

/* Is the host of the URL this machine? */
bool fetch_is_near(const char *url);

/* The URL that a redirect leads to, in the arena; NULL: out of memory. */
const char *fetch_follow(struct arena *a, const char *from,
                         const char *location);

/* The URL without the part that may be secret: its query and fragment. */
struct slice fetch_shown(const char *url);
