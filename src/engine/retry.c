/*
 * retry.c - decide whether to retry, and when
 *
 *      delay = min(max_delay, base * 2^(attempt - 1)) + jitter
 *
 * If the provider says how long to wait, the delay is that + jitter.
 */
#include "engine/retry.h"

#include "base/clock.h"
#include "base/status.h"
#include "engine/pairs.h"
#include "json/json.h"

#include <stdint.h>

/* ------------------------------------------------------------- policy --- */

struct retry_policy retry_default(void)
{
    return (struct retry_policy){ .max_attempts = 3,
                                  .base_delay_ms = 500,
                                  .max_delay_ms = 30000,
                                  .jitter_ms = 250,
                                  .respect_retry_after = true };
}

enum type { COUNT, FLAG, LIST };

static const struct key {
    const char *name;
    enum type type;
    size_t at;                  /* in struct retry_policy */
    const char *expected;
} keys[] = {
#define AT(m) offsetof(struct retry_policy, m)
    { "max_attempts", COUNT, AT(max_attempts),
      "a count of attempts, 0 or more (0: no retry)" },
    { "base_delay_ms", COUNT, AT(base_delay_ms), "milliseconds, 0 or more" },
    { "max_delay_ms", COUNT, AT(max_delay_ms), "milliseconds, 0 or more" },
    { "jitter_ms", COUNT, AT(jitter_ms), "milliseconds, 0 or more" },
    { "respect_retry_after", FLAG, AT(respect_retry_after), "true or false" },
    { "retry_on", LIST, AT(retry_on),
      "a list of HTTP statuses and reasons, such as [429, \"timeout\"]" },
#undef AT
};

static bool is_status_or_reason(const allm_json *v)
{
    int64_t n;
    if (allm_json_type_of(v) == ALLM_JSON_TEXT)
        return json_slice(v).len > 0;
    return allm_json_type_of(v) == ALLM_JSON_INT && allm_json_int64(v, &n) &&
           n >= 100 && n <= 599;
}

static bool is_retry_list(const allm_json *v)
{
    if (allm_json_type_of(v) != ALLM_JSON_ARRAY)
        return false;
    for (const allm_json *entry = NULL; (entry = allm_json_next(v, entry));)
        if (!is_status_or_reason(entry))
            return false;
    return true;
}

/* Store a value in the field of its key; false: it has the wrong type. */
static bool set_field(struct retry_policy *p, const struct key *k,
                      const allm_json *v)
{
    char *to = (char *)p + k->at;
    int64_t n = -1;
    switch (k->type) {
    case COUNT:
        if (allm_json_type_of(v) != ALLM_JSON_INT || !allm_json_int64(v, &n) ||
            n < 0)
            return false;
        memcpy(to, &n, sizeof n);
        return true;
    case FLAG:
        if (allm_json_type_of(v) != ALLM_JSON_BOOL)
            return false;
        *(bool *)to = allm_json_true(v);
        return true;
    case LIST:
        if (!is_retry_list(v))
            return false;
        memcpy(to, &v, sizeof v);
        return true;
    }
    return false;
}

static const allm_error *change_policy(struct retry_policy *p,
                                       struct slice name, const allm_json *v,
                                       struct arena *a)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!slice_is(name, keys[i].name))
            continue;
        if (set_field(p, &keys[i], v))
            return NULL;
        return status_error(a, ALLM_ERR_MISUSE, "invalid_retry",
                            "%s of a retry policy must be %s", keys[i].name,
                            keys[i].expected);
    }
    return status_error(a, ALLM_ERR_MISUSE, "invalid_retry",
                        "a retry policy has no key \"%.*s\"; it has "
                        "max_attempts, base_delay_ms, max_delay_ms, "
                        "retry_on, jitter_ms and respect_retry_after",
                        (int)(name.len < 64 ? name.len : 64), name.ptr);
}

const allm_error *retry_policy_read(struct retry_policy *out,
                                    const allm_json *value, struct arena *a)
{
    const allm_error *error = NULL;
    allm_json_type type = allm_json_type_of(value);
    *out = retry_default();
    if (!value || type == ALLM_JSON_NULL || json_is(value, "default"))
        return NULL;
    if (type == ALLM_JSON_BOOL && !allm_json_true(value)) {
        out->max_attempts = 0;
        return NULL;
    }
    const allm_json *object = pairs_object(a, value);
    if (!object && a->broken)
        return status_nomem();
    if (!object)
        return status_error(a, ALLM_ERR_MISUSE, "invalid_retry",
                            "retry must be \"default\", false, an object "
                            "or a list of [key, value]");
    for (const allm_json *k = NULL; !error && (k = allm_json_next(object, k));)
        error = change_policy(out, json_slice(k), allm_json_value(k), a);
    return error;
}

/* ----------------------------------------------------------- decision --- */

static bool status_is_default(int64_t status)
{
    switch (status) {
    case 408:                   /* request timeout */
    case 409:                   /* conflict: a lock of the provider */
    case 429:                   /* too many requests */
    case 500:
    case 502:
    case 503:
    case 504:
    case 529:                   /* Anthropic: overloaded */
        return true;
    default:
        return false;
    }
}

static bool reason_is_default(const char *reason)
{
    return reason &&
           (!strcmp(reason, "timeout") || !strcmp(reason, "network_error"));
}

static bool is_listed(const allm_json *list, const allm_error *error)
{
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));) {
        int64_t status;
        if (error->http_status.set && allm_json_int64(v, &status) &&
            status == error->http_status.value)
            return true;
        if (error->reason && json_is(v, error->reason))
            return true;
    }
    return false;
}

bool retry_matches(const struct retry_policy *p, const allm_error *error)
{
    if (p->retry_on)
        return is_listed(p->retry_on, error);
    if (error->reason && !strcmp(error->reason, "context_length_exceeded"))
        return false;           /* some servers report it with status 500 */
    return (error->http_status.set &&
            status_is_default(error->http_status.value)) ||
           reason_is_default(error->reason);
}

static bool is_hopeless(const allm_error *error)
{
    return (error->http_status.set && error->http_status.value == 402) ||
           allm_json_true(allm_json_get(error->metadata, "billing")) ||
           allm_json_true(allm_json_get(error->metadata, "final"));
}

static int64_t backoff_ms(const struct retry_policy *p, int64_t attempt)
{
    int64_t delay = p->base_delay_ms;
    for (int64_t i = 1; i < attempt && delay && delay < p->max_delay_ms; i++)
        delay = clock_add(delay, delay);
    return delay < p->max_delay_ms ? delay : p->max_delay_ms;
}

bool retry_decide(const struct retry_policy *p, int64_t attempt,
                  const allm_error *error, struct random random,
                  int64_t *delay_ms)
{
    if (attempt >= p->max_attempts || !error ||
        (error->kind != ALLM_ERR_ADAPTER && error->kind != ALLM_ERR_IMAGE) ||
        is_hopeless(error) || !retry_matches(p, error))
        return false;
    bool has_wait = p->respect_retry_after && error->retry_after_ms.set &&
                    error->retry_after_ms.value > 0;
    if (has_wait && error->retry_after_ms.value > RETRY_AFTER_CAP_MS)
        return false;
    int64_t delay = has_wait ? error->retry_after_ms.value
                             : backoff_ms(p, attempt);
    uint64_t jitter = random_below(random, (uint64_t)p->jitter_ms + 1);
    delay = clock_add(delay, (int64_t)jitter);
    *delay_ms = delay < RETRY_LONGEST_MS ? delay : RETRY_LONGEST_MS;
    return true;
}
