/*
 * policies.c - who is asked before and after a turn
 *
 * The front's first policies, the caller's, the front's last; in that order
 * each may change the verdict of the one before.
 */
#include "run/turns.h"

#include "base/status.h"
#include "data/chat_result.h"

static allm_loop_view view_of(const struct turns *l)
{
    return (allm_loop_view){
        .size = sizeof(allm_loop_view),
        .turn = l->turn,
        .max_turns = l->max_turns,
        .tool_calls = l->tool_calls,
        .usage = &l->usage,
        .thread = l->thread,
        .step = turns_last(l),
        .began_ns = l->began_ns,
        .now_ns = clock_now_ns(engine_core(l->setup.engine)->clock),
    };
}

static bool is_callers(const struct turns *l, size_t policy)
{
    return policy >= l->callers && policy < l->callers_end;
}

static void *ud_of(const struct turns *l, size_t policy)
{
    return is_callers(l, policy) ? l->policies[policy]->ud
                                 : (void *)(uintptr_t)l;    /* ours */
}

static void policy_failed(struct turns *l, const allm_policy *p,
                          allm_status status, allm_verdict *v)
{
    if (status == ALLM_ERR_NOMEM)
        turns_fail(l, status_nomem());
    *v = (allm_verdict){ .size = sizeof *v, .decision = ALLM_DECISION_ERROR,
                         .reason = "policy_failed" };
    v->error =
        turns_error(l, ALLM_ERR_ENGINE, "policy_failed",
                    "the policy %s failed, or gave a verdict that cannot "
                    "be: HALT needs a reason, RETRY a turn before it",
                    p->name ? p->name : "?");
}

/* What a policy said must make sense. */
static void check_verdict(struct turns *l, const allm_policy *p,
                          allm_verdict *v)
{
    bool known = v->decision > ALLM_DECISION_NONE &&
                 v->decision <= ALLM_DECISION_RETRY;
    bool nameless = !v->reason || !*v->reason;
    if (!known || (v->decision == ALLM_DECISION_HALT && nameless)) {
        policy_failed(l, p, ALLM_ERR_MISUSE, v);
        return;
    }
    if (v->decision == ALLM_DECISION_DONE)
        v->reason = HALTED_COMPLETED;
    if (v->decision == ALLM_DECISION_ERROR && nameless)
        v->reason = HALTED_ERROR;
}

void policies_before(struct turns *l, allm_verdict *v)
{
    allm_loop_view view = view_of(l);
    for (size_t i = 0; i < l->policy_count; i++) {
        const allm_policy *p = l->policies[i];
        if (!p->before_turn)
            continue;
        allm_status status = p->before_turn(l->states[i], &view, v,
                                            ud_of(l, i));
        if (status < 0 || v->decision == ALLM_DECISION_RETRY) {
            policy_failed(l, p, status, v);
            return;
        }
        check_verdict(l, p, v);
    }
}

void policies_after(struct turns *l, const allm_context *c, allm_verdict *v)
{
    allm_loop_view view = view_of(l);
    /* of a chat's stages only a caller's can want that */
    l->asks_again = v->decision == ALLM_DECISION_RETRY &&
                    !l->setup.terms.retry_blank;
    for (size_t i = 0; i < l->policy_count; i++) {
        const allm_policy *p = l->policies[i];
        bool retried = v->decision == ALLM_DECISION_RETRY;
        if (!p->after_turn)
            continue;
        allm_status status = p->after_turn(l->states[i], &view, c, v,
                                           ud_of(l, i));
        if (status < 0) {
            policy_failed(l, p, status, v);
            return;
        }
        check_verdict(l, p, v);
        if (is_callers(l, i) && !retried)
            l->asks_again = l->asks_again || v->decision == ALLM_DECISION_RETRY;
    }
}

static size_t list_length(const allm_policy *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

static bool add_policies(struct turns *l, const allm_policy *const *list,
                         size_t n)
{
    struct arena *a = home_arena(l->setup.home);
    for (size_t i = 0; i < n; i++) {
        l->states[l->policy_count] = arena_zero(a, list[i]->state_size + 1);
        if (!l->states[l->policy_count])
            return false;
        l->policies[l->policy_count++] = list[i];
    }
    return true;
}

bool policies_gather(struct turns *l)
{
    struct arena *a = home_arena(l->setup.home);
    const allm_call_opts *o = &l->setup.options.given;
    size_t first = list_length(l->front->first),
           last = list_length(l->front->last),
           n = first + last + o->policy_count + 1;
    l->callers = first;
    l->callers_end = first + o->policy_count;
    l->policies = arena_zero(a, n * sizeof *l->policies);
    l->states = arena_zero(a, n * sizeof *l->states);
    return l->policies && l->states &&
           add_policies(l, l->front->first, first) &&
           add_policies(l, o->policies, o->policy_count) &&
           add_policies(l, l->front->last, last);
}

void policies_close(struct turns *l)
{
    for (size_t i = 0; i < l->policy_count; i++)
        if (l->policies[i]->close)
            l->policies[i]->close(l->states[i], ud_of(l, i));
}
