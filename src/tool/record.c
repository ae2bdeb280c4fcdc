/*
 * record.c - write the calls of a batch to a journal
 *
 *      results of calls that have ended ---.
 *                                          +--> one commit --> events, starts
 *      intents of calls that may begin ----'
 *
 * Invariants
 *   (1) A function starts only when its intent is written, and the events of a
 *       call are emitted only when its result is written.
 *   (2) Only one commit at a time is being written.  Tools that run meanwhile
 *       are polled; their results are in the next commit.
 *   (3) A call that needs no function has a result and no intent.
 */
#include "tool/batch_parts.h"

/* The effect of a call; tool_help has no tool and changes nothing. */
static allm_effect effect_of(const struct slot *s)
{
    if (s->is_help)
        return ALLM_EFFECT_PURE;
    return s->result.tool ? s->result.tool->effect : ALLM_EFFECT_WRITE;
}

/* Complete the results of READY calls and add them, in the order of answers. */
static void add_results(struct batch *b)
{
    const struct batch_journal *j = &b->opts.journal;
    struct slot *s;
    while (!b->error && (s = batch_first(b, READY))) {
        batch_settle(b, s);
        b->writing = true;
        if (!b->error && !j->result(j->ud, &s->result, effect_of(s)))
            batch_no_memory(b);
    }
}

/* Add the intents of the calls that may begin: keeps (3). */
static void add_intents(struct batch *b)
{
    const struct batch_journal *j = &b->opts.journal;
    while (!b->error && batch_has_room(b, b->planned, b->intended)) {
        struct slot *s = b->order[b->planned++];
        s->early = batch_decide_early(b, s, &s->result.outcome);
        b->writing = true;
        if (s->early)
            continue;
        b->intended++;
        if (!j->intent(j->ud, &s->result, effect_of(s)))
            batch_no_memory(b);
    }
}

/* The commit is written: its results may be emitted, its calls may begin. */
static void end_commit(struct batch *b)
{
    for (size_t i = 0; i < b->next; i++)
        if (b->order[i]->state == SETTLED)
            b->order[i]->state = RECORDED;
    b->cleared = b->planned;
    b->intended = 0;
    b->writing = false;
}

void record_calls(struct batch *b, int64_t *again_ns)
{
    const struct batch_journal *j = &b->opts.journal;
    const allm_error *error = NULL;
    if (!b->error && !b->writing) {     /* keeps (2) */
        add_results(b);
        add_intents(b);
    }
    if (b->error || !b->writing)
        return;
    allm_status status = j->flush(j->ud, again_ns, &error);
    if (status < 0)
        b->error = error;
    else if (status != ALLM_AGAIN)
        end_commit(b);
}
