/*
 * error.c - what Anthropic means by an error
 *
 *      {"type": "error", "error": {"type", "message"}, "request_id"}
 *
 * Behind an HTTP status the word in "type" says nothing new, and servers that
 * only look like Anthropic use it freely: so the status counts, and the word
 * only where the status was 200.
 */
#include "provider/anthropic/error.h"

#include "base/buf.h"
#include "base/status.h"
#include "provider/explain.h"
#include "provider/sink.h"
#include "json/build.h"
#include "json/json.h"

static const struct {
    const char *word, *reason;
} words[] = {
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

/* Messages of Anthropic about too much text; it has no type for that. */
static const char *const too_long[] = {
    "context window", "context length", "context limit", NULL,
};

/* And of money: waiting does not help. */
static const char *const about_money[] = {
    "enforced_spend_limit_reached", "spend limit", "credit balance", NULL,
};

struct facts {
    const allm_json *core;      /* the object that describes the error */
    const char *type, *code, *message;
    int32_t status;
};

static struct facts facts_of(const allm_json *document, int32_t status)
{
    const allm_json *error = json_at(document, "error");
    struct facts f = { .core = document, .status = status };
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
        f.status = (int32_t)n;  /* a router's, in the place of a word */
    return f;
}

static bool is_billing(const struct facts *f)
{
    return f->status == 402 || (f->type && !strcmp(f->type, "billing_error")) ||
           explain_says(f->code, about_money) ||
           explain_says(f->message, about_money);
}

static const char *by_word(const char *type)
{
    for (size_t i = 0; type && i < sizeof words / sizeof *words; i++)
        if (!strcmp(type, words[i].word))
            return words[i].reason;
    return "provider_unavailable";
}

/* Anthropic's own messages count only where the request was refused; those of
 * other servers may come with status 500, too. */
static bool is_too_long(const struct facts *f, const char *reason)
{
    bool refused = !strcmp(reason, "invalid_request");
    if (refused && explain_says(f->message, too_long))
        return true;
    return (refused || !f->status || f->status == 500) &&
           (explain_names_context(f->type) || explain_names_context(f->code) ||
            explain_too_long(f->message));
}

static const char *reason_of(const struct facts *f)
{
    const char *reason = f->status == 504 ? "timeout"
                         : f->status      ? explain_status(f->status)
                                          : by_word(f->type);
    return is_too_long(f, reason) ? "context_length_exceeded" : reason;
}

/* The members of the error but its sentence, and whether it is about money. */
static const allm_json *details_build(struct arena *a, const struct facts *f)
{
    static const char *const skip[] = { "message", "billing", "error",
                                        "request_id", NULL };
    struct build b;
    build_init(&b, a);
    build_object(&b);
    if (is_billing(f)) {
        build_key(&b, SLICE("billing"));
        build_bool(&b, true);
    }
    return explain_details(&b, f->core, skip);
}

allm_error anthropic_error_read(struct arena *a, const allm_json *document,
                                int32_t status)
{
    struct facts f = facts_of(document, status);
    allm_error e = status_blank(ALLM_ERR_ADAPTER);
    e.reason = reason_of(&f);
    e.message = explain_sentence(a, status, f.message);
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
