/*
 * emit.c - write JSON text directly into a buffer
 *
 * Invariant: comma is false after an opening bracket and after a key, and true
 * after a value.
 */
#include "json/emit.h"

#include "json/number.h"
#include "json/write.h"

enum { LEAST_LOAN = 128 };      /* below, copying is cheaper */

void emit_init(struct emit *e, struct buf *out)
{
    *e = (struct emit){ .out = out };
}

/* Reserve n bytes after the comma that is due. */
static inline char *begin_token(struct emit *e, size_t n)
{
    struct buf *out = e->out;
    n += e->comma;
    bool fits = out->cap - out->len > n && !out->broken;
    if (!fits && !buf_reserve(out, n))
        return NULL;
    char *at = out->ptr + out->len;
    if (e->comma)
        *at++ = ',';
    return at;
}

/* Commit the text up to `at`. */
static inline void finish_token(struct emit *e, char *at, bool comma)
{
    *at = '\0';
    e->out->len = (size_t)(at - e->out->ptr);
    e->comma = comma;
}

void emit_raw(struct emit *e, struct slice json)
{
    char *at = begin_token(e, json.len);
    if (!at)
        return;
    finish_token(e, slice_put(at, json), true);
}

void emit_borrowed(struct emit *e, struct slice json)
{
    if (!e->loans || json.len < LEAST_LOAN) {
        emit_raw(e, json);
        return;
    }
    emit_raw(e, SLICE(""));     /* the comma that is due */
    rope_borrow(e->loans, e->out, json);
}

void emit_open(struct emit *e, char bracket)
{
    char *at = begin_token(e, 1);
    if (!at)
        return;
    *at = bracket;
    finish_token(e, at + 1, false);
}

void emit_close(struct emit *e, char bracket)
{
    e->comma = false;
    emit_raw(e, (struct slice){ &bracket, 1 });
}

void emit_name(struct emit *e, struct slice name)
{
    char *at = begin_token(e, name.len + 3);
    if (!at)
        return;
    *at++ = '"';
    at = slice_put(at, name);
    *at++ = '"';
    *at++ = ':';
    finish_token(e, at, false);
}

void emit_word(struct emit *e, const char *word)
{
    struct slice text = slice_of(word);
    char *at = begin_token(e, text.len + 2);
    if (!at)
        return;
    *at++ = '"';
    at = slice_put(at, text);
    *at++ = '"';
    finish_token(e, at, true);
}

void emit_text(struct emit *e, struct slice text)
{
    if (e->comma)
        buf_byte(e->out, ',');
    json_write_text(e->out, text);
    e->comma = true;
}

void emit_key(struct emit *e, struct slice key)
{
    emit_text(e, key);
    buf_byte(e->out, ':');
    e->comma = false;
}

void emit_value(struct emit *e, const allm_json *v)
{
    if (e->comma)
        buf_byte(e->out, ',');
    json_write(e->out, v, 0);
    e->comma = true;
}

void emit_int(struct emit *e, int64_t n)
{
    emit_raw(e, SLICE(""));
    buf_int(e->out, n);
}

void emit_uint(struct emit *e, uint64_t n)
{
    emit_raw(e, SLICE(""));
    buf_uint(e->out, n);
}

void emit_number(struct emit *e, double x)
{
    const yyjson_val v = { .tag = YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL,
                           .uni.f64 = x };
    char text[NUMBER_ROOM];
    if (x - x != 0)             /* infinite, or not a number */
        emit_null(e);
    else
        emit_raw(e, (struct slice){ text, number_write(&v, text) });
}

void emit_bool(struct emit *e, bool value)
{
    emit_raw(e, value ? SLICE("true") : SLICE("false"));
}

void emit_null(struct emit *e)
{
    emit_raw(e, SLICE("null"));
}
