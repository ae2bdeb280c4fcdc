/*
 * random_struct.h - random documents, for property tests
 *
 * Written as the encoder writes them, from the same tables of fields but by
 * other code; so a document must come back byte by byte.
 */
#pragma once

#include "../json/random_value.h"
#include "data/error.h"
#include "data/image.h"
#include "data/model_ref.h"
#include "data/part.h"
#include "data/thread.h"
#include "json/emit.h"

struct gen {
    struct arena *arena;
    struct random random;
    struct buf out;
    struct emit emit;
    bool plain;
};

static inline void gen_init(struct gen *g, struct arena *a, struct random r,
                            bool plain)
{
    *g = (struct gen){ .arena = a, .random = r, .plain = plain };
    buf_init(&g->out, a, SIZE_MAX / 2);
    emit_init(&g->emit, &g->out);
}

static inline uint64_t below(struct gen *g, uint64_t n)
{
    return random_below(g->random, n);
}

static inline bool chance(struct gen *g, uint64_t one_in)
{
    return below(g, one_in) == 0;
}

/* ---------------------------------------------------------- free values --- */

/* Not null, since null is as good as absent in many places. */
static inline void gen_text(struct gen *g)
{
    emit_text(&g->emit, random_text(g->arena, g->random));
}

/* A text that a C string can hold. */
static inline void gen_name(struct gen *g)
{
    static const char *const names[] = { "", "a", "call_0", "\xC3\xA9t\xC3\xA9",
                                         "with \"quotes\"\n", "fake:m" };
    emit_text(&g->emit, slice_of(names[below(g, 6)]));
}

static inline void gen_json(struct gen *g)
{
    const allm_json *v = random_value(g->arena, g->random, 1 + below(g, 8));
    emit_value(&g->emit, v);
}

static inline void gen_map(struct gen *g, const char *stem)
{
    emit_open(&g->emit, '{');
    for (uint64_t n = chance(g, 2) ? 0 : below(g, 4); n > 0; n--) {
        char key[32];
        snprintf(key, sizeof key, "%s%d", stem, (int)n);
        emit_key(&g->emit, slice_of(key));
        gen_json(g);
    }
}

static inline void gen_array(struct gen *g)
{
    emit_open(&g->emit, '[');
    for (uint64_t n = below(g, 3); n > 0; n--)
        gen_json(g);
    emit_close(&g->emit, ']');
}

/* --------------------------------------------------------------- fields --- */

static inline void gen_struct(struct gen *g, const struct shape *s);

static inline void gen_many(struct gen *g, const struct shape *s)
{
    emit_open(&g->emit, '[');
    for (uint64_t n = below(g, 3); n > 0; n--)
        gen_struct(g, s);
    emit_close(&g->emit, ']');
}

static inline void gen_source(struct gen *g)
{
    static const char *const source[] = {
        "{\"type\":\"binary\",\"value\":\"AAECAw==\"}",
        "{\"type\":\"binary\",\"value\":\"\"}",
        "{\"type\":\"base64\",\"value\":\"any text\"}",
        "{\"type\":\"url\",\"value\":\"https://x/y?a=b\"}",
        "{\"type\":\"file\",\"value\":\"a/b.png\"}",
    };
    emit_raw(&g->emit, slice_of(source[below(g, 5)]));
}

/* {"type":"text",...} or {"type":"image",...}, as the plain form has them. */
static inline void gen_plain_part(struct gen *g)
{
    bool text = chance(g, 2);
    emit_open(&g->emit, '{');
    emit_name(&g->emit, SLICE("type"));
    emit_word(&g->emit, text ? "text" : "image");
    emit_name(&g->emit, text ? SLICE("text") : SLICE("source"));
    if (text) {
        gen_text(g);
    } else {
        gen_source(g);
        emit_name(&g->emit, SLICE("mime_type"));
        gen_name(g);
        emit_name(&g->emit, SLICE("detail"));
        emit_word(&g->emit, chance(g, 2) ? "auto" : "high");
    }
    emit_name(&g->emit, SLICE("metadata"));
    gen_map(g, "m");
    emit_close(&g->emit, '}');
    emit_close(&g->emit, '}');
}

static inline void gen_content(struct gen *g)
{
    uint64_t what = below(g, 4);
    if (what == 0) {
        emit_null(&g->emit);
        return;
    }
    if (what < 3) {
        gen_text(g);
        return;
    }
    emit_open(&g->emit, '[');
    for (uint64_t n = below(g, 4); n > 0; n--) {
        if (g->plain)
            gen_plain_part(g);
        else if (chance(g, 5))
            gen_json(g);        /* no part of ours */
        else
            gen_struct(g, &part_shape);
    }
    emit_close(&g->emit, ']');
}

static inline void gen_model(struct gen *g)
{
    if (chance(g, 3))
        gen_struct(g, &model_ref_shape);
    else if (chance(g, 3))
        emit_null(&g->emit);
    else
        gen_name(g);
}

