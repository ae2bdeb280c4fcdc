/*
 * explain.c - what an answer that is no success means, by its status
 *
 * Dialects know more; this is what holds for everybody.
 */
#include "provider/explain.h"

#include "base/buf.h"
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
};

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

/* {"loc": [...], "msg": "..."} in a list, as validators write it. */
static const char *from_detail(const allm_json *detail)
{
    const char *text = text_of(detail);
    return text ? text : text_of(allm_json_get(allm_json_at(detail, 0), "msg"));
}

const char *explain_message(const allm_json *body)
{
    if (allm_json_type_of(body) == ALLM_JSON_ARRAY)
        body = allm_json_at(body, 0);
    const allm_json *error = allm_json_get(body, "error");
    const char *text = text_of(error);
    if (!text)
        text = text_of(allm_json_get(error, "message"));
    if (!text)
        text = text_of(allm_json_get(body, "message"));
    return text ? text : from_detail(allm_json_get(body, "detail"));
}

/* "HTTP status 503", and what the body says. */
static const char *sentence(struct arena *a, const allm_http_head *head,
                            const char *said)
{
    struct buf text;
    buf_init(&text, a, SIZE_MAX / 2);
    buf_format(&text, "HTTP status %d", (int)head->status);
    if (said) {
        buf_text(&text, ": ");
        buf_text(&text, said);
    }
    return text.broken ? NULL : text.ptr;
}

allm_status explain_default(const allm_http_head *head, const char *body,
                            size_t len, allm_sink *sink)
{
    const allm_json *document = allm_sink_parse(sink, body, len);
    allm_error e = status_blank(ALLM_ERR_ADAPTER);
    e.reason = explain_status(head->status);
    e.message = sentence(sink->arena, head, explain_message(document));
    e.status = (allm_int){ head->status, true };
    return allm_sink_fail(sink, &e, false);
}
