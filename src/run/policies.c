/*
 * policies.c - call the policies before and after a turn
 *
 * The order is: the first policies of the front, the caller's, the last
 * policies of the front.  Each may change the verdict of the previous one.
 */
#include "run/turns.h"

#include "base/status.h"
#include "data/chat_result.h"

static allm_loop_view make_view(const struct turns *t)
{
    return (allm_loop_view){
        .size = sizeof(allm_loop_view),
        .turn = t->turn,
        .max_turns = t->max_turns,
        .tool_calls = t->tool_calls,
        .usage = &t->usage,
        .thread = t->thread,
        .step = turns_last_step(t),
        .began_ns = t->began_ns,
        .now_ns = clock_now_ns(engine_core(t->setup.engine)->clock),
    };
}

static bool is_caller_policy(const struct turns *t, size_t policy)
{
    return policy >= t->caller_begin && policy < t->caller_end;
}

static void *policy_ud(const struct turns *t, size_t policy)
{
    return is_caller_policy(t, policy) ? t->policies[policy]->ud
                                       : (void *)(uintptr_t)t; /* one of ours */
}

static void policy_failed(struct turns *t, const allm_policy *p,
                          allm_status status, allm_verdict *v)
{
    if (status == ALLM_ERR_NOMEM)
        turns_fail(t, status_nomem());
    *v = (allm_verdict){ .size = sizeof *v, .decision = ALLM_DECISION_ERROR,
                         .reason = "policy_failed" };
    v->error =
        turns_error(t, ALLM_ERR_ENGINE, "policy_failed",
                    "the policy %s failed or returned an invalid verdict; HALT "
                    "needs a reason, and RETRY needs a turn before it",
                    p->name ? p->name : "?");
}

/* Reject a verdict that is not valid. */
static void check_verdict(struct turns *t, const allm_policy *p,
                          allm_verdict *v)
{
    bool known = v->decision > ALLM_DECISION_NONE &&
                 v->decision <= ALLM_DECISION_RETRY;
    bool nameless = !v->reason || !*v->reason;
    if (!known || (v->decision == ALLM_DECISION_HALT && nameless)) {
        policy_failed(t, p, ALLM_ERR_MISUSE, v);
        return;
    }
    if (v->decision == ALLM_DECISION_DONE)
        v->reason = HALTED_COMPLETED;
    if (v->decision == ALLM_DECISION_ERROR && nameless)
        v->reason = HALTED_ERROR;
}

void policies_before(struct turns *t, allm_verdict *v)
{
    allm_loop_view view = make_view(t);
    for (size_t i = 0; i < t->policy_count; i++) {
        const allm_policy *p = t->policies[i];
        if (!p->before_turn)
            continue;
        allm_status status = p->before_turn(t->policy_states[i], &view, v,
                                            policy_ud(t, i));
        if (status < 0 || v->decision == ALLM_DECISION_RETRY) {
            policy_failed(t, p, status, v);
            return;
        }
        check_verdict(t, p, v);
    }
}

void policies_after(struct turns *t, const allm_context *c, allm_verdict *v)
{
    allm_loop_view view = make_view(t);
    /* In a chat, only a caller's stage can decide to retry. */
    t->caller_retries = v->decision == ALLM_DECISION_RETRY &&
                        !t->setup.terms.retry_blank;
    for (size_t i = 0; i < t->policy_count; i++) {
        const allm_policy *p = t->policies[i];
        bool retried = v->decision == ALLM_DECISION_RETRY;
        if (!p->after_turn)
            continue;
        allm_status status = p->after_turn(t->policy_states[i], &view, c, v,
                                           policy_ud(t, i));
        if (status < 0) {
            policy_failed(t, p, status, v);
            return;
        }
        check_verdict(t, p, v);
        if (is_caller_policy(t, i) && !retried)
            t->caller_retries = t->caller_retries ||
                                v->decision == ALLM_DECISION_RETRY;
    }
}

static size_t list_length(const allm_policy *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

static bool add_policies(struct turns *t, const allm_policy *const *list,
                         size_t n)
{
    struct arena *a = home_arena(t->setup.home);
    for (size_t i = 0; i < n; i++) {
        t->policy_states[t->policy_count] = arena_zero(a,
                                                       list[i]->state_size + 1);
        if (!t->policy_states[t->policy_count])
            return false;
        t->policies[t->policy_count++] = list[i];
    }
    return true;
}

bool policies_gather(struct turns *t)
{
    struct arena *a = home_arena(t->setup.home);
    const allm_call_opts *o = &t->setup.options.given;
    size_t first = list_length(t->front->first),
           last = list_length(t->front->last),
           n = first + last + o->policy_count + 1;
    t->caller_begin = first;
    t->caller_end = first + o->policy_count;
    t->policies = arena_zero(a, n * sizeof *t->policies);
    t->policy_states = arena_zero(a, n * sizeof *t->policy_states);
    return t->policies && t->policy_states &&
           add_policies(t, t->front->first, first) &&
           add_policies(t, o->policies, o->policy_count) &&
           add_policies(t, t->front->last, last);
}

void policies_close(struct turns *t)
{
    for (size_t i = 0; i < t->policy_count; i++)
        if (t->policies[i]->close)
            t->policies[i]->close(t->policy_states[i], policy_ud(t, i));
}
