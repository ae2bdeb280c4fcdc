/*
 * pattern.h - regular expressions as JSON Schema means them
 *
 * The language of ECMA-262 with its u flag, as far as one can match it in
 * time proportional to the text: all but back references.  A match is looked
 * for anywhere in the text; letters are code points.  docs/json-schema.md has
 * the dialect.
 */
#ifndef JSON_PATTERN_H
#define JSON_PATTERN_H

#include "base/arena.h"

struct pattern;

/*
 * Compile; the result lives in the arena and may be shared by threads.  NULL
 * with *fault, in the arena, that says what is wrong and where; NULL with
 * *fault NULL: no memory.
 */
const struct pattern *pattern_new(struct arena *a, struct slice text,
                                  const char **fault);

enum pattern_result {
    PATTERN_NO,
    PATTERN_YES,
    PATTERN_TOO_LONG,           /* the budget is used up */
    PATTERN_NOMEM
};

/*
 * Is there a match in text?  A malformed byte counts as U+FFFD.  The scratch
 * arena is left to the caller to reset.  *budget is the number of steps that
 * may be taken (one is a few nanoseconds); those that were are taken off it.
 */
enum pattern_result pattern_match(const struct pattern *p, struct slice text,
                                  struct arena *scratch, size_t *budget);

enum {
    PATTERN_MAX_CODE = 10000,       /* instructions, repeats written out */
    PATTERN_MAX_GROUPS = 100,       /* one inside the other */
    PATTERN_MAX_LOOKS = 100         /* lookaheads and lookbehinds */
};

#endif
