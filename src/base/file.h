/* file.h - read a whole file, up to a limit; write one, or a line */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/arena.h"

/*
 * The whole file in the arena, a NUL behind it.  0, or the errno of what went
 * wrong; EFBIG past the limit; EISDIR for a folder; ENOMEM.  Works for pipes
 * and files whose size is unknown, too.
 */
int file_read(struct arena *a, const char *path, size_t limit,
              struct slice *out);

/* The same for regular files only.  A pipe, a socket or a device is not waited
 * for: ENOTSUP. */
int file_read_regular(struct arena *a, const char *path, size_t limit,
                      struct slice *out);

/* A line and its LF to a descriptor, in one write if the system does so.  0, or
 * an errno. */
int file_write_line(int fd, struct slice line);

/*
 * Where a path leads if it is a link, or a link to one: in the arena, else the
 * path itself.  There need not be anything.  0, ELOOP or ENOMEM.
 */
int file_follow(struct arena *a, const char *path, const char **out);

/*
 * Write a whole file: a new one beside it, on the disk, then renamed, so that
 * whoever looks sees the old bytes or the new ones.  The permissions of an old
 * file stay; a link is replaced by a file, a device or a pipe never.  What
 * writers that were killed left beside it is removed.  0, or the errno of what
 * went wrong (EISDIR, ENOTSUP, ENOMEM, ...): then all is as before.
 */
int file_write(struct arena *scratch, const char *path, struct slice bytes);
/* The same for what only its owner may read, whoever might before. */
int file_write_private(struct arena *scratch, const char *path,
                       struct slice bytes);

/* "enoent" for ENOENT and so on, as POSIX spells them; "eio" if unknown.  For
 * people: "there is no such file or folder". */
const char *file_error_name(int error);
const char *file_error_words(int error);

#endif
