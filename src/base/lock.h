/* lock.h - a lock on a file, held against other processes and threads */
#pragma once

#include "base/arena.h"

/* A held lock; `name` is NULL if there is none. */
struct lock {
    int fd;
    char *name;                 /* of the lock file */
    struct mem mem;
};

#define LOCK_NONE ((struct lock){ .fd = -1 })

/*
 * Lock a file by means of a lock file "PATH.lock" next to it, because the file
 * itself is replaced when it is written.  Returns 0, EWOULDBLOCK if it is
 * locked already, or another errno.
 */
int lock_take(struct lock *l, struct mem mem, const char *path);

/* Lock the open file itself until it is closed.  Returns as above. */
int lock_descriptor(int fd);

/* Does the name refer to this open file? */
bool lock_names(int fd, const char *name);

/* Is this the lock of that file, whatever its name? */
bool lock_is_on(const struct lock *l, const char *path);

/* Release the lock and remove the lock file. */
void lock_drop(struct lock *l);
