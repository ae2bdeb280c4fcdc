/*
 * usage.c - read the token counts of OpenAI and of compatible servers
 *
 * The same count has several names; the first one present is used.  A name with
 * an inner part is a member of the details.
 */
#include "provider/openai/usage.h"

#include "data/usage.h"
#include "json/build.h"
#include "json/json.h"

struct name {
    const char *outer, *inner;  /* inner NULL: at the top */
};

#define IN "prompt_tokens_details"
#define IN2 "input_tokens_details"
#define OUT "completion_tokens_details"
#define OUT2 "output_tokens_details"

static const struct name input_names[] = { { "prompt_tokens", NULL },
                                           { "input_tokens", NULL },
                                           { NULL, NULL } };
static const struct name output_names[] = { { "completion_tokens", NULL },
                                            { "output_tokens", NULL },
                                            { NULL, NULL } };
static const struct name total_names[] = { { "total_tokens", NULL },
                                           { NULL, NULL } };
static const struct name cached_names[] = {
    { IN, "cached_tokens" },
    { IN2, "cached_tokens" },
    { IN, "num_cached_tokens" },
    { "cached_tokens", NULL },
    { "num_cached_tokens", NULL },
    { "prompt_cache_hit_tokens", NULL },
    { "cache_read_input_tokens", NULL },
    { NULL, NULL },
};
static const struct name written_names[] = {
    { IN, "cache_write_tokens" },
    { IN2, "cache_write_tokens" },
    { IN, "cache_creation_tokens" },
    { "cache_creation_input_tokens", NULL },
    { NULL, NULL },
};
static const struct name thought_names[] = {
    { OUT, "reasoning_tokens" },
    { OUT2, "reasoning_tokens" },
    { "reasoning_tokens", NULL },
    { NULL, NULL },
};

static const struct name *const all_names[] = {
    input_names,  output_names,  total_names,
    cached_names, written_names, thought_names,
};

static allm_int find_count(const allm_json *usage, const struct name *names)
{
    for (; names->outer; names++) {
        int64_t n;
        const allm_json *v = allm_json_get(usage, names->outer);
        if (names->inner)
            v = allm_json_get(v, names->inner);
        if (allm_json_int64(v, &n) && n >= 0)
            return (allm_int){ n, true };
    }
    return (allm_int){ 0, false };
}

/* Is this the name of a count that is not a part of the input: the whole input,
 * or a count of something else? */
