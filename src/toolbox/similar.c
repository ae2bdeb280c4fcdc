/*
 * similar.c - the lines of a text that resemble others most
 *
 * Two lines are compared by the pairs of neighbouring letters that they share,
 * without blanks at their ends; equal lines count most.  Of all places in the
 * text the one counts whose lines have the largest sum.
 */
#include "toolbox/similar.h"

enum { LINES_MOST = 12, PAIRS = 1 << 16, EQUAL = 1000, ALIKE = 500 };

/* A line that is searched. */
struct model {
    struct slice line;
    unsigned char *pairs;       /* a bit for each pair of bytes */
    size_t count;
};

struct looking {
    struct model models[LINES_MOST];
    size_t count;
};

static struct slice take_line(struct slice *rest)
{
    return slice_trim(slice_take(rest, '\n'));
}

static size_t pair_at(struct slice s, size_t i)
{
    return (size_t)(unsigned char)s.ptr[i] << 8 | (unsigned char)s.ptr[i + 1];
}

static bool fill_model(struct model *m, struct arena *a, struct slice line)
{
    m->line = line;
    m->pairs = arena_zero(a, PAIRS / 8);
    for (size_t i = 0; m->pairs && i + 1 < line.len; i++) {
        size_t p = pair_at(line, i);
        m->count += !(m->pairs[p / 8] >> p % 8 & 1);
        m->pairs[p / 8] |= (unsigned char)(1 << p % 8);
    }
    return m->pairs != NULL;
}

/* 0 to ALIKE, or EQUAL. */
static size_t score_line(const struct model *m, struct slice line)
{
    size_t shared = 0, most = line.len > m->line.len ? line.len : m->line.len;
    if (slice_eq(line, m->line))
        return line.len ? EQUAL : 0;
    for (size_t i = 0; i + 1 < line.len; i++) {
        size_t p = pair_at(line, i);
        shared += m->pairs[p / 8] >> p % 8 & 1;
    }
    return most > 1 ? ALIKE * shared / (most - 1) : 0;
}

static size_t score_place(const struct looking *l, struct slice rest)
{
    size_t sum = 0;
    for (size_t i = 0; i < l->count && rest.len; i++)
        sum += score_line(&l->models[i], take_line(&rest));
    return sum;
}

struct similar similar_lines(struct arena *a, struct slice text,
                             struct slice wanted)
{
    struct looking l = { .count = 0 };
    struct similar best = { .count = 0 };
    size_t most = 0;
    while (wanted.len && l.count < LINES_MOST)
        if (!fill_model(&l.models[l.count++], a, take_line(&wanted)))
            return best;
    struct slice rest = text;
    for (size_t line = 1; rest.len; line++) {
        size_t score = score_place(&l, rest);
        if (score > most && score >= l.count * ALIKE / 4) {
            most = score;
            best = (struct similar){ line, l.count, rest };
        }
        take_line(&rest);
    }
    size_t left = 0;
    for (rest = best.text; rest.len && left < best.count; left++)
        take_line(&rest);
    best.count = left;
    return best;
}
