/*
 * error.c - the families of errors: their reasons, messages and JSON forms
 *
 * All families share one struct.  Each has a tag and a set of fields in JSON,
 * a closed list of reasons for new errors, and a default message.  An unknown
 * reason in a document is kept.
 */
#include "data/error.h"

#include "base/buf.h"
#include "base/status.h"
#include "data/decode.h"
#include "data/encode.h"
#include "json/json.h"

#include <stdint.h>

/* -------------------------------------------------------------- reasons --- */

const allm_error error_cancelled = {
    .size = sizeof error_cancelled,
    .kind = ALLM_ERR_STREAM,
    .reason = REASON_CANCELLED,
    .message = "the call was cancelled",
};

static const char *const engine_reasons[] = {
    "missing_adapter",  "missing_stream_adapter",
    "missing_model",    "missing_key",
    "unknown_tool",     "invalid_engine",
    "unsupported_response_format", "no_image_adapter",
    REASON_PIPELINE,    "unexpected_pipeline_result",
    "policy_failed",    REASON_BUDGET,
    "max_iterations_reached", "circuit_breaker",
    "empty_stop",       "no_embed_adapter",
    "no_moderation_adapter", "no_models_adapter",
    "cannot_wait",      NULL,
};

static const char *const adapter_reasons[] = {
    "rate_limited",         "authentication_failed",   "invalid_request",
    "provider_unavailable", "context_length_exceeded", "content_filter",
    "timeout",              "network_error",           "malformed_response",
    "unsupported_feature",  "no_scripted_response",    "unknown",
    NULL,
};

/* The same, and what some models cannot do. */
static const char *const image_reasons[] = {
    "rate_limited",         "authentication_failed",   "invalid_request",
    "provider_unavailable", "context_length_exceeded", "content_filter",
    "timeout",              "network_error",           "malformed_response",
    "unsupported_feature",  "no_scripted_response",    "unknown",
    "unsupported_operation", NULL,
};

static const char *const stream_reasons[] = {
    "adapter_error",   REASON_CANCELLED, "timeout",
    "malformed_event", "truncated",      "unknown",
    NULL,
};

static const char *const validation_reasons[] = {
    "invalid_request", "invalid_message",       "invalid_tool",
    "invalid_thread",  "invalid_session",       "invalid_session_input",
    "unsupported_capability", "vision_not_in_v0_2", "invalid_image_request",
    "invalid_output",  "invalid_embedding_request",
    "invalid_moderation_request", "invalid_arguments",
    "invalid_approvals", "invalid_catalog", "invalid_rule", "invalid_server",
    "not_found",       "unknown_rule",         NULL,
};

static const char *const tool_reasons[] = {
    "handler_raised",    "handler_exit", "handler_failed",  "timeout",
    "invalid_return",    "invalid_arguments", "not_found", "encoding_failed",
    "denied",            "sandbox_unavailable", "warden_missing",
    NULL,
};

static const char *const session_reasons[] = {
    "session_in_error_state", "invalid_status_for_operation",
    "no_pending_tool_call",   "unknown_tool_call_id",
    "session_not_found",      "session_exists",
    "invalid_name",           "session_locked",
    "session_lost",           "session_read_only",
    "turn_unfinished",        "nothing_to_resume",
    "unsettled_tool_calls",   "nothing_due",
    "session_released",       "wrong_status",
    NULL,
};

const char *const *allm_error_reasons(allm_status kind)
{
    switch (kind) {
    case ALLM_ERR_ENGINE:     return engine_reasons;
    case ALLM_ERR_ADAPTER:    return adapter_reasons;
    case ALLM_ERR_IMAGE:      return image_reasons;
    case ALLM_ERR_STREAM:     return stream_reasons;
    case ALLM_ERR_VALIDATION: return validation_reasons;
    case ALLM_ERR_TOOL:       return tool_reasons;
    case ALLM_ERR_SESSION:    return session_reasons;
    default:                  return NULL;
    }
}

/* Is this a reason of its kind?  Some kinds have no list. */
static bool reason_known(const allm_error *e)
{
    const char *const *list = allm_error_reasons(e->kind);
    if (!e->reason)
        return false;
    if (!list)
        return e->kind == ALLM_ERR_MISUSE || e->kind == ALLM_ERR_NOMEM ||
               e->kind == ALLM_ERR_STORE;
    return slice_in(slice_of(e->reason), list);
}

/* ------------------------------------------------------------- messages --- */

