/*
 * chat_usage.c - add up the usage of all answers of a chat
 *
 * A chat may send several requests, for example until an answer fits the
 * schema.  Each one costs money, so the usage of the last is not enough.
 */
#include "cli/chat_usage.h"

static void add_count(allm_int *sum, allm_int more)
{
    if (more.set)
        *sum = (allm_int){ sum->value + more.value, true };
}

static void add_cost(allm_num *sum, allm_num more)
{
    if (more.set)
        *sum = (allm_num){ sum->value + more.value, true };
}

static void add_usage(allm_usage *sum, const allm_usage *more)
{
    add_count(&sum->input_tokens, more->input_tokens);
    add_count(&sum->output_tokens, more->output_tokens);
    add_count(&sum->cached_input_tokens, more->cached_input_tokens);
    add_count(&sum->reasoning_tokens, more->reasoning_tokens);
    add_count(&sum->total_tokens, more->total_tokens);
    add_cost(&sum->input_cost, more->input_cost);
    add_cost(&sum->output_cost, more->output_cost);
    add_cost(&sum->total_cost, more->total_cost);
}

static const allm_usage *usage_of(const allm_response *response)
{
    return response ? response->usage : NULL;
}

allm_usage *chat_usage_total(const allm_chat_result *result)
{
    const allm_usage *last = result ? usage_of(result->final_response) : NULL;
    if (!last)
        return NULL;
    if (result->step_count <= 1)
        return allm_usage_new(last);
    allm_usage sum = { .size = sizeof sum, .tool_usage = last->tool_usage,
                       .extra = last->extra };
    for (size_t i = 0; i < result->step_count; i++)
        if (usage_of(result->steps[i]->response))
            add_usage(&sum, result->steps[i]->response->usage);
    return allm_usage_new(&sum);
}
