/* batch_cost.c - what the requests of a batch may cost: --max-cost */
#include "cli/batch_cost.h"

#include "cli/batch_models.h"
#include "cli/cost.h"

double batch_cost_of(const struct batch_call *c, size_t len)
{
    return cost_at_most(&c->model->target, c->options, len, !c->text);
}

bool batch_cost_reserve(struct batch_cost *b, double amount)
{
    if (b->most > 0 && b->spent + b->reserved + amount > b->most)
        return false;
    b->reserved += amount;
    return true;
}

void batch_cost_settle(struct batch_cost *b, double reserved,
                       const allm_usage *usage)
{
    b->reserved -= reserved;
    if (usage && usage->total_cost.set)
        b->spent += usage->total_cost.value;
}
