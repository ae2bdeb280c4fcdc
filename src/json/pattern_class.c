/*
 * pattern_class.c - sets of code points: [a-z], \d, \p{Lu}
 *
 * A set is a list of spans and a set of general categories.  As every code
 * point has exactly one category, \P{..} is a set of categories, too.
 */
#include "json/pattern_parts.h"

#include <stdlib.h>

static const struct span digits[] = { { '0', '9' } };
static const struct span word[] = {
    { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' },
};

/* ECMA-262, WhiteSpace and LineTerminator. */
static const struct span space[] = {
    { 0x09, 0x0D },     { 0x20, 0x20 },     { 0xA0, 0xA0 },
    { 0x1680, 0x1680 }, { 0x2000, 0x200A }, { 0x2028, 0x2029 },
    { 0x202F, 0x202F }, { 0x205F, 0x205F }, { 0x3000, 0x3000 },
    { 0xFEFF, 0xFEFF },
};

static const struct {
    char with, without;         /* the letters of the set and its complement */
    const struct span *spans;
    size_t count;
} escapes[] = {
    { 'd', 'D', digits, sizeof digits / sizeof *digits },
    { 'w', 'W', word, sizeof word / sizeof *word },
    { 's', 'S', space, sizeof space / sizeof *space },
};

void class_add(struct class_draft *d, uint32_t first, uint32_t last)
{
    if (arena_grow(d->arena, &d->spans, d->count, &d->cap, 8,
                   sizeof *d->spans))   /* else the arena is broken */
        d->spans[d->count++] = (struct span){ first, last };
}

/* Add all code points that the spans, which are in order, leave out. */
static void add_rest(struct class_draft *d, const struct span *s, size_t count)
{
    uint32_t from = 0;
    for (size_t i = 0; i < count; i++) {
        if (s[i].first > from)
            class_add(d, from, s[i].first - 1);
        from = s[i].last + 1;
    }
    class_add(d, from, LAST_POINT);
}

bool class_add_escape(struct class_draft *d, char letter)
{
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        const struct span *s = escapes[i].spans;
        if (letter == escapes[i].without) {
            add_rest(d, s, escapes[i].count);
            return true;
        }
        if (letter == escapes[i].with) {
            for (size_t k = 0; k < escapes[i].count; k++)
                class_add(d, s[k].first, s[k].last);
            return true;
        }
    }
    return false;
}

bool class_add_property(struct class_draft *d, struct slice name, bool negated)
{
    if (slice_is(name, "ASCII")) {
        class_add(d, negated ? 0x80 : 0, negated ? LAST_POINT : 0x7F);
        return true;
    }
    static const struct slice prefixes[] = {
        { "General_Category=", 17 }, { "gc=", 3 },
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (slice_starts(name, prefixes[i]))
            name = slice_skip(name, prefixes[i].len);
    uint32_t found = unicode_categories_named(name);
    d->categories |= negated ? ~found : found;
    return found != 0;
}

static int by_first(const void *a, const void *b)
{
    uint32_t x = ((const struct span *)a)->first;
    uint32_t y = ((const struct span *)b)->first;
    return (x > y) - (x < y);
}

/* Sort the spans and join those that touch. */
static size_t join_spans(struct span *s, size_t count)
{
    if (count == 0)
        return 0;
    qsort(s, count, sizeof *s, by_first);
    size_t n = 0;
    for (size_t i = 1; i < count; i++) {
        if (s[i].first > s[n].last + 1)
            s[++n] = s[i];
        else if (s[i].last > s[n].last)
            s[n].last = s[i].last;
    }
    return n + 1;
}

/* A binary search, for code points beyond the ASCII table. */
static bool search_ranges(const struct pattern_class *c, uint32_t point)
{
    size_t low = 0, high = c->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->spans[middle].last < point)
            low = middle + 1;
        else
            high = middle;
    }
    bool in = low < c->count && c->spans[low].first <= point;
    if (!in && c->categories)
        in = (unicode_category(point) & c->categories) != 0;
    return in != c->negated;
}

bool class_has(const struct pattern_class *c, uint32_t point)
{
    if (point < 128)
        return c->ascii[point / 64] >> point % 64 & 1;
    return search_ranges(c, point);
}

const struct pattern_class *class_done(struct class_draft *d, bool negated)
{
    struct pattern_class *c = arena_zero(d->arena, sizeof *c);
    if (!c || d->arena->broken)
        return NULL;
    c->spans = d->spans;
    c->count = join_spans(d->spans, d->count);
    c->categories = d->categories;
    c->negated = negated;
    for (uint32_t point = 0; point < 128; point++)
        c->ascii[point / 64] |= (uint64_t)search_ranges(c, point) << point % 64;
    return c;
}
