/* outcome.c - what a call of a tool came to */
#include "tool/outcome.h"

#include "base/buf.h"
#include "base/status.h"
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
    static const char *const ours[] = {
        "ask_user",   "max_turns",         "halt_when",
        "tool_error", "cancelled",         "completed",
        "error",      "manual_tool_calls", "budget",
    };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (!strcmp(ours[i], reason))
            return true;
    return false;
}

struct outcome outcome_failed(struct arena *a, const char *reason,
                              const char *format, ...)
{
    struct buf text;
    va_list args;
    buf_init(&text, a, DETAIL_LIMIT);
    va_start(args, format);
    buf_vformat(&text, format, args);
    va_end(args);
    if (text.broken && !text.over)
        return no_memory;
    return (struct outcome){ .kind = OUTCOME_FAILED, .reason = reason,
                             .detail = text.ptr };
}

/* A reason of ours: the failure names it, for callbacks in its metadata. */
static struct outcome refuse_reserved(struct arena *a, const char *reason)
{
    struct outcome o = outcome_failed(
        a, "invalid_return",
        "the halt reason \"%s\" is reserved by the library; choose another "
        "word",
        reason);
    struct build b;
    build_init(&b, a);
    build_object(&b);
    build_key(&b, SLICE("reserved_halt_atom"));
    build_text(&b, slice_of(reason));
    build_end(&b);
    o.metadata = build_done(&b);
    return o.metadata ? o : no_memory;
}

struct outcome outcome_halt(struct arena *a, const char *reason,
                            const allm_json *value)
{
    if (!reason || !*reason)
        return outcome_failed(a, "invalid_return",
                              "a halt needs a reason: give allm_tool_halt() a "
                              "word of your own");
    if (outcome_reserved(reason))
        return refuse_reserved(a, reason);
    return (struct outcome){ .kind = OUTCOME_HALT, .reason = reason,
                             .value = value ? value : json_null() };
}

/* ----------------------------------------------------------------- errors --- */

/* What the function told, as text: a text as it is, all else as JSON. */
static const char *told(struct arena *a, const allm_json *value)
{
    const char *text = allm_json_type_of(value) == ALLM_JSON_TEXT
                           ? allm_json_text(value, NULL)
                           : NULL;
    struct buf out;
    if (text)
        return text;
    buf_init(&out, a, DETAIL_LIMIT);
    json_write(&out, value ? value : json_null(), 0);
    return out.ptr;
}

static const char *message_of(struct arena *a, const struct outcome *o,
                              const char *tool_name)
{
    struct buf out;
    buf_init(&out, a, DETAIL_LIMIT + 1024);
    buf_text(&out, "tool error");
    if (tool_name)
        buf_format(&out, " (%s)", tool_name);
    buf_format(&out, ": %s", o->reason);
    if (o->detail)
        buf_format(&out, ": %s", o->detail);
    return out.ptr;
}

static const allm_json *text_value(struct arena *a, const char *text)
{
    struct build b;
    build_init(&b, a);
    build_text(&b, slice_of(text));
    return build_done(&b);
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
    if (o->kind == OUTCOME_ERROR) {
        e->reason = "handler_failed";
        e->message = told(a, o->value);
    } else {
        e->reason = o->reason;
        e->message = message_of(a, o, tool_name);
        if (o->detail)
            e->cause = text_value(a, o->detail);
    }
    if (e->message && !*e->message)
        e->message = "the tool failed and did not say why";
    return a->broken || !e->message ? NULL : e;
}

/* ------------------------------------------------------------- JSON forms --- */

const allm_json *outcome_error_json(struct arena *a, const struct outcome *o,
                                    const allm_error *error)
{
    const allm_error *why;
    if (o->kind == OUTCOME_ERROR)
        return o->value;
    return encode_to_json(a, &error_shape, error, ALLM_FORM_PLAIN, &why);
}

static void write_halt(struct build *b, const struct outcome *o)
{
    build_key(b, SLICE("halt"));
    build_array(b);
    build_text(b, slice_of(o->reason));
    build_value(b, o->value);
    build_end(b);
}

static void write_ask(struct build *b, const struct outcome *o)
{
    build_key(b, SLICE("ask_user"));
    build_text(b, slice_of(o->question));
    build_key(b, SLICE("opts"));
    build_value(b, o->opts);
}

const allm_json *outcome_json(struct arena *a, const struct outcome *o,
                              const allm_error *error)
{
    const allm_json *failed = outcome_is_error(o)
                                  ? outcome_error_json(a, o, error)
                                  : NULL;
    struct build b;
    build_init(&b, a);
    build_object(&b);
    if (o->kind == OUTCOME_ASK) {
        write_ask(&b, o);
    } else if (o->kind == OUTCOME_HALT) {
        write_halt(&b, o);
    } else if (outcome_is_error(o)) {
        build_key(&b, SLICE("error"));
        build_value(&b, failed);
    } else {
        build_key(&b, SLICE("ok"));
        build_value(&b, o->value);
    }
    build_end(&b);
    return build_done(&b);
}
