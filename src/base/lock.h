/* lock.h - a lock on a file, held against other programs and threads */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include "base/arena.h"

/* A lock that is held; name NULL: none. */
struct lock {
    int fd;
    char *name;                 /* of the lock file */
    struct mem mem;
};

#define LOCK_NONE ((struct lock){ .fd = -1 })

/*
 * Lock a file, by a lock file "PATH.lock" beside it: the file itself is replaced
 * when it is written.  0; EWOULDBLOCK if somebody else has it; or another
 * errno.
 */
int lock_take(struct lock *l, struct mem mem, const char *path);

/* Lock the file itself behind a descriptor, until it is closed.  As above. */
int lock_descriptor(int fd);

/* Is the file behind the descriptor the one of that name? */
bool lock_names(int fd, const char *name);

/* Is this lock the one of that file, by whatever name? */
bool lock_is_on(const struct lock *l, const char *path);

/* Let go: the lock file is gone, too. */
void lock_drop(struct lock *l);

#endif
