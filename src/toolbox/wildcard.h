/*
 * wildcard.h - patterns for paths: * ? [a-z] ** and, if wanted, {a,b}
 *
 * "*" and "?" do not match a slash.  A "**" between slashes, or at an end, is
 * any number of folders.  Matching takes time proportional to the path,
 * whatever the pattern.
 */
#pragma once

#include "base/arena.h"

struct pattern;

struct wildcard {
    struct slice literal;       /* without a pattern: the whole path, or */
    bool suffix;                /* the end of a name after a "*" */
    bool bytes;                 /* "?" is a byte, not a character */
    bool never;                 /* it is not valid, and matches nothing */
    const struct pattern *pattern;
};

/* Memory is from the arena.  False: out of memory. */
bool wildcard_init(struct wildcard *w, struct arena *a, struct slice text,
                   bool braces);

/* The scratch is reset.  If it has no memory, it is broken and the result is
 * false. */
bool wildcard_match(const struct wildcard *w, struct slice path,
                    struct arena *scratch);
