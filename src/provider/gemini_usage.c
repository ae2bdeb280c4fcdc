/*
 * gemini_usage.c - the counts of Gemini
 *
 *      ours                    theirs
 *      input_tokens            promptTokenCount + toolUsePromptTokenCount
 *      cached_input_tokens     cachedContentTokenCount, a part of the prompt
 *      output_tokens           candidatesTokenCount + thoughtsTokenCount
 *      reasoning_tokens        thoughtsTokenCount
 *      total_tokens            totalTokenCount
 *
 * A gateway may count the thoughts among the candidates: then the total says
 * so, and they are not added again.
 */
#include "provider/gemini_usage.h"

#include "provider/gemini_field.h"
#include "json/emit.h"
#include "json/json.h"
#include "json/parse.h"

static void take(allm_int *to, const allm_json *usage, const char *name)
{
    allm_int n = gemini_field_count(usage, name);
    if (n.set)
        *to = n;
}

/* The sum of what is known; never beyond what an int64_t holds. */
static allm_int add(allm_int x, allm_int y)
{
    if (!x.set || !y.set)
        return x.set ? x : y;
    if (x.value > INT64_MAX - y.value)
        return (allm_int){ INT64_MAX, true };
    return (allm_int){ x.value + y.value, true };
}

static bool has_field(const allm_json *usage, const allm_json *key)
{
    static const char *const told[] = {
        "promptTokenCount", "cachedContentTokenCount", "candidatesTokenCount",
        "responseTokenCount", "thoughtsTokenCount", "totalTokenCount",
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (gemini_field(usage, told[i]) == allm_json_value(key))
            return true;
    return false;
}

static void keep_extra(struct gemini_usage *u, const allm_json *usage)
{
    struct emit e;
    bool any = false;
    for (const allm_json *k = NULL; (k = allm_json_next(usage, k));) {
        if (has_field(usage, k) ||
            allm_json_type_of(allm_json_value(k)) == ALLM_JSON_NULL)
            continue;
        if (!any) {
            buf_clear(&u->extra);
            emit_init(&e, &u->extra);
            emit_open(&e, '{');
        }
        any = true;
        emit_key(&e, json_slice(k));
        emit_value(&e, allm_json_value(k));
    }
    if (any)
        emit_close(&e, '}');
}

bool gemini_usage_add(struct gemini_usage *u, struct arena *life,
                      const allm_json *usage)
{
    if (allm_json_type_of(usage) != ALLM_JSON_OBJECT)
        return true;
    if (!u->any)
        buf_init(&u->extra, life, SIZE_MAX / 2);
    u->any = true;
    take(&u->prompt, usage, "promptTokenCount");
    take(&u->tools, usage, "toolUsePromptTokenCount");
    take(&u->cached, usage, "cachedContentTokenCount");
    take(&u->candidates, usage, "responseTokenCount");
    take(&u->candidates, usage, "candidatesTokenCount");
    take(&u->thoughts, usage, "thoughtsTokenCount");
    take(&u->total, usage, "totalTokenCount");
    keep_extra(u, usage);
    return !u->extra.broken;
}

/* Does the total leave no room for thoughts beside the candidates? */
static bool includes_thoughts(const struct gemini_usage *u, allm_int input)
{
    return u->total.set && input.set && u->candidates.set && u->thoughts.set &&
           u->candidates.value >= u->thoughts.value &&
           add(input, u->candidates).value == u->total.value;
}

allm_usage gemini_usage_read(const struct gemini_usage *u, struct arena *a)
{
    struct json_limits limits;
    const allm_error *error = NULL;
    allm_usage out = { .size = sizeof out };
    out.input_tokens = add(u->prompt, u->tools);
    out.output_tokens = includes_thoughts(u, out.input_tokens)
                            ? u->candidates
                            : add(u->candidates, u->thoughts);
    out.cached_input_tokens = u->cached;
    out.reasoning_tokens = u->thoughts;
    out.total_tokens = u->total;
    json_limits_from(&limits, NULL);
    limits.loose = true;
    if (u->extra.len && !u->extra.broken)
        out.extra = json_parse(a, buf_slice(&u->extra), limits, &error);
    return out;
}
