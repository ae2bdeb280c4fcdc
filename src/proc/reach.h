/* reach.h - which files a process may access by default, and never */
#pragma once

#include "base/buf.h"

enum { REACH_SECRETS = 32 };

/*
 * Instructions for what every tool may access: programs and libraries, the
 * folder of its own program, the working directory (to read), a few files of
 * /etc, /proc and /dev, and its private folder (to write).  Returns false if
 * the working directory is not included, because it contains a path that is
 * never accessible, or leads through a link.
 */
bool reach_default(struct buf *out, const char *program, const char *dir,
                   const char *private_dir);

/* The folders that every process may read and execute; NULL at the end. */
const char *const *reach_programs(void);

/* May every process read it, a part of it, or what contains it?  Not counted
 * are the folders of PATH and of the program, and the working directory. */
bool reach_meets_default(const char *path);

/* No access at all but to programs and libraries, to describe a tool. */
void reach_least(struct buf *out, const char *program);

/*
 * The absolute path of a declared one: "~" is the home, and a relative one
 * begins in `dir`.  Links are resolved as far as it exists.  In the arena;
 * NULL: out of memory, too long, or ".." in a part that does not exist.
 */
const char *reach_resolve(struct arena *a, const char *path, const char *dir);

/*
 * Is it, or is in it, or does it contain, a path that is never accessible: keys
 * and configuration of allm, ~/.ssh and the like?  Returns that path, in the
 * arena, or NULL.
 */
const char *reach_forbidden(struct arena *a, const char *resolved);

/* Is one path the other, or does it contain it? */
bool reach_contains(const char *outer, const char *inner);

/* Of these paths, those in a folder, and those that contain it. */
struct reach_secrets {
    const char *path[REACH_SECRETS];
    size_t count;
};

/* In the arena, which is broken if one is missing. */
void reach_find_secrets(struct reach_secrets *s, struct arena *a,
                        const char *folder);
/* Is it one of them, or in one? */
bool reach_is_secret(const struct reach_secrets *s, const char *resolved);
