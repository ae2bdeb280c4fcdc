/*
 * trust.h - where the CA certificates are that vouch for servers
 *
 * A directory with hashed names ("002c0b4f.0", as OpenSSL's rehash makes them)
 * is searched for the certificates that a connection needs.  A bundle is one
 * file with all of them, which is parsed as a whole.
 */
#pragma once

#include "base/arena.h"

/* NULL where there is none; both NULL: libcurl's default. */
struct trust {
    const char *file, *dir;
    const char *bundle;         /* the system's, for when `dir`, which is the
                                   system's, too, does not vouch for a server */
    const char *unread;         /* the system's directory, before the first
                                   connection that needs it; `file` is its
                                   bundle, or NULL */
};

/* What the system has, as a libcurl says it was built with. */
struct trust_system {
    const char *bundle, *dir;   /* or NULL */
    bool by_hash;               /* its TLS library searches directories; others
                                   parse all files in them */
};

struct trust_system trust_system(void);

/*
 * Find them: what the caller names, what the environment names (as OpenSSL
 * reads it), or what the system has.  Copies are made in the arena; false: no
 * memory.
 */
bool trust_find(struct trust *t, struct arena *a, const char *ca_file,
                const struct trust_system *system);

/* Call this before a connection that needs them.  The first call reads the
 * system's directory, and uses it if it has hashed names; true: it does. */
bool trust_read_dir(struct trust *t);

/* The directory did not vouch for a server; it may lack certificates, so use
 * the bundle from now on.  False: there is none to use instead. */
bool trust_fall_back(struct trust *t);
