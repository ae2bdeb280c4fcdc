/*
 * root.c - files below one folder, which no path can leave
 *
 * The kernel resolves a path below the root (openat2, Linux 5.6).  Where a
 * filter or an older kernel refuses that call, we resolve it ourselves, one
 * name at a time, and open none of them if it is a link:
 *
 *      rest: "a/link/../f"  -->  done: a, b    every one a folder, opened with
 *                                              O_NOFOLLOW from the root
 *
 * The text of a relative link is put in front of the rest.  ".." removes the
 * last name of `done`, so it cannot lead above the root.
 */
#define _GNU_SOURCE             /* O_PATH, syscall */
#include "toolbox/root.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LINKS_MOST = 40, NAMES_MOST = 256, TRIES = 100 };

/* The kernel knows where an open file is, however it was reached. */
static ssize_t find_place(int fd, char place[PATH_MAX])
{
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, place, PATH_MAX);
    place[n > 0 && n < PATH_MAX ? n : 0] = 0;
    return n;
}

int root_init(struct root *r, struct arena *a, const char *path)
{
    char place[PATH_MAX];
    *r = (struct root){ .path = path };
    reach_find_secrets(&r->secrets, a, path);
    if (!strcmp(path, "/"))     /* it has the variables of this process */
        r->secrets.path[r->secrets.count++] = "/proc";
    r->fd = a->broken ? -1 : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (a->broken || r->fd < 0)
        return a->broken ? ENOMEM : errno;
    if (find_place(r->fd, place) <= 0 || !strcmp(place, path))
        return 0;
    root_release(r);            /* a link has taken its place */
    return ELOOP;
}

void root_release(struct root *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
}

const char *root_relative(const struct root *r, const char *path)
{
    size_t len = strlen(r->path);
    if (*path != '/')
        return *path ? path : ".";
    if (strncmp(path, r->path, len) != 0)
        return NULL;
    if (len > 1 && path[len] && path[len] != '/')
        return NULL;
    path += len;
    while (*path == '/')
        path++;
    return *path ? path : ".";
}

bool root_hides(const struct root *r, int dir, const char *name)
{
    char place[2 * PATH_MAX];
    if (!r->secrets.count)
        return false;
    ssize_t n = find_place(dir, place);
    if (n <= 0 || n == PATH_MAX)
        return true;
    snprintf(place + n, sizeof place - (size_t)n, "%s%s", *name ? "/" : "",
             name);
    return reach_is_secret(&r->secrets, place + (n == 1 && *name));
}

/* -------------------------------------------------- one name at a time --- */

struct steps {
    char text[2 * PATH_MAX];    /* what is left to resolve */
    struct slice done[NAMES_MOST];
    char names[2 * PATH_MAX];   /* of done */
    size_t count, used;
    int links;
};

/* Remove the first name of the rest; an empty one at its end. */
static struct slice take_name(struct steps *s, char *name, size_t cap)
{
    char *at = s->text;
    while (*at == '/')
        at++;
    size_t len = strcspn(at, "/");
    if (len >= cap)
        len = cap - 1;
    memcpy(name, at, len);
    name[len] = 0;
    memmove(s->text, at + len, strlen(at + len) + 1);
    return (struct slice){ name, len };
}

/* Open the folder that `done` names. */
static int open_done(const struct root *r, const struct steps *s, int *fd)
{
    char name[NAME_MAX + 1];
    int at = openat(r->fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; at >= 0 && i < s->count; i++) {
        snprintf(name, sizeof name, "%.*s", (int)s->done[i].len,
                 s->done[i].ptr);
        int next = openat(at, name,
                          O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int error = errno;
        close(at);
        errno = error;
        at = next;
    }
    *fd = at;
    return at < 0 ? errno : 0;
}

static int add_done(struct steps *s, struct slice name)
{
    if (s->count == NAMES_MOST || s->used + name.len > sizeof s->names)
        return ENAMETOOLONG;
    memcpy(s->names + s->used, name.ptr, name.len);
    s->done[s->count++] = (struct slice){ s->names + s->used, name.len };
    s->used += name.len;
    return 0;
}

/* The name is a link: put its target in front of the rest. */
static int add_link(struct steps *s, const char *target)
{
    char rest[sizeof s->text];
    if (*target == '/')
        return EXDEV;
    if (++s->links > LINKS_MOST)
        return ELOOP;
    memcpy(rest, s->text, strlen(s->text) + 1);
    int n = snprintf(s->text, sizeof s->text, "%s/%s", target, rest);
    return (size_t)n < sizeof s->text ? 0 : ENAMETOOLONG;
}

/* One name; *last: nothing followed it, and it is no link. */
static int take_step(const struct root *r, struct steps *s, bool *last)
{
    char name[NAME_MAX + 2], target[PATH_MAX];
    struct slice got = take_name(s, name, sizeof name);
    int fd;
    if (!got.len || slice_is(got, "."))
        return 0;
    if (slice_is(got, "..")) {
        if (!s->count)
            return EXDEV;
        s->used -= s->done[--s->count].len;
        return 0;
    }
    int error = open_done(r, s, &fd);
    if (error)
        return error;
    ssize_t n = readlinkat(fd, name, target, sizeof target - 1);
    close(fd);
    if (n >= 0) {
        target[n] = 0;
        return add_link(s, target);
    }
    *last = !s->text[strspn(s->text, "/")];
    return add_done(s, got);
}

static int open_by_steps(const struct root *r, const char *path, int flags,
                         int *fd)
{
    struct steps s = { .links = 0 };
    bool last = false;
    int error = 0;
    if (strlen(path) >= PATH_MAX)
        return ENAMETOOLONG;
    memcpy(s.text, path, strlen(path) + 1);
    while (!error && s.text[strspn(s.text, "/")])
        error = take_step(r, &s, &last);
    if (error)
        return error;
    char name[NAME_MAX + 1] = ".";
    if (last) {
        struct slice end = s.done[--s.count];
        snprintf(name, sizeof name, "%.*s", (int)end.len, end.ptr);
    }
    int dir;
    error = open_done(r, &s, &dir);
    if (error)
        return error;
    *fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC);
    error = *fd < 0 ? errno : 0;
    close(dir);
    return error == ELOOP ? EXDEV : error;      /* it has become a link */
}

