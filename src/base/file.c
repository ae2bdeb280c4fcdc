/*
 * file.c - read whole files up to a limit, and write them atomically
 *
 * The size from fstat() is a hint that saves allocations: a file may grow
 * while we read it, and a pipe or a file in /proc has no size.  So we read
 * until the end, or one byte past the limit, which means that the file is too
 * large.
 */
#include "base/file.h"

#include "base/buf.h"
#include "base/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    FIRST = 4096,
    MAX_READ = 1 << 30,         /* read() may reject more */
    LINKS = 40                  /* in a row, the limit of Linux */
};

/* The bytes read so far; `room` does not include the NUL. */
struct content {
    struct arena *arena;
    char *ptr;
    size_t len, room;
};

/* Make room for `room` bytes in total. */
static bool make_room(struct content *c, size_t room)
{
    size_t old = c->ptr ? c->room + 1 : 0;
    char *p = arena_resize(c->arena, c->ptr, old, room + 1);
    if (!p)
        return false;
    c->ptr = p;
    c->room = room;
    return true;
}

/* Double the room, up to one byte more than the limit. */
static bool grow_content(struct content *c, size_t limit)
{
    size_t room = c->room < FIRST ? FIRST : c->room;
    room = room > limit / 2 ? limit + 1 : room * 2;
    return make_room(c, room);
}

static int read_all(struct content *c, int fd, size_t limit)
{
    for (;;) {
        if (c->len == c->room && !grow_content(c, limit))
            return ENOMEM;
        size_t want = c->room - c->len;
        if (want > MAX_READ)
            want = MAX_READ;
        ssize_t n = read(fd, c->ptr + c->len, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        if (n == 0) {
            c->ptr[c->len] = '\0';
            return 0;
        }
        c->len += (size_t)n;
        if (c->len > limit)
            return EFBIG;
    }
}

/* Reserve the reported size, and a byte to detect the end. */
static int expect(struct content *c, int fd, size_t limit)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return errno;
    if (S_ISDIR(info.st_mode))
        return EISDIR;
    if (!S_ISREG(info.st_mode) || info.st_size <= 0)
        return 0;
    if ((uintmax_t)info.st_size > limit)
        return EFBIG;
    return make_room(c, (size_t)info.st_size + 1) ? 0 : ENOMEM;
}

/* Read an open file and close it. fd -1: opening failed, errno says why. */
static int take_file(struct arena *a, int fd, size_t limit, struct slice *out)
{
    if (fd < 0)
        return errno;
    if (limit > SIZE_MAX / 2)
        limit = SIZE_MAX / 2;  /* larger than any file; sizes cannot overflow */

    struct content c = { .arena = a };
    int error = expect(&c, fd, limit);
    if (!error)
        error = read_all(&c, fd, limit);
    close(fd);

    if (c.ptr)                  /* return what was not needed */
        arena_resize(a, c.ptr, c.room + 1, error ? 0 : c.len + 1);
    if (error)
        return error;
    *out = (struct slice){ c.ptr, c.len };
    return 0;
}

int file_read(struct arena *a, const char *path, size_t limit,
              struct slice *out)
{
    if (!path)
        return EINVAL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    return take_file(a, fd, limit, out);
}

/* Opening a pipe waits for its writer unless O_NONBLOCK is set, which has no
 * effect on a regular file. */
int file_read_regular(struct arena *a, const char *path, size_t limit,
                      struct slice *out)
{
    struct stat info;
    if (!path)
        return EINVAL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &info) == 0 && !S_ISREG(info.st_mode) &&
        !S_ISDIR(info.st_mode)) {
        close(fd);
        return ENOTSUP;
    }
    return fd < 0 && errno == ENXIO ? ENOTSUP : take_file(a, fd, limit, out);
}

/* -------------------------------------------------------------- links --- */

/* Follow one link from its folder; *path is unchanged if it is not a link. */
static int follow_link(struct arena *a, const char **path, bool *more)
{
    char to[4096];
    const char *slash = strrchr(*path, '/');
    ssize_t n = readlink(*path, to, sizeof to);
    *more = n > 0 && (size_t)n < sizeof to;
    if (!*more)
        return 0;               /* opening it will report the reason */
    int folder = slash && *to != '/' ? (int)(slash - *path) + 1 : 0;
    struct buf b = buf_in(a, SIZE_MAX / 2);
    buf_format(&b, "%.*s%.*s", folder, *path, (int)n, to);
    *path = b.ptr;
    return b.broken ? ENOMEM : 0;
}

int file_follow(struct arena *a, const char *path, const char **out)
{
    bool more = true;
    int error = 0;
    for (int i = 0; more && !error; i++)
        error = i < LINKS ? follow_link(a, &path, &more) : ELOOP;
    *out = path;
    return error;
}

/* ------------------------------------------------------------ writing --- */

