/*
 * walk.c - visit the files and folders below a folder
 *
 * Each folder is read, filtered and sorted before the first of its entries is
 * visited.  Folders are opened from their parent, never through a link, so the
 * walk stays below the root.
 */
#define _DEFAULT_SOURCE         /* d_type */
#include "toolbox/walk.h"

#include "toolbox/ignore.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { RULES_MOST = 1 << 20 };

struct found {
    const char *name;
    enum walk_kind kind;
};

struct folder {
    struct arena arena;         /* names and rules */
    int fd;
    struct found *list;
    size_t count, cap;
    bool has_rules, has_git;
    const struct ignore *rules;
};

static enum walk_kind kind_of(int dir, const struct dirent *e)
{
    struct stat st;
    if (e->d_type == DT_REG)
        return WALK_FILE;
    if (e->d_type == DT_DIR)
        return WALK_FOLDER;
    if (e->d_type == DT_LNK)
        return WALK_LINK;
    if (e->d_type != DT_UNKNOWN ||
        fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
        return WALK_OTHER;
    return S_ISREG(st.st_mode)   ? WALK_FILE
           : S_ISDIR(st.st_mode) ? WALK_FOLDER
           : S_ISLNK(st.st_mode) ? WALK_LINK
                                 : WALK_OTHER;
}

static bool add_found(struct folder *f, const struct dirent *e)
{
    if (!arena_grow(&f->arena, &f->list, f->count, &f->cap, 32,
                    sizeof *f->list))
        return false;
    const char *name = arena_text(&f->arena, e->d_name);
    if (!name)
        return false;
    f->list[f->count++] = (struct found){ name, kind_of(f->fd, e) };
    f->has_rules |= !strcmp(name, ".gitignore");
    f->has_git |= !strcmp(name, ".git");
    return true;
}

static int order_found(const void *x, const void *y)
{
    const struct found *a = x, *b = y;
    return strcmp(a->name, b->name);
}

/* Read the entries; closes a copy of the descriptor.  0 or an errno. */
static int read_folder(struct folder *f)
{
    int copy = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    int error = errno;
    if (!dir && copy >= 0)
        close(copy);
    if (!dir)
        return error;
    error = 0;
    for (struct dirent *e; !error && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            !add_found(f, e))
            error = ENOMEM;
    closedir(dir);
    if (f->count)
        qsort(f->list, f->count, sizeof *f->list, order_found);
    return error;
}

/* Add the rules of a file, if it exists.  False: out of memory. */
static bool add_rules(struct walk *w, struct arena *a,
                      const struct ignore **rules, const char *path, size_t dir)
{
    struct slice text;
    int error = root_read(w->root, a, path, RULES_MOST, &text, NULL);
    if (error)
        return error != ENOMEM;
    const struct ignore *more = ignore_new(a, *rules, dir, text);
    if (more)
        *rules = more;
    return more != NULL;
}

/* The rules of the folder at the first `len` bytes of the path. */
static bool add_folder_rules(struct walk *w, struct arena *a,
                             const struct ignore **rules, struct slice folder,
                             bool git, bool own)
{
    size_t dir = folder.len ? folder.len + 1 : 0;
    struct buf b = buf_in(a, 1 << 16);
    buf_add(&b, folder);
    buf_text(&b, dir ? "/" : "");
    buf_text(&b, ".git/info/exclude");
    bool ok = !b.broken && (!git || add_rules(w, a, rules, b.ptr, dir));
    b.len = dir;
    buf_text(&b, ".gitignore");
    return ok && !b.broken && (!own || add_rules(w, a, rules, b.ptr, dir));
}

/* Leave out what is excluded. */
static void filter_folder(struct walk *w, struct folder *f)
{
    size_t kept = 0, base = w->path.len;
    for (size_t i = 0; i < f->count; i++) {
        struct found e = f->list[i];
        buf_text(&w->path, base ? "/" : "");
        buf_text(&w->path, e.name);
        if (strcmp(e.name, ".git") != 0 &&
            !ignore_excludes(f->rules, buf_slice(&w->path),
                             e.kind == WALK_FOLDER, &w->scratch))
            f->list[kept++] = e;
        w->path.len = base;
    }
    f->count = kept;
}

/* Leave out keys. */
static void hide_secrets(const struct walk *w, struct folder *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->count; i++)
        if (!root_hides(w->root, f->fd, f->list[i].name))
            f->list[kept++] = f->list[i];
    f->count = kept;
}

