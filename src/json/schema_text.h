/* schema_text.h - places, types and values as text for messages */
#pragma once

#include "base/buf.h"

/* A step of a JSON Pointer and the place it starts from; NULL is the whole
 * document. */
struct place {
    const struct place *up;
    struct slice key;           /* ptr NULL: it is an index */
    size_t index;
};

/* The pointer; if it is longer than PLACE_LONGEST, the pointer of the nearest
 * enclosing place that is not. */
enum { PLACE_LONGEST = 64 * 1024 };
void place_write(struct buf *out, const struct place *p);
size_t place_depth(const struct place *p);

/* The types of JSON Schema, as bits. */
enum kind {
    KIND_NULL = 1,
    KIND_BOOLEAN = 2,
    KIND_OBJECT = 4,
    KIND_ARRAY = 8,
    KIND_NUMBER = 16,
    KIND_STRING = 32,
    KIND_INTEGER = 64,          /* a value has it together with NUMBER */
    KIND_ANY = 127
};

unsigned kind_of(const allm_json *v);               /* 0: no value */
unsigned kind_named(struct slice name);             /* 0: no such type */
void kind_write(struct buf *out, unsigned kinds);   /* "string or null" */

/* The singular or plural form for n. */
static inline const char *word_for(size_t n, const char *one, const char *more)
{
    return n == 1 ? one : more;
}

enum { BRIEF_LENGTH = 60 };

/* A value as JSON, a string in quotes: shortened to about BRIEF_LENGTH bytes,
 * between code points. */
void brief_write(struct buf *out, const allm_json *v);
void brief_write_text(struct buf *out, struct slice text);

/* Shorten a text that was written from `start` on to at most `length` bytes. */
void brief_cut(struct buf *out, size_t start, size_t length);
