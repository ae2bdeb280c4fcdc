/*
 * usage.c - convert Gemini's usage to ours
 *
 *      ours                    theirs
 *      input_tokens            promptTokenCount + toolUsePromptTokenCount
 *      cached_input_tokens     cachedContentTokenCount, a part of the prompt
 *      output_tokens           candidatesTokenCount + thoughtsTokenCount
 *      reasoning_tokens        thoughtsTokenCount
 *      total_tokens            totalTokenCount
 *
 * A gateway may include the thoughts in the candidates.  The total shows this;
 * then they are not added again.  If the total exceeds the sum, the rest
 * belongs to the input if it is in the details of the prompt or in the cached
 * tokens, else to the output.
 */
#include "provider/gemini/usage.h"

#include "data/usage.h"
#include "provider/counts.h"
#include "provider/gemini/field.h"
#include "json/emit.h"
#include "json/json.h"
#include "json/parse.h"

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

#define NAME(first, second) { SLICE_INIT(first), SLICE_INIT(second) }

static const struct gemini_name names[] = {
    [PROMPT] = NAME("promptTokenCount", "prompt_token_count"),
    [TOOLS] = NAME("toolUsePromptTokenCount", "tool_use_prompt_token_count"),
    [CACHED] = NAME("cachedContentTokenCount", "cached_content_token_count"),
    [CANDIDATES] = NAME("candidatesTokenCount", "candidates_token_count"),
    /* an older name of candidates */
    [RESPONSE] = NAME("responseTokenCount", "response_token_count"),
    [THOUGHTS] = NAME("thoughtsTokenCount", "thoughts_token_count"),
    [TOTAL] = NAME("totalTokenCount", "total_token_count"),
};

static enum count count_of(struct slice key)
{
    size_t i = 0;
    while (i < NONE && !slice_eq(key, names[i].camel) &&
           !slice_eq(key, names[i].snake))
        i++;
    return (enum count)i;
}

/* Does a member have no field in our usage? */
static bool is_extra(enum count which, const allm_json *value)
{
    return (which == TOOLS || which == NONE) &&
           !json_is_type(value, ALLM_JSON_NULL);
}

/* Write all members that have no field in our usage. */
static void write_extra(struct gemini_usage *u, const allm_json *usage)
{
    struct emit e;
    buf_clear(&u->extra);
    emit_init(&e, &u->extra);
    emit_open(&e, '{');
    for (const allm_json *k = NULL; (k = allm_json_next(usage, k));) {
        const allm_json *value = allm_json_value(k);
        if (!is_extra(count_of(json_slice(k)), value))
            continue;
        emit_key(&e, json_slice(k));
        emit_value(&e, value);
    }
    buf_byte(&u->extra, '}');
}

/* Usually they are the same in every frame, and are written only once. */
static bool keep_extra(struct gemini_usage *u, struct arena *life,
                       const allm_json *usage, size_t extras, size_t same)
{
    if (!extras || (u->first && extras == u->extras && same == extras))
        return true;
    bool first = !u->extra.len;
    u->first = first ? json_copy(life, usage) : NULL;
    u->extras = extras;
    write_extra(u, usage);
    return !u->extra.broken && (u->first || !first);
}

bool gemini_usage_add(struct gemini_usage *u, struct arena *life,
                      const allm_json *usage)
{
    allm_int counts[NONE] = { { 0, false } };
    allm_int *const targets[] = { &u->prompt,     &u->tools,    &u->cached,
                             &u->candidates, NULL,         &u->thoughts,
                             &u->total };
    size_t extras = 0, same = 0;
    if (!json_is_type(usage, ALLM_JSON_OBJECT))
        return true;
    if (!u->any)
        buf_init(&u->extra, life, SIZE_MAX / 2);
    u->any = true;
    for (const allm_json *k = NULL; (k = allm_json_next(usage, k));) {
        int64_t n;
        const allm_json *value = allm_json_value(k);
        enum count which = count_of(json_slice(k));
        if (is_extra(which, value)) {
            extras++;
            same += json_same(json_get(u->first, json_slice(k)), value);
        }
        if (which != NONE && json_int64(value, &n) && n >= 0)
            counts[which] = (allm_int){ n, true };
    }
    if (!counts[CANDIDATES].set)
        counts[CANDIDATES] = counts[RESPONSE];
    for (size_t i = 0; i < NONE; i++)
        if (targets[i] && counts[i].set)
            *targets[i] = counts[i];
    return keep_extra(u, life, usage, extras, same);
}

/* Does the total show that the candidates include the thoughts? */
static bool includes_thoughts(const struct gemini_usage *u, allm_int input)
{
    return u->total.set && input.set && u->candidates.set && u->thoughts.set &&
           u->candidates.value >= u->thoughts.value &&
           counts_add(input, u->candidates).value == u->total.value;
}

/* The sum of a list of {modality, tokenCount}. */
static int64_t sum_details(const allm_json *list)
{
    allm_int sum = { 0, true };
    int64_t n;
    if (!json_is_type(list, ALLM_JSON_ARRAY))
        return 0;
    for (const allm_json *e = NULL; (e = allm_json_next(list, e));)
        if (json_int64(gemini_field(e, "tokenCount"), &n) && n >= 0)
            sum = counts_add(sum, (allm_int){ n, true });
    return sum.value;
}

static void add_remainder(allm_usage *out)
{
    int64_t remainder = usage_remainder(out);
    int64_t prompt =
        sum_details(gemini_field(out->extra, "promptTokensDetails"));
    if (out->cached_input_tokens.value == remainder ||
        prompt - out->input_tokens.value == remainder)
        out->input_tokens.value += remainder;
    else
        out->output_tokens.value += remainder;
}

allm_usage gemini_usage_read(const struct gemini_usage *u, struct arena *a)
{
    allm_usage out = { .size = sizeof out };
    out.input_tokens = counts_add(u->prompt, u->tools);
    out.output_tokens = includes_thoughts(u, out.input_tokens)
                            ? u->candidates
                            : counts_add(u->candidates, u->thoughts);
    out.cached_input_tokens = u->cached;
    out.reasoning_tokens = u->thoughts;
    out.total_tokens = u->total;
    if (u->extra.len && !u->extra.broken)
        out.extra = json_parse_loose(a, buf_slice(&u->extra), NULL);
    add_remainder(&out);
    return out;
}
