/*
 * build.h - build a JSON value from the outermost container inwards
 *
 * The values are stored one after another, in the reader's layout, so the
 * result is an ordinary immutable value.  A builder that runs out of memory,
 * or is called in a wrong order, is broken: later calls do nothing and
 * build_done() returns NULL.
 */
#pragma once

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

static inline struct build build_in(struct arena *arena)
{
    return (struct build){ .arena = arena };
}

static inline void build_init(struct build *b, struct arena *arena)
{
    *b = build_in(arena);
}

void build_object(struct build *b);
void build_array(struct build *b);
void build_end(struct build *b);

/* Strings and values given here are not copied: they must outlive the result.
 * Bytes are stored as they are; the writer repairs what is not UTF-8.  Only a
 * string given with a NUL can be read as NUL-terminated. */
void build_key(struct build *b, struct slice key);
void build_text(struct build *b, struct slice text);
void build_value(struct build *b, const allm_json *json);

/* These copy into the builder's arena. */
void build_key_copy(struct build *b, struct slice key);
void build_text_copy(struct build *b, struct slice text);
void build_value_copy(struct build *b, const allm_json *json);

void build_text_or_null(struct build *b, const char *text);     /* NULL: null */
void build_int(struct build *b, int64_t n);
void build_uint(struct build *b, uint64_t n);
void build_number(struct build *b, double x);   /* not finite: null */
void build_bool(struct build *b, bool value);
void build_null(struct build *b);

/* The value, in the arena; NULL if the builder is broken or unfinished. */
const allm_json *build_done(struct build *b);

/* Begin with the outermost container; end it and return it. */
static inline struct build build_object_in(struct arena *arena)
{
    struct build b = build_in(arena);
    build_object(&b);
    return b;
}

static inline struct build build_array_in(struct arena *arena)
{
    struct build b = build_in(arena);
    build_array(&b);
    return b;
}

static inline void build_start_object(struct build *b, struct arena *arena)
{
    *b = build_object_in(arena);
}

static inline void build_start_array(struct build *b, struct arena *arena)
{
    *b = build_array_in(arena);
}

static inline const allm_json *build_finish(struct build *b)
{
    build_end(b);
    return build_done(b);
}

/* Members: build_int_at(b, "n", 1) is build_key() and build_int(). */
#define BUILD_AT(kind, type) \
    static inline void build_##kind##_at(struct build *b, const char *key, \
                                         type value) \
    { \
        build_key(b, slice_of(key)); \
        build_##kind(b, value); \
    }
BUILD_AT(text, struct slice)
BUILD_AT(text_copy, struct slice)
BUILD_AT(text_or_null, const char *)
BUILD_AT(value, const allm_json *)
BUILD_AT(value_copy, const allm_json *)
BUILD_AT(int, int64_t)
BUILD_AT(uint, uint64_t)
BUILD_AT(number, double)
BUILD_AT(bool, bool)
#undef BUILD_AT

static inline void build_object_at(struct build *b, const char *key)
{
    build_key(b, slice_of(key));
    build_object(b);
}

static inline void build_array_at(struct build *b, const char *key)
{
    build_key(b, slice_of(key));
    build_array(b);
}

/* A member of another object, given by its key; all members but those in the
 * list, which NULL ends. */
void build_entry(struct build *b, const allm_json *key);
void build_entries(struct build *b, const allm_json *object,
                   const char *const *except);

/* Members that are left out if the value is NULL. */
static inline void build_text_if(struct build *b, const char *key,
                                 const char *text)
{
    if (text)
        build_text_at(b, key, slice_of(text));
}

static inline void build_value_if(struct build *b, const char *key,
                                  const allm_json *value)
{
    if (value)
        build_value_at(b, key, value);
}

/* An object with one member; NULL: out of memory, or the value is NULL. */
const allm_json *build_one(struct arena *a, const char *key,
                           const allm_json *value);
const allm_json *build_one_text(struct arena *a, const char *key,
                                struct slice text);

/* A string as a value of its own; NULL: out of memory. */
const allm_json *build_alone(struct arena *a, struct slice text);
const allm_json *build_alone_copy(struct arena *a, struct slice text);
