/*
 * config.c - build the member "generationConfig" of a request
 *
 *      our fields    maxOutputTokens, temperature, responseMimeType,
 *                    responseSchema or responseJsonSchema, thinkingConfig
 *      options       replace or extend them; null removes one
 *      "generationConfig" among the options      overrides everything
 */
#include "provider/gemini/config.h"

#include "data/request.h"
#include "provider/gemini/losses.h"
#include "provider/gemini/schema.h"
#include "provider/model_rules.h"
#include "json/json.h"

/* Options with the names that other providers use. */
static const struct {
    const char *option, *field;
} names[] = {
    { "max_tokens", "maxOutputTokens" },
    { "max_output_tokens", "maxOutputTokens" },
    { "max_completion_tokens", "maxOutputTokens" },
    { "top_p", "topP" },
    { "top_k", "topK" },
    { "stop", "stopSequences" },
    { "stop_sequences", "stopSequences" },
    { "presence_penalty", "presencePenalty" },
    { "frequency_penalty", "frequencyPenalty" },
    { "n", "candidateCount" },
    { "candidate_count", "candidateCount" },
    { "top_logprobs", "logprobs" },
    { "response_logprobs", "responseLogprobs" },
    { "media_resolution", "mediaResolution" },
    { "speech_config", "speechConfig" },
    { "image_config", "imageConfig" },
    { "response_modalities", "responseModalities" },
    { "thinking_config", "thinkingConfig" },
};

/* Options that are members of the body, not of generationConfig. */
static const struct {
    const char *option, *field;
} body_options[] = {
    { "contents", "contents" },
    { "tools", "tools" },
    { "toolConfig", "toolConfig" },
    { "tool_config", "toolConfig" },
    { "safetySettings", "safetySettings" },
    { "safety_settings", "safetySettings" },
    { "systemInstruction", "systemInstruction" },
    { "system_instruction", "systemInstruction" },
    { "cachedContent", "cachedContent" },
    { "cached_content", "cachedContent" },
    { "serviceTier", "serviceTier" },
    { "service_tier", "serviceTier" },
    { "labels", "labels" },
    { "store", "store" },
};

/* Options that are translated, or that Gemini does not have. */
static const char *const not_sent[] = {
    "extra_body", "extra_headers", "base_url", "quirks", "organization",
    "project", "api_version", "reasoning_effort", "reasoning_summary",
    "verbosity", "prompt_cache", "parallel_tool_calls", "stream", "model",
    "json_schema", "generationConfig", "generation_config", "api", NULL,
};

/* The efforts: as a level for newer models, and as a token budget for
 * others. */
static const struct {
    const char *name, *level;
    int64_t budget;
} efforts[] = {
    { "none", NULL, 0 },         { "minimal", "minimal", 512 },
    { "low", "low", 2048 },      { "medium", "medium", 8192 },
    { "high", "high", 24576 },   { "xhigh", "high", 24576 },
    { "max", "high", 24576 },
};

enum { MIN_BUDGET = 128 };      /* for models that always think */

/* ----------------------------------------------------------- thinking --- */

static void put_level(struct build *b, const char *level, uint32_t rules)
{
    bool is_minimal = !level || !strcmp(level, "minimal");
    build_text_at(b, "thinkingLevel",
                  !is_minimal             ? slice_of(level)
                  : rules & MODEL_MINIMAL ? SLICE("minimal")
                                          : SLICE("low"));
}

/* tokens: instead of the budget for this effort; 0: none are given. */
static void put_thinking(struct build *b, size_t effort, int64_t tokens,
                         uint32_t rules)
{
    int64_t budget = tokens ? tokens : efforts[effort].budget;
    if (!budget && !(rules & (MODEL_LEVELS | MODEL_BUDGET)))
        return;                 /* it does not think anyway */
    build_object_at(b, "thinkingConfig");
    if (rules & MODEL_LEVELS) {
        put_level(b, efforts[effort].level, rules);
    } else {
        if (budget < MIN_BUDGET && !(rules & MODEL_STOPS))
            budget = MIN_BUDGET;
        build_int_at(b, "thinkingBudget", budget);
    }
    if (efforts[effort].budget)
        build_bool_at(b, "includeThoughts", true);
    build_end(b);
}