static bool is_not_input_part(struct slice key)
{
    static const char *const others[] = { "completion_", "output_", "total_",
                                          "reasoning_" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (slice_starts(key, slice_of(others[i])))
            return true;
    return slice_is(key, "prompt_tokens") || slice_is(key, "input_tokens");
}

/* Does the object have a member with this number that counts a part of the
 * input? */
static bool has_part(const allm_json *object, int64_t number)
{
    int64_t n;
    if (allm_json_type_of(object) != ALLM_JSON_OBJECT)
        return false;
    for (const allm_json *k = NULL; (k = allm_json_next(object, k));)
        if (slice_ends(json_slice(k), SLICE("tokens")) &&
            !is_not_input_part(json_slice(k)) &&
            allm_json_int64(allm_json_value(k), &n) && n == number)
            return true;
    return false;
}

/* Does the provider report a part of the input that has this size? */
static bool is_input_part(const allm_json *usage, const allm_usage *u,
                          int64_t number)
{
    int64_t cached = u->cached_input_tokens.value;
    int64_t written = find_count(usage, written_names).value;
    return (cached <= number && written == number - cached) ||
           has_part(usage, number) ||
           has_part(allm_json_get(usage, IN), number) ||
           has_part(allm_json_get(usage, IN2), number);
}

/*
 * A total that exceeds the sum: reasoning that is counted separately or hidden
 * belongs to the output (xAI, Gemini's OpenAI endpoint), a part that is missing
 * in prompt_tokens to the input (Mistral's audio, a cache).
 */
static void add_remainder(const allm_json *usage, allm_usage *u)
{
    int64_t more = usage_remainder(u);
    bool thought = u->reasoning_tokens.set && u->reasoning_tokens.value == more;
    if (!thought && is_input_part(usage, u, more))
        u->input_tokens.value += more;
    else
        u->output_tokens.value += more;
}

static void read_cost(const allm_json *cost, allm_usage *u)
{
    const struct {
        const char *name;
        allm_num *to;
    } parts[] = { { "input_cost", &u->input_cost },
                  { "output_cost", &u->output_cost },
                  { "input_tokens_cost", &u->input_cost },
                  { "output_tokens_cost", &u->output_cost },
                  { "total_cost", &u->total_cost } };
    double x;
    if (json_finite(cost, &x))
        u->total_cost = (allm_num){ x, true };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (json_finite(allm_json_get(cost, parts[i].name), &x))
            *parts[i].to = (allm_num){ x, true };
}

/* Is this the name of a count that a field of allm_usage has? */
static bool has_field(const char *outer, struct slice key)
{
    for (size_t i = 0; i < sizeof all_names / sizeof *all_names; i++)
        for (const struct name *n = all_names[i]; n->outer; n++)
            if (outer ? n->inner && !strcmp(n->outer, outer) &&
                            slice_is(key, n->inner)
                      : !n->inner && slice_is(key, n->outer))
                return true;
    return !outer && slice_is(key, "cost");
}

static void write_rest(struct build *b, const char *outer,
                       const allm_json *object)
{
    for (const allm_json *k = NULL; (k = allm_json_next(object, k));)
        if (!json_is_type(allm_json_value(k), ALLM_JSON_NULL) &&
            !has_field(outer, json_slice(k)))
            build_entry(b, k);
}

/* The details without the counts that fields of allm_usage have. */
static const allm_json *rest_of(struct arena *a, const char *outer,
                                const allm_json *object)
{
    struct build b = build_object_in(a);
    write_rest(&b, outer, object);
    return build_finish(&b);
}

static const char *find_details(struct slice key)
{
    static const char *const details[] = { IN, IN2, OUT, OUT2 };
    for (size_t i = 0; i < sizeof details / sizeof *details; i++)
        if (slice_is(key, details[i]))
            return details[i];
    return NULL;
}

static const allm_json *extra_of(struct arena *a, const allm_json *usage)
{
    allm_int written = find_count(usage, written_names);
    struct build b = build_object_in(a);
    if (written.set)
        build_int_at(&b, "cache_write_input_tokens", written.value);
    for (const allm_json *k = NULL; (k = allm_json_next(usage, k));) {
        const allm_json *v = allm_json_value(k);
        const char *outer = find_details(json_slice(k));
        if (outer && allm_json_type_of(v) == ALLM_JSON_OBJECT)
            v = rest_of(a, outer, v);
        if (allm_json_type_of(v) == ALLM_JSON_NULL || !v ||
            has_field(NULL, json_slice(k)) ||
            slice_is(json_slice(k), "cache_write_input_tokens") ||
            (outer && !allm_json_count(v)))
            continue;
        build_key(&b, json_slice(k));
        build_value(&b, v);
    }
    const allm_json *extra = build_finish(&b);
    return allm_json_count(extra) ? extra : NULL;
}

bool openai_usage_read(const allm_json *usage, struct arena *a, allm_usage *out)
{
    if (allm_json_type_of(usage) != ALLM_JSON_OBJECT)
        return false;
    *out = (allm_usage){ .size = sizeof *out };
    out->input_tokens = find_count(usage, input_names);
    out->output_tokens = find_count(usage, output_names);
    out->total_tokens = find_count(usage, total_names);
    out->cached_input_tokens = find_count(usage, cached_names);
    out->reasoning_tokens = find_count(usage, thought_names);
    add_remainder(usage, out);
    read_cost(allm_json_get(usage, "cost"), out);
    out->extra = extra_of(a, usage);
    return out->input_tokens.set || out->output_tokens.set ||
           out->total_tokens.set || out->cached_input_tokens.set ||
           out->reasoning_tokens.set || out->total_cost.set || out->extra;
}

bool openai_usage_take(struct answer *a, const allm_json *usage)
{
    allm_usage counts;
    if (!openai_usage_read(usage, a->sink->arena, &counts))
        return false;
    answer_usage(a, &counts);
    return true;
}
