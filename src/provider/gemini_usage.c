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

/* The sum of what is known; never beyond what an int64_t holds. */
static allm_int add(allm_int x, allm_int y)
{
    if (!x.set || !y.set)
        return x.set ? x : y;
    if (x.value > INT64_MAX - y.value)
        return (allm_int){ INT64_MAX, true };
    return (allm_int){ x.value + y.value, true };
}

enum count {
    PROMPT,
    TOOLS,
    CACHED,
    CANDIDATES,
    RESPONSE,
    THOUGHTS,
    TOTAL,
    NONE
};

static const char *const names[] = {
    [PROMPT] = "promptTokenCount",
    [TOOLS] = "toolUsePromptTokenCount",
    [CACHED] = "cachedContentTokenCount",
    [CANDIDATES] = "candidatesTokenCount",
    [RESPONSE] = "responseTokenCount",  /* an older name of the former */
    [THOUGHTS] = "thoughtsTokenCount",
    [TOTAL] = "totalTokenCount",
};

static enum count count_of(struct slice key)
{
    size_t i = 0;
    while (i < NONE && !gemini_field_is(key, names[i]))
        i++;
    return (enum count)i;
}

/* All that is in no field of ours, as it came. */
static void keep_extra(struct gemini_usage *u, const allm_json *key, bool *any)
{
    struct emit e;
    if (allm_json_type_of(allm_json_value(key)) == ALLM_JSON_NULL)
        return;
    if (!*any)
        buf_clear(&u->extra);
    emit_init(&e, &u->extra);
    if (!*any)
        emit_open(&e, '{');
    e.comma = *any;
    *any = true;
    emit_key(&e, json_slice(key));
    emit_value(&e, allm_json_value(key));
}

bool gemini_usage_add(struct gemini_usage *u, struct arena *life,
                      const allm_json *usage)
{
    allm_int counts[NONE] = { { 0, false } };
    allm_int *const to[] = { &u->prompt,     &u->tools,    &u->cached,
                             &u->candidates, NULL,         &u->thoughts,
                             &u->total };
    bool any = false;
    if (allm_json_type_of(usage) != ALLM_JSON_OBJECT)
        return true;
    if (!u->any)
        buf_init(&u->extra, life, SIZE_MAX / 2);
    u->any = true;
    for (const allm_json *k = NULL; (k = allm_json_next(usage, k));) {
        int64_t n;
        enum count which = count_of(json_slice(k));
        if (which == TOOLS || which == NONE)
            keep_extra(u, k, &any);
        if (which != NONE && allm_json_int64(allm_json_value(k), &n) && n >= 0)
            counts[which] = (allm_int){ n, true };
    }
    if (any)
        buf_byte(&u->extra, '}');
    if (!counts[CANDIDATES].set)
        counts[CANDIDATES] = counts[RESPONSE];
    for (size_t i = 0; i < NONE; i++)
        if (to[i] && counts[i].set)
            *to[i] = counts[i];
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
