/*
 * journal.c - the entries of a turn or a chat, on their way to the journal
 *
 * Invariants
 *   (1) An entry that is not yet written is passed again, unchanged, before any
 *       later one.
 *   (2) All entries that are added together form one commit: all but the last
 *       have `more`.
 */
#include "run/journal.h"

#include "base/status.h"
#include "data/encode.h"
#include "data/error.h"

/* How long after the deadline of the call the wait for a journal may end:
 * until then, what was done can still be recorded. */
#define GRACE_MS 10000

/* The longest result that can be written: what a store keeps in one string. */
#define MOST_CONTENT ((size_t)256 * 1024 * 1024)

struct journal_item {
    struct journal_item *next;
    bool passed;                /* to the function, at least once */
    allm_journal_entry entry;
};

static const allm_error refused = STATUS_ERROR(
    ALLM_ERR_STORE, "journal_failed",
    "the journal rejected an entry, so the action that it describes "
    "was not taken");

void journal_init(struct journal *j, const struct setup *u, struct arena *a,
                  uint32_t turn, int pass)
{
    *j = (struct journal){ .setup = u, .arena = a, .turn = turn,
                           .pass = pass == 2 ? 2 : 1 };
    j->last = &j->first;
}

bool journal_add(struct journal *j, const allm_journal_entry *entry)
{
    if (!j->setup->options.given.journal)
        return true;
    struct journal_item *i = arena_zero(j->arena, sizeof *i);
    if (!i)
        return false;
    i->entry = *entry;
    i->entry.size = sizeof i->entry;
    i->entry.turn = j->turn;
    i->entry.pass = j->pass;
    i->entry.request_id = j->setup->request_id;
    i->entry.waker = j->setup->waker;
    *j->last = i;
    j->last = &i->next;
    return true;
}

static allm_status fail_journal(struct journal *j, const allm_error *error)
{
    j->error = error;
    j->first = NULL;
    j->last = &j->first;
    return error->kind;
}

/* Not yet: wait, at most until the call is over. */
static allm_status await_journal(struct journal *j, int64_t *again_ns)
{
    const allm_error *late = setup_timeout_error(j->setup);
    int64_t end = j->setup->deadline_ns;
    if (end < INT64_MAX && j->first->entry.kind != ALLM_JOURNAL_MODEL_CALL)
        end = clock_after(end, GRACE_MS);
    if (late && clock_now_ns(engine_core(j->setup->engine)->clock) >= end)
        return fail_journal(j, late);
    if (end < *again_ns)
        *again_ns = end;
    return ALLM_AGAIN;
}

allm_status journal_write(struct journal *j, int64_t *again_ns)
{
    const allm_call_opts *o = &j->setup->options.given;
    struct journal_item *i;
    while ((i = j->first)) {
        if (!i->passed && i->next)
            i->entry.more = 1;  /* keeps (2) */
        i->passed = true;
        allm_status status = o->journal(&i->entry, o->journal_ud);
        if (status == ALLM_AGAIN)
            return await_journal(j, again_ns);      /* keeps (1) */
        if (status < 0)
            return fail_journal(j, status == ALLM_ERR_NOMEM ? status_nomem()
                                                            : &refused);
        j->first = i->next;
    }
    j->last = &j->first;
    return ALLM_OK;
}

/* --------------------------------------------------------------- tools --- */

static allm_journal_entry entry_of_call(allm_journal_kind kind,
                                        const struct tool_result *r,
                                        allm_effect effect)
{
    return (allm_journal_entry){ .kind = kind,
                                 .call = r->view.call,
                                 .effect = effect,
                                 .key = r->key,
                                 .index = (uint32_t)r->index };
}

static bool add_intent(void *ud, const struct tool_result *r,
                       allm_effect effect)
{
    const allm_journal_entry e = entry_of_call(ALLM_JOURNAL_TOOL_INTENT, r,
                                               effect);
    return journal_add(ud, &e);
}

/* The value of a halt that a replay needs; NULL: none, or out of memory. */
static const allm_json *halt_value(struct journal *j,
                                   const struct tool_result *r)
{
    const allm_error *error = NULL;
    switch (r->outcome.kind) {
    case OUTCOME_QUESTION: return r->outcome.opts;
    case OUTCOME_HALT:     return r->outcome.value;
    default:
        return r->halts && r->error
                   ? encode_to_json(j->arena, &error_shape, r->error,
                                    ALLM_FORM_TAGGED, &error)
                   : NULL;
    }
}

static bool add_result(void *ud, const struct tool_result *r,
                       allm_effect effect)
{
    struct journal *j = ud;
    const struct outcome *o = &r->outcome;
    struct slice content = o->kind == OUTCOME_QUESTION ? slice_of(o->question)
                                                       : r->whole;
    allm_journal_entry e = entry_of_call(ALLM_JOURNAL_TOOL_RESULT, r, effect);
    e.is_error = r->view.is_error;
    e.content = content.ptr;
    e.content_len = content.len;
    if (r->halts) {
        e.reason = outcome_halted_reason(o);
        e.value = halt_value(j, r);
    } else {
        e.value = o->images;
    }
    return !j->arena->broken && journal_add(j, &e);
}

static allm_status write_calls(void *ud, int64_t *again_ns,
                               const allm_error **error)
{
    struct journal *j = ud;
    allm_status status = journal_write(j, again_ns);
    *error = j->error;
    return status;
}

struct batch_journal journal_of_tools(struct journal *j)
{
    return (struct batch_journal){ .ud = j, .most = MOST_CONTENT,
                                   .intent = add_intent, .result = add_result,
                                   .flush = write_calls };
}
