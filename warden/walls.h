/* walls.h - the walls around a tool, each a mechanism of the kernel */
#ifndef WARDEN_WALLS_H
#define WARDEN_WALLS_H

#include "orders.h"

/* What is in force, as far as it is known. */
struct state {
    int landlock;               /* the kernel's ABI version; 0: none */
    bool mounts, pids;          /* the second wall */
    bool pid_max;               /* the namespace limits its processes */
    bool write_list;            /* the tool may change more than its own
                                   directory */
};

/*
 * Functions that return an int return 0 or an errno.  Those that take a path
 * set *path to the one that failed.
 */

/* filter.c: refuse system calls, for the walls that are not off. */
int filter_apply(const struct orders *o, const struct state *s);

/* walls.c: in the tool's process, in this order. */
int limits_apply(const struct orders *o, const struct state *s);
int privileges_drop(void);
int landlock_version(void);
int landlock_apply(const struct orders *o, const struct state *s,
                   const char **path);
/* Does the write list have a file or directory? */
bool walls_write_list(const struct orders *o);

/* space.c: the first steps in a new user and mount namespace: all but the
 * write list becomes read-only. */
struct who {
    unsigned user, group;
};
int space_enter(const struct orders *o, const struct who *who,
                const char **path);
/* In the first process of a pid namespace: a /proc of its own, and how many
 * processes there may be; *limited is false if the kernel cannot. */
int space_proc(uint64_t procs, bool *limited);

#endif
