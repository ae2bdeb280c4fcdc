/*
 * folder.c - a private folder for one process, removed afterwards
 *
 * A process may leave a tree of any depth.  It is removed without recursion:
 * the folders of a folder are moved to the top, one level at a time.
 */
#define _XOPEN_SOURCE 700       /* mkdtemp, openat */
#include "proc/folder.h"

#include "base/buf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const char *folder_new(struct arena *a, int *error)
{
    const char *place = getenv("TMPDIR");
    char real[PATH_MAX];
    if (!place || *place != '/' || !realpath(place, real))
        place = realpath("/tmp", real) ? real : "/tmp";
    else
        place = real;
    struct buf path = buf_in(a, PATH_MAX);
    buf_text(&path, place);
    buf_text(&path, "/allm-tool-XXXXXX");
    *error = path.broken ? ENOMEM : mkdtemp(path.ptr) ? 0 : errno;
    return *error ? NULL : path.ptr;
}

/* A name in the top folder that is not used; numbers do not run out. */
struct top {
    int fd;
    unsigned next;
};

static bool move_to_top(struct top *t, int from, const char *name)
{
    char fresh[32];
    do
        snprintf(fresh, sizeof fresh, "moved-%u", t->next++);
    while (!faccessat(t->fd, fresh, F_OK, AT_SYMLINK_NOFOLLOW));
    return !renameat(from, name, t->fd, fresh);
}

static DIR *open_folder(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !dir)
        close(fd);
    return dir;
}

static bool is_dots(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Remove a folder of the top folder; false: it cannot be done. */
static bool empty_folder(struct top *t, const char *name)
{
    bool good = true;
    fchmodat(t->fd, name, 0700, 0);     /* it is a folder, not a link */
    DIR *dir = open_folder(t->fd, name);
    if (!dir)
        return false;
    for (struct dirent *e; (e = readdir(dir));)
        if (!is_dots(e->d_name) && unlinkat(dirfd(dir), e->d_name, 0)) {
            fchmodat(dirfd(dir), e->d_name, 0700, 0);
            good = move_to_top(t, dirfd(dir), e->d_name) && good;
        }
    closedir(dir);
    return !unlinkat(t->fd, name, AT_REMOVEDIR) && good;
}

/* One pass over the top folder; false: it is empty, or nothing helps. */
static bool remove_entries(struct top *t, DIR *dir)
{
    bool changed = false;
    rewinddir(dir);
    for (struct dirent *e; (e = readdir(dir));)
        if (!is_dots(e->d_name))
            changed = !unlinkat(t->fd, e->d_name, 0) ||
                      !unlinkat(t->fd, e->d_name, AT_REMOVEDIR) ||
                      empty_folder(t, e->d_name) || changed;
    return changed;
}

void folder_remove(const char *path)
{
    /* If it is empty, this needs no descriptor: there may be none left. */
    if (!path || !rmdir(path))
        return;
    DIR *dir = open_folder(AT_FDCWD, path);
    if (!dir)
        return;
    struct top t = { dirfd(dir), 0 };
    fchmod(t.fd, 0700);
    while (remove_entries(&t, dir))
        ;
    closedir(dir);
    rmdir(path);
}
