/*
 * error_body.c - errors of OpenAI and of compatible servers
 *
 *      {"error": {"message", "type", "param", "code"}}     and
 *      {"error": "text"}  {"message", "code"}  {"detail": ...}
 *      {"object": "error", ...}  [{"error": ...}]
 *
 * The reason is derived from names such as the code first, then from the
 * status: the HTTP status, or a number in place of the code.
 */
#include "provider/error_body.h"

#include "base/status.h"
#include "provider/explain.h"
#include "provider/sink.h"
#include "json/build.h"
#include "json/json.h"

/* Names of errors about money: a retry does not help. */
static const char *const billing_words[] = {
    "insufficient_quota", "credit_balance_exhausted",
    "organization_spend_limit_exceeded", "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded", "billing_hard_limit_reached",
    "billing_not_active", "insufficient_balance", "insufficient_credits",
    "account_deactivated", NULL,
};

/* The reason for a code or type that contains one of these words. */
static const struct {
    const char *word, *reason;
} words[] = {
    { "content_filter", "content_filter" },
    { "content_policy", "content_filter" },
    { "responsibleaipolicy", "content_filter" },
    { "moderation", "content_filter" },
    { "rate_limit", "rate_limited" },
    { "too_many_requests", "rate_limited" },
    { "authentication", "authentication_failed" },
    { "invalid_api_key", "authentication_failed" },
    { "unauthorized", "authentication_failed" },
    { "permission", "authentication_failed" },
    { "timeout", "timeout" },
    { "overloaded", "provider_unavailable" },
    { "unavailable", "provider_unavailable" },
    { "capacity", "provider_unavailable" },
    { "server_error", "provider_unavailable" },
    { "internal", "provider_unavailable" },
    { "api_error", "provider_unavailable" },
    { "not_found", "invalid_request" },
    { "invalid", "invalid_request" },
    { "bad_request", "invalid_request" },
    { "badrequest", "invalid_request" },
    { "unsupported", "invalid_request" },
    { "tool_use_failed", "invalid_request" },
    { "image", "invalid_request" },
};

static bool is_present(const allm_json *v)
{
    switch (allm_json_type_of(v)) {
    case ALLM_JSON_TEXT:   return json_slice(v).len > 0;
    case ALLM_JSON_BOOL:   return allm_json_true(v);
    case ALLM_JSON_OBJECT:
    case ALLM_JSON_ARRAY:  return allm_json_count(v) > 0;
    case ALLM_JSON_INT:
    case ALLM_JSON_REAL:
    case ALLM_JSON_BIG:    return true;
    default:               return false;
    }
}

bool error_body_in(const struct json_view *object)
{
    const allm_json *error = json_in(object, SLICE("error"));
    return (error && is_present(error)) ||
           json_is(json_in(object, SLICE("object")), "error") ||
           json_is(json_in(object, SLICE("type")), "error");
}

bool error_body_is(const allm_json *document)
{
    if (allm_json_type_of(document) == ALLM_JSON_ARRAY)
        document = allm_json_at(document, 0);
    struct json_view object;
    json_view_init(&object, document);
    return error_body_in(&object);
}

/* ------------------------------------------------------------ members --- */

/* The innermost object that describes the error. */
static const allm_json *core_of(const allm_json *document)
{
    if (allm_json_type_of(document) == ALLM_JSON_ARRAY)
        document = allm_json_at(document, 0);
    const allm_json *error = json_at(document, "error");
    return allm_json_type_of(error) == ALLM_JSON_OBJECT ? error : document;
}

/* A number, or a string of digits, that may be an HTTP status; else 0. */
static int32_t status_in(const allm_json *v)
{
    int64_t n = 0;
    struct slice text = json_slice(v);
    if (allm_json_type_of(v) == ALLM_JSON_TEXT && text.len == 3)
        for (size_t i = 0; i < 3; i++)
            n = text.ptr[i] >= '0' && text.ptr[i] <= '9'
                    ? n * 10 + (text.ptr[i] - '0')
                    : 10000;
    else if (allm_json_type_of(v) == ALLM_JSON_INT)
        allm_json_int64(v, &n);
    return n >= 400 && n <= 599 ? (int32_t)n : 0;
}