/* "adapter error (openai): timeout", derived from the reason. */
static void write_default(struct buf *out, const allm_error *e)
{
    const char *reason = e->reason ? e->reason : "unknown";
    const char *who = e->kind == ALLM_ERR_ADAPTER || e->kind == ALLM_ERR_IMAGE
                          ? e->provider
                      : e->kind == ALLM_ERR_TOOL ? e->tool_name
                                                 : NULL;
    if (e->kind == ALLM_ERR_VALIDATION)
        buf_format(out, "validation failed: %s (%zu error(s))", reason,
                   allm_json_count(e->errors));
    else if (who)
        buf_format(out, "%s error (%s): %s", allm_status_name(e->kind), who,
                   reason);
    else
        buf_format(out, "%s error: %s", allm_status_name(e->kind), reason);
}

static const allm_error *derive_message(struct arena *a, allm_error *e)
{
    if (e->message && *e->message && !e->derived)
        return NULL;
    struct buf text = buf_in(a, SIZE_MAX / 2);
    write_default(&text, e);
    if (text.broken)
        return status_nomem();
    e->message = text.ptr;
    e->derived = 1;
    return NULL;
}

bool error_settle(struct arena *a, allm_error *error)
{
    return !derive_message(a, error);
}

static bool take_text(struct arena *a, const char **text)
{
    bool any = *text != NULL;
    *text = any ? arena_text(a, *text) : NULL;
    return *text || !any;
}

static bool take_json(struct arena *a, const allm_json **v)
{
    bool any = *v != NULL;
    *v = json_copy(a, *v);
    return *v || !any;
}

bool error_take(struct arena *a, allm_error *e)
{
    return take_text(a, &e->reason) && take_text(a, &e->message) &&
           take_text(a, &e->provider) && take_text(a, &e->request_id) &&
           take_text(a, &e->tool_name) && take_text(a, &e->tool_call_id) &&
           take_json(a, &e->errors) && take_json(a, &e->cause) &&
           take_json(a, &e->metadata) && take_json(a, &e->kept);
}

static const allm_error *settle_family(struct allm_home *home, void *value)
{
    return derive_message(home_arena(home), value);
}

static void write_message(struct encoder *e, const void *value)
{
    const allm_error *error = value;
    bool stored = !error->derived || e->form == ALLM_FORM_PLAIN;
    encode_text(e, stored ? error->message : NULL);
}

static bool read_message(struct decoder *d, const allm_json *v, void *value)
{
    return decode_text(d, v, &((allm_error *)value)->message);
}

static const struct shape_own message_own = { write_message, read_message,
                                              NULL };

static void write_kind(struct encoder *e, const void *value)
{
    encode_text(e, allm_status_name(((const allm_error *)value)->kind));
}

static const struct shape_own kind_own = { write_kind, decode_selector, NULL };

/* ------------------------------------------------------------- families --- */

/* Each family always writes its own fields (0), and the others only if they
 * are set (SHAPE_SPARE). */
#define S SHAPE_SPARE
#define FIELDS(provider_, status_, request_, index_, tool_, errors_) \
    { \
        FIELD_OWN("kind", kind_own, SHAPE_PLAIN), \
        FIELD_FLAGS(error, reason, SHAPE_TEXT, SHAPE_NEEDED), \
        FIELD_FLAGS(error, message, SHAPE_TEXT, SHAPE_HIDDEN), \
        FIELD_FLAGS(error, derived, SHAPE_FLAG, SHAPE_HIDDEN), \
        FIELD_OWN("message", message_own, 0), \
        FIELD_FLAGS(error, provider, SHAPE_TEXT, provider_), \
        FIELD_NAMED(error, "status", http_status, SHAPE_INT, status_), \
        FIELD_FLAGS(error, retry_after_ms, SHAPE_INT, status_), \
        FIELD_FLAGS(error, request_id, SHAPE_TEXT, request_), \
        FIELD_FLAGS(error, event_index, SHAPE_INT, index_), \
        FIELD_FLAGS(error, tool_name, SHAPE_TEXT, tool_), \
        FIELD_FLAGS(error, tool_call_id, SHAPE_TEXT, tool_), \
        FIELD_FLAGS(error, errors, SHAPE_ARRAY, errors_), \
        FIELD(error, cause, SHAPE_ANY), \
        FIELD(error, metadata, SHAPE_MAP), \
        FIELD_END \
    }

static const struct shape_field engine_fields[] = FIELDS(0, S, S, S, S, S);
static const struct shape_field adapter_fields[] = FIELDS(0, 0, 0, S, S, S);
static const struct shape_field stream_fields[] = FIELDS(0, S, S, 0, S, S);
static const struct shape_field validation_fields[] = FIELDS(S, S, S, S, S, 0);
static const struct shape_field tool_fields[] = FIELDS(S, S, S, S, 0, S);
static const struct shape_field other_fields[] = FIELDS(S, S, S, S, S, S);

#define FAMILY(name, tag_, status_, table) \
    static void begin_##name(void *value) \
    { \
        ((allm_error *)value)->kind = (status_); \
    } \
    static const struct shape name##_shape = { \
        SHAPE_OF(error, "ALLM.Error." tag_), \
        .fields = (table), \
        .begin = begin_##name, \
        .settle = settle_family, \
    }

