/*
 * plain.c - write free-form JSON without the envelopes in it
 *
 * Metadata may contain whole structs, such as an error, as tagged objects.
 * The plain form has only their data.  Values may be nested deeply, so the
 * walk has its own stack.
 */
#include "data/plain.h"

#include "json/json.h"
#include "json/stack.h"

static const struct {
    const char *tag, *kind;
} error_kind[] = {
    { "ALLM.Error.EngineError", "engine" },
    { "ALLM.Error.AdapterError", "adapter" },
    { "ALLM.Error.StreamError", "stream" },
    { "ALLM.Error.ValidationError", "validation" },
    { "ALLM.Error.ToolError", "tool" },
    { "ALLM.Error.SessionError", "session" },
    { "ALLM.Error.ImageAdapterError", "image" },
    { "ALLM.Error.StoreError", "store" },
    { "ALLM.Error.MisuseError", "misuse" },
    { "ALLM.Error.MemoryError", "nomem" },
};

/* The kind in an error's tag ("ALLM.Error.ToolError" gives "tool"), or NULL. */
static const char *kind_of(struct slice tag)
{
    for (size_t i = 0; i < sizeof error_kind / sizeof *error_kind; i++)
        if (slice_is(tag, error_kind[i].tag))
            return error_kind[i].kind;
    return NULL;
}

/* The tag and data of an envelope: an object of exactly "__type__" (a string)
 * and "data" (an object).  False if v is not one. */
static bool open_envelope(const allm_json *v, struct slice *tag,
                          const allm_json **data)
{
    if (allm_json_type_of(v) != ALLM_JSON_OBJECT || allm_json_count(v) != 2)
        return false;
    *tag = json_slice(json_get(v, SLICE("__type__")));
    *data = json_get(v, SLICE("data"));
    return slice_starts(*tag, SLICE("ALLM.")) &&
           allm_json_type_of(*data) == ALLM_JSON_OBJECT;
}

struct level {                  /* a container that is being written */
    const allm_json *container;
    const allm_json *last;      /* the last key or element written */
};

enum { LEVELS = 32 };           /* before the stack moves to the heap */

static bool is_object(const allm_json *v)
{
    return allm_json_type_of(v) == ALLM_JSON_OBJECT;
}

static bool is_container(const allm_json *v)
{
    return is_object(v) || allm_json_type_of(v) == ALLM_JSON_ARRAY;
}

/* Begin a container; for an envelope, begin its data. */
static void begin_plain(struct emit *e, struct stack *levels,
                        const allm_json *v)
{
    struct slice tag;
    const allm_json *data;
    const char *kind = NULL;
    if (open_envelope(v, &tag, &data)) {
        kind = json_get(data, SLICE("kind")) ? NULL : kind_of(tag);
        v = data;
    }
    struct level *l = stack_push(levels);
    if (!l) {
        e->out->broken = true;
        return;
    }
    *l = (struct level){ v, NULL };
    emit_open(e, is_object(v) ? '{' : '[');
    if (kind)
        emit_member_text(e, "kind", slice_of(kind));
}

static void write_next(struct emit *e, struct stack *levels)
{
    struct level *l = stack_top(levels);
    bool object = is_object(l->container);
    const allm_json *item = allm_json_next(l->container, l->last);
    if (!item) {
        emit_close(e, object ? '}' : ']');
        stack_pop(levels);
        return;
    }
    l->last = item;
    if (object) {
        emit_key(e, json_slice(item));
        item = allm_json_value(item);
    }
    if (is_container(item))
        begin_plain(e, levels, item);
    else
        emit_value(e, item);
}

void plain_write(struct emit *e, const allm_json *v)
{
    if (!is_container(v)) {
        emit_value(e, v);
        return;
    }
    struct level first[LEVELS];
    struct stack levels;
    stack_init(&levels, e->out->arena->mem, sizeof *first, first, LEVELS);
    begin_plain(e, &levels, v);
    while (levels.count && !e->out->broken)
        write_next(e, &levels);
    stack_release(&levels);
}
