/*
 * pattern_run.c - match a compiled pattern against a text
 *
 * All ways to match are followed at once (Thompson 1968): at each position in
 * the text we hold the set of instructions that are reached there, so no text
 * causes backtracking.  Only whether there is a match matters, not where, so
 * greedy and lazy are the same and nothing else is remembered.
 *
 *      list --step over one code point--> stepped --add--> list
 *
 * Lookaround costs no more: before the pattern itself, each lookahead and
 * lookbehind is run over the whole text once, inner ones first, and leaves a
 * bit for every position where it holds.
 *
 * Invariants
 *   (1) An instruction is in `list` at most once: seen[] has the number of the
 *       last position that added it.
 *   (2) `list` holds only CHAR and CLASS.
 */
#include "base/utf8.h"
#include "json/pattern.h"
#include "json/pattern_parts.h"

struct run {
    const struct pattern *pattern;
    struct slice text;
    size_t at;                  /* the current position */
    size_t visit;               /* its number in seen[] */
    size_t *seen;
    uint32_t *list, *stepped, *stack;
    size_t listed, steps, budget;
    unsigned char **holds;      /* per lookaround: the positions, as bits */
    bool matched;
};

static bool is_word(const struct run *r, size_t at)
{
    if (at >= r->text.len)      /* also one before the start */
        return false;
    char c = r->text.ptr[at];
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '_';
}

static bool assertion_holds(const struct run *r, const struct inst *i)
{
    if (i->op == OP_LOOK)
        return (r->holds[i->x][r->at / 8] >> r->at % 8 & 1) != i->negated;
    switch ((enum assertion)i->x) {
    case AT_BEGIN:
        return r->at == 0;
    case AT_END:
        return r->at == r->text.len;
    case AT_WORD_EDGE:
        return is_word(r, r->at - 1) != is_word(r, r->at);
    case NOT_AT_WORD_EDGE:
        return is_word(r, r->at - 1) == is_word(r, r->at);
    }
    return false;
}

static void push(struct run *r, size_t *depth, uint32_t pc)
{
    if (r->seen[pc] != r->visit) {      /* keeps (1) */
        r->seen[pc] = r->visit;
        r->stack[(*depth)++] = pc;
    }
}

/* Add an instruction and all that are reached from it without reading. */
static void add_reachable(struct run *r, uint32_t start)
{
    size_t depth = 0;
    push(r, &depth, start);
    while (depth > 0) {
        uint32_t pc = r->stack[--depth];
        const struct inst *i = &r->pattern->code[pc];
        r->steps++;
        switch (i->op) {
        case OP_CHAR:
        case OP_CLASS:
            r->list[r->listed++] = pc;
            break;
        case OP_SPLIT:
            push(r, &depth, i->y);
            push(r, &depth, i->x);
            break;
        case OP_JUMP:
            push(r, &depth, i->x);
            break;
        case OP_ASSERT:
        case OP_LOOK:
            if (assertion_holds(r, i))
                push(r, &depth, pc + 1);
            break;
        case OP_MATCH:
            r->matched = true;
            break;
        }
    }
}

static uint32_t take_forward(struct run *r)
{
    struct slice rest = slice_skip(r->text, r->at);
    uint32_t point;
    if (!utf8_take(&rest, &point)) {
        r->at++;
        return 0xFFFD;
    }
    r->at = r->text.len - rest.len;
    return point;
}

static uint32_t take_backward(struct run *r)
{
    size_t begin = r->at - 1;
    while (begin > 0 && r->at - begin < 4 &&
           ((unsigned char)r->text.ptr[begin] & 0xC0) == 0x80)
        begin--;
    struct slice letter = { r->text.ptr + begin, r->at - begin };
    uint32_t point;
    if (!utf8_take(&letter, &point) || letter.len > 0) {
        r->at--;
        return 0xFFFD;
    }
    r->at = begin;
    return point;
}

static bool class_has_folded(const struct pattern_class *c, uint32_t point)
{
    uint32_t low = pattern_fold(point);
    bool letter = low >= 'a' && low <= 'z';
    bool one = class_has(c, low);
    bool other = letter ? class_has(c, low - ('a' - 'A')) : one;
    return c->negated ? one && other : one || other;
}

static bool accepts_point(const struct pattern *p, const struct inst *i,
                          uint32_t point)
{
    if (p->fold)
        return i->op == OP_CHAR ? pattern_fold(i->x) == pattern_fold(point)
                                : class_has_folded(i->class, point);
    return i->op == OP_CHAR ? i->x == point : class_has(i->class, point);
}

/* Read one code point; returns how many instructions of the list accept it. */
static size_t step_point(struct run *r, bool backward)
{
    uint32_t point = backward ? take_backward(r) : take_forward(r);
    size_t n = 0;
    for (size_t k = 0; k < r->listed; k++) {
        const struct inst *i = &r->pattern->code[r->list[k]];
        if (accepts_point(r->pattern, i, point))
            r->stepped[n++] = r->list[k] + 1;
    }
    return n;
}

/* Run over the text; set a bit in `bits` where a match ends or, without it,
 * stop at the first match. */
static enum pattern_result go(struct run *r, const struct sub *s,
                              unsigned char *bits)
{
    size_t n = 0;
    r->at = s->backward ? r->text.len : 0;
    for (;;) {
        r->visit++;
        r->listed = 0;
        r->matched = false;
        for (size_t k = 0; k < n; k++)
            add_reachable(r, r->stepped[k]);
        if (!s->anchored || r->at == 0)
            add_reachable(r, s->start);
        if (r->matched && !bits)
            return PATTERN_YES;
        if (r->matched)
            bits[r->at / 8] |= (unsigned char)(1 << r->at % 8);
        if (r->at == (s->backward ? 0 : r->text.len))
            return PATTERN_NO;
        if (s->anchored && r->listed == 0)
            return PATTERN_NO;
        if (r->steps > r->budget)
            return PATTERN_TOO_LONG;
        n = step_point(r, s->backward);
    }
}

static bool prepare_run(struct run *r, struct arena *scratch)
{
    const struct pattern *p = r->pattern;
    r->seen = arena_zero(scratch, p->count * sizeof *r->seen);
    r->list = arena_alloc(scratch, p->count * sizeof *r->list);
    r->stepped = arena_alloc(scratch, p->count * sizeof *r->stepped);
    r->stack = arena_alloc(scratch, p->count * sizeof *r->stack);
    r->holds = arena_alloc(scratch, (p->look_count + 1) * sizeof *r->holds);
    if (!r->seen || !r->list || !r->stepped || !r->stack || !r->holds)
        return false;
    for (size_t i = 0; i < p->look_count; i++) {
        r->holds[i] = arena_zero(scratch, r->text.len / 8 + 1);
        if (!r->holds[i])
            return false;
    }
    return true;
}

enum pattern_result pattern_match(const struct pattern *p, struct slice text,
                                  struct arena *scratch, size_t *budget)
{
    if (!text.ptr)
        text = SLICE("");
    struct run r = { .pattern = p, .text = text, .budget = *budget };
    if (!prepare_run(&r, scratch))
        return PATTERN_NOMEM;
    enum pattern_result result = PATTERN_NO;
    for (uint32_t i = 0; i < p->look_count && result == PATTERN_NO; i++)
        result = go(&r, &p->looks[i], r.holds[i]);
    if (result == PATTERN_NO)
        result = go(&r, &p->main, NULL);
    *budget -= r.steps < r.budget ? r.steps : r.budget;
    return result;
}
