/* file.h - read whole files up to a limit, and write them atomically */
#pragma once

#include "base/arena.h"

/*
 * Read a whole file into the arena, followed by a NUL. Returns 0 or an errno:
 * EFBIG above the limit, EISDIR for a folder, ENOMEM, ... Also works for pipes
 * and for files of unknown size.
 */
int file_read(struct arena *a, const char *path, size_t limit,
              struct slice *out);

/* The same for regular files only: returns ENOTSUP for a pipe, a socket or a
 * device, without waiting for it. */
int file_read_regular(struct arena *a, const char *path, size_t limit,
                      struct slice *out);

/* Write a line and its LF to a descriptor, with a single system call if
 * possible.  Returns 0 or an errno. */
int file_write_line(int fd, struct slice line);

/*
 * Resolve a path that is a link, through all links; any other path stays as it
 * is.  The target need not exist.  Returns 0, ELOOP or ENOMEM.
 */
int file_follow(struct arena *a, const char *path, const char **out);

/*
 * Replace a whole file atomically: write a new file next to it, sync it, and
 * rename it, so readers see either the old bytes or the new ones.  The
 * permissions of an old file are kept.  A link is replaced by a file; a device
 * or a pipe never is.  Temporary files left behind by killed writers are
 * removed.  Returns 0 or an errno (EISDIR, ENOTSUP, ENOMEM, ...): then nothing
 * has changed.
 */
int file_write(struct arena *scratch, const char *path, struct slice bytes);
/* The same, but only the owner may read the file, whatever the old mode was. */
int file_write_private(struct arena *scratch, const char *path,
                       struct slice bytes);

/* The POSIX name in lower case ("enoent" for ENOENT), or "eio" if unknown; and
 * a phrase for people: "there is no such file or folder". */
const char *file_error_name(int error);
const char *file_error_words(int error);
