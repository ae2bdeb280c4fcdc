/*
 * space.c - the second wall: user, mount and pid namespaces
 *
 *      clone --> maps --> clone the write list --> all read-only --> put the
 *      clones back in their places
 *
 * The order matters: a clone that is made before keeps its permission to write.
 */
#include "walls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As in linux/mount.h, which may be older than the kernel. */
enum {
    SYS_OPEN_TREE = 428,
    SYS_MOVE_MOUNT = 429,
    SYS_MOUNT_SETATTR = 442,
    TREE_CLONE = 1,
    WHOLE_TREE = 0x8000,
    FROM_DESCRIPTOR = 4
};

struct mount_attributes {
    uint64_t set, clear, propagation, user;
};

static int write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int error = write(fd, text, strlen(text)) < 0 ? errno : 0;
    close(fd);
    return error;
}

/* User and group keep their numbers.  The files belong to root while the
 * process cannot be dumped. */
static int write_maps(const struct who *who)
{
    char text[64];
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    int error = write_file("/proc/self/setgroups", "deny");
    snprintf(text, sizeof text, "%u %u 1", who->user, who->user);
    if (!error || error == ENOENT)
        error = write_file("/proc/self/uid_map", text);
    snprintf(text, sizeof text, "%u %u 1", who->group, who->group);
    if (!error)
        error = write_file("/proc/self/gid_map", text);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return error;
}

static bool is_writable(enum access access)
{
    return access == ACCESS_WRITE || access == ACCESS_PRIVATE;
}

/* Of a path that does not exist there is no clone: -1. */
static int clone_writable(const struct orders *o, int *tree, const char **path)
{
    for (size_t i = 0; i < o->path_count; i++) {
        tree[i] = -1;
        if (!is_writable(o->access[i]))
            continue;
        *path = o->path[i];
        tree[i] = (int)syscall(SYS_OPEN_TREE, AT_FDCWD, o->path[i],
                               TREE_CLONE | WHOLE_TREE | O_CLOEXEC);
        if (tree[i] < 0 && errno != ENOENT && errno != ENOTDIR &&
            errno != EACCES)
            return errno;
    }
    return 0;
}

static int put_back(const struct orders *o, const int *tree, const char **path)
{
    int error = 0;
    for (size_t i = 0; i < o->path_count; i++) {
        if (tree[i] < 0)
            continue;
        if (!error && syscall(SYS_MOVE_MOUNT, tree[i], "", AT_FDCWD, o->path[i],
                              FROM_DESCRIPTOR)) {
            *path = o->path[i];
            error = errno;
        }
        close(tree[i]);
    }
    return error;
}

int space_enter(const struct orders *o, const struct who *who,
                const char **path)
{
    static int tree[ORDERS_PATHS];
    struct mount_attributes read_only = { .set = 1 };
    *path = "";
    int error = write_maps(who);
    if (!error && mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        error = errno;
    if (!error)
        error = clone_writable(o, tree, path);
    if (!error && syscall(SYS_MOUNT_SETATTR, AT_FDCWD, "/", WHOLE_TREE,
                          &read_only, sizeof read_only))
        error = errno;
    return error ? error : put_back(o, tree, path);
}

int space_proc(uint64_t procs, bool *limited)
{
    enum { LEAST = 301 };       /* the kernel refuses less */
    char text[32];
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
        return errno;
    *limited = false;
    if (procs == LIMIT_NONE)
        return 0;
    snprintf(text, sizeof text, "%u",
             procs > 4000000 ? 4000000
             : procs < LEAST ? LEAST
                             : (unsigned)procs);
    *limited = !write_file("/proc/sys/kernel/pid_max", text);
    return 0;
}