static int write_all(int fd, struct slice rest)
{
    while (rest.len) {
        size_t want = rest.len < MAX_READ ? rest.len : MAX_READ;
        ssize_t n = write(fd, rest.ptr, want);
        if (n < 0 && errno != EINTR)
            return errno;
        rest = slice_skip(rest, n > 0 ? (size_t)n : 0);
    }
    return 0;
}

/* A rename is durable once its folder is synced.  Some folders cannot be
 * synced; the file is complete in any case. */
static void settle_folder(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) + 1 : 1;
    const char *folder = arena_copy(a,
                                    (struct slice){ slash ? path : ".",
                                                       len });
    int fd = folder ? open(folder, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    (void)fsync(fd);
    close(fd);
}

static int write_file(struct arena *scratch, const char *path,
                      struct slice bytes, bool private)
{
    struct stat old;
    const char *name;
    if (!path || !*path)
        return EINVAL;
    bool known = stat(path, &old) == 0;
    if (known && !S_ISREG(old.st_mode))     /* /dev/null must stay */
        return S_ISDIR(old.st_mode) ? EISDIR : ENOTSUP;
    temp_sweep(scratch, path);
    int fd = temp_open(scratch, path, private ? 0600 : 0666, &name);
    if (fd < 0)
        return errno;
    int error = write_all(fd, bytes);
    if (!error && known && !private && fchmod(fd, old.st_mode & 07777) != 0)
        error = errno;
    if (!error && fsync(fd) != 0)
        error = errno;
    if (!error && rename(name, path) != 0)
        error = errno;
    if (error)
        unlink(name);
    else
        settle_folder(scratch, path);
    close(fd);                  /* also releases its lock */
    return error;
}

int file_write(struct arena *scratch, const char *path, struct slice bytes)
{
    return write_file(scratch, path, bytes, false);
}

int file_write_private(struct arena *scratch, const char *path,
                       struct slice bytes)
{
    return write_file(scratch, path, bytes, true);
}

/* -------------------------------------------------------------- names --- */

static const struct name {
    int error;
    const char *name;
    const char *words;          /* NULL: use the name */
} names[] = {
    { EACCES, "eacces", "its permissions forbid it" },
    { EAGAIN, "eagain", NULL },
    { EBADF, "ebadf", NULL },
    { EBUSY, "ebusy", NULL },
    { EDQUOT, "edquot", "the quota is used up" },
    { EEXIST, "eexist", NULL },
    { EFAULT, "efault", NULL },
    { EFBIG, "efbig", "it is too large" },
    { EINTR, "eintr", NULL },
    { EINVAL, "einval", NULL },
    { EIO, "eio", NULL },
    { EISDIR, "eisdir", "it is a folder" },
    { ELOOP, "eloop", "its symbolic links form a loop" },
    { EMFILE, "emfile", "too many files are open" },
    { EMLINK, "emlink", NULL },
    { ENAMETOOLONG, "enametoolong", "its name is too long" },
    { ENFILE, "enfile", "too many files are open" },
    { ENODEV, "enodev", NULL },
    { ENOENT, "enoent", "there is no such file or folder" },
    { ENOLCK, "enolck", NULL },
    { ENOMEM, "enomem", NULL },
    { ENOSPC, "enospc", "the disk is full" },
    { ENOSYS, "enosys", NULL },
    { ENOTDIR, "enotdir", "a part of its path is not a folder" },
    { ENOTEMPTY, "enotempty", NULL },
    { ENOTSUP, "enotsup", "it is a pipe or a device, not a file" },
    { ENXIO, "enxio", NULL },
    { EOVERFLOW, "eoverflow", NULL },
    { EPERM, "eperm", "it is not allowed" },
    { EPIPE, "epipe", NULL },
    { EROFS, "erofs", "the disk can only be read" },
    { ESPIPE, "espipe", NULL },
    { ESTALE, "estale", NULL },
    { ETIMEDOUT, "etimedout", NULL },
    { ETXTBSY, "etxtbsy", NULL },
    { EXDEV, "exdev", NULL },
};

static const struct name *find_name(int error)
{
    static const struct name other = { 0, "eio", NULL };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].error == error)
            return &names[i];
    return &other;
}

const char *file_error_name(int error)
{
    return find_name(error)->name;
}

const char *file_error_words(int error)
{
    const struct name *n = find_name(error);
    return n->words ? n->words : n->name;
}

int file_write_line(int fd, struct slice line)
{
    char end = '\n';
    union {                     /* writev() takes pointers to non-const */
        const char *in;
        char *out;
    } text = { line.ptr };
    struct iovec part[] = { { text.out, line.len }, { &end, 1 } };
    int at = 0;
    while (at < 2) {
        ssize_t n = writev(fd, part + at, 2 - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        size_t left = (size_t)n;
        while (at < 2 && left >= part[at].iov_len)
            left -= part[at++].iov_len;
        if (at < 2) {
            part[at].iov_base = (char *)part[at].iov_base + left;
            part[at].iov_len -= left;
        }
    }
    return 0;
}
