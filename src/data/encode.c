/*
 * encode.c - write structs as JSON, by the table of their fields
 *
 *      tagged   {"__type__": "ALLM.Message", "data": {"role": "user", ...}}
 *      plain    {"role": "user", ...}
 *
 * Every field is written, in the order of the table, nulls included; then the
 * members that were kept when the struct was read.
 */
#include "data/encode.h"

#include "base/status.h"
#include "base/text.h"
#include "data/plain.h"
#include "json/build.h"
#include "json/json.h"
#include "json/parse.h"

#include <stdint.h>

/* How carefully the length of a text is estimated before it is written. */
enum { SAMPLES = 8, MOST_ROOM = 16 * 1024 * 1024 };

/* ------------------------------------------------------------ members --- */

void encode_text(struct encoder *e, const char *text)
{
    if (text)
        emit_text(&e->emit, slice_of(text));
    else
        emit_null(&e->emit);
}

void encode_json(struct encoder *e, const allm_json *v)
{
    if (e->form == ALLM_FORM_PLAIN && !json_is_empty(v))
        plain_write(&e->emit, v);
    else
        emit_value(&e->emit, v);
}

static void write_int(struct encoder *e, const struct shape_field *f,
                      const void *value)
{
    const allm_int *n = shape_at(f, value);
    if (n->set)
        emit_int(&e->emit, n->value);
    else if (f->has_fallback)
        emit_int(&e->emit, f->fallback);
    else
        emit_null(&e->emit);
}

static void write_num(struct encoder *e, const struct shape_field *f,
                      const void *value)
{
    const allm_num *x = shape_at(f, value);
    if (x->set)
        emit_number(&e->emit, x->value);
    else
        emit_null(&e->emit);
}

static void write_bytes(struct encoder *e, const struct shape_field *f,
                        const void *value)
{
    const char *text = shape_pointer(f, value);
    if (text)
        emit_text(&e->emit, (struct slice){ text, shape_count(f, value) });
    else
        emit_null(&e->emit);
}

static void write_word(struct encoder *e, const struct shape_field *f,
                       const void *value)
{
    uint32_t n = *(const uint32_t *)shape_at(f, value);
    const char *word = n < f->words->count ? f->words->word[n] : NULL;
    if (word)
        emit_word(&e->emit, word);
    else
        emit_null(&e->emit);
}

static void write_many(struct encoder *e, const struct shape_field *f,
                       const void *value)
{
    const void *const *item = shape_pointer(f, value);
    size_t n = shape_count(f, value);
    emit_open(&e->emit, '[');
    for (size_t i = 0; i < n; i++)
        encode_value(e, f->of, item[i]);
    emit_close(&e->emit, ']');
}

static void write_json(struct encoder *e, const struct shape_field *f,
                       const void *value)
{
    const allm_json *json = shape_pointer(f, value);
    if (json)
        encode_json(e, json);
    else
        emit_raw(&e->emit, f->kind == SHAPE_MAP     ? SLICE("{}")
                           : f->kind == SHAPE_ARRAY ? SLICE("[]")
                                                    : SLICE("null"));
}

static void write_field(struct encoder *e, const struct shape_field *f,
                        const void *value)
{
    switch (f->kind) {
    case SHAPE_TEXT:
        encode_text(e, shape_pointer(f, value));
        break;
    case SHAPE_BYTES:
        write_bytes(e, f, value);
        break;
    case SHAPE_FLAG:
        emit_bool(&e->emit, !shape_is_default(f, value));
        break;
    case SHAPE_ENUM:
        write_word(e, f, value);
        break;
    case SHAPE_COUNT:
        emit_uint(&e->emit, *(const uint64_t *)shape_at(f, value));
        break;
    case SHAPE_INT:
        write_int(e, f, value);
        break;
    case SHAPE_NUM:
        write_num(e, f, value);
        break;
    case SHAPE_MAP:
    case SHAPE_ARRAY:
    case SHAPE_ANY:
        write_json(e, f, value);
        break;
    case SHAPE_ONE:
        encode_value(e, f->of, shape_pointer(f, value));
        break;
    case SHAPE_MANY:
        write_many(e, f, value);
        break;
    case SHAPE_THREAD:
        f->own->write(e, shape_pointer(f, value));
        break;
    case SHAPE_OWN:
        f->own->write(e, value);
        break;
    case SHAPE_POINTER:
        emit_null(&e->emit);
        break;
    }
}

/* ------------------------------------------------------------ structs --- */

static bool is_lifted(const struct shape_field *f, const void *value)
{
    return (f->flags & SHAPE_LIFTED) && !shape_is_default(f, value);
}

static bool any_lifted(const struct shape *s, const void *value)
{
    for (const struct shape_field *f = s->fields; f->name; f++)
        if (is_lifted(f, value))
            return true;
    return false;
}

/* Is this member of the metadata a field of the struct? */
static bool lifted(const struct shape *s, const void *value, struct slice name)
{
    for (const struct shape_field *f = s->fields; f->name; f++)
        if (is_lifted(f, value) && slice_eq(name, shape_name(f)))
            return true;
    return false;
}

