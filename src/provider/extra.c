/* extra.c - options that callers add to a request */
#include "provider/extra.h"

#include "base/nocase.h"
#include "base/status.h"
#include "provider/model_rules.h"
#include "json/build.h"
#include "json/json.h"

static const char *const never_sent[] = {
    "extra_body", "extra_headers", "base_url", "quirks", "organization",
    "project", "api_version", "api", NULL,
};

/* Headers that contain keys, or that the transport sets. */
static const char *const reserved_headers[] = {
    "authorization", "proxy-authorization", "api-key", "x-api-key",
    "x-goog-api-key", "cookie", "host", "content-length", "content-type",
    "transfer-encoding", "accept-encoding", "connection", NULL,
};

static const allm_json *object_or_empty(const allm_json *v)
{
    return allm_json_type_of(v) == ALLM_JSON_OBJECT ? v : json_empty_object();
}

static const allm_error *option_error(struct arena *a, const char *message)
{
    return status_error(a, ALLM_ERR_MISUSE, "invalid_option", "%s", message);
}

static const allm_json *option_find(const allm_json *options, const char *name)
{
    const allm_json *v = allm_json_get(options, name);
    return allm_json_type_of(v) == ALLM_JSON_NULL ? NULL : v;
}

const allm_json *extra_get(const struct extra *x, const char *name)
{
    const allm_json *v = option_find(x->options, name);
    return v ? v : option_find(x->call->adapter_opts, name);
}

const char *extra_text(const struct extra *x, const char *name)
{
    const allm_json *v = extra_get(x, name);
    return allm_json_type_of(v) == ALLM_JSON_TEXT ? allm_json_text(v, NULL)
                                                  : NULL;
}

const allm_error *extra_refuse_effort(struct arena *a, const char *word)
{
    return status_error(a, ALLM_ERR_MISUSE, "invalid_option",
                        "reasoning_effort is \"%.40s\"; it must be one of "
                        "none, minimal, low, medium, high, xhigh, max, or a "
                        "number of tokens",
                        word);
}

/* Replace an effort that is a number of tokens by the lowest level that allows
 * as many. */
static const allm_error *read_effort_tokens(struct extra *x, struct arena *a)
{
    const allm_json *effort = extra_get(x, "reasoning_effort");
    allm_json_type type = allm_json_type_of(effort);
    int64_t n;
    if (type != ALLM_JSON_INT && type != ALLM_JSON_REAL)
        return NULL;
    if (!allm_json_int64(effort, &n) || n < 0)
        return extra_refuse_effort(a, "a fraction or a number below 0");
    x->effort_tokens = n;
    const char *level = n == 0      ? "none"
                        : n <= 2048 ? "low"
                        : n <= 8192 ? "medium"
                                    : "high";
    const allm_json *name = build_alone(a, slice_of(level));
    x->options = name ? json_set(a, x->options, SLICE("reasoning_effort"), name)
                      : NULL;
    return x->options ? NULL : status_nomem();
}

const allm_error *extra_init(struct extra *x, const allm_call *call,
                             struct arena *a)
{
    *x = (struct extra){ .call = call };
    x->options = json_merge(a, object_or_empty(call->options),
                            object_or_empty(call->request->options));
    if (!x->options)
        return status_nomem();
    const allm_error *error = read_effort_tokens(x, a);
    if (error)
        return error;
    const allm_json *body = extra_get(x, "extra_body");
    if (!body)
        return NULL;
    if (allm_json_type_of(body) != ALLM_JSON_OBJECT)
        return option_error(a,
                            "extra_body must be an object: the members to add "
                            "to the body of the request");
    x->options = json_merge(a, x->options, body);
    return x->options ? NULL : status_nomem();
}

bool extra_leaves(const struct extra *x, const char *name)
{
    return !allm_json_get(x->options, name);
}

/* The reasoning effort, under either name; NULL: it is not set. */
static const char *effort_of(const struct extra *x)
{
    const allm_json *reasoning = extra_get(x, "reasoning");
    const char *word = allm_json_text(allm_json_get(reasoning, "effort"), NULL);
    return word ? word : extra_text(x, "reasoning_effort");
}

bool extra_refuses_temperature(const struct extra *x, uint32_t rules)
{
    if (!x->call->request->temperature.set || !extra_leaves(x, "temperature"))
        return false;
    return model_rules_no_sampling(rules, effort_of(x)) ||
           ((rules & MODEL_ONE_SAMPLER) && extra_get(x, "top_p"));
}

bool extra_writes_temperature(const struct extra *x, uint32_t rules)
{
    return x->call->request->temperature.set &&
           extra_leaves(x, "temperature") &&
           !extra_refuses_temperature(x, rules);
}

void extra_write(const struct extra *x, struct emit *e,
                 const char *const *except)
{
    for (const allm_json *k = NULL; (k = allm_json_next(x->options, k));) {
        struct slice name = json_slice(k);
        if (slice_in(name, never_sent) || (except && slice_in(name, except)) ||
            allm_json_type_of(allm_json_value(k)) == ALLM_JSON_NULL)
            continue;
        emit_key(e, name);
        emit_value(e, allm_json_value(k));
    }
}

/* Copy a header name in lower case; false if it has characters other than
 * letters, digits, dashes and underscores, or is too long. */
static bool read_name(struct slice name, char out[64])
{
    if (!name.len || name.len > 63)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = nocase_lower(name.ptr[i]);
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' &&
            c != '_')
            return false;
        out[i] = c;
    }
    out[name.len] = '\0';
    return true;
}

static bool is_one_line(struct slice value)
{
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.ptr[i] < ' ' || value.ptr[i] == 0x7f)
            return false;
    return value.ptr != NULL;
}

const allm_error *extra_headers(const struct extra *x, allm_http *http,
                                struct arena *a)
{
    const allm_json *all = extra_get(x, "extra_headers");
    if (all && allm_json_type_of(all) != ALLM_JSON_OBJECT)
        return option_error(
            a, "extra_headers must be an object of header names and "
               "their values");
    for (const allm_json *k = NULL; (k = allm_json_next(all, k));) {
        char name[64];
        if (!read_name(json_slice(k), name) ||
            !is_one_line(json_slice(allm_json_value(k))))
            return option_error(a, "extra_headers: a name must consist of "
                                   "letters, digits and dashes, and its value "
                                   "must be one line of text");
        if (slice_in(slice_of(name), reserved_headers))
            return option_error(a, "extra_headers must not contain headers for "
                                   "keys or of the transport; set a key with "
                                   "api_key");
        allm_http_header(http, name, allm_json_text(allm_json_value(k), NULL));
    }
    return NULL;
}
