/*
 * explain.c - the error for an unsuccessful HTTP response
 *
 * These rules hold for all providers; dialects add their own.
 */
#include "provider/explain.h"

#include "base/buf.h"
#include "base/nocase.h"
#include "base/status.h"
#include "provider/sink.h"
#include "json/json.h"

#include <stdint.h>

static const struct {
    int32_t status;
    const char *reason;
} reasons[] = {
    { 401, "authentication_failed" }, { 403, "authentication_failed" },
    { 402, "rate_limited" },          { 408, "timeout" },
    { 429, "rate_limited" },          { 498, "provider_unavailable" },
    { 501, "unsupported_feature" },
};

/* Messages of servers that have no error code for it. */
static const char *const too_long[] = {
    "maximum context length",
    "context length exceeded",
    "context_length_exceeded",
    "context size has been exceeded",
    "contextwindowexceeded",
    "exceeds the context window",
    "exceeds the available context",
    "exceed context window",
    "exceeded max context length",
    "exceeds maximum context length",
    "exceeds the context length",
    "prompt is too long",
    "input is too long",
    "reduce the length of the",
    NULL,
};

static const char *const context_names[] = {
    "context_length", "context_window", "exceed_context_size", NULL,
};

bool explain_has(const char *text, const char *word)
{
    struct slice rest = slice_of(text);
    while (rest.len && !nocase_starts(rest, word))
        rest = slice_skip(rest, 1);
    return rest.len;
}

bool explain_says(const char *text, const char *const *list)
{
    while (*list && !explain_has(text, *list))
        list++;
    return *list;
}

bool explain_too_long(const char *message)
{
    return explain_says(message, too_long);
}

bool explain_names_context(const char *name)
{
    return explain_says(name, context_names);
}

const char *explain_status(int32_t status)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    if (status >= 500 && status <= 599)
        return "provider_unavailable";
    return status >= 400 && status <= 499 ? "invalid_request" : "unknown";
}

static const char *text_of(const allm_json *v)
{
    const char *text = allm_json_text(v, NULL);
    return text && *text ? text : NULL;
}

static const char *member_text(const allm_json *object, const char *name)
{
    return text_of(allm_json_get(object, name));
}

/* A list of {"loc": [...], "msg": "..."}, as validators write it. */
static const char *detail_message(const allm_json *detail)
{
    const char *text = text_of(detail);
    if (!text)
        text = member_text(detail, "message");
    return text ? text : member_text(allm_json_at(detail, 0), "msg");
}

/* A string, or a validator's details instead. */
static const char *message_or_detail(const allm_json *message)
{
    const char *text = text_of(message);
    return text ? text : detail_message(allm_json_get(message, "detail"));
}

static const char *first_message(const allm_json *errors)
{
    const allm_json *first = allm_json_at(errors, 0);
    const char *text = text_of(first);
    return text ? text : member_text(first, "message");
}

const char *explain_message(const allm_json *body)
{
    if (allm_json_type_of(body) == ALLM_JSON_ARRAY)
        body = allm_json_at(body, 0);
    const allm_json *error = allm_json_get(body, "error");
    const char *text = text_of(error);
    if (!text)
        text = message_or_detail(allm_json_get(error, "message"));
    if (!text)
        text = message_or_detail(allm_json_get(body, "message"));
    if (!text)
        text = detail_message(allm_json_get(body, "detail"));
    return text ? text : first_message(allm_json_get(body, "errors"));
}

const char *explain_sentence(struct arena *a, int32_t status,
                             const char *message)
{
    /* Truncated later, after redaction. */
    struct buf text = buf_in(a, SIZE_MAX / 2);
    if (status)
        buf_format(&text, "HTTP status %d%s", (int)status, message ? ": " : "");
    else if (!message)
        message = "the provider sent an error without a message";
    if (message)
        buf_text(&text, message);
    return text.broken ? NULL : text.ptr;
}

const allm_json *explain_details(struct build *b, const allm_json *core,
                                 const char *const *skip)
{
    bool object = allm_json_type_of(core) == ALLM_JSON_OBJECT;
    for (const allm_json *k = NULL; object && (k = allm_json_next(core, k));)
        if (!slice_in(json_slice(k), skip) &&
            allm_json_type_of(allm_json_value(k)) != ALLM_JSON_NULL)
            build_entry(b, k);
    const allm_json *all = build_finish(b);
    return allm_json_count(all) ? all : NULL;
}

const char *explain_text_at(const allm_json *object, const char *key)
{
    const allm_json *v = json_at(object, key);
    return allm_json_type_of(v) == ALLM_JSON_TEXT ? allm_json_text(v, NULL)
                                                  : NULL;
}

allm_status explain_body(const allm_call *call, const allm_http_head *head,
                         struct slice body, allm_sink *sink,
                         explain_reader *read)
{
    const allm_json *document = allm_sink_parse(sink, body.ptr, body.len);
    allm_error e = read(sink->arena, document, head->status);
    e.provider = call->provider;
    return allm_sink_fail(sink, &e, false);
}

allm_status explain_default(const allm_http_head *head, const char *body,
                            size_t len, allm_sink *sink)
{
    const allm_json *document = allm_sink_parse(sink, body, len);
    allm_error e = STATUS_ERROR(ALLM_ERR_ADAPTER, explain_status(head->status),
                                explain_sentence(sink->arena, head->status,
                                                 explain_message(document)));
    e.http_status = (allm_int){ head->status, true };
    return allm_sink_fail(sink, &e, false);
}