/* Members that a noun writes and reads by itself. */
static inline void gen_own(struct gen *g, const struct shape *s,
                           const char *name)
{
    static const char *const format[] = {
        "null", "\"text\"", "{\"type\":\"json_object\"}",
        "{\"type\":\"json_schema\",\"name\":\"n\",\"schema\":{},"
        "\"strict\":true,\"more\":1}", "{\"grammar\":\"g\"}",
    };
    static const char *const size[] = { "null", "\"auto\"", "[1024,768]",
                                        "[1]", "{}" };
    static const char *const retry[] = { "\"default\"", "false",
                                         "[[\"max_attempts\",3]]" };
    static const char *const choice[] = { "null", "\"auto\"", "\"echo\"",
                                          "{\"type\":\"tool\"}" };
    if (!strcmp(name, "content")) {
        gen_content(g);
    } else if (!strcmp(name, "source")) {
        gen_source(g);
    } else if (!strcmp(name, "model")) {
        gen_model(g);
    } else if (!strcmp(name, "schema")) {
        gen_map(g, "s");
        emit_close(&g->emit, '}');
    } else if (!strcmp(name, "message")) {
        emit_word(&g->emit, "it went wrong");
    } else if (!strcmp(name, "kind")) {
        allm_error e = { .size = sizeof e };
        s->begin(&e);
        emit_word(&g->emit, allm_status_name(e.kind));
    } else if (!strcmp(name, "response_format")) {
        emit_raw(&g->emit, slice_of(format[below(g, 5)]));
    } else if (!strcmp(name, "size")) {
        emit_raw(&g->emit, slice_of(size[below(g, 5)]));
    } else if (!strcmp(name, "adapter_opts")) {
        gen_array(g);
    } else if (!strcmp(name, "retry")) {
        emit_raw(&g->emit, slice_of(retry[below(g, 3)]));
    } else if (!strcmp(name, "tool_choice")) {
        emit_raw(&g->emit, slice_of(choice[below(g, 4)]));
    } else {
        emit_null(&g->emit);    /* a handler */
    }
}

static inline void gen_word(struct gen *g, const struct shape_field *f)
{
    size_t least = f->flags & SHAPE_SPARE ? 1 : 0;
    const char *word =
        f->words->word[least + below(g, f->words->count - least)];
    if (word)
        emit_word(&g->emit, word);
    else
        emit_null(&g->emit);
}

/* The metadata, and the members that are read from them. */
static inline void gen_metadata(struct gen *g, const struct shape *s)
{
    gen_map(g, "m");
    for (const struct shape_field *f = s->fields; f->name; f++) {
        if (!(f->flags & SHAPE_LIFTED) || chance(g, 2))
            continue;
        emit_name(&g->emit, shape_name(f));
        if (f->kind == SHAPE_ONE) {
            gen_struct(g, f->of);
        } else {
            emit_open(&g->emit, '[');
            gen_struct(g, f->of);
            emit_close(&g->emit, ']');
        }
    }
    emit_close(&g->emit, '}');
}

static inline void gen_number(struct gen *g)
{
    if (chance(g, 3))
        emit_null(&g->emit);
    else
        emit_number(&g->emit, random_double(g->random));
}

/* Null now and then, if that comes back as it is. */
static inline bool gen_null(struct gen *g, const struct shape_field *f)
{
    bool may = f->kind == SHAPE_TEXT || f->kind == SHAPE_BYTES ||
               f->kind == SHAPE_INT || f->kind == SHAPE_ANY ||
               f->kind == SHAPE_ONE;
    if (!may || f->has_fallback || !chance(g, 3) ||
        (f->flags & (SHAPE_SPARE | SHAPE_FILLED)))
        return false;
    emit_null(&g->emit);
    return true;
}

static inline void gen_value(struct gen *g, const struct shape *s,
                             const struct shape_field *f)
{
    if (gen_null(g, f))
        return;
    switch (f->kind) {
    case SHAPE_TEXT:   gen_name(g); break;
    case SHAPE_BYTES:  gen_text(g); break;
    case SHAPE_FLAG:
        emit_bool(&g->emit, (f->flags & SHAPE_SPARE) || chance(g, 2));
        break;
    case SHAPE_ENUM:   gen_word(g, f); break;
    case SHAPE_COUNT:  emit_uint(&g->emit, below(g, UINT64_MAX)); break;
    case SHAPE_INT:
        emit_int(&g->emit, (int64_t)below(g, UINT64_MAX));
        break;
    case SHAPE_NUM:    gen_number(g); break;
    case SHAPE_MAP:
        if (!strcmp(f->name, "metadata")) {
            gen_metadata(g, s);
        } else {
            gen_map(g, "k");
            emit_close(&g->emit, '}');
        }
        break;
    case SHAPE_ARRAY:  gen_array(g); break;
    case SHAPE_ANY:    gen_json(g); break;
    case SHAPE_ONE:    gen_struct(g, f->of); break;
    case SHAPE_MANY:   gen_many(g, f->of); break;
    case SHAPE_THREAD: gen_struct(g, &thread_shape); break;
    case SHAPE_OWN:    gen_own(g, s, f->name); break;
    case SHAPE_POINTER: break;
    }
}

/* -------------------------------------------------------------- structs --- */

static inline void gen_members(struct gen *g, const struct shape *s)
{
    emit_open(&g->emit, '{');
    for (const struct shape_field *f = s->fields; f->name; f++) {
        if (f->flags & (SHAPE_HIDDEN | SHAPE_LIFTED))
            continue;
        if ((f->flags & SHAPE_PLAIN) && !g->plain)
            continue;
        if ((f->flags & SHAPE_SPARE) && chance(g, 2))
            continue;
        emit_name(&g->emit, shape_name(f));
        gen_value(g, s, f);
    }
    if (chance(g, 6)) {
        emit_name(&g->emit, SLICE("zzz"));
        gen_json(g);
    }
    emit_close(&g->emit, '}');
}

static inline void gen_struct(struct gen *g, const struct shape *s)
{
    size_t n = 0;
    while (s->variants && s->variants[n])
        n++;
    if (n)
        s = s->variants[below(g, n)];
    if (g->plain) {
        gen_members(g, s);
        return;
    }
    emit_open(&g->emit, '{');
    emit_name(&g->emit, SLICE("__type__"));
    emit_word(&g->emit, s->tag);
    emit_name(&g->emit, SLICE("data"));
    gen_members(g, s);
    emit_close(&g->emit, '}');
}