/* The metadata, with the fields of the struct that JSON has inside it. */
static void write_metadata(struct encoder *e, const struct shape *s,
                           const allm_json *map, const void *value)
{
    emit_open(&e->emit, '{');
    for (const allm_json *k = NULL; (k = allm_json_next(map, k));) {
        if (lifted(s, value, json_slice(k)))
            continue;
        emit_key(&e->emit, json_slice(k));
        encode_json(e, allm_json_value(k));
    }
    for (const struct shape_field *f = s->fields; f->name; f++) {
        if (!is_lifted(f, value))
            continue;
        emit_label(&e->emit, &f->label);
        write_field(e, f, value);
    }
    emit_close(&e->emit, '}');
}

/* Is the field a member in this form? */
static bool is_written(const struct encoder *e, const struct shape_field *f)
{
    if (f->flags & (SHAPE_HIDDEN | SHAPE_LIFTED))
        return false;
    return !(f->flags & SHAPE_PLAIN) || e->form == ALLM_FORM_PLAIN;
}

static bool is_member(const struct encoder *e, const struct shape *s,
                      struct slice name)
{
    for (const struct shape_field *f = s->fields; f->name; f++)
        if (is_written(e, f) && slice_eq(name, shape_name(f)))
            return true;
    return false;
}

/* Write what was kept, except members that have a field. */
static void write_kept(struct encoder *e, const struct shape *s,
                       const allm_json *kept)
{
    if (allm_json_type_of(kept) != ALLM_JSON_OBJECT)
        return;
    for (const allm_json *k = NULL; (k = allm_json_next(kept, k));) {
        if (is_member(e, s, json_slice(k)))
            continue;
        emit_key(&e->emit, json_slice(k));
        encode_json(e, allm_json_value(k));
    }
}

static bool is_metadata(const struct shape_field *f)
{
    return f->kind == SHAPE_MAP && slice_eq(shape_name(f), SLICE("metadata"));
}

/* Is the field empty, and optional in JSON? {} counts as empty, too. */
static bool may_be_left_out(const struct shape_field *f, const void *value)
{
    if (!(f->flags & SHAPE_SPARE))
        return false;
    return shape_is_default(f, value) ||
           (f->kind == SHAPE_MAP && !allm_json_count(shape_pointer(f, value)));
}

/* Is the field written as null? */
static bool is_null(const struct shape_field *f, const void *value)
{
    switch (f->kind) {
    case SHAPE_TEXT:
    case SHAPE_BYTES:
    case SHAPE_ANY:
    case SHAPE_ONE:
        return !shape_pointer(f, value);
    case SHAPE_INT:
        return !((const allm_int *)shape_at(f, value))->set && !f->has_fallback;
    case SHAPE_NUM:
        return !((const allm_num *)shape_at(f, value))->set;
    default:
        return false;
    }
}

static void write_member(struct encoder *e, const struct shape *s,
                         const struct shape_field *f, const void *value)
{
    const allm_json *kept = shape_kept(s, value), *odd = NULL;
    if (kept && !(f->flags & SHAPE_PLAIN))
        odd = json_get(kept, shape_name(f));
    if (!odd && may_be_left_out(f, value))
        return;
    if (!odd && is_null(f, value)) {
        emit_label_null(&e->emit, &f->label);
        return;
    }
    emit_label(&e->emit, &f->label);
    if (odd)
        encode_json(e, odd);
    else if (is_metadata(f) && any_lifted(s, value))
        write_metadata(e, s, shape_pointer(f, value), value);
    else
        write_field(e, f, value);
}

void encode_members(struct encoder *e, const struct shape *s, const void *value)
{
    for (const struct shape_field *f = s->fields; f->name; f++)
        if (is_written(e, f))
            write_member(e, s, f, value);
    if (shape_kept(s, value))
        write_kept(e, s, shape_kept(s, value));
}

/* The beginning of the envelope, as one token. */
static void open_tagged(struct encoder *e, const struct shape *s)
{
    static const struct slice type = SLICE_INIT("{\"__type__\":\"");
    static const struct slice data = SLICE_INIT("\",\"data\":{");
    struct slice tag = slice_of(s->tag);
    char *at = emit_begin(&e->emit, type.len + tag.len + data.len);
    if (!at)
        return;
    at = slice_put(slice_put(slice_put(at, type), tag), data);
    emit_finish(&e->emit, at, false);
}

void encode_value(struct encoder *e, const struct shape *s, const void *value)
{
    if (!value) {
        emit_null(&e->emit);
        return;
    }
    s = shape_of(s, value);
    const allm_json *stranger = shape_stranger(s, value);
    if (stranger) {
        encode_json(e, stranger);
        return;
    }
    if (e->form == ALLM_FORM_TAGGED)
        open_tagged(e, s);
    else
        emit_open(&e->emit, '{');
    encode_members(e, s, value);
    emit_close(&e->emit, '}');
    if (e->form == ALLM_FORM_TAGGED)
        emit_close(&e->emit, '}');
}

/* -------------------------------------------------------------- texts --- */

