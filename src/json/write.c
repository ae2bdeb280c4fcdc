/*
 * write.c - write a JSON value as text; equal values give equal bytes
 *
 * One pass over the values in memory, with a stack of the open containers.
 * Room is reserved for what is certain to be written, and for escapes one by
 * one, so a string is never given six times its length.  Bytes that are not
 * UTF-8 (only build_text() accepts them) become U+FFFD, one for each: the
 * result is always JSON.
 */
#include "json/write.h"

#include "base/status.h"
#include "base/text.h"
#include "base/utf8.h"
#include "json/number.h"
#include "json/stack.h"
#include "json/val.h"

struct level {                  /* a container that is being written */
    size_t left;                /* values, keys included, still to be written */
    bool object;
};

enum { LEVELS = 32 };           /* before the stack moves to the heap */

struct writer {
    struct buf *out;
    char *at, *end;             /* free room in out, after its length */
    struct stack *levels;       /* of containers; a lone string has none */
    bool pretty;
    bool failed;
};

/* -------------------------------------------------------------- bytes --- */

static void take_room(struct writer *w)
{
    w->at = w->out->ptr + w->out->len;
    w->end = w->out->ptr + w->out->cap - 1;     /* for the NUL */
}

/* Make room for n bytes at w->at. */
static bool more_room(struct writer *w, size_t n)
{
    if (w->at)
        w->out->len = (size_t)(w->at - w->out->ptr);
    if (w->failed || !buf_reserve(w->out, n)) {
        w->failed = true;
        return false;
    }
    take_room(w);
    return true;
}

static inline bool ensure_room(struct writer *w, size_t n)
{
    return (size_t)(w->end - w->at) >= n || more_room(w, n);
}

static inline void append_bytes(struct writer *w, const char *bytes, size_t n)
{
    if (!ensure_room(w, n))
        return;
    memcpy(w->at, bytes, n);
    w->at += n;
}

static inline void put_byte(struct writer *w, char c)
{
    if (ensure_room(w, 1))
        *w->at++ = c;
}

static void put_line(struct writer *w, size_t depth)
{
    put_byte(w, '\n');
    for (size_t i = 0; i < depth; i++)
        append_bytes(w, "  ", 2);
}

/* -------------------------------------------------------------- texts --- */

#define EVERY(byte) ((uint64_t)0x0101010101010101u * (byte))

/* Does one of eight bytes need a closer look: a control character, a quote, a
 * backslash, or the start of a sequence beyond ASCII? */
static inline bool has_special(uint64_t word)
{
    uint64_t quote = word ^ EVERY('"');
    uint64_t backslash = word ^ EVERY('\\');
    uint64_t found = (word - EVERY(0x20)) | (quote - EVERY(1)) |
                     (backslash - EVERY(1)) | word;
    return (found & EVERY(0x80)) != 0;
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\' && c < 0x80;
}

