/*
 * lock.c - a lock on a file, held against other processes and threads
 *
 * The owner removes the lock file while it is still locked.  So after locking
 * one, a process checks that the name still refers to it; if not, it was an
 * old one, and the process tries again.
 */
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".lock"

static char *name_of(struct mem mem, const char *path)
{
    size_t n = strlen(path), size;
    char *name = mem_add(n, sizeof SUFFIX, &size) ? mem_alloc(mem, size) : NULL;
    if (!name)
        return NULL;
    memcpy(name, path, n);
    memcpy(name + n, SUFFIX, sizeof SUFFIX);
    return name;
}

bool lock_names(int fd, const char *name)
{
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && stat(name, &there) == 0 &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

int lock_descriptor(int fd)
{
    while (flock(fd, LOCK_EX | LOCK_NB) != 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

/* A locked descriptor of the file; -1 and *error on failure. */
static int open_locked(const char *name, int *error)
{
    for (;;) {
        int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) {
            *error = errno;
            return -1;
        }
        *error = lock_descriptor(fd);
        if (!*error && lock_names(fd, name))
            return fd;
        close(fd);
        if (*error)
            return -1;
    }
}

int lock_take(struct lock *l, struct mem mem, const char *path)
{
    int error = ENOMEM;
    *l = LOCK_NONE;
    if (!path || !*path)
        return EINVAL;
    char *name = name_of(mem, path);
    if (!name)
        return error;
    int fd = open_locked(name, &error);
    if (fd < 0) {
        mem_free(mem, name, strlen(name) + 1);
        return error;
    }
    *l = (struct lock){ .fd = fd, .name = name, .mem = mem };
    return 0;
}

bool lock_is_on(const struct lock *l, const char *path)
{
    char name[4096];            /* a longer one cannot be opened */
    int n = snprintf(name, sizeof name, "%s" SUFFIX, path);
    return l->name && n > 0 && (size_t)n < sizeof name &&
           lock_names(l->fd, name);
}

void lock_drop(struct lock *l)
{
    if (!l->name)
        return;
    unlink(l->name);
    close(l->fd);
    mem_free(l->mem, l->name, strlen(l->name) + 1);
    *l = LOCK_NONE;
}
