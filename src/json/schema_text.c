/* schema_text.c - places, types and values as text for messages */
#include "json/schema_text.h"

#include "json/json.h"
#include "json/number.h"
#include "json/schema_number.h"

/* ------------------------------------------------------------- places --- */

size_t place_depth(const struct place *p)
{
    size_t depth = 0;
    for (; p; p = p->up)
        depth++;
    return depth;
}

static size_t decimal_length(size_t n)
{
    size_t length = 1;
    for (; n > 9; n /= 10)
        length++;
    return length;
}

/* The bytes of a step, including its "/". */
static size_t step_length(const struct place *p)
{
    if (!p->key.ptr)
        return 1 + decimal_length(p->index);
    size_t length = 1 + p->key.len;
    for (size_t i = 0; i < p->key.len; i++)
        length += p->key.ptr[i] == '~' || p->key.ptr[i] == '/';
    return length;
}

/* Write a step so that it ends at `end`; returns its start. */
static char *write_step(char *end, const struct place *p)
{
    if (!p->key.ptr) {
        size_t n = p->index;
        do {
            *--end = (char)('0' + n % 10);
            n /= 10;
        } while (n);
    }
    for (size_t i = p->key.ptr ? p->key.len : 0; i > 0; i--) {
        char c = p->key.ptr[i - 1];
        if (c == '~' || c == '/') {     /* RFC 6901, 3 */
            *--end = c == '~' ? '0' : '1';
            c = '~';
        }
        *--end = c;
    }
    *--end = '/';
    return end;
}

/* The bytes of the whole pointer, or some length beyond PLACE_LONGEST. */
static size_t pointer_length(const struct place *p)
{
    size_t length = 0;
    for (; p && length <= PLACE_LONGEST; p = p->up)
        length += step_length(p);
    return length;
}

void place_write(struct buf *out, const struct place *p)
{
    size_t length = pointer_length(p);
    while (length > PLACE_LONGEST) {
        p = p->up;
        length = pointer_length(p);
    }
    if (!buf_reserve(out, length))
        return;
    char *end = out->ptr + out->len + length;
    for (; p; p = p->up)        /* from the last step to the first */
        end = write_step(end, p);
    out->len += length;
    out->ptr[out->len] = '\0';
}

/* -------------------------------------------------------------- kinds --- */

static const struct {
    const char *name;
    unsigned kind;
} kinds_named[] = {
    { "string", KIND_STRING },   { "number", KIND_NUMBER },
    { "integer", KIND_INTEGER }, { "boolean", KIND_BOOLEAN },
    { "array", KIND_ARRAY },     { "object", KIND_OBJECT },
    { "null", KIND_NULL },
};

enum { KINDS = sizeof kinds_named / sizeof *kinds_named };

unsigned kind_of(const allm_json *v)
{
    switch (allm_json_type_of(v)) {
    case ALLM_JSON_NONE:   return 0;
    case ALLM_JSON_NULL:   return KIND_NULL;
    case ALLM_JSON_BOOL:   return KIND_BOOLEAN;
    case ALLM_JSON_INT:    return KIND_NUMBER | KIND_INTEGER;
    case ALLM_JSON_TEXT:   return KIND_STRING;
    case ALLM_JSON_ARRAY:  return KIND_ARRAY;
    case ALLM_JSON_OBJECT: return KIND_OBJECT;
    case ALLM_JSON_REAL:
    case ALLM_JSON_BIG:
        return KIND_NUMBER | (decimal_is_whole(v) ? KIND_INTEGER : 0u);
    }
    return 0;
}

unsigned kind_named(struct slice name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (slice_is(name, kinds_named[i].name))
            return kinds_named[i].kind;
    return 0;
}

