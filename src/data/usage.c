/* usage.c - the tokens and cost of a call */
#include "data/usage.h"

#include "data/noun.h"

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
    SHAPE_OF(usage, "ALLM.Usage"),
    .fields = fields,
};

NOUN_FUNCTIONS(usage)

static bool add_counts(int64_t a, int64_t b, int64_t *sum)
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
             !add_counts(usage->input_tokens.value, usage->output_tokens.value,
                         &sum))
        return false;
    if (total)
        *total = sum;
    return true;
}

/* ------------------------------------------------------------ several --- */

static bool lay_int(allm_int *to, allm_int from)
{
    if (from.set)
        *to = from;
    return from.set;
}

static bool lay_num(allm_num *to, allm_num from)
{
    if (from.set)
        *to = from;
    return from.set;
}

bool usage_lay(allm_usage *to, const allm_usage *from)
{
    bool known[] = {
        lay_int(&to->input_tokens, from->input_tokens),
        lay_int(&to->output_tokens, from->output_tokens),
        lay_int(&to->cached_input_tokens, from->cached_input_tokens),
        lay_int(&to->reasoning_tokens, from->reasoning_tokens),
        lay_int(&to->total_tokens, from->total_tokens),
        lay_num(&to->input_cost, from->input_cost),
        lay_num(&to->output_cost, from->output_cost),
        lay_num(&to->total_cost, from->total_cost),
        from->tool_usage != NULL,
        from->extra != NULL,
    };
    return memchr(known, true, sizeof known) != NULL;
}

/* A sum that overflows becomes the largest number. */
static void add_int(allm_int *sum, allm_int n)
{
    int64_t all = n.value > 0 ? INT64_MAX : INT64_MIN;
    if (!n.set)
        return;
    add_counts(sum->value, n.value, &all);
    *sum = (allm_int){ all, true };
}

static void add_num(allm_num *sum, allm_num n)
{
    if (n.set)
        *sum = (allm_num){ sum->value + n.value, true };
}

void usage_sum(allm_usage *sum, const allm_usage *u)
{
    if (!u)
        return;
    add_int(&sum->input_tokens, u->input_tokens);
    add_int(&sum->output_tokens, u->output_tokens);
    add_int(&sum->cached_input_tokens, u->cached_input_tokens);
    add_int(&sum->reasoning_tokens, u->reasoning_tokens);
    add_int(&sum->total_tokens, u->total_tokens);
    add_num(&sum->input_cost, u->input_cost);
    add_num(&sum->output_cost, u->output_cost);
    add_num(&sum->total_cost, u->total_cost);
}

int64_t usage_remainder(const allm_usage *u)
{
    if (!u->input_tokens.set || !u->output_tokens.set || !u->total_tokens.set)
        return 0;
    int64_t rest = u->total_tokens.value - u->input_tokens.value;
    return rest > u->output_tokens.value ? rest - u->output_tokens.value : 0;
}
