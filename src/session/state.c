/*
 * state.c - a conversation and where it stands, and what it allows
 *
 *      status            start  reply,       continue  continue  step  submit
 *                               continue     with any  without
 *                               with user's  other
 *      idle, completed   yes    yes          yes       yes       yes   -
 *      awaiting_user     -      yes          -         -         -     -
 *      awaiting_tools    -      -            -         (1)       -     yes
 *      error             the error session_in_error_state, for all
 *
 * (1) if no call is pending.  What the table forbids is misuse.
 */
#include "session/state.h"

#include "base/status.h"
#include "data/error.h"
#include "json/json.h"

/* ------------------------------------------------------------------- life --- */

allm_session *state_new(void)
{
    struct mem mem = mem_default();
    allm_session *s = mem_alloc(mem, sizeof *s);
    if (!s)
        return NULL;
    *s = (allm_session){ .mem = mem, .holders = 1, .lock = LOCK_NONE };
    arena_init(&s->told, mem);
    return s;
}

void state_keep(allm_session *s)
{
    s->holders++;
}

void state_drop(allm_session *s)
{
    struct mem mem = s->mem;
    if (--s->holders)
        return;
    lock_drop(&s->lock);
    allm_session_record_free(s->record);
    arena_release(&s->told);
    mem_free(mem, s, sizeof *s);
}

allm_session *state_unfit(const allm_error *error)
{
    allm_session *s = state_new();
    if (!s)
        return NULL;
    s->record = allm_session_record_new(ALLM(session_record, .id = NULL));
    s->error = status_retell(&s->told, error);
    if (error->errors && s->error != status_nomem())
        s->error = error_validation(&s->told, error->reason,
                                    json_copy(&s->told, error->errors));
    s->unfit = true;
    return s;
}

/* ------------------------------------------------------- what is allowed --- */

static const char *const names[] = {
    [SESSION_START] = "allm_session_start",
    [SESSION_SAY] = "allm_session_reply",
    [SESSION_SAY_OTHER] = "allm_session_continue",
    [SESSION_GO_ON] = "allm_session_continue",
    [SESSION_STEP] = "allm_session_step",
    [SESSION_SUBMIT] = "allm_session_submit_tool_result",
};

static bool allowed(const allm_session_record *r, enum session_op op)
{
    switch (r->status) {
    case ALLM_SESSION_AWAITING_USER:
        return op == SESSION_SAY;
    case ALLM_SESSION_AWAITING_TOOLS:
        return op == SESSION_SUBMIT ||
               (op == SESSION_GO_ON && !r->pending_tool_call_count);
    default:
        return op != SESSION_SUBMIT;
    }
}

/* What the session needs instead. */
static const char *advice(const allm_session_record *r)
{
    switch (r->status) {
    case ALLM_SESSION_AWAITING_USER:
        return "the session waits for the user's answer; give it with "
               "allm_session_reply()";
    case ALLM_SESSION_AWAITING_TOOLS:
        return r->pending_tool_call_count
                   ? "the session waits for results of tool calls; give each "
                     "with allm_session_submit_tool_result(), then call "
                     "allm_session_continue() without a message"
                   : "all results are there; call allm_session_continue() "
                     "without a message";
    default:
        return "no tool call waits for a result; call allm_session_reply() or "
               "allm_session_continue()";
    }
}

const allm_error *state_busy(const allm_session *s, struct arena *tell)
{
    if (s->unfit)
        return status_retell(tell, s->error);
    if (!s->open)
        return NULL;
    return status_error(
        tell, ALLM_ERR_MISUSE, "session_busy",
        "a stream of this session is open; pull it to its end, or "
        "free it, and then change the session");
}

const allm_error *state_forbids(const allm_session *s, enum session_op op,
                                struct arena *tell)
{
    const allm_session_record *r = s->record;
    const allm_error *e = state_busy(s, tell);
    if (e)
        return e;
    if (r->status == ALLM_SESSION_ERROR)
        return status_error(
            tell, ALLM_ERR_SESSION, "session_in_error_state",
            "%s: the session has ended with an error, which is in "
            "its metadata; go on with a new session",
            names[op]);
    return allowed(r, op) ? NULL
                          : status_error(tell, ALLM_ERR_MISUSE, "wrong_status",
                                         "%s: %s", names[op], advice(r));
}

/* ---------------------------------------------------------------- changes --- */

allm_status state_refuse(allm_session *s, const allm_error *error)
{
    s->error = error ? error : status_nomem();
    return s->error->kind;
}

allm_session_record *state_take(allm_session *s, allm_session_record *record)
{
    allm_session_record *old = s->record;
    s->record = record;
    s->error = NULL;
    return old;
}

allm_thread *state_thread_with(const allm_session *s,
                               const allm_message *message, struct arena *tell,
                               const allm_error **error)
{
    allm_thread *t = allm_thread_copy(s->record->thread);
    allm_message *mine = allm_message_new(message);     /* checks it, too */
    const allm_error *fault = allm_message_error(mine);
    allm_status status = mine && !fault ? allm_thread_append(t, mine)
                                        : ALLM_ERR_NOMEM;
    *error = fault               ? status_retell(tell, fault)
             : status == ALLM_OK ? NULL
                                 : status_nomem();
    allm_message_free(mine);
    if (!*error)
        return t;
    allm_thread_free(t);
    return NULL;
}
