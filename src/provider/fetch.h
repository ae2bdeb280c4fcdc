/*
 * fetch.h - a file got from its address, without any key
 *
 * The address is the call's base_url.  The result is a JSON text that has the
 * bytes as they came.  A redirect is an error "redirected", with "location" in
 * its metadata: whoever asked decides whether to go there.
 */
#ifndef PROVIDER_FETCH_H
#define PROVIDER_FETCH_H

#include "base/arena.h"
#include "provider/registry.h"

enum { FETCH_LIMIT = 25 * 1000 * 1000, FETCH_MS = 30000, FETCH_HOPS = 5 };

extern const struct registry_row fetch_row;

/*
 * What is wrong with an address, as a reason; NULL: it may be asked.  It must
 * be https, or on this machine, and have no user and password in it.
 */
const char *fetch_fault(const char *url);

/* Is it on this machine? */
bool fetch_is_near(const char *url);

/* Where a redirect leads, in the arena; NULL: no memory. */
const char *fetch_follow(struct arena *a, const char *from,
                         const char *location);

/* The address without what may be secret: all behind a question mark. */
struct slice fetch_shown(const char *url);

#endif
