/* cost.c - what a call may cost at most */
#include "cli/cost.h"

#include "cli/exit.h"
#include "cli/print.h"
#include "cli/registry.h"

#include <string.h>

/* Does the provider send nothing, so that it costs nothing? */
static bool is_free(const struct target *t)
{
    const allm_json *row = registry_row(t->model, strcspn(t->model, ":"));
    return row && !registry_is_http(row);
}

/* The price of a million tokens; -1: not known. */
static double price_of(const allm_model_ref *ref, const char *kind)
{
    const allm_json *price = ref ? allm_json_get(ref->pricing, kind) : NULL;
    return price ? allm_json_number(price) : -1;
}

/* The tokens that an answer may have: max_tokens, else the model's limit. */
static double most_tokens(const allm_json *options, const allm_model_ref *ref)
{
    enum { UNLIMITED = 8192 };
    static const char *const names[] = { "max_tokens", "max_output_tokens",
                                         "max_completion_tokens" };
    int64_t n;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (allm_json_int64(allm_json_get(options, names[i]), &n))
            return (double)n;
    if (allm_json_int64(allm_json_get(ref->limits, "output"), &n))
        return (double)n;
    return UNLIMITED;
}

double cost_at_most(const struct target *t, const allm_json *options,
                    size_t bytes, bool answers)
{
    const allm_model_ref *ref = allm_catalog_find(t->catalog, t->model);
    double in = price_of(ref, "input"), out = price_of(ref, "output");
    if (in < 0 || (answers && out < 0))
        return is_free(t) ? 0 : -1;
    double tokens = answers ? out * most_tokens(options, ref) : 0;
    return (in * (double)bytes / 2 + tokens) / 1e6; /* two bytes are a token */
}

static size_t thread_bytes(const allm_thread *thread)
{
    size_t len = 0;
    allm_text *text = allm_thread_json(thread, ALLM_FORM_PLAIN);
    allm_text_bytes(text, &len);
    allm_text_free(text);
    return len;
}

int cost_check(const struct target *t, const allm_thread *thread,
               const allm_thread *prompt, double most)
{
    if (most <= 0)
        return END_DONE;
    size_t bytes = thread_bytes(thread) + thread_bytes(prompt);
    double cost = cost_at_most(t, t->options, bytes, true);
    if (cost < 0)
        return print_misuse("--max-cost: the price of %s is not known",
                            t->name);
    if (cost <= most)
        return END_DONE;
    print_fault("the call may cost up to $%.4f, more than the $%.4f of "
                "--max-cost; set --max-tokens, or raise it",
                cost, most);
    return END_LIMIT;
}

bool cost_reserve(struct cost_limit *b, double amount)
{
    if (b->most > 0 && b->spent + b->reserved + amount > b->most)
        return false;
    b->reserved += amount;
    return true;
}

void cost_settle(struct cost_limit *b, double reserved, const allm_usage *usage)
{
    b->reserved -= reserved;
    if (usage && usage->total_cost.set)
        b->spent += usage->total_cost.value;
}
