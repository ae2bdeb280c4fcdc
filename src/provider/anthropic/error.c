/*
 * error.c - map Anthropic's errors to ours
 *
 *      {"type": "error", "error": {"type", "message"}, "request_id"}
 *
 * After an HTTP error status, "type" adds nothing, and compatible servers use
 * it freely.  So the status counts, and "type" only if the status is 200.
 */
#include "provider/anthropic/error.h"

#include "base/status.h"
#include "provider/explain.h"
#include "provider/sink.h"
#include "json/build.h"
#include "json/json.h"

static const struct {
    const char *type_name, *reason;
} types[] = {
    { "invalid_request_error", "invalid_request" },
    { "authentication_error", "authentication_failed" },
    { "permission_error", "authentication_failed" },
    { "billing_error", "rate_limited" },
    { "not_found_error", "invalid_request" },
    { "conflict_error", "invalid_request" },
    { "request_too_large", "invalid_request" },
    { "rate_limit_error", "rate_limited" },
    { "api_error", "provider_unavailable" },
    { "timeout_error", "timeout" },
    { "overloaded_error", "provider_unavailable" },
};

/* Anthropic's messages about prompts that are too long; there is no type for
 * that. */
static const char *const too_long_phrases[] = {
    "context window", "context length", "context limit", NULL,
};

/* Messages about billing: waiting does not help. */
static const char *const billing_phrases[] = {
    "enforced_spend_limit_reached", "spend limit", "credit balance", NULL,
};

struct error_facts {
    const allm_json *core;      /* the object that describes the error */
    const char *type, *code, *message;
    int32_t status;
};

static struct error_facts facts_of(const allm_json *document, int32_t status)
{
    const allm_json *error = json_at(document, "error");
    struct error_facts f = { .core = document, .status = status };
    int64_t n;
    if (allm_json_type_of(error) == ALLM_JSON_OBJECT)
        f.core = error;
    f.type = explain_text_at(f.core, "type");
    f.code = explain_text_at(f.core, "code");
    if (!f.code)
        f.code = explain_text_at(json_at(f.core, "details"), "error_code");
    f.message = explain_message(document);
    if (!status && allm_json_int64(json_at(f.core, "code"), &n) && n >= 400 &&
        n <= 599)
        f.status = (int32_t)n;  /* a router may put the status here */
    return f;
}

static bool is_billing(const struct error_facts *f)
{
    return f->status == 402 || (f->type && !strcmp(f->type, "billing_error")) ||
           explain_says(f->code, billing_phrases) ||
           explain_says(f->message, billing_phrases);
}

static const char *reason_for_type(const char *type)
{
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (!strcmp(type, types[i].type_name))
            return types[i].reason;
    return "provider_unavailable";
}

/* Anthropic's messages count only if the request was rejected.  Those of other
 * servers may also come with status 500. */
static bool is_too_long(const struct error_facts *f, const char *reason)
{
    bool rejected = !strcmp(reason, "invalid_request");
    if (rejected && explain_says(f->message, too_long_phrases))
        return true;
    return (rejected || !f->status || f->status == 500) &&
           (explain_names_context(f->type) || explain_names_context(f->code) ||
            explain_too_long(f->message));
}

static const char *reason_of(const struct error_facts *f)
{
    const char *reason = f->status == 504 ? "timeout"
                         : f->status      ? explain_status(f->status)
                                          : reason_for_type(f->type);
    return is_too_long(f, reason) ? "context_length_exceeded" : reason;
}

/* The members of the error except its message, and "billing": true if it is
 * about money. */
static const allm_json *details_build(struct arena *a,
                                      const struct error_facts *f)
{
    static const char *const skip[] = { "message", "billing", "error",
                                        "request_id", NULL };
    struct build b = build_object_in(a);
    if (is_billing(f))
        build_bool_at(&b, "billing", true);
    return explain_details(&b, f->core, skip);
}

allm_error anthropic_error_read(struct arena *a, const allm_json *document,
                                int32_t status)
{
    struct error_facts f = facts_of(document, status);
    allm_error e = STATUS_ERROR(ALLM_ERR_ADAPTER, reason_of(&f),
                                explain_sentence(a, status, f.message));
    e.metadata = details_build(a, &f);
    e.request_id = explain_text_at(document, "request_id");
    if (f.status)
        e.http_status = (allm_int){ f.status, true };
    return e;
}

allm_status anthropic_error_explain(const allm_call *call,
                                    const allm_http_head *head,
                                    const char *body, size_t len,
                                    allm_sink *sink)
{
    return explain_body(call, head, (struct slice){ body, len }, sink,
                        anthropic_error_read);
}
