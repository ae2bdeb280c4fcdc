/*
 * pattern_needle.c - a string that every match of a pattern contains
 *
 *      foo[0-9]+bar_x      "bar_x": the longest run of plain characters that
 *                          no alternative can avoid
 *
 * Searching for it is much faster than running the pattern.
 */
#include "base/utf8.h"
#include "json/pattern.h"
#include "json/pattern_parts.h"

struct needle {
    struct arena *arena;
    char *run;                  /* the characters before this place */
    size_t len, cap;
    struct slice best;          /* the longest run that has ended */
};

static void end_run(struct needle *n)
{
    if (n->len > n->best.len) {
        char *copy = arena_copy(n->arena, (struct slice){ n->run, n->len });
        if (copy)
            n->best = (struct slice){ copy, n->len };
    }
    n->len = 0;
}

static void add_point(struct needle *n, uint32_t point)
{
    char bytes[4];
    size_t len = utf8_put(bytes, point);
    if (!len || point == 0xFFFD || n->len + len > n->cap) {
        end_run(n);             /* malformed bytes match U+FFFD */
        return;
    }
    memcpy(n->run + n->len, bytes, len);
    n->len += len;
}

/* The groups of a pattern are nested at most PATTERN_MAX_GROUPS deep. */
static void search_tree(struct needle *n, const struct tree *t)
{
    if (t->kind == TREE_CHAR) {
        add_point(n, t->point);
    } else if (t->kind == TREE_ALL ||
               (t->kind == TREE_ANY && t->first && !t->first->next)) {
        for (const struct tree *part = t->first; part; part = part->next)
            search_tree(n, part);
    } else if (t->kind == TREE_REPEAT && t->min && t->first) {
        end_run(n);
        search_tree(n, t->first);
        end_run(n);
    } else {
        end_run(n);
    }
}

/* The number of characters, if there is nothing else. */
static bool is_plain(const struct tree *t)
{
    if (t->kind == TREE_CHAR)
        return true;
    if (t->kind != TREE_ALL && (t->kind != TREE_ANY || t->first != t->last))
        return false;
    for (const struct tree *part = t->first; part; part = part->next)
        if (!is_plain(part))
            return false;
    return true;
}

bool pattern_set_needle(struct pattern *p, struct arena *a,
                        const struct tree *main)
{
    struct needle n = { .arena = a, .cap = 4 * (size_t)main->size + 4 };
    n.run = arena_alloc(a, n.cap);
    if (!n.run)
        return false;
    search_tree(&n, main);
    end_run(&n);
    p->needle = n.best;
    p->needle_is_all = n.best.len && is_plain(main) &&
                       utf8_count(n.best) == main->size;
    return !a->broken;
}

struct slice pattern_needle(const struct pattern *p, bool *all)
{
    *all = p->needle_is_all;
    return p->needle.ptr ? p->needle : SLICE("");
}
