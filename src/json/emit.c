/*
 * emit.c - write JSON text directly into a buffer
 *
 * Invariant: comma is false after an opening bracket and after a key, and true
 * after a value.
 */
#include "json/emit.h"

#include "json/json.h"
#include "json/number.h"
#include "json/write.h"

/* Below, copying is cheaper; up to here, a string is tried without escapes. */
enum { LEAST_LOAN = 128, MOST_TRIED = 256 };

void emit_init(struct emit *e, struct buf *out)
{
    *e = (struct emit){ .out = out };
}

void emit_raw(struct emit *e, struct slice json)
{
    char *at = emit_begin(e, json.len);
    if (!at)
        return;
    emit_finish(e, slice_put(at, json), true);
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
    char *at = emit_begin(e, 1);
    if (!at)
        return;
    *at = bracket;
    emit_finish(e, at + 1, false);
}

void emit_close(struct emit *e, char bracket)
{
    e->comma = false;
    char *at = emit_begin(e, 1);
    if (!at)
        return;
    *at = bracket;
    emit_finish(e, at + 1, true);
}

/* The label, if there is room for more than it needs: returns its end. */
static inline char *put_label(struct emit *e, const struct emit_label *label)
{
    struct buf *out = e->out;
    if (out->broken || out->cap - out->len < sizeof *label + 8)
        return NULL;
    char *at = out->ptr + out->len;
    *at = ',';
    at += e->comma;
    memcpy(at, label, sizeof *label);
    return at + label->len;
}

void emit_label(struct emit *e, const struct emit_label *label)
{
    char *at = put_label(e, label);
    if (at)
        emit_finish(e, at, false);
    else
        emit_raw(e, (struct slice){ label->text, label->len });
    e->comma = false;
}

void emit_label_null(struct emit *e, const struct emit_label *label)
{
    char *at = put_label(e, label);
    if (at) {
        memcpy(at, "null", 4);
        emit_finish(e, at + 4, true);
    } else {
        emit_label(e, label);
        emit_null(e);
    }
}

void emit_name(struct emit *e, struct slice name)
{
    char *at = emit_begin(e, name.len + 3);
    if (!at)
        return;
    *at++ = '"';
    at = slice_put(at, name);
    *at++ = '"';
    *at++ = ':';
    emit_finish(e, at, false);
}

void emit_word(struct emit *e, const char *word)
{
    struct slice text = slice_of(word);
    char *at = emit_begin(e, text.len + 2);
    if (!at)
        return;
    *at++ = '"';
    at = slice_put(at, text);
    *at++ = '"';
    emit_finish(e, at, true);
}

/* A short string, unless something in it must be escaped. */
static bool put_short(struct emit *e, struct slice text)
{
    char *at = text.len <= MOST_TRIED ? emit_begin(e, text.len + 2) : NULL;
    if (!at)
        return false;
    *at++ = '"';
    at = json_put_plain(at, &text);
    if (text.len) {
        e->out->ptr[e->out->len] = '\0';
        return false;
    }
    *at++ = '"';
    emit_finish(e, at, true);
    return true;
}

void emit_text(struct emit *e, struct slice text)
{
    if (put_short(e, text))
        return;
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
    if (json_is_empty(v)) {
        emit_raw(e,
                 json_has_tag(v, JSON_TAG_OBJECT) ? SLICE("{}") : SLICE("[]"));
        return;
    }
    if (e->comma)
        buf_byte(e->out, ',');
    json_write(e->out, v, 0);
    e->comma = true;
}

void emit_entry(struct emit *e, const allm_json *key)
{
    emit_key(e, json_slice(key));
    emit_value(e, allm_json_value(key));
}

void emit_int(struct emit *e, int64_t n)
{
    emit_raw(e, SLICE(""));
    buf_int(e->out, n);
}

void emit_uint(struct emit *e, uint64_t n)
{
    char digits[20], *end = digits + sizeof digits, *at = end;
    do {
        *--at = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    emit_raw(e, (struct slice){ at, (size_t)(end - at) });
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
    char *at = emit_begin(e, 4);
    if (!at)
        return;
    memcpy(at, "null", 4);
    emit_finish(e, at + 4, true);
}
