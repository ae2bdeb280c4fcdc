/*
 * error.c - map Google's errors to ours
 *
 *      {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message",
 *                 "details": [{"@type": ".../google.rpc.RetryInfo",
 *                              "retryDelay": "45.8s"}, ...]}}
 *
 * The document may also be a list with one such object.  The retry delay is
 * only here, not in a header.
 */
#include "provider/gemini/error.h"

#include "base/status.h"
#include "provider/explain.h"
#include "provider/gemini/field.h"
#include "provider/sink.h"
#include "json/build.h"
#include "json/json.h"

static const struct {
    const char *status_name, *reason;
} statuses[] = {
    { "INVALID_ARGUMENT", "invalid_request" },
    { "FAILED_PRECONDITION", "invalid_request" },
    { "OUT_OF_RANGE", "invalid_request" },
    { "NOT_FOUND", "invalid_request" },
    { "UNAUTHENTICATED", "authentication_failed" },
    { "PERMISSION_DENIED", "authentication_failed" },
    { "RESOURCE_EXHAUSTED", "rate_limited" },
};

/* Messages about invalid keys, which Google reports as a bad request. */
static const char *const key_phrases[] = {
    "API_KEY_INVALID", "API_KEY_EXPIRED", "API key not valid",
    "API key expired", NULL,
};

static const char *const too_long_phrases[] = {
    "exceeds the maximum number of tokens", "input token count",
    "context window", NULL,
};

/* Messages about billing: waiting does not help. */
static const char *const billing_phrases[] = {
    "credits are depleted", "spending cap", "spend cap", "spending limit", NULL,
};

struct error_facts {
    const allm_json *core;      /* the object that describes the error */
    const char *status_name, *message;
    int32_t status;
};

static struct error_facts facts_of(const allm_json *document, int32_t status)
{
    int64_t n;
    if (allm_json_type_of(document) == ALLM_JSON_ARRAY)
        document = allm_json_at(document, 0);
    const allm_json *error = allm_json_get(document, "error");
    struct error_facts f = { .core = document, .status = status };
    if (allm_json_type_of(error) == ALLM_JSON_OBJECT)
        f.core = error;
    const allm_json *status_name = allm_json_get(f.core, "status");
    if (allm_json_type_of(status_name) == ALLM_JSON_TEXT)
        f.status_name = allm_json_text(status_name, NULL);
    f.message = explain_message(document);
    if (!status && allm_json_int64(allm_json_get(f.core, "code"), &n) &&
        n >= 400 && n <= 599)
        f.status = (int32_t)n;
    return f;
}

/* ------------------------------------------------------------ details --- */

/* The value of a member, in any of the details. */
static const allm_json *find_detail(const struct error_facts *f,
                                    const char *name)
{
    const allm_json *list = allm_json_get(f->core, "details");
    const allm_json *found = NULL;
    if (allm_json_type_of(list) != ALLM_JSON_ARRAY)
        return NULL;
    for (const allm_json *d = NULL; !found && (d = allm_json_next(list, d));)
        found = gemini_field(d, name);
    return found;
}

/* "45.837906927s" in milliseconds, rounded up. */
static bool read_delay(struct slice text, int64_t *ms)
{
    int64_t n = 0, unit = 1000;
    bool has_digits = false, round_up = false, after_point = false;
    if (!text.len || text.ptr[text.len - 1] != 's')
        return false;
    for (size_t i = 0; i + 1 < text.len; i++) {
        char c = text.ptr[i];
        if (c == '.' && !after_point) {
            after_point = true;
            continue;
        }
        if (c < '0' || c > '9' || n > 1000000000000)
            return false;
        has_digits = true;
        if (!after_point)
            n = n * 10 + (c - '0') * 1000;
        else if (unit > 1)
            n += (c - '0') * (unit /= 10);
        else
            round_up = round_up || c != '0';
    }
    *ms = n + round_up;
    return has_digits;
}

/* Is it a daily quota?  Then a retry only makes sense after a stated delay. */
static bool is_daily(const struct error_facts *f)
{
    const allm_json *list = find_detail(f, "violations");
    if (allm_json_type_of(list) != ALLM_JSON_ARRAY)
        return false;
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));) {
        const char *id = gemini_field_text(v, "quotaId").ptr;
        if (id && strstr(id, "PerDay"))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------ reasons --- */

static const char *reason_for_status(const char *status_name)
{
    for (size_t i = 0; status_name && i < sizeof statuses / sizeof *statuses;
         i++)
        if (!strcmp(status_name, statuses[i].status_name))
            return statuses[i].reason;
    return "provider_unavailable";
}

static const char *reason_of(const struct error_facts *f)
{
    const char *reason = f->status ? explain_status(f->status)
                                   : reason_for_status(f->status_name);
    if (strcmp(reason, "invalid_request") != 0)
        return reason;
    if (explain_says(f->message, key_phrases) ||
        explain_says(json_slice(find_detail(f, "reason")).ptr, key_phrases))
        return "authentication_failed";
    return explain_says(f->message, too_long_phrases)
               ? "context_length_exceeded"
               : reason;
}

/* The members of the error except its message, and the flags that decide about
 * a retry. */
static const allm_json *details_build(struct arena *a,
                                      const struct error_facts *f,
                                      bool has_delay)
{
    static const char *const skip[] = { "message", "billing", "final", "error",
                                        NULL };
    struct build b = build_object_in(a);
    if (f->status == 402 || explain_says(f->message, billing_phrases))
        build_bool_at(&b, "billing", true);
    if (is_daily(f) && !has_delay)
        build_bool_at(&b, "final", true);
    return explain_details(&b, f->core, skip);
}

allm_error gemini_error_read(struct arena *a, const allm_json *document,
                             int32_t status)
{
    int64_t ms = 0;
    struct error_facts f = facts_of(document, status);
    allm_error e = status_blank(ALLM_ERR_ADAPTER);
    bool has_delay = read_delay(json_slice(find_detail(&f, "retryDelay")), &ms);
    e.reason = reason_of(&f);
    e.message = explain_sentence(a, status, f.message);
    e.metadata = details_build(a, &f, has_delay);
    if (has_delay)
        e.retry_after_ms = (allm_int){ ms, true };
    if (f.status)
        e.http_status = (allm_int){ f.status, true };
    return e;
}

allm_status gemini_error_explain(const allm_call *call,
                                 const allm_http_head *head, const char *body,
                                 size_t len, allm_sink *sink)
{
    return explain_body(call, head, (struct slice){ body, len }, sink,
                        gemini_error_read);
}