/* Write one byte that must be escaped. */
static void put_escaped(struct writer *w, unsigned char c)
{
    static const char hex[] = "0123456789ABCDEF";
    switch (c) {
    case '"':  append_bytes(w, "\\\"", 2); return;
    case '\\': append_bytes(w, "\\\\", 2); return;
    case '\b': append_bytes(w, "\\b", 2); return;
    case '\f': append_bytes(w, "\\f", 2); return;
    case '\n': append_bytes(w, "\\n", 2); return;
    case '\r': append_bytes(w, "\\r", 2); return;
    case '\t': append_bytes(w, "\\t", 2); return;
    default:   break;
    }
    if (c >= 0x80)
        append_bytes(w, "\xEF\xBF\xBD", 3);
    else
        append_bytes(w,
                     (char[]){ '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] },
                     6);
}

/* json_put_plain(), without the call. */
static inline char *put_ascii(char *at, struct slice *s)
{
    const char *from = s->ptr, *end = from + s->len;
    uint64_t word[2];
    while ((size_t)(end - from) >= sizeof word) {
        memcpy(word, from, sizeof word);
        if (has_special(word[0]) | has_special(word[1]))
            break;
        memcpy(at, word, sizeof word);
        at += sizeof word;
        from += sizeof word;
    }
    size_t left = (size_t)(end - from);
    if (left >= sizeof *word && left < sizeof word) {
        memcpy(word, from, sizeof *word);
        if (!has_special(*word)) {
            memcpy(at, word, sizeof *word);
            at += sizeof *word;
            from += sizeof *word;
        }
    }
    while (from < end && is_plain((unsigned char)*from))
        *at++ = *from++;
    *s = (struct slice){ from, (size_t)(end - from) };
    return at;
}

char *json_put_plain(char *at, struct slice *s)
{
    return put_ascii(at, s);
}

/* Copy what needs no escaping, for which there is room; the rest of s begins
 * with a byte that needs it. */
static struct slice put_clean(struct writer *w, struct slice s)
{
    for (;;) {
        w->at = put_ascii(w->at, &s);
        struct slice before = s;
        uint32_t point;
        if (!s.len || !((unsigned char)*s.ptr & 0x80) || !utf8_take(&s, &point))
            return s;
        memcpy(w->at, before.ptr, before.len - s.len);
        w->at += before.len - s.len;
    }
}

/* A string whose bytes may need escaping, between quotes. */
static void put_quoted(struct writer *w, struct slice s)
{
    if (!ensure_room(w, s.len + 2))
        return;
    *w->at++ = '"';
    s = put_clean(w, s);
    while (s.len) {
        put_escaped(w, (unsigned char)*s.ptr);
        s = slice_skip(s, 1);
        if (!ensure_room(w, s.len + 1))
            return;
        s = put_clean(w, s);
    }
    *w->at++ = '"';
}

static inline void put_text(struct writer *w, const yyjson_val *v)
{
    size_t n = val_len(v);
    if (val_subtype(v) != YYJSON_SUBTYPE_NOESC) {
        put_quoted(w, val_slice(v));
    } else if (ensure_room(w, n + 2) && w->at) {
        *w->at = '"';
        char *end = slice_put(w->at + 1, val_slice(v));
        *end = '"';
        w->at = end + 1;
    }
}

/* ------------------------------------------------------------- values --- */

static void put_number(struct writer *w, const yyjson_val *v)
{
    char text[NUMBER_ROOM];
    size_t n = number_write(v, text);
    if (n == 0)
        w->failed = true;
    append_bytes(w, text, n);
}

/* Anything but a string or a container. */
static void put_scalar(struct writer *w, const yyjson_val *v)
{
    switch (val_type(v)) {
    case YYJSON_TYPE_NUM:
        put_number(w, v);
        return;
    case YYJSON_TYPE_RAW:
        append_bytes(w, v->uni.str, val_len(v));
        return;
    case YYJSON_TYPE_NULL:
        append_bytes(w, "null", 4);
        return;
    case YYJSON_TYPE_BOOL:
        if (val_subtype(v) == YYJSON_SUBTYPE_TRUE)
            append_bytes(w, "true", 4);
        else
            append_bytes(w, "false", 5);
        return;
    default:
        w->failed = true;
    }
}

/* Begin a container; an empty one is written at once.  Returns its level, or
 * the one that contains it. */
static struct level *open_level(struct writer *w, const yyjson_val *v)
{
    bool object = val_type(v) == YYJSON_TYPE_OBJ;
    if (val_len(v) == 0) {
        append_bytes(w, object ? "{}" : "[]", 2);
        return stack_top(w->levels);
    }
    struct level *level = stack_push(w->levels);
    if (!level) {
        w->failed = true;
        return NULL;
    }
    *level = (struct level){ object ? 2 * val_len(v) : val_len(v), object };
    put_byte(w, object ? '{' : '[');
    return level;
}

/* The separator between two values of a container. */
static inline void put_separator(struct writer *w, const struct level *level)
{
    if (level->object && (level->left & 1)) {
        put_byte(w, ':');
        if (w->pretty)
            put_byte(w, ' ');
        return;
    }
    put_byte(w, ',');
    if (w->pretty)
        put_line(w, w->levels->count);
}

/* A value has been written: close the containers that it was the last of.
 * Returns the level that continues, if any. */
static inline struct level *close_levels(struct writer *w, struct level *level)
{
    while (level && --level->left == 0) {
        char bracket = level->object ? '}' : ']';
        level = stack_pop(w->levels);
        if (w->pretty)
            put_line(w, w->levels->count);
        put_byte(w, bracket);
    }
    if (level)
        put_separator(w, level);
    return level;
}

static void put_values(struct writer *w, const yyjson_val *v)
{
    struct level *level = NULL;
    do {
        if (val_type(v) == YYJSON_TYPE_STR) {
            put_text(w, v);
        } else if (!val_holds(v)) {
            put_scalar(w, v);
        } else {
            level = open_level(w, v);
            if (val_len(v)) {
                if (w->pretty)
                    put_line(w, w->levels->count);
                continue;
            }
        }
        level = close_levels(w, level);
    } while (v++, level && !w->failed);
}

static struct writer begin_writer(struct buf *out)
{
    struct writer w = { .out = out, .failed = out->broken };
    if (out->ptr)
        take_room(&w);
    return w;
}

/* Commit the bytes; false, and out is broken, if writing failed.  Its bytes end
 * with a NUL in both cases. */
static bool finish_writer(struct writer *w)
{
    struct buf *out = w->out;
    if (w->at) {
        out->len = (size_t)(w->at - out->ptr);
        out->ptr[out->len] = '\0';
    }
    if (w->failed)
        out->broken = true;
    return !w->failed;
}

bool json_write(struct buf *out, const allm_json *json, uint32_t flags)
{
    if (!json || out->broken) {
        out->broken = true;
        return false;
    }
    struct level first[LEVELS];
    struct stack levels;
    struct writer w = begin_writer(out);
    w.pretty = (flags & ALLM_JSON_PRETTY) != 0;
    stack_init(&levels, out->arena->mem, sizeof *first, first, LEVELS);
    w.levels = &levels;
    put_values(&w, val_of(json));
    stack_release(&levels);
    return finish_writer(&w);
}

bool json_write_text(struct buf *out, struct slice text)
{
    struct writer w = begin_writer(out);
    put_quoted(&w, text);
    return finish_writer(&w);
}

/* --------------------------------------------------------- the public --- */

/* The approximate length of the text, in the steps by which a buffer grows. */
static size_t guess_length(const allm_json *v)
{
    size_t n = val_span(val_of(v));
    size_t guess = val_text_bytes(val_of(v), n) + 4 * n, step = 64;
    while (step <= guess && step < SIZE_MAX / 2)
        step *= 2;
    return step;
}

allm_text *allm_json_write(const allm_json *v, uint32_t flags)
{
    if (!v)
        return NULL;
    allm_text *t = text_begin(mem_default(), guess_length(v));
    if (!t)
        return NULL;
    if (allm_json_type_of(v) == ALLM_JSON_NONE)
        return text_fail(t,
                         status_error(text_arena(t), ALLM_ERR_MISUSE, "misuse",
                                      "a JSON value of type NONE "
                                      "cannot be written; "
                                      "allm_json_error() returns the reason"));
    struct buf out = buf_in(text_arena(t), SIZE_MAX / 2);
    if (!json_write(&out, v, flags))
        return text_fail(t, status_nomem());
    return text_finish(t, buf_slice(&out));
}
