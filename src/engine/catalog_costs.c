/*
 * catalog_costs.c - compute what the tokens of a response cost
 *
 *      {"input": 4, "output": 20, "cached": 0.4, "cache_write": 5,
 *       "long": {"above": 272000, "input": 8, "output": 30, ...}}
 *
 * Prices are in dollars per million tokens.  "cached" is the price of tokens
 * that were read from the provider's cache, "cache_write" that of tokens
 * written to it; without them, the price of "input" applies.  The prices in
 * "long" apply to prompts with more tokens than "above".
 */
#include "engine/catalog.h"
#include "json/json.h"

static bool read_price(const allm_json *prices, const char *name, double *out)
{
    return json_finite(json_at(prices, name), out);
}

/* The prices for a prompt with this many tokens. */
static const allm_json *prices_for(const allm_json *pricing, allm_int input)
{
    int64_t above;
    const allm_json *long_prompt = json_at(pricing, "long");
    bool is_long = input.set &&
                   json_int64(json_at(long_prompt, "above"), &above) &&
                   input.value > above;
    return is_long ? long_prompt : pricing;
}

/* How much more or less than at the usual price `tokens` of the input cost.  At
 * most *left tokens count; *left is reduced by them. */
static double price_difference(const allm_json *prices, const char *name,
                               double usual, int64_t tokens, int64_t *left)
{
    double price;
    if (tokens > *left)
        tokens = *left;
    if (tokens <= 0 || !read_price(prices, name, &price))
        return 0;
    *left -= tokens;
    return (price - usual) * (double)tokens;
}

static void fill_input(allm_usage *u, const allm_json *prices)
{
    double price;
    int64_t left = u->input_tokens.value, written = 0;
    if (u->input_cost.set || !u->input_tokens.set ||
        !read_price(prices, "input", &price))
        return;
    double sum = price * (double)left;
    if (u->cached_input_tokens.set)
        sum += price_difference(prices, "cached", price,
                                u->cached_input_tokens.value, &left);
    if (json_int64(json_at(u->extra, "cache_write_input_tokens"), &written))
        sum += price_difference(prices, "cache_write", price, written, &left);
    u->input_cost = (allm_num){ sum / 1e6, true };
}

static void fill_output(allm_usage *u, const allm_json *prices)
{
    double price;
    if (!u->output_cost.set && u->output_tokens.set &&
        read_price(prices, "output", &price))
        u->output_cost =
            (allm_num){
            price * (double)u->output_tokens.value / 1e6, true
        };
}

void catalog_costs(allm_usage *u, const allm_model_ref *ref)
{
    const allm_json *pricing = ref ? ref->pricing : NULL;
    if (allm_json_type_of(pricing) != ALLM_JSON_OBJECT)
        return;
    const allm_json *prices = prices_for(pricing, u->input_tokens);
    fill_input(u, prices);
    fill_output(u, prices);
    if (!u->total_cost.set && u->input_cost.set && u->output_cost.set)
        u->total_cost = (allm_num){ u->input_cost.value + u->output_cost.value,
                                    true };
}
