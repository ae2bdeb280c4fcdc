/*
 * gate.c - ask a gate which calls of a batch may begin
 *
 *      answer durable --> ask about all calls --> allowed: may begin
 *                                             --> denied:  fails when it begins
 *                                             --> left:    leaves the batch
 *
 * Invariants
 *   (1) The gate is asked about each call once, in the order of the turn,
 *       before the first one begins; not about those that were decided before.
 *   (2) With a journal, everything added so far is written before that: a crash
 *       while somebody decides loses nothing.
 *   (3) Places before b->next and b->planned are never moved.
 */
#include "tool/batch_parts.h"
#include "tool/compact.h"

/* Does this call need no function, or only one of the library's own? */
static bool needs_no_gate(struct batch *b, struct slot *s)
{
    struct outcome o;
    return compact_is_reader(s->result.tool) || batch_decide_early(b, s, &o);
}

static void ask_gate(struct batch *b, struct slot *s)
{
    const allm_gate *gate = b->opts.gate;
    if (s->decided || needs_no_gate(b, s))
        return;
    s->approval = approval_new(b->shared, s->result.view.call,
                               s->result.arguments);
    if (!s->approval) {
        batch_no_memory(b);
        return;
    }
    s->verdict = VERDICT_WAITING;
    gate->ask(gate->ud, s->approval);
}

/* Keeps (1) and (2). */
static bool ask_once(struct batch *b, int64_t *again_ns)
{
    const struct batch_journal *j = &b->opts.journal;
    if (b->asked)
        return true;
    if (j->flush) {
        allm_status status = j->flush(j->ud, again_ns, &b->error);
        if (status == ALLM_AGAIN || status < 0)
            return false;
    }
    b->asked = true;
    for (size_t i = 0; !b->error && i < b->count; i++)
        ask_gate(b, &b->slots[i]);
    return !b->error;
}

/* The call leaves the batch. */
static void remove_place(struct batch *b, size_t place)
{
    for (size_t i = place + 1; i < b->ordered; i++)
        b->order[i - 1] = b->order[i];
    b->ordered--;
}

/* Read the answers; when the deadline of the chat passes, nothing waits. */
static void read_verdicts(struct batch *b, int64_t *again_ns)
{
    bool late = batch_is_late(b), waiting = false;
    for (size_t i = b->next; i < b->ordered; i++) {
        struct slot *s = b->order[i];
        if (s->verdict != VERDICT_WAITING)
            continue;
        s->verdict = late ? VERDICT_ABSENT : approval_verdict(s->approval);
        waiting |= s->verdict == VERDICT_WAITING;
        if (s->verdict == VERDICT_LEFT)
            remove_place(b, i--);
    }
    if (waiting && b->opts.late_ns && *b->opts.late_ns < *again_ns)
        *again_ns = *b->opts.late_ns;
}

bool gate_poll(struct batch *b, int64_t *again_ns)
{
    if (!b->opts.gate)
        return true;
    if (!ask_once(b, again_ns))
        return false;
    read_verdicts(b, again_ns);
    return true;
}

bool gate_bring(struct batch *b, size_t place)
{
    size_t from = place;
    while (from < b->ordered && b->order[from]->verdict == VERDICT_WAITING)
        from++;
    if (from >= b->ordered)
        return false;
    struct slot *s = b->order[from];
    for (; from > place; from--)        /* keeps (3) */
        b->order[from] = b->order[from - 1];
    b->order[place] = s;
    return true;
}
