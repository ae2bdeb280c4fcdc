/*
 * root.h - files below one folder, which no path can leave
 *
 * Paths are relative to the root; an absolute path that begins with the root is
 * accepted, too.  "..", links and changes by other processes cannot lead out
 * of it: such a path is EXDEV.  Links with an absolute target are never
 * followed.  Keys and the settings of allm (proc/reach.h), and /proc, are
 * ENOKEY, even if they are below the root.
 */
#pragma once

#include "proc/reach.h"

#include <sys/stat.h>

struct root {
    const char *path;           /* absolute, without links */
    int fd;
    bool by_steps;              /* do not use openat2() */
    struct reach_secrets secrets;   /* below the root: mostly none */
};

/* Open the folder.  Functions that return int return 0 or an errno. */
int root_init(struct root *r, struct arena *a, const char *path);
void root_release(struct root *r);

/* The path relative to the root: "." for the root itself.  NULL: an absolute
 * path elsewhere. */
const char *root_relative(const struct root *r, const char *path);

/* Is this name of an open folder out of bounds?  "": the folder, or a file. */
bool root_hides(const struct root *r, int dir, const char *name);

/* Open a file or folder.  O_CLOEXEC is added.  Files are not created. */
int root_open(const struct root *r, const char *path, int flags, int *fd);

/* Open a regular file for reading: EISDIR for a folder, ENOTSUP for a device, a
 * pipe or a socket, which is not opened. */
int root_open_file(const struct root *r, const char *path, int *fd,
                   struct stat *st);

/* Read a regular file into the arena, followed by a NUL; EFBIG above the limit.
 * st may be NULL. */
int root_read(const struct root *r, struct arena *a, const char *path,
              size_t limit, struct slice *out, struct stat *st);

/* How root_write() writes. */
enum root_how { ROOT_REPLACE, ROOT_APPEND };

/*
 * Write a file; missing folders are created.  REPLACE: a new file takes its
 * place when all of it is written, with the mode of the old one, if any.  *size
 * is the new size, *created whether there was none.
 */
int root_write(const struct root *r, struct arena *scratch, const char *path,
               struct slice bytes, enum root_how how, uint64_t *size,
               bool *created);
