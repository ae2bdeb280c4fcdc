/*
 * emit.h - write JSON text from the outside in
 *
 * The sister of build.h for those who want bytes and no value: what is given
 * goes straight into the buffer.  The order of calls is the caller's care, and
 * so is that the keys of an object differ; a broken buffer is told by itself.
 */
#ifndef JSON_EMIT_H
#define JSON_EMIT_H

#include "base/buf.h"

struct emit {
    struct buf *out;
    bool comma;                 /* the next value stands behind another */
};

void emit_init(struct emit *e, struct buf *out);

void emit_open(struct emit *e, char bracket);   /* '{' or '[' */
void emit_close(struct emit *e, char bracket);

void emit_key(struct emit *e, struct slice key);
void emit_text(struct emit *e, struct slice text);

/* A key, a text, that is known to need no escape, such as a name of ours. */
void emit_name(struct emit *e, struct slice name);
void emit_word(struct emit *e, const char *word);

/* Members by such names: the key alone; a text (NULL: ""), a word; the beginning
 * of an object or a list. */
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

/* The text of a whole value, as it is to stand; base64 needs no escape. */
void emit_raw(struct emit *e, struct slice json);

#endif
