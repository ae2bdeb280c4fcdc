/* glob.c - the tool glob: paths that match a pattern, newest first */
#include "toolbox/builtin.h"
#include "toolbox/walk.h"
#include "toolbox/wildcard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

enum { LIMIT = 1000 };

struct hit {
    const char *path;
    struct timespec when;
};

struct globbing {
    struct builtin_call *call;
    struct wildcard wildcard;
    struct arena scratch;
    size_t base;                /* the length of the folder's path and slash */
    struct hit *list;
    size_t count, cap;
};

static bool add_hit(struct globbing *g, struct hit hit)
{
    struct arena *a = &g->call->arena;
    if (!arena_grow(a, &g->list, g->count, &g->cap, 64, sizeof *g->list))
        return false;
    hit.path = arena_text(a, hit.path);
    g->list[g->count++] = hit;
    return hit.path != NULL;
}

static bool match_entry(void *ud, const struct walk_entry *e)
{
    struct globbing *g = ud;
    struct stat st;
    struct slice path = slice_skip(slice_of(e->path), g->base);
    if (e->kind == WALK_FOLDER ||
        !wildcard_match(&g->wildcard, path, &g->scratch) ||
        fstatat(e->dir, e->name, &st, AT_SYMLINK_NOFOLLOW))
        return !builtin_stopped(g->call);
    return add_hit(g, (struct hit){ e->path, st.st_mtim });
}

/* The newest first; those of the same time by name. */
static int order_hits(const void *x, const void *y)
{
    const struct hit *a = x, *b = y;
    if (a->when.tv_sec != b->when.tv_sec)
        return a->when.tv_sec < b->when.tv_sec ? 1 : -1;
    if (a->when.tv_nsec != b->when.tv_nsec)
        return a->when.tv_nsec < b->when.tv_nsec ? 1 : -1;
    return strcmp(a->path, b->path);
}

static void answer_hits(struct globbing *g)
{
    struct builtin_call *c = g->call;
    uint64_t limit = builtin_number(c, "limit", LIMIT);
    if (g->count)
        qsort(g->list, g->count, sizeof *g->list, order_hits);
    for (size_t i = 0; i < g->count && i < limit; i++)
        buf_format(&c->out, "%s\n", g->list[i].path);
    if (g->count > limit)
        buf_format(&c->out,
                   "[%llu more paths; raise limit, or use a narrower "
                   "pattern]\n",
                   (unsigned long long)(g->count - limit));
    if (!g->count)
        buf_text(&c->out, "[no paths match]\n");
    builtin_answer(c);
}

void glob_run(struct builtin_call *c)
{
    struct globbing g = { .call = c };
    const char *path = builtin_text(c, "path", ".");
    struct slice pattern = slice_of(builtin_text(c, "pattern", ""));
    while (slice_starts(pattern, SLICE("./")))
        pattern = slice_skip(pattern, 2);
    struct walk w = { .root = &c->root, .mem = c->arena.mem,
                      .all = builtin_switch(c, "all"), .visit = match_entry,
                      .ud = &g };
    const char *shown = walk_shown(&c->root, &c->arena, path);
    g.base = shown && *shown ? strlen(shown) + 1 : 0;
    arena_init(&g.scratch, c->arena.mem);
    int error = wildcard_init(&g.wildcard, &c->arena, pattern, true)
                    ? walk_below(&w, path)
                    : ENOMEM;
    if (g.scratch.broken || c->arena.broken)
        error = ENOMEM;
    arena_release(&g.scratch);
    if (error == ENOTDIR)
        builtin_fail(c, "%s is not a folder", path);
    else if (error)
        builtin_path_fault(c, path, error);
    else if (g.wildcard.never)
        builtin_fail(c,
                     "the pattern %s is not valid: a [ is not closed, or it "
                     "ends with a backslash",
                     builtin_text(c, "pattern", ""));
    else
        answer_hits(&g);
}
