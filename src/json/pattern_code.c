/*
 * pattern_code.c - compile the tree of a pattern to code
 *
 *      a|b             split 1 3; a; jump 4; b
 *      a*              split 1 3; a; jump 0
 *      a{2,}           a; a; split 1 3
 *      a{1,3}          a; split 2 3; a; split 4 5; a
 *
 * The parts of a lookahead are compiled in reverse, since it runs from the end
 * of the text: "a match begins here" then has the form of "a match ends here",
 * and one run over the text answers it for all positions.
 */
#include "json/pattern_parts.h"

struct writer {
    struct inst *code;
    uint32_t count;
    bool backward;
};

static uint32_t emit(struct writer *w, struct inst inst)
{
    w->code[w->count] = inst;
    return w->count++;
}

static void emit_tree(struct writer *w, const struct tree *t);

static void emit_all(struct writer *w, const struct tree *t)
{
    const struct tree *part = w->backward ? t->last : t->first;
    while (part) {
        emit_tree(w, part);
        part = w->backward ? part->prev : part->next;
    }
}

static void emit_any(struct writer *w, const struct tree *t)
{
    uint32_t jumps = UINT32_MAX;    /* those to the end, chained by x */
    for (const struct tree *part = t->first; part; part = part->next) {
        if (!part->next) {
            emit_tree(w, part);
            break;
        }
        uint32_t split = emit(w, (struct inst){ .op = OP_SPLIT });
        w->code[split].x = w->count;
        emit_tree(w, part);
        jumps = emit(w, (struct inst){ .op = OP_JUMP, .x = jumps });
        w->code[split].y = w->count;
    }
    while (jumps != UINT32_MAX) {
        uint32_t next = w->code[jumps].x;
        w->code[jumps].x = w->count;
        jumps = next;
    }
}

/* Repeat without limit, after `last`, the start of the last mandatory copy. */
static void emit_loop(struct writer *w, const struct tree *t, uint32_t last)
{
    if (t->min > 0) {
        emit(w, (struct inst){ .op = OP_SPLIT, .x = last, .y = w->count + 1 });
        return;
    }
    uint32_t split = emit(w, (struct inst){ .op = OP_SPLIT });
    w->code[split].x = w->count;
    emit_tree(w, t->first);
    emit(w, (struct inst){ .op = OP_JUMP, .x = split });
    w->code[split].y = w->count;
}

static void emit_repeat(struct writer *w, const struct tree *t)
{
    if (t->size == 0)
        return;                 /* an empty part, any number of times */
    uint32_t last = 0;
    for (uint32_t i = 0; i < t->min; i++) {
        last = w->count;
        emit_tree(w, t->first);
    }
    if (t->max == FOR_EVER) {
        emit_loop(w, t, last);
        return;
    }
    for (uint32_t i = t->min; i < t->max; i++) {
        uint32_t split = emit(w, (struct inst){ .op = OP_SPLIT });
        w->code[split].x = w->count;
        emit_tree(w, t->first);
        w->code[split].y = w->count;
    }
}

static void emit_tree(struct writer *w, const struct tree *t)
{
    switch (t->kind) {
    case TREE_CHAR:
        emit(w, (struct inst){ .op = OP_CHAR, .x = t->point });
        break;
    case TREE_CLASS:
        emit(w, (struct inst){ .op = OP_CLASS, .class = t->class });
        break;
    case TREE_ASSERT:
        emit(w, (struct inst){ .op = OP_ASSERT, .x = t->point });
        break;
    case TREE_LOOK:
        emit(w, (struct inst){ .op = OP_LOOK,
                               .x = t->point,
                               .negated = t->negated });
        break;
    case TREE_ALL:
        emit_all(w, t);
        break;
    case TREE_ANY:
        emit_any(w, t);
        break;
    case TREE_REPEAT:
        emit_repeat(w, t);
        break;
    }
}

static struct sub emit_sub(struct writer *w, const struct tree *t,
                           bool backward)
{
    struct sub s = { .start = w->count, .backward = backward };
    w->backward = backward;
    emit_tree(w, t);
    emit(w, (struct inst){ .op = OP_MATCH });
    const struct inst *first = &w->code[s.start];
    s.anchored = !backward && first->op == OP_ASSERT && first->x == AT_BEGIN;
    return s;
}

struct pattern *pattern_code(struct arena *a, const struct tree *main,
                             const struct look *looks, size_t size)
{
    uint32_t n = 0;
    for (const struct look *l = looks; l; l = l->next)
        n++;
    struct pattern *p = arena_zero(a, sizeof *p);
    struct sub *subs = arena_zero(a, (n + 1) * sizeof *subs);
    struct inst *code = arena_zero(a, size * sizeof *code);
    if (!p || !subs || !code)
        return NULL;

    struct writer w = { .code = code };
    p->main = emit_sub(&w, main, false);
    p->looks = subs;
    p->look_count = n;
    for (const struct look *l = looks; l; l = l->next)
        subs[--n] = emit_sub(&w, l->body, l->ahead);
    p->code = code;
    p->count = w.count;
    return p;
}
