/*
 * state.c - a session object, and which operations its status allows
 *
 *      status            start  reply,       continue  continue  step  submit
 *                               continue     with any  without
 *                               with user's  other
 *      idle, completed   yes    yes          yes       yes       yes   -
 *      awaiting_user     -      yes          -         -         -     -
 *      awaiting_tools    -      -            -         (1)       -     yes
 *      error             -      -            -         -         -     -   (2)
 *
 * (1) if no call is pending, or all that are were decided.
 * (2) the error is session_in_error_state; elsewhere "-" is misuse.
 */
#include "session/state.h"

#include "base/status.h"
#include "data/error.h"
#include "data/metadata.h"
#include "session/approve.h"
#include "session/place.h"
#include "json/json.h"

allm_session *state_new(void)
{
    struct mem mem = mem_default();
    allm_session *s = mem_alloc(mem, sizeof *s);
    if (!s)
        return NULL;
    *s = (allm_session){ .mem = mem, .holders = 1, .lock = LOCK_NONE };
    arena_init(&s->scratch, mem);
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
    place_free(s->place);
    allm_session_record_free(s->record);
    allm_session_record_free(s->replaced);
    arena_release(&s->scratch);
    mem_free(mem, s, sizeof *s);
}

allm_session *state_invalid(const allm_error *error)
{
    allm_session *s = state_new();
    if (!s)
        return NULL;
    s->record = allm_session_record_new(ALLM(session_record, .id = NULL));
    s->error = status_retell(&s->scratch, error);
    if (error->errors && s->error != status_nomem())
        s->error = error_validation(&s->scratch, error->reason,
                                    json_copy(&s->scratch, error->errors));
    s->invalid = true;
    return s;
}

static const char *const op_names[] = {
    [SESSION_START] = "allm_session_start",
    [SESSION_REPLY] = "allm_session_reply",
    [SESSION_CONTINUE_WITH] = "allm_session_continue",
    [SESSION_CONTINUE] = "allm_session_continue",
    [SESSION_STEP] = "allm_session_step",
    [SESSION_SUBMIT] = "allm_session_submit_tool_result",
};

static bool is_allowed(const allm_session_record *r, enum session_op op)
{
    switch (r->status) {
    case ALLM_SESSION_AWAITING_USER:
        return op == SESSION_REPLY;
    case ALLM_SESSION_AWAITING_TOOLS:
        return op == SESSION_SUBMIT ||
               (op == SESSION_CONTINUE &&
                (!r->pending_tool_call_count || approve_ready(r)));
    default:
        return op != SESSION_SUBMIT;
    }
}

/* What the caller can do instead. */
static const char *advise_caller(const allm_session_record *r)
{
    switch (r->status) {
    case ALLM_SESSION_AWAITING_USER:
        return "the session waits for the user's answer; pass it to "
               "allm_session_reply()";
    case ALLM_SESSION_AWAITING_TOOLS:
        return json_at(r->metadata, METADATA_APPROVALS)
                   ? "the session waits for decisions about tool calls, which "
                     "metadata.approvals lists; pass each to "
                     "allm_session_approve(), then call "
                     "allm_session_continue() without a message"
               : r->pending_tool_call_count
                   ? "the session waits for results of tool calls; pass each "
                     "to allm_session_submit_tool_result(), then call "
                     "allm_session_continue() without a message"
                   : "no result is missing; call allm_session_continue() "
                     "without a message";
    default:
        return "no tool call waits for a result; call allm_session_reply() or "
               "allm_session_continue()";
    }
}

const allm_error *state_busy(const allm_session *s, struct arena *a)
{
    if (s->invalid)
        return status_retell(a, s->error);
    if (!s->open)
        return s->place ? place_forbids(s->place, a) : NULL;
    return status_error(
        a, ALLM_ERR_MISUSE, "session_busy",
        "a stream of this session is open; pull it to its end or "
        "free it before you change the session");
}

const allm_error *state_forbids(const allm_session *s, enum session_op op,
                                struct arena *a)
{
    const allm_session_record *r = s->record;
    const allm_error *e = state_busy(s, a);
    if (e)
        return e;
    if (r->status == ALLM_SESSION_ERROR)
        return status_error(
            a, ALLM_ERR_SESSION, "session_in_error_state",
            "%s: the session has ended with an error, which is in "
            "its metadata; continue with a new session",
            op_names[op]);
    return is_allowed(r, op)
               ? NULL
               : status_error(a, ALLM_ERR_MISUSE, "wrong_status", "%s: %s",
                              op_names[op], advise_caller(r));
}

allm_status state_refuse(allm_session *s, const allm_error *error)
{
    s->error = error ? error : status_nomem();
    return s->error->kind;
}

allm_session_record *state_replace(allm_session *s, allm_session_record *record)
{
    allm_session_record *old = s->record;
    s->record = record;
    s->error = NULL;
    return old;
}

allm_thread *state_thread_with(const allm_session *s,
                               const allm_message *message, struct arena *a,
                               const allm_error **error)
{
    allm_thread *t = allm_thread_copy(s->record->thread);
    allm_message *mine = allm_message_new(message);     /* also checks it */
    const allm_error *fault = allm_message_error(mine);
    allm_status status = mine && !fault ? allm_thread_append(t, mine)
                                        : ALLM_ERR_NOMEM;
    *error = fault               ? status_retell(a, fault)
             : status == ALLM_OK ? NULL
                                 : status_nomem();
    allm_message_free(mine);
    if (!*error)
        return t;
    allm_thread_free(t);
    return NULL;
}
