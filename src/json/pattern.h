/*
 * pattern.h - the regular expressions of JSON Schema
 *
 * The language of ECMA-262 with its u flag, except back references, which
 * cannot be matched in time proportional to the text.  A match may be anywhere
 * in the text; characters are code points. docs/json-schema.md describes the
 * dialect.
 */
#pragma once

#include "base/arena.h"

struct pattern;

/*
 * Compile; the result lives in the arena and may be shared by threads.  NULL
 * with *fault, in the arena: the pattern is invalid, and *fault says what is
 * wrong and where.  NULL with *fault NULL: out of memory.
 */
const struct pattern *pattern_new(struct arena *a, struct slice text,
                                  const char **fault);

/* The same, but letters of ASCII match in upper and lower case. */
const struct pattern *pattern_new_folded(struct arena *a, struct slice text,
                                         const char **fault);

/*
 * A string that every text with a match contains, to search for before
 * pattern_match(); empty if none is known. *all: each text that contains it
 * has a match.  Of a folded pattern, its letters may have either case.
 */
struct slice pattern_needle(const struct pattern *p, bool *all);

enum pattern_result {
    PATTERN_NO,
    PATTERN_YES,
    PATTERN_TOO_LONG,           /* the budget is used up */
    PATTERN_NOMEM
};

/*
 * Does the text contain a match?  A malformed byte counts as U+FFFD. The
 * caller resets the scratch arena. *budget is the number of steps that may be
 * taken (a step takes a few nanoseconds); the steps taken are subtracted from
 * it.
 */
enum pattern_result pattern_match(const struct pattern *p, struct slice text,
                                  struct arena *scratch, size_t *budget);

enum {
    PATTERN_MAX_CODE = 10000,       /* instructions, with repeats written out */
    PATTERN_MAX_GROUPS = 100,       /* nesting depth */
    PATTERN_MAX_LOOKS = 100         /* lookaheads and lookbehinds */
};