static int walk_folder(struct walk *w, int fd, unsigned depth,
                       const struct ignore *rules);

static int visit_found(struct walk *w, const struct folder *f, size_t i,
                       unsigned depth)
{
    const struct found *e = &f->list[i];
    size_t base = w->path.len;
    int error = 0;
    buf_text(&w->path, base ? "/" : "");
    buf_text(&w->path, e->name);
    if (w->path.broken)
        return ENOMEM;
    struct walk_entry entry = { w->path.ptr, e->name, f->fd, e->kind, depth,
                                i + 1 == f->count, w->path.len };
    w->stopped = !w->visit(w->ud, &entry);
    if (e->kind == WALK_FOLDER && !w->stopped &&
        depth < (w->depth_most ? w->depth_most : (unsigned)WALK_DEPTH)) {
        int fd = openat(f->fd, e->name,
                        O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            w->unread++;
        else
            error = walk_folder(w, fd, depth + 1, f->rules);
    }
    w->path.len = base;
    w->path.ptr[base] = 0;
    return error;
}

/* Takes the descriptor.  The depth is limited, so this recursion is, too. */
static int walk_folder(struct walk *w, int fd, unsigned depth,
                       const struct ignore *rules)
{
    struct folder f = { .fd = fd, .rules = rules };
    arena_init(&f.arena, w->mem);
    int error = read_folder(&f);
    hide_secrets(w, &f);
    if (!error && !w->all) {
        struct slice path = buf_slice(&w->path);
        if (add_folder_rules(w, &f.arena, &f.rules, path, f.has_git,
                             f.has_rules))
            filter_folder(w, &f);
        else
            error = ENOMEM;
    }
    for (size_t i = 0; !error && !w->stopped && i < f.count; i++)
        error = visit_found(w, &f, i, depth);
    close(fd);
    arena_release(&f.arena);
    return error;
}

const char *walk_shown(const struct root *r, struct arena *a, const char *path)
{
    const char *given = root_relative(r, path);
    struct slice s = slice_of(given ? given : path);
    while (slice_starts(s, SLICE("./")) || slice_starts(s, SLICE("/")))
        s = slice_skip(s, *s.ptr == '.' ? 2 : 1);
    while (s.len && s.ptr[s.len - 1] == '/')
        s.len--;
    return slice_is(s, ".") ? "" : arena_copy(a, s);
}

/* The rules of the folders above the first one. */
static bool add_rules_above(struct walk *w, const struct ignore **rules)
{
    struct slice path = buf_slice(&w->path);
    if (!path.len)
        return true;
    if (!add_folder_rules(w, &w->arena, rules, SLICE(""), true, true))
        return false;
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] == '/' &&
            !add_folder_rules(w, &w->arena, rules,
                              (struct slice){ path.ptr, i }, true, true))
            return false;
    return true;
}

int walk_below(struct walk *w, const char *path)
{
    const struct ignore *rules = NULL;
    int fd, error = root_open(w->root, path, O_RDONLY | O_DIRECTORY, &fd);
    if (error)
        return error;
    arena_init(&w->arena, w->mem);
    arena_init(&w->scratch, w->mem);
    const char *shown = walk_shown(w->root, &w->arena, path);
    buf_init(&w->path, &w->arena, 1 << 16);
    buf_text(&w->path, shown ? shown : "");
    if (!shown || w->path.broken || (!w->all && !add_rules_above(w, &rules))) {
        close(fd);
        error = ENOMEM;
    } else {
        error = walk_folder(w, fd, 1, rules);
    }
    if (!error && w->scratch.broken)
        error = ENOMEM;
    arena_release(&w->scratch);
    arena_release(&w->arena);
    return error;
}