/* -------------------------------------------------------------- opening --- */

static bool is_missing(int error)
{
    return error == ENOSYS || error == EPERM || error == EINVAL ||
           error == E2BIG;
}

static int open_below(const struct root *r, const char *path, int flags,
                      int *fd)
{
    struct open_how how = { .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
                            .resolve = RESOLVE_BENEATH |
                                       RESOLVE_NO_MAGICLINKS };
    if (r->by_steps)
        return open_by_steps(r, path, flags, fd);
    int error = EAGAIN;         /* a folder was renamed meanwhile */
    for (int i = 0; i < TRIES && error == EAGAIN; i++) {
        *fd = (int)syscall(SYS_openat2, r->fd, path, &how, sizeof how);
        error = *fd < 0 ? errno : 0;
    }
    if (is_missing(error))      /* the call, or the file: the same there */
        return open_by_steps(r, path, flags, fd);
    return error;
}

int root_open(const struct root *r, const char *path, int flags, int *fd)
{
    path = root_relative(r, path);
    *fd = -1;
    int error = path ? open_below(r, path, flags, fd) : EXDEV;
    if (!error && root_hides(r, *fd, "")) {
        close(*fd);
        *fd = -1;
        error = ENOKEY;
    }
    return error;
}

static int refuse_kind(const struct stat *st)
{
    return S_ISREG(st->st_mode) ? 0 : S_ISDIR(st->st_mode) ? EISDIR : ENOTSUP;
}

/* Look before opening: to open a device may have an effect. */
int root_open_file(const struct root *r, const char *path, int *fd,
                   struct stat *st)
{
    int error = root_open(r, path, O_PATH, fd);
    if (error)
        return error;
    error = fstat(*fd, st) ? errno : refuse_kind(st);
    close(*fd);
    if (!error)
        error = root_open(r, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, fd);
    if (error)
        return error;
    error = fstat(*fd, st) ? errno : refuse_kind(st);
    if (error)
        close(*fd);
    return error;
}

int root_read(const struct root *r, struct arena *a, const char *path,
              size_t limit, struct slice *out, struct stat *st)
{
    struct stat own;
    int fd, error = root_open_file(r, path, &fd, st ? st : &own);
    if (error)
        return error;
    ssize_t n = 1;
    struct buf b = buf_in(a, SIZE_MAX / 2);
    while (n > 0 && b.len <= limit && buf_reserve(&b, 64 * 1024)) {
        n = read(fd, b.ptr + b.len, 64 * 1024);
        b.len += n > 0 ? (size_t)n : 0;
    }
    error = n < 0 ? errno : b.broken ? ENOMEM : b.len > limit ? EFBIG : 0;
    close(fd);
    buf_byte(&b, 0);
    *out = (struct slice){ b.ptr, b.len - 1 };
    return !error && b.broken ? ENOMEM : error;
}

/* -------------------------------------------------------------- writing --- */

/* Where a file is to be written: a folder and a name, in the arena. */
struct target {
    int dir;
    const char *name;
};

/* Open the folder of the path, and create what is missing of it. */
static int open_folder(const struct root *r, struct arena *a, const char *path,
                       int *fd)
{
    int error = root_open(r, path, O_PATH | O_DIRECTORY, fd);
    if (error != ENOENT)
        return error;
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *above =
        slash ? arena_copy(a, (struct slice){ path,
                                        (size_t)(slash - path) })
              : ".";
    if (!above)
        return ENOMEM;
    int parent;
    error = *above ? open_folder(r, a, above, &parent) : EXDEV;
    if (error)
        return error;
    if (*name && mkdirat(parent, name, 0777) && errno != EEXIST)
        error = errno;
    close(parent);
    return error ? error : root_open(r, path, O_PATH | O_DIRECTORY, fd);
}

