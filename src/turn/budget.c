/*
 * budget.c - the third stage: check the limits before tools run
 *
 * An agent runs no tools in its last turn, because no request would contain the
 * results.  Any number of agents and threads can share a budget.  What a
 * request may need is reserved before it is sent, so two agents cannot both use
 * the last tokens.
 */
#include "turn/budget.h"

#include "base/caller_struct.h"
#include "base/clock.h"
#include "base/status.h"
#include "data/chat_result.h"
#include "data/error.h"
#include "turn/pipeline.h"
#include "json/build.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct allm_budget {
    struct mem mem;
    atomic_size_t users;
    pthread_mutex_t lock;
    allm_budget_opts limits;
    uint64_t tokens, reserved, tool_calls;
    double cost;
    int64_t began_ns;
    bool begun;
    const allm_error *error;    /* static */
};

static const allm_error bad_opts =
    STATUS_ERROR(ALLM_ERR_MISUSE, "struct_size",
                 "allm_budget_new: fill in the options with ALLM(budget_opts, "
                 "...), and a max_cost that is not negative");

allm_budget *allm_budget_new(const allm_budget_opts *opts)
{
    allm_budget_opts mine;
    bool fine = caller_struct_take(&mine, sizeof mine, opts);
    struct mem mem = mem_from(mine.allocator);
    allm_budget *b = mem_alloc(mem, sizeof *b);
    if (!b)
        return NULL;
    *b = (allm_budget){ .mem = mem, .limits = mine };
    if (pthread_mutex_init(&b->lock, NULL)) {
        mem_free(mem, b, sizeof *b);
        return NULL;
    }
    atomic_init(&b->users, 1);
    if (!fine || !(mine.max_cost >= 0))
        b->error = &bad_opts;
    return b;
}

allm_budget *allm_budget_keep(allm_budget *b)
{
    if (b)
        atomic_fetch_add_explicit(&b->users, 1, memory_order_relaxed);
    return b;
}

void allm_budget_free(allm_budget *b)
{
    if (!b ||
        atomic_fetch_sub_explicit(&b->users, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&b->lock);
    mem_free(b->mem, b, sizeof *b);
}

const allm_error *allm_budget_error(const allm_budget *b)
{
    return b ? b->error : status_nomem();
}

/* Lock the budget, which may be const for a query. */
static allm_budget *lock_budget(const allm_budget *b)
{
    allm_budget *mine = (allm_budget *)(uintptr_t)b;
    pthread_mutex_lock(&mine->lock);
    return mine;
}

static uint64_t read_count(const allm_budget *b, const uint64_t *at)
{
    allm_budget *mine = lock_budget(b);
    uint64_t n = *at;
    pthread_mutex_unlock(&mine->lock);
    return n;
}

uint64_t allm_budget_tokens(const allm_budget *b)
{
    return b ? read_count(b, &b->tokens) : 0;
}

uint64_t allm_budget_tool_calls(const allm_budget *b)
{
    return b ? read_count(b, &b->tool_calls) : 0;
}

double allm_budget_cost(const allm_budget *b)
{
    if (!b)
        return 0;
    allm_budget *mine = lock_budget(b);
    double cost = mine->cost;
    pthread_mutex_unlock(&mine->lock);
    return cost;
}

/* The limit that is already reached, or NULL. */
static const char *reached_limit(allm_budget *b, int64_t now_ns)
{
    const allm_budget_opts *l = &b->limits;
    if (!b->begun) {
        b->begun = true;
        b->began_ns = now_ns;
    }
    int64_t ms = clock_between(b->began_ns, now_ns) / 1000000;
    if (l->max_ms && ms >= 0 && (uint64_t)ms >= l->max_ms)
        return "max_ms";
    return l->max_cost > 0 && b->cost >= l->max_cost ? "max_cost" : NULL;
}

const char *budget_take(allm_budget *b, int64_t now_ns, uint64_t need,
                        uint64_t *taken)
{
    *taken = 0;
    if (!b)
        return NULL;
    lock_budget(b);
    const allm_budget_opts *l = &b->limits;
    const char *limit = reached_limit(b, now_ns);
    if (!need)
        need = l->reserve_tokens ? l->reserve_tokens : 1;
    uint64_t out = b->tokens + b->reserved;
    if (!limit && l->max_tokens &&
        (out >= l->max_tokens || need > l->max_tokens - out))
        limit = "max_tokens";
    if (!limit) {
        b->reserved += need;
        *taken = need;
    }
    pthread_mutex_unlock(&b->lock);
    return limit;
}

const char *budget_take_tools(allm_budget *b, int64_t now_ns, uint64_t n)
{
    if (!b)
        return NULL;
    lock_budget(b);
    const allm_budget_opts *l = &b->limits;
    const char *limit = reached_limit(b, now_ns);
    if (!limit && l->max_tool_calls && n > l->max_tool_calls - b->tool_calls)
        limit = "max_tool_calls";
    if (!limit)
        b->tool_calls += n;
    pthread_mutex_unlock(&b->lock);
    return limit;
}

void budget_settle(allm_budget *b, uint64_t taken, const allm_usage *used)
{
    int64_t total = 0;
    if (!b)
        return;
    lock_budget(b);
    b->reserved -= taken < b->reserved ? taken : b->reserved;
    if (used && allm_usage_total(used, &total) && total > 0)
        b->tokens += (uint64_t)total;
    if (used && used->total_cost.set)
        b->cost += used->total_cost.value;
    pthread_mutex_unlock(&b->lock);
}

static const allm_json *iterations_json(const allm_context *c)
{
    struct build b = build_object_in(c->arena);
    build_uint_at(&b, "max_iterations", c->max_iterations);
    build_uint_at(&b, "iterations", (uint64_t)c->iteration + 1);
    return build_finish(&b);
}

static allm_status exceed_iterations(allm_context *c)
{
    context_note(c, "budget_exceeded_iterations");
    allm_error *e =
        status_draft(c->arena, ALLM_ERR_ENGINE, REASON_BUDGET,
                     "the agent still calls tools in turn %u of %u; raise "
                     "max_iterations",
                     (unsigned)c->iteration + 1, (unsigned)c->max_iterations);
    if (!e)
        return ALLM_ERR_NOMEM;
    e->metadata = iterations_json(c);
    if (!e->metadata)
        return ALLM_ERR_NOMEM;
    c->error = e;
    c->status = e->kind;
    context_decide(c, ALLM_DECISION_ERROR, REASON_BUDGET);
    return ALLM_OK;
}

/* Halt the turn; the metadata names the limit. */
static allm_status halt_on_limit(allm_context *c, const char *limit)
{
    struct build b = build_object_in(c->arena);
    build_text_at(&b, "budget", slice_of(limit));
    build_end(&b);
    context_note_text(c, REASON_BUDGET, limit);
    return allm_context_decide(c, ALLM_DECISION_HALT, HALTED_BUDGET,
                               build_done(&b));
}

allm_status budget_run(allm_context *c, void *ud)
{
    (void)ud;
    if (c->terms->guard && c->iteration + 1 >= c->max_iterations)
        return exceed_iterations(c);
    const char *limit = c->call_count
                            ? budget_take_tools(c->terms->budget,
                                                clock_now_ns(c->clock),
                                                c->call_count)
                            : NULL;
    if (limit)
        return halt_on_limit(c, limit);
    context_note(c, "budget_ok");
    return ALLM_OK;
}
