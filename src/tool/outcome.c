/* outcome.c - how a tool call ended */
#include "tool/outcome.h"

#include "base/buf.h"
#include "base/status.h"
#include "data/chat_result.h"
#include "data/encode.h"
#include "data/error.h"
#include "json/build.h"
#include "json/json.h"
#include "json/write.h"

#include <stdarg.h>

enum { DETAIL_LIMIT = 1 << 20 };

static const struct outcome no_memory = { .kind = OUTCOME_NOMEM };

bool outcome_reserved(const char *reason)
{
    static const char *const reserved[] = {
        HALTED_ASK_USER,  HALTED_BUDGET,    HALTED_CANCELLED,
        HALTED_COMPLETED, HALTED_ERROR,     HALTED_HALT_WHEN,
        HALTED_MANUAL,    HALTED_MAX_TURNS, HALTED_TOOL_ERROR, NULL,
    };
    return slice_in(slice_of(reason), reserved);
}

struct outcome outcome_reported(const allm_json *value)
{
    return (struct outcome){ .kind = value ? OUTCOME_FAILURE : OUTCOME_NOMEM,
                             .reason = FAILURE_REPORTED,
                             .value = value };
}

struct outcome outcome_failed(struct arena *a, const char *reason,
                              const char *format, ...)
{
    va_list args;
    struct buf text = buf_in(a, DETAIL_LIMIT);
    va_start(args, format);
    buf_vformat(&text, format, args);
    va_end(args);
    if (text.broken && !text.over)
        return no_memory;
    return (struct outcome){ .kind = OUTCOME_FAILURE, .reason = reason,
                             .detail = text.ptr };
}

/* The metadata contains the reason, for on_tool_error callbacks. */
static struct outcome reserved_failure(struct arena *a, const char *reason)
{
    struct outcome o = outcome_failed(
        a, FAILURE_RETURN,
        "the halt reason \"%s\" is reserved by the library; choose another "
        "one",
        reason);
    o.metadata = build_one_text(a, "reserved_halt_atom", slice_of(reason));
    return o.metadata ? o : no_memory;
}

struct outcome outcome_halt(struct arena *a, const char *reason,
                            const allm_json *value)
{
    if (!reason || !*reason)
        return outcome_failed(a, FAILURE_RETURN,
                              "a halt needs a reason; pass your own to "
                              "allm_tool_halt()");
    if (outcome_reserved(reason))
        return reserved_failure(a, reason);
    return (struct outcome){ .kind = OUTCOME_HALT, .reason = reason,
                             .value = value ? value : json_null() };
}

struct outcome outcome_question(const char *question, const allm_json *opts)
{
    return (struct outcome){ .kind = OUTCOME_QUESTION, .question = question,
                             .opts = opts ? opts : json_empty_object() };
}

struct outcome outcome_from_halt(const char *reason, const allm_json *value)
{
    if (!strcmp(reason, HALTED_TOOL_ERROR))
        return (struct outcome){ .kind = OUTCOME_FAILURE,
                                 .reason = FAILURE_REPORTED, .value = value };
    return (struct outcome){ .kind = OUTCOME_HALT, .reason = reason,
                             .value = value };
}

const char *outcome_halted_reason(const struct outcome *o)
{
    return o->kind == OUTCOME_QUESTION ? HALTED_ASK_USER
           : o->kind == OUTCOME_HALT   ? o->reason
                                       : HALTED_TOOL_ERROR;
}

struct outcome outcome_copy(struct arena *a, const struct outcome *o)
{
    return (struct outcome){
        .kind = o->kind,
        .verbatim = o->verbatim,
        .reason = arena_text(a, o->reason),
        .value = json_copy(a, o->value),
        .question = arena_text(a, o->question),
        .opts = json_copy(a, o->opts),
        .detail = arena_text(a, o->detail),
        .metadata = json_copy(a, o->metadata),
        .images = json_copy(a, o->images),
    };
}

/* The reported value: a string as it is, any other value as JSON. */
static const char *reported_text(struct arena *a, const allm_json *value)
{
    if (allm_json_type_of(value) == ALLM_JSON_TEXT)
        return allm_json_text(value, NULL);
    struct buf out = buf_in(a, DETAIL_LIMIT);
    json_write(&out, value, 0);
    return out.ptr;
}

static const char *failure_text(struct arena *a, const struct outcome *o,
                                const char *tool_name)
{
    struct buf out = buf_in(a, DETAIL_LIMIT + 1024);
    buf_text(&out, "tool error");
    if (tool_name)
        buf_format(&out, " (%s)", tool_name);
    buf_format(&out, ": %s", o->reason);
    if (o->detail)
        buf_format(&out, ": %s", o->detail);
    return out.ptr;
}

const allm_error *outcome_error(struct arena *a, const struct outcome *o,
                                const char *tool_name, const char *call_id)
{
    allm_error *e = arena_alloc(a, sizeof *e);
    if (!e)
        return NULL;
    *e = status_blank(ALLM_ERR_TOOL);
    e->tool_name = arena_text(a, tool_name);
    e->tool_call_id = arena_text(a, call_id);
    e->metadata = o->metadata ? o->metadata : json_empty_object();
    e->reason = o->reason;
    e->message = o->value ? reported_text(a, o->value)
                          : failure_text(a, o, tool_name);
    if (o->detail)
        e->cause = build_alone(a, slice_of(o->detail));
    if (e->message && !*e->message)
        e->message = DETAIL_NO_REASON;
    return a->broken || !e->message ? NULL : e;
}

const allm_json *outcome_error_json(struct arena *a, const struct outcome *o,
                                    const allm_error *error)
{
    if (o->value || !error)
        return o->value;
    return encode_to_json(a, &error_shape, error, ALLM_FORM_PLAIN, NULL);
}

static void write_halt(struct build *b, const struct outcome *o)
{
    build_array_at(b, "halt");
    build_text(b, slice_of(o->reason));
    build_value(b, o->value);
    build_end(b);
}

static void write_question(struct build *b, const struct outcome *o)
{
    build_text_at(b, "ask_user", slice_of(o->question));
    build_value_at(b, "opts", o->opts);
}

const allm_json *outcome_json(struct arena *a, const struct outcome *o,
                              const allm_error *error)
{
    const allm_json *failed = o->kind == OUTCOME_FAILURE
                                  ? outcome_error_json(a, o, error)
                                  : NULL;
    struct build b = build_object_in(a);
    if (o->kind == OUTCOME_QUESTION)
        write_question(&b, o);
    else if (o->kind == OUTCOME_HALT)
        write_halt(&b, o);
    else if (o->kind == OUTCOME_FAILURE)
        build_value_at(&b, "error", failed);
    else
        build_value_at(&b, "ok", o->value);
    return build_finish(&b);
}