static const allm_error *put_effort(struct build *b, const struct extra *x,
                                    struct arena *a)
{
    const char *name = extra_text(x, "reasoning_effort");
    if (!name)
        return NULL;
    for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++)
        if (!strcmp(name, efforts[i].name)) {
            put_thinking(b, i, x->effort_tokens, model_rules(x->call->model));
            return NULL;
        }
    return extra_refuse_effort(a, name);
}

/* ------------------------------------------------------------- fields --- */

/* False: out of memory. */
static bool put_format(struct build *b, const struct extra *x, struct arena *a)
{
    const allm_request *r = x->call->request;
    const allm_json *schema = request_schema(r);
    const struct gemini_schema_losses ignored = { NULL, NULL };
    if (!schema &&
        !json_is(allm_json_get(r->response_format, "type"), "json_object"))
        return true;
    build_text_at(b, "responseMimeType", SLICE("application/json"));
    if (!schema)
        return true;
    bool as_is = gemini_losses_off(x);
    if (!as_is)
        schema = gemini_schema_adapt(a, schema, true, ignored);
    if (!schema)
        return false;
    build_key(b, as_is ? SLICE("responseJsonSchema") : SLICE("responseSchema"));
    build_value(b, schema);
    return true;
}

static void put_numbers(struct build *b, const allm_request *r)
{
    if (r->max_tokens.set)
        build_int_at(b, "maxOutputTokens", r->max_tokens.value);
    if (r->temperature.set)
        build_number_at(b, "temperature", r->temperature.value);
}

/* ------------------------------------------------------------ options --- */

const char *gemini_config_body(const struct extra *x, struct slice option)
{
    const allm_json *body = extra_get(x, "extra_body");
    for (size_t i = 0; i < sizeof body_options / sizeof *body_options; i++)
        if (slice_is(option, body_options[i].option))
            return body_options[i].field;
    if (slice_is(option, "generationConfig") ||
        slice_is(option, "generation_config"))
        return NULL;
    return json_get(body, option) ? option.ptr : NULL;
}

static struct slice field_name(struct slice option)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (slice_is(option, names[i].option))
            return slice_of(names[i].field);
    return option;
}

/* Wrap a string in a list. */
static const allm_json *as_list(const allm_json *v, struct arena *a)
{
    if (allm_json_type_of(v) != ALLM_JSON_TEXT)
        return v;
    struct build b = build_array_in(a);
    build_value(&b, v);
    return build_finish(&b);
}

/* Apply an option to the config.  NULL: out of memory. */
static const allm_json *apply_option(const struct extra *x,
                                     const allm_json *config,
                                     const allm_json *key, struct arena *a)
{
    const allm_json *v = allm_json_value(key);
    struct slice name = field_name(json_slice(key));
    if (slice_in(json_slice(key), not_sent) ||
        gemini_config_body(x, json_slice(key)))
        return config;
    if (slice_is(name, "stopSequences"))
        v = as_list(v, a);
    if (slice_is(json_slice(key), "logprobs") &&
        allm_json_type_of(v) == ALLM_JSON_BOOL)
        name = SLICE("responseLogprobs");   /* theirs is a number */
    if (!v)
        return NULL;
    if (allm_json_type_of(v) == ALLM_JSON_NULL)
        v = NULL;
    return json_set(a, config, name, v);
}

const allm_json *gemini_config(const struct extra *x, struct arena *a,
                               const allm_error **error)
{
    static const char *const names_of_config[] = { "generation_config",
                                         "generationConfig" };
    struct build b = build_object_in(a);
    put_numbers(&b, x->call->request);
    if (!put_format(&b, x, a))
        return NULL;
    *error = put_effort(&b, x, a);
    if (*error)
        return NULL;
    const allm_json *config = build_finish(&b);
    for (const allm_json *k = NULL;
         config && (k = allm_json_next(x->options, k));)
        config = apply_option(x, config, k, a);
    for (size_t i = 0;
         config && i < sizeof names_of_config / sizeof *names_of_config; i++) {
        const allm_json *override = extra_get(x, names_of_config[i]);
        if (allm_json_type_of(override) == ALLM_JSON_OBJECT)
            config = json_merge(a, config, override);
    }
    return config;
}