void kind_write(struct buf *out, unsigned kinds)
{
    if (kinds & KIND_NUMBER)
        kinds &= ~(unsigned)KIND_INTEGER;   /* every integer is a number */
    for (size_t i = 0; i < KINDS; i++) {
        if (!(kinds & kinds_named[i].kind))
            continue;
        buf_text(out, kinds_named[i].name);
        kinds &= ~kinds_named[i].kind;
        if (kinds)
            buf_text(out, kinds & (kinds - 1) ? ", " : " or ");
    }
}

/* -------------------------------------------------------------- brief --- */

/* Writes up to `end`; the rest is lost and removed by brief_cut(). */
struct brief {
    struct buf *out;
    size_t end;
};

static bool is_full(const struct brief *b)
{
    return b->out->broken || b->out->len > b->end;
}

static void add_char(struct brief *b, char c)
{
    static const char *const hex = "0123456789abcdef";
    if (c == '"' || c == '\\')
        buf_byte(b->out, '\\');
    if ((unsigned char)c >= ' ' && c != 0x7F) {
        buf_byte(b->out, c);
    } else if (c == '\n') {
        buf_text(b->out, "\\n");
    } else {
        buf_text(b->out, "\\u00");
        buf_byte(b->out, hex[(unsigned char)c >> 4]);
        buf_byte(b->out, hex[c & 15]);
    }
}

static void add_text(struct brief *b, struct slice text)
{
    buf_byte(b->out, '"');
    for (size_t i = 0; i < text.len && !is_full(b); i++)
        add_char(b, text.ptr[i]);
    buf_byte(b->out, '"');
}

static void add_number(struct brief *b, const allm_json *v)
{
    char room[NUMBER_ROOM];
    buf_add(b->out, number_text(val_of(v), room));
}

static void add_value(struct brief *b, const allm_json *v);

/* Every level writes a byte, so there are no more levels than bytes. */
static void add_container(struct brief *b, const allm_json *v, bool is_object)
{
    const allm_json *part = NULL;
    buf_byte(b->out, is_object ? '{' : '[');
    for (size_t i = 0; !is_full(b); i++) {
        part = allm_json_next(v, part);
        if (!part)
            break;
        if (i > 0)
            buf_byte(b->out, ',');
        if (is_object) {
            add_text(b, json_slice(part));
            buf_byte(b->out, ':');
        }
        add_value(b, is_object ? allm_json_value(part) : part);
    }
    buf_byte(b->out, is_object ? '}' : ']');
}

static void add_value(struct brief *b, const allm_json *v)
{
    switch (allm_json_type_of(v)) {
    case ALLM_JSON_NONE:
        buf_text(b->out, "nothing");
        break;
    case ALLM_JSON_NULL:
        buf_text(b->out, "null");
        break;
    case ALLM_JSON_BOOL:
        buf_text(b->out, allm_json_true(v) ? "true" : "false");
        break;
    case ALLM_JSON_INT:
    case ALLM_JSON_REAL:
    case ALLM_JSON_BIG:
        add_number(b, v);
        break;
    case ALLM_JSON_TEXT:
        add_text(b, json_slice(v));
        break;
    case ALLM_JSON_ARRAY:
    case ALLM_JSON_OBJECT:
        add_container(b, v, allm_json_type_of(v) == ALLM_JSON_OBJECT);
        break;
    }
}

void brief_cut(struct buf *out, size_t start, size_t length)
{
    if (out->broken || out->len - start <= length)
        return;
    size_t end = start + length;
    while (end > start && ((unsigned char)out->ptr[end] & 0xC0) == 0x80)
        end--;
    out->len = end;
    buf_text(out, "...");
}

void brief_write(struct buf *out, const allm_json *v)
{
    struct brief b = { out, out->len + BRIEF_LENGTH };
    size_t start = out->len;
    add_value(&b, v);
    brief_cut(out, start, BRIEF_LENGTH);
}

void brief_write_text(struct buf *out, struct slice text)
{
    struct brief b = { out, out->len + BRIEF_LENGTH };
    size_t start = out->len;
    add_text(&b, text);
    brief_cut(out, start, BRIEF_LENGTH);
}