FAMILY(engine, "EngineError", ALLM_ERR_ENGINE, engine_fields);
FAMILY(adapter, "AdapterError", ALLM_ERR_ADAPTER, adapter_fields);
FAMILY(stream, "StreamError", ALLM_ERR_STREAM, stream_fields);
FAMILY(validation, "ValidationError", ALLM_ERR_VALIDATION, validation_fields);
FAMILY(tool, "ToolError", ALLM_ERR_TOOL, tool_fields);
FAMILY(session, "SessionError", ALLM_ERR_SESSION, engine_fields);
FAMILY(image, "ImageAdapterError", ALLM_ERR_IMAGE, adapter_fields);
FAMILY(store, "StoreError", ALLM_ERR_STORE, other_fields);
FAMILY(misuse, "MisuseError", ALLM_ERR_MISUSE, other_fields);
FAMILY(nomem, "MemoryError", ALLM_ERR_NOMEM, other_fields);

static const struct shape *const families[] = {
    &engine_shape, &adapter_shape, &stream_shape, &validation_shape,
    &tool_shape,   &session_shape, &image_shape,  &store_shape,
    &misuse_shape, &nomem_shape,   NULL,
};

static const allm_status family_kind[] = {
    ALLM_ERR_ENGINE, ALLM_ERR_ADAPTER, ALLM_ERR_STREAM, ALLM_ERR_VALIDATION,
    ALLM_ERR_TOOL,   ALLM_ERR_SESSION, ALLM_ERR_IMAGE,  ALLM_ERR_STORE,
    ALLM_ERR_MISUSE, ALLM_ERR_NOMEM,
};

static const struct shape *pick_family(const void *value)
{
    for (size_t i = 0; families[i]; i++)
        if (family_kind[i] == ((const allm_error *)value)->kind)
            return families[i];
    return &misuse_shape;
}

/* A plain object is an error if it has a kind and a reason. */
static const struct shape *pick_json(const allm_json *plain)
{
    const char *kind = allm_json_text(allm_json_get(plain, "kind"), NULL);
    const char *why = allm_json_text(allm_json_get(plain, "reason"), NULL);
    for (size_t i = 0; kind && why && families[i]; i++)
        if (!strcmp(kind, allm_status_name(family_kind[i])))
            return families[i];
    return NULL;
}

const struct shape error_shape = {
    SHAPE_OF(error, "ALLM.Error"),
    .fields = other_fields,
    .variants = families,
    .pick = pick_family,
    .pick_json = pick_json,
    .settle = settle_family,
};

/* --------------------------------------------------------------- public --- */

const allm_error *error_validation(struct arena *a, const char *reason,
                                   const allm_json *errors)
{
    allm_error *e = arena_alloc(a, sizeof *e);
    if (!e)
        return status_nomem();
    *e = status_blank(ALLM_ERR_VALIDATION);
    e->reason = reason;
    e->errors = errors;
    const allm_error *trouble = derive_message(a, e);
    return trouble ? trouble : e;
}

const allm_error *error_validation_at(struct arena *a, const char *reason,
                                      const struct path *where,
                                      const char *fault)
{
    struct build list = build_array_in(a);
    path_write_pair(&list, where, false, fault);
    const allm_json *errors = build_finish(&list);
    return errors ? error_validation(a, reason, errors) : status_nomem();
}

const allm_error *error_copy(struct allm_home *home, const allm_error *error)
{
    if (error->kind == ALLM_ERR_NOMEM)
        return status_nomem();
    const allm_error *mine = shape_copy(home, &error_shape, error, NULL);
    return mine ? mine : status_nomem();
}

allm_error *error_root(const allm_error *error)
{
    return error && error->kind != ALLM_ERR_NOMEM
               ? shape_new(&error_shape, error)
               : NULL;
}

static const allm_error unknown_reason =
    STATUS_ERROR(ALLM_ERR_MISUSE, "unknown_reason",
                 "allm_error_new: kind and reason must be from the lists of "
                 "allm_error_reasons()");

allm_error *allm_error_new(const allm_error *given)
{
    if (!given || (MEM_REACHES(given, reason) && !reason_known(given)))
        given = &unknown_reason;
    allm_error *made = shape_new(&error_shape, given);
    const allm_error *refusal = made ? shape_error(made) : NULL;
    if (!refusal)
        return made;
    allm_error *failed = shape_new(&error_shape, refusal);
    shape_free(made);
    return failed;
}

void allm_error_free(allm_error *error)
{
    shape_free(error);
}

allm_text *allm_error_json(const allm_error *error, allm_form form)
{
    return encode_to_text(&error_shape, error, form);
}
