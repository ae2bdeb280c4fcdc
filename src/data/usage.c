/* usage.c - what a call cost, in tokens and money */
#include "data/usage.h"

#include "data/encode.h"

static const struct shape_field fields[] = {
    FIELD(usage, input_tokens, SHAPE_INT),
    FIELD(usage, output_tokens, SHAPE_INT),
    FIELD(usage, cached_input_tokens, SHAPE_INT),
    FIELD(usage, reasoning_tokens, SHAPE_INT),
    FIELD(usage, total_tokens, SHAPE_INT),
    FIELD(usage, input_cost, SHAPE_NUM),
    FIELD(usage, output_cost, SHAPE_NUM),
    FIELD(usage, total_cost, SHAPE_NUM),
    FIELD(usage, tool_usage, SHAPE_MAP),
    FIELD(usage, extra, SHAPE_MAP),
    FIELD_END,
};

const struct shape usage_shape = {
    .tag = "ALLM.Usage",
    .noun = "usage",
    .size = sizeof(allm_usage),
    .kept = offsetof(allm_usage, kept),
    .fields = fields,
};

allm_usage *allm_usage_new(const allm_usage *given)
{
    return shape_new(&usage_shape, given);
}

void allm_usage_free(allm_usage *usage)
{
    shape_free(usage);
}

const allm_error *allm_usage_error(const allm_usage *usage)
{
    return shape_error(usage);
}

allm_text *allm_usage_json(const allm_usage *usage, uint32_t form)
{
    return encode_to_text(&usage_shape, usage, form);
}

static bool add(int64_t a, int64_t b, int64_t *sum)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        return false;
    *sum = a + b;
    return true;
}

bool allm_usage_total(const allm_usage *usage, int64_t *total)
{
    int64_t sum;
    if (!usage || !MEM_REACHES(usage, total_tokens))
        return false;
    if (usage->total_tokens.set)
        sum = usage->total_tokens.value;
    else if (!usage->input_tokens.set || !usage->output_tokens.set ||
             !add(usage->input_tokens.value, usage->output_tokens.value, &sum))
        return false;
    if (total)
        *total = sum;
    return true;
}
