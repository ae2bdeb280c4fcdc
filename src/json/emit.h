/*
 * emit.h - write JSON text directly into a buffer
 *
 * The counterpart of build.h for a caller that needs text, not a value.  The
 * caller is responsible for the order of calls and for keys that differ within
 * an object; a failure shows as a broken buffer.
 */
#pragma once

#include "base/rope.h"

struct emit {
    struct buf *out;
    struct rope_loans *loans;   /* the text is a rope; NULL: it is not */
    bool comma;                 /* the next value follows another one */
};

void emit_init(struct emit *e, struct buf *out);

/* Reserve n bytes after the comma that is due; NULL: no memory. */
static inline char *emit_begin(struct emit *e, size_t n)
{
    struct buf *out = e->out;
    n += e->comma;
    bool fits = out->cap - out->len > n && !out->broken;
    if (!fits && !buf_reserve(out, n))
        return NULL;
    char *at = out->ptr + out->len;
    *at = ',';
    return at + e->comma;
}

/* Commit the text up to `at`. */
static inline void emit_finish(struct emit *e, char *at, bool comma)
{
    *at = '\0';
    e->out->len = (size_t)(at - e->out->ptr);
    e->comma = comma;
}

/* A key of ours as it is written.  Copying it needs no length. */
struct emit_label {
    char text[31];
    unsigned char len;
};

#define EMIT_LABEL(literal) \
    { .text = "\"" literal "\":", .len = sizeof(literal) + 2 }

/* Such a key, in place of emit_name(); with null behind it. */
void emit_label(struct emit *e, const struct emit_label *label);
void emit_label_null(struct emit *e, const struct emit_label *label);

void emit_open(struct emit *e, char bracket);   /* '{' or '[' */
void emit_close(struct emit *e, char bracket);

void emit_key(struct emit *e, struct slice key);
void emit_text(struct emit *e, struct slice text);

/* A key, or a string, that needs no escaping, such as a name of ours. */
void emit_name(struct emit *e, struct slice name);
void emit_word(struct emit *e, const char *word);

/* Members with such names: the key alone; a string (NULL: ""); a string that
 * needs no escaping; the start of an object or an array; other values. */
static inline void emit_at(struct emit *e, const char *name)
{
    emit_name(e, slice_of(name));
}

static inline void emit_member(struct emit *e, const char *name,
                               const char *text)
{
    emit_at(e, name);
    emit_text(e, slice_of(text ? text : ""));
}

static inline void emit_member_word(struct emit *e, const char *name,
                                    const char *word)
{
    emit_at(e, name);
    emit_word(e, word);
}

static inline void emit_member_open(struct emit *e, const char *name,
                                    char bracket)
{
    emit_at(e, name);
    emit_open(e, bracket);
}

void emit_value(struct emit *e, const allm_json *v);    /* NULL breaks it */
void emit_int(struct emit *e, int64_t n);
void emit_uint(struct emit *e, uint64_t n);
void emit_number(struct emit *e, double x);     /* not finite: null */
void emit_bool(struct emit *e, bool value);
void emit_null(struct emit *e);

/* The JSON text of a whole value, copied as it is; base64 needs no escaping. */
void emit_raw(struct emit *e, struct slice json);

/* The same for text that outlives this one: if the text is a rope, a long one
 * is not copied. */
void emit_borrowed(struct emit *e, struct slice json);

#define EMIT_MEMBER(kind, type) \
    static inline void emit_member_##kind(struct emit *e, const char *name, \
                                          type value) \
    { \
        emit_at(e, name); \
        emit_##kind(e, value); \
    }
EMIT_MEMBER(text, struct slice)
EMIT_MEMBER(value, const allm_json *)
EMIT_MEMBER(int, int64_t)
EMIT_MEMBER(uint, uint64_t)
EMIT_MEMBER(number, double)
EMIT_MEMBER(bool, bool)
EMIT_MEMBER(raw, struct slice)
#undef EMIT_MEMBER

/* A member of an object, given by its key. */
void emit_entry(struct emit *e, const allm_json *key);

/* The bytes so far, including those that are borrowed. */
static inline size_t emit_len(const struct emit *e)
{
    return e->out->len + (e->loans ? e->loans->len : 0);
}