static const char *join_path(struct arena *a, struct slice dir,
                             const char *name)
{
    struct buf b = buf_in(a, 2 * PATH_MAX);
    buf_add(&b, dir);
    buf_byte(&b, '/');
    buf_text(&b, name);
    return b.broken ? NULL : b.ptr;
}

/* A link is followed, so that it stays one. */
static int find_target(const struct root *r, struct arena *a, const char *path,
                       struct target *t)
{
    char text[PATH_MAX];
    path = root_relative(r, path);
    for (int links = 0; path && links <= LINKS_MOST; links++) {
        const char *slash = strrchr(path, '/');
        struct slice dir = slash
                               ? (struct slice){ path,
                                           (size_t)(slash - path) }
                               : SLICE(".");
        const char *folder = arena_copy(a, dir);
        t->name = slash ? slash + 1 : path;
        if (!folder)
            return ENOMEM;
        if (!*t->name || !strcmp(t->name, ".") || !strcmp(t->name, ".."))
            return EISDIR;
        int error = open_folder(r, a, folder, &t->dir);
        if (error)
            return error;
        ssize_t n = readlinkat(t->dir, t->name, text, sizeof text - 1);
        if (n < 0)
            return 0;
        close(t->dir);
        text[n] = 0;
        if (*text == '/')
            return EXDEV;
        path = join_path(a, dir, text);
        if (!path)
            return ENOMEM;
    }
    return path ? ELOOP : EXDEV;
}

static int write_all(int fd, struct slice bytes)
{
    while (bytes.len) {
        ssize_t n = write(fd, bytes.ptr, bytes.len);
        if (n < 0 && errno != EINTR)
            return errno;
        bytes = slice_skip(bytes, n > 0 ? (size_t)n : 0);
    }
    return 0;
}

/* A new file next to the target; its name is in `name`. */
static int create_temporary(const struct target *t, mode_t mode, char *name,
                            size_t cap)
{
    int fd = -1;
    for (unsigned i = 0; fd < 0 && i < TRIES; i++) {
        snprintf(name, cap, ".%.200s.%d-%u.tmp", t->name, (int)getpid(), i);
        fd = openat(t->dir, name,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

/* The new file has the owner and the mode of the old one, without set-user-ID:
 * what a model wrote must not run with the rights of the owner. */
static int copy_mode(int fd, const struct stat *old)
{
    if (old->st_uid != geteuid() || old->st_gid != getegid())
        if (fchown(fd, old->st_uid, old->st_gid))
            errno = 0;          /* only root may: it stays ours */
    return fchmod(fd, old->st_mode & 0777) ? errno : 0;
}

static int replace_file(const struct target *t, struct slice bytes,
                        const struct stat *old)
{
    char name[NAME_MAX + 1];
    int fd = create_temporary(t, 0666, name, sizeof name);
    if (fd < 0)
        return errno;
    int error = old ? copy_mode(fd, old) : 0;
    if (!error)
        error = write_all(fd, bytes);
    if (!error && fsync(fd))
        error = errno;
    close(fd);
    if (!error && renameat(t->dir, name, t->dir, t->name))
        error = errno;
    if (error)
        unlinkat(t->dir, name, 0);
    return error;
}

static int append_file(const struct target *t, struct slice bytes)
{
    int fd = openat(t->dir, t->name,
                    O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK |
                        O_NOCTTY | O_CLOEXEC,
                    0666);
    if (fd < 0)
        return errno;
    int error = write_all(fd, bytes);
    close(fd);
    return error;
}

int root_write(const struct root *r, struct arena *scratch, const char *path,
               struct slice bytes, enum root_how how, uint64_t *size,
               bool *created)
{
    struct target t;
    struct stat st;
    int error = find_target(r, scratch, path, &t);
    if (error)
        return error;
    bool exists = !fstatat(t.dir, t.name, &st, AT_SYMLINK_NOFOLLOW);
    if (root_hides(r, t.dir, t.name))
        error = ENOKEY;
    else if (!exists && errno != ENOENT)
        error = errno;
    else if (exists)
        error = refuse_kind(&st);
    if (!error && exists && faccessat(t.dir, t.name, W_OK, 0))
        error = errno;
    if (!error)
        error = how == ROOT_APPEND
                    ? append_file(&t, bytes)
                    : replace_file(&t, bytes, exists ? &st : NULL);
    if (!error && fstatat(t.dir, t.name, &st, AT_SYMLINK_NOFOLLOW))
        error = errno;
    close(t.dir);
    *size = error ? 0 : (uint64_t)st.st_size;
    *created = !exists;
    return error;
}