static int32_t status_of(const allm_json *core)
{
    static const char *const keys[] = { "code", "status_code", "status",
                                        "http_status" };
    int32_t status = 0;
    for (size_t i = 0; !status && i < sizeof keys / sizeof *keys; i++)
        status = status_in(json_at(core, keys[i]));
    return status;
}

/* ------------------------------------------------------------ reasons --- */

struct facts {
    const char *word[4];        /* code, type and similar; or NULL */
    const char *message;
    int32_t status;             /* 0: unknown */
    bool flagged;               /* rejected by moderation */
};

static struct facts facts_of(const allm_json *core, const char *message,
                             int32_t status)
{
    const allm_json *more = json_at(core, "metadata");
    struct facts f = { .message = message, .status = status };
    f.word[0] = explain_text_at(core, "code");
    f.word[1] = explain_text_at(core, "type");
    f.word[2] = explain_text_at(json_at(core, "innererror"), "code");
    f.word[3] = explain_text_at(more, "error_type");
    f.flagged = allm_json_count(json_at(more, "reasons")) > 0;
    if (!f.status)
        f.status = status_of(core);
    return f;
}

static bool is_billing(const struct facts *f)
{
    return f->status == 402 || explain_says(f->word[0], billing_words) ||
           explain_says(f->word[1], billing_words);
}

/* The reason that the words name; NULL: they are unknown. */
static const char *reason_of_words(const struct facts *f)
{
    for (size_t k = 0; k < 4; k++)
        if (explain_names_context(f->word[k]))
            return "context_length_exceeded";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (size_t k = 0; k < 4; k++)
            if (explain_has(f->word[k], words[i].word))
                return words[i].reason;
    return NULL;
}

static bool is_about_content(const char *reason)
{
    return reason && (!strcmp(reason, "content_filter") ||
                      !strcmp(reason, "context_length_exceeded"));
}

static const char *reason_of(const struct facts *f)
{
    const char *named = reason_of_words(f);
    bool refused = !f->status || f->status == 400 || f->status == 403 ||
                   f->status == 413 || f->status == 422 || f->status == 451;
    if (is_billing(f))
        return "rate_limited";
    if ((refused || f->status == 500) && explain_too_long(f->message))
        return "context_length_exceeded";
    if (refused && (f->flagged || is_about_content(named)))
        return f->flagged ? "content_filter" : named;
    if (f->status)
        return explain_status(f->status);
    return named ? named : "provider_unavailable";
}

/* The members of the error except its message, and "billing": true if it is
 * about money. */
static const allm_json *details_build(struct arena *a, const allm_json *core,
                                      bool billing)
{
    static const char *const skip[] = { "message", "billing", "choices",
                                        "error", NULL };
    struct build b = build_object_in(a);
    if (billing)
        build_bool_at(&b, "billing", true);
    return explain_details(&b, core, skip);
}

allm_error error_body_read(struct arena *a, const allm_json *document,
                           int32_t status)
{
    const allm_json *core = core_of(document);
    struct facts f = facts_of(core, explain_message(document), status);
    allm_error e = STATUS_ERROR(ALLM_ERR_ADAPTER, reason_of(&f),
                                explain_sentence(a, status, f.message));
    e.metadata = details_build(a, core, is_billing(&f));
    if (f.status)
        e.http_status = (allm_int){ f.status, true };
    return e;
}

allm_status error_body_explain(const allm_call *call,
                               const allm_http_head *head, const char *body,
                               size_t len, allm_sink *sink)
{
    return explain_body(call, head, (struct slice){ body, len }, sink,
                        error_body_read);
}
