/*
 * list_directory.c - the tools list_directory and tree
 *
 *      folder   src/                    src
 *      file     README.md  1234         |-- a.c
 *      link     x -> README.md          `-- b
 */
#define _GNU_SOURCE             /* O_PATH */
#include "toolbox/builtin.h"
#include "toolbox/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

enum { LIMIT = 1000, DEPTH = 3 };

struct listing {
    struct builtin_call *call;
    uint64_t count, limit, hidden;
    bool all;
    bool last[WALK_DEPTH + 1];  /* per level: no other name follows */
};

static void add_size(struct buf *out, int dir, const char *name)
{
    struct stat st;
    if (!fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
        buf_format(out, "  %lld", (long long)st.st_size);
}

static void add_link(struct buf *out, int dir, const char *name)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(dir, name, target, sizeof target - 1);
    if (n < 0)
        return;
    buf_text(out, " -> ");
    buf_add(out, (struct slice){ target, (size_t)n });
}

static bool list_entry(void *ud, const struct walk_entry *e)
{
    static const char *const kinds[] = { "file", "folder", "link", "other" };
    struct listing *l = ud;
    struct buf *out = &l->call->out;
    if (!l->all && *e->name == '.') {
        l->hidden++;
        return true;
    }
    if (l->count++ >= l->limit)
        return !builtin_stopped(l->call);
    buf_format(out, "%-6s  %s%s", kinds[e->kind], e->name,
               e->kind == WALK_FOLDER ? "/" : "");
    if (e->kind == WALK_FILE)
        add_size(out, e->dir, e->name);
    if (e->kind == WALK_LINK)
        add_link(out, e->dir, e->name);
    buf_byte(out, '\n');
    return true;
}

static bool draw_entry(void *ud, const struct walk_entry *e)
{
    struct listing *l = ud;
    struct buf *out = &l->call->out;
    if (l->count++ >= l->limit)
        return !builtin_stopped(l->call);
    l->last[e->depth] = e->last;
    for (unsigned i = 1; i < e->depth; i++)
        buf_text(out, l->last[i] ? "    " : "\xE2\x94\x82   ");
    buf_text(out, e->last ? "\xE2\x94\x94\xE2\x94\x80\xE2\x94\x80 "
                          : "\xE2\x94\x9C\xE2\x94\x80\xE2\x94\x80 ");
    buf_text(out, e->name);
    if (e->kind == WALK_FOLDER)
        buf_byte(out, '/');
    if (e->kind == WALK_LINK)
        add_link(out, e->dir, e->name);
    buf_byte(out, '\n');
    return true;
}

/* What is missing in the list. */
static void add_notes(struct listing *l, const struct walk *w)
{
    struct buf *out = &l->call->out;
    if (l->count > l->limit)
        buf_format(out, "[%llu more; raise limit, or choose a folder]\n",
                   (unsigned long long)(l->count - l->limit));
    if (l->hidden)
        buf_format(out,
                   "[%llu names that begin with a dot; set all to see "
                   "them]\n",
                   (unsigned long long)l->hidden);
    if (w->unread)
        buf_format(out, "[%zu folders could not be read]\n", w->unread);
    if (!out->len)
        buf_text(out, "[the folder is empty]\n");
}

static void list_below(struct builtin_call *c, struct walk *w,
                       struct listing *l)
{
    const char *path = builtin_text(c, "path", ".");
    l->call = c;
    l->limit = builtin_number(c, "limit", LIMIT);
    l->all = builtin_switch(c, "all");
    w->root = &c->root;
    w->mem = c->arena.mem;
    w->ud = l;
    int error = walk_below(w, path);
    if (error == ENOTDIR)
        builtin_fail(c, "%s is not a folder; read_file reads files", path);
    else if (error)
        builtin_path_fault(c, path, error);
    if (error)
        return;
    add_notes(l, w);
    builtin_answer(c);
}

void list_directory_run(struct builtin_call *c)
{
    struct listing l = { .count = 0 };
    struct walk w = { .all = true, .depth_most = 1, .visit = list_entry };
    list_below(c, &w, &l);
}

void tree_run(struct builtin_call *c)
{
    struct listing l = { .count = 0 };
    uint64_t depth = builtin_number(c, "depth", DEPTH);
    struct walk w = { .all = builtin_switch(c, "all"),
                      .depth_most = depth < WALK_DEPTH ? (unsigned)depth
                                                       : WALK_DEPTH,
                      .visit = draw_entry };
    buf_format(&c->out, "%s\n", builtin_text(c, "path", "."));
    list_below(c, &w, &l);
}