bool encode_begin(struct encoder *e, struct mem mem, allm_form form)
{
    *e = (struct encoder){ .text = text_begin(mem, 0), .form = form };
    e->arena = text_arena(e->text);
    buf_init(&e->out, e->arena, SIZE_MAX / 2);
    emit_init(&e->emit, &e->out);
    return e->text;
}

/* Approximately the bytes that n structs take; of many, only a few are
 * sampled. */
static size_t room_for(const struct shape *s, const void *const *item, size_t n)
{
    size_t room = 0, step = n / SAMPLES + 1;
    for (size_t i = 0; i < n; i += step) {
        size_t one = 40;        /* the envelope */
        for (const struct shape_field *f = s->fields; f->name; f++) {
            const void *p = shape_pointer(f, item[i]);
            if (!(f->flags & (SHAPE_HIDDEN | SHAPE_LIFTED | SHAPE_SPARE)))
                one += f->len + 8;      /* "name":null, */
            if (f->kind == SHAPE_BYTES)
                one += shape_count(f, item[i]);
            else if (f->kind == SHAPE_MAP)
                one += json_size(p);
            else if (f->kind == SHAPE_MANY)
                one += room_for(f->of, p, shape_count(f, item[i]));
        }
        room += one * step;
    }
    return room;
}

void encode_reserve(struct encoder *e, const struct shape *s, const void *value)
{
    size_t room = room_for(s, &value, 1);
    buf_reserve(e->emit.out, room < MOST_ROOM ? room : MOST_ROOM);
}

allm_text *encode_finish(struct encoder *e)
{
    bool nomem = e->error ? e->error->kind == ALLM_ERR_NOMEM : e->out.broken;
    if (nomem) {
        allm_text_free(e->text);
        return NULL;
    }
    if (e->error)
        return text_fail(e->text, status_retell(e->arena, e->error));
    return text_finish(e->text, buf_slice(&e->out));
}

allm_text *encode_to_text(const struct shape *s, const void *value,
                          allm_form form)
{
    struct encoder e;
    if (!value || !encode_begin(&e, mem_default(), form))
        return NULL;
    /* A caller's own struct is normalised first. */
    const struct shape_head *mine = shape_keep(s, value, mem_default(), e.arena,
                                               &e.error);
    if (mine) {
        encode_value(&e, s, mine);
        home_drop(mine->home);
    }
    return encode_finish(&e);
}

/* Numbers and maps only, such as a usage: its value needs no text first. */
static bool is_flat(const struct shape *s, const void *value)
{
    for (const struct shape_field *f = s->fields; f->name; f++)
        if ((f->kind != SHAPE_INT && f->kind != SHAPE_NUM &&
             f->kind != SHAPE_MAP) ||
            f->flags || f->has_fallback)
            return false;
    return !s->pick && !shape_kept(s, value);
}

static void build_field(struct build *b, const struct shape_field *f,
                        const void *value)
{
    build_key(b, shape_name(f));
    if (f->kind == SHAPE_MAP && shape_is_default(f, value))
        build_value(b, json_empty_object());
    else if (f->kind == SHAPE_MAP)
        build_value_copy(b, shape_pointer(f, value));
    else if (shape_is_default(f, value))
        build_null(b);
    else if (f->kind == SHAPE_INT)
        build_int(b, ((const allm_int *)shape_at(f, value))->value);
    else
        build_number(b, ((const allm_num *)shape_at(f, value))->value);
}

/* The tagged form of a flat struct. */
static const allm_json *build_flat(struct arena *a, const struct shape *s,
                                   const void *value, const allm_error **error)
{
    struct build b = build_object_in(a);
    build_text_at(&b, "__type__", slice_of(s->tag));
    build_object_at(&b, "data");
    for (const struct shape_field *f = s->fields; f->name; f++)
        build_field(&b, f, value);
    build_end(&b);
    const allm_json *made = build_finish(&b);
    *error = made ? NULL : status_nomem();
    return made;
}

const allm_json *encode_to_json(struct arena *a, const struct shape *s,
                                const void *value, allm_form form,
                                const allm_error **error)
{
    const struct json_limits any = { .max_bytes = SIZE_MAX,
                                     .max_depth = UINT32_MAX,
                                     .duplicates = true };
    struct encoder e;
    const allm_error *ignored;
    if (!error)
        error = &ignored;
    if (form == ALLM_FORM_TAGGED && value && is_flat(s, value))
        return build_flat(a, s, value, error);
    *error = status_nomem();
    if (!encode_begin(&e, a->mem, form))
        return NULL;
    encode_value(&e, s, value);
    const allm_json *made = NULL;
    if (e.error)
        *error = status_retell(a, e.error);
    else if (!e.out.broken)
        made = json_parse(a, buf_slice(&e.out), any, error);
    allm_text_free(e.text);
    return made;
}

const allm_error *encode_to_emit(struct emit *out, struct arena *a,
                                 const struct shape *s, const void *value,
                                 allm_form form)
{
    struct encoder e = { .emit = *out, .arena = a, .form = form };
    encode_value(&e, s, value);
    *out = e.emit;
    return e.error;
}
