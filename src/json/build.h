/*
 * build.h - build a JSON value from the outermost container inwards
 *
 * The values are stored one after another, in the reader's layout, so the
 * result is an ordinary immutable value.  A builder that runs out of memory,
 * or is called in a wrong order, is broken: later calls do nothing and
 * build_done() returns NULL.
 */
#ifndef JSON_BUILD_H
#define JSON_BUILD_H

#include "base/arena.h"

struct build {
    struct arena *arena;        /* owns the values and copies */
    void *vals;
    size_t count, cap;
    size_t open;                /* index + 1 of the innermost container */
    bool wants_value;           /* a key still lacks its value */
    bool broken;
    bool misused;               /* broken by a wrong order of calls */
};

void build_init(struct build *b, struct arena *arena);

void build_object(struct build *b);
void build_array(struct build *b);
void build_end(struct build *b);

/* Strings and values given here are not copied: they must outlive the result.
 * Bytes are stored as they are; the writer repairs what is not UTF-8.  Only a
 * string given with a NUL can be read as NUL-terminated. */
void build_key(struct build *b, struct slice key);
void build_text(struct build *b, struct slice text);
void build_value(struct build *b, const allm_json *json);

/* A member of an object. */
static inline void build_text_at(struct build *b, const char *key,
                                 struct slice text)
{
    build_key(b, slice_of(key));
    build_text(b, text);
}

/* These copy into the builder's arena. */
void build_key_copy(struct build *b, struct slice key);
void build_text_copy(struct build *b, struct slice text);
void build_value_copy(struct build *b, const allm_json *json);

void build_int(struct build *b, int64_t n);
void build_uint(struct build *b, uint64_t n);
void build_number(struct build *b, double x);   /* not finite: null */
void build_bool(struct build *b, bool value);
void build_null(struct build *b);

/* The value, in the arena; NULL if the builder is broken or unfinished. */
const allm_json *build_done(struct build *b);

#endif
