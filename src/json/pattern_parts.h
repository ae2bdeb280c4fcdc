/*
 * pattern_parts.h - types shared by the files of pattern
 *
 *      text --pattern.c--> tree --pattern_code.c--> code --pattern_run.c--> ?
 *               |
 *      pattern_class.c, pattern_unicode.c: sets of code points
 */
#pragma once

#include "base/arena.h"

#include <stdint.h>

/* ------------------------------------------------ sets of code points --- */

enum { LAST_POINT = 0x10FFFF };

struct span {
    uint32_t first, last;
};

/* In `spans` or in one of `categories`; if negated, in neither. */
struct pattern_class {
    uint64_t ascii[2];          /* the result for the first 128 */
    const struct span *spans;   /* sorted and disjoint */
    size_t count;
    uint32_t categories;
    bool negated;
};

/* A set under construction; initialise it with { .arena = a }. */
struct class_draft {
    struct arena *arena;
    struct span *spans;
    size_t count, cap;
    uint32_t categories;
};

void class_add(struct class_draft *d, uint32_t first, uint32_t last);

/* The sets of \d \D \w \W \s \S, by that letter; false: no such letter. */
bool class_add_escape(struct class_draft *d, char letter);

/* A property by its name, as in \p{Lu}; false if unknown. */
bool class_add_property(struct class_draft *d, struct slice name, bool negated);

/* NULL if out of memory. */
const struct pattern_class *class_done(struct class_draft *d, bool negated);
bool class_has(const struct pattern_class *c, uint32_t point);

/* The general category of a code point as a bit, and the bits of a name such
 * as Lu or Letter (0 if unknown). */
uint32_t unicode_category(uint32_t point);
uint32_t unicode_categories_named(struct slice name);

/* The table behind them, which the build makes; see pattern_unicode.c. */
extern const uint32_t unicode_runs[];
extern const size_t unicode_run_count;

/* --------------------------------------------------------------- tree --- */

enum tree_kind {
    TREE_CHAR,
    TREE_CLASS,
    TREE_ASSERT,
    TREE_LOOK,
    TREE_ALL,                   /* its parts in sequence */
    TREE_ANY,                   /* one of its parts */
    TREE_REPEAT                 /* its one part, min to max times */
};

enum assertion { AT_BEGIN, AT_END, AT_WORD_EDGE, NOT_AT_WORD_EDGE };

enum { FOR_EVER = UINT32_MAX };

struct tree {
    enum tree_kind kind;
    uint32_t point;             /* CHAR; ASSERT: which; LOOK: its number */
    uint32_t min, max;          /* REPEAT; FOR_EVER: unlimited */
    bool negated;               /* LOOK */
    const struct pattern_class *class;
    uint64_t size;              /* the instructions that it becomes */
    struct tree *first, *last;  /* the parts */
    struct tree *next, *prev;   /* the neighbours in a list of parts */
};

/* The body of a lookahead or lookbehind. */
struct look {
    struct look *next;
    const struct tree *body;
    bool ahead;
};

/* --------------------------------------------------------------- code --- */

enum op {
    OP_CHAR,                    /* x: the code point */
    OP_CLASS,
    OP_SPLIT,                   /* continue at x and at y */
    OP_JUMP,                    /* continue at x */
    OP_ASSERT,                  /* x: which */
    OP_LOOK,                    /* x: which */
    OP_MATCH
};

struct inst {
    enum op op;
    bool negated;
    uint32_t x, y;
    const struct pattern_class *class;
};

/* A piece of code that is run over the whole text, in one direction. */
struct sub {
    uint32_t start;
    bool backward;
    bool anchored;              /* can only match at the start of the text */
};

struct pattern {
    const struct inst *code;
    uint32_t count;
    const struct sub *looks;    /* inner ones before outer ones */
    uint32_t look_count;
    struct sub main;
    bool fold;                  /* letters of ASCII match in either case */
    struct slice needle;        /* see pattern_needle() */
    bool needle_is_all;
};

static inline uint32_t pattern_fold(uint32_t point)
{
    return point >= 'A' && point <= 'Z' ? point + ('a' - 'A') : point;
}

/* Compile the trees; NULL if out of memory.  `size` is the sum of their sizes;
 * `looks` has the newest first. */
struct pattern *pattern_code(struct arena *a, const struct tree *main,
                             const struct look *looks, size_t size);

/* Find the needle of the tree.  False: out of memory. */
bool pattern_set_needle(struct pattern *p, struct arena *a,
                        const struct tree *main);
