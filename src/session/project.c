/*
 * project.c - derive the next session record from a result
 *
 *      a chat halted by            status of the session
 *      ask_user                    awaiting_user    the question, its call
 *      manual_tool_calls           awaiting_tools   the calls
 *      tool_error, error           error            metadata.error
 *      any other reason            completed
 *
 *      a step: the first row that is true
 *      a tool asks the user        awaiting_user    the question, its call
 *      a tool failed and halts     error            metadata.error
 *      calls wait for the caller   awaiting_tools   the calls
 *      the answer ended in error   error            metadata.error
 *      the step is the last one    completed
 *      otherwise                   idle             the next step may begin
 *
 * Metadata: the caller's members stay; those of the last result are replaced by
 * those of this one.  The status is never derived from a session's metadata.
 */
#include "session/project.h"

#include "base/home.h"
#include "data/chat_result.h"
#include "tool/result.h"
#include "json/build.h"
#include "json/json.h"

/* Members of the metadata that results set. */
static const char *const result_keys[] = {
    "approvals",
    "approved",
    "ask_user_opts",
    "broken_off",
    "budget",
    "cancelled_input",
    "error",
    "halt_result",
    "halt_tool_call_id",
    "halt_when_step_index",
    "halted_reason",
    "interrupted_tool_calls",
    "manual_tool_calls",
    "manual_turn_index",
    "max_turns",
    "mode",
    "pending_question",
    "pending_tool_call_id",
    "structured",
    "structured_finalize",
    "unknown_tool_calls",
    "unresolved_tool_calls",
    NULL
};

/* A record under construction.  The home owns its parts until it is created. */
struct project {
    struct allm_home *home;
    struct arena *arena;
    allm_session_record fields;
};

/* The metadata without the members of the last result. */
static const allm_json *caller_metadata(struct arena *a,
                                        const allm_json *metadata)
{
    struct build b = build_object_in(a);
    build_entries(&b, metadata, result_keys);
    return build_finish(&b);
}

/* Set what all results set: the thread, nothing pending, the metadata. */
static bool begin_record(struct project *p, const allm_session_record *before,
                         const allm_thread *thread, const allm_json *metadata)
{
    p->home = home_new(mem_default(), 0);
    if (!p->home)
        return false;
    p->arena = home_arena(p->home);
    p->fields = *before;
    p->fields.size = sizeof p->fields;
    p->fields.home = NULL;
    if (thread)
        p->fields.thread = thread;
    p->fields.status = ALLM_SESSION_COMPLETED;
    p->fields.pending_tool_calls = NULL;
    p->fields.pending_tool_call_count = 0;
    p->fields.pending_question = NULL;
    p->fields.pending_tool_call_id = NULL;
    p->fields.error = NULL;
    const allm_json *kept = caller_metadata(p->arena, before->metadata);
    p->fields.metadata = kept && allm_json_count(metadata)
                             ? json_merge(p->arena, kept, metadata)
                             : kept;
    return p->fields.metadata != NULL;
}

static allm_session_record *finish_record(struct project *p, bool made)
{
    allm_session_record *r = NULL;
    if (made && p->fields.metadata && !p->arena->broken)
        r = allm_session_record_new(&p->fields);
    if (r && shape_error(r)) {
        allm_session_record_free(r);
        r = NULL;
    }
    home_drop(p->home);
    return r;
}

static void await_user(struct project *p, const char *question, const char *id)
{
    p->fields.status = ALLM_SESSION_AWAITING_USER;
    p->fields.pending_question = question ? question : "";
    p->fields.pending_tool_call_id = id;
}

/* Await these calls, or those of the answer if there are none. */
static void await_tools(struct project *p, size_t count,
                        const allm_tool_call *const *calls,
                        const allm_response *answer)
{
    p->fields.status = ALLM_SESSION_AWAITING_TOOLS;
    if (!count && answer) {
        count = answer->tool_call_count;
        calls = answer->tool_calls;
    }
    p->fields.pending_tool_calls = calls;
    p->fields.pending_tool_call_count = count;
}

/* Set the error; without one, metadata.error is `reported` or else `all`. */
static void set_error(struct project *p, const allm_error *error,
                      const allm_json *reported, const allm_json *all)
{
    p->fields.status = ALLM_SESSION_ERROR;
    p->fields.error = error;
    if (error)
        return;
    if (!reported || allm_json_type_of(reported) == ALLM_JSON_NULL)
        reported = all ? all : json_empty_object();
    p->fields.metadata = json_set(p->arena, p->fields.metadata, SLICE("error"),
                                  reported);
}

static bool is_reason(const char *reason, const char *other)
{
    return reason && !strcmp(reason, other);
}

/* Keep the user's message in the metadata, for the next attempt. */
static bool keep_input(struct project *p, const char *input)
{
    if (!input)
        return true;
    const allm_json *text = build_alone(p->arena, slice_of(input));
    if (text)
        p->fields.metadata = json_set(p->arena, p->fields.metadata,
                                      SLICE("cancelled_input"), text);
    return text != NULL;
}

allm_session_record *project_cancelled(const allm_session_record *before,
                                       const char *input)
{
    struct project p = { .home = home_new(mem_default(), 0) };
    if (!p.home)
        return NULL;
    p.arena = home_arena(p.home);
    p.fields = *before;
    p.fields.home = NULL;
    if (!before->metadata)
        p.fields.metadata = json_empty_object();
    return finish_record(&p, keep_input(&p, input));
}

allm_session_record *project_note(const allm_session_record *record,
                                  const char *name, const allm_json *note)
{
    struct project p = { .home = home_new(mem_default(), 0) };
    if (!p.home)
        return NULL;
    p.arena = home_arena(p.home);
    p.fields = *record;
    p.fields.home = NULL;
    const allm_json *old = record->metadata ? record->metadata
                                            : json_empty_object();
    p.fields.metadata = json_set(p.arena, old, slice_of(name), note);
    return finish_record(&p, true);
}

allm_session_record *project_interrupted(allm_session_record *record,
                                         const allm_json *note)
{
    if (!record || !note)
        return record;
    allm_session_record *noted = project_note(record, "interrupted_tool_calls",
                                              note);
    allm_session_record_free(record);
    return noted;
}

/* A chat without a complete step does not change the thread, even if it ended
 * with an error. */
allm_session_record *project_chat(const allm_session_record *before,
                                  const allm_chat_result *r, const char *input)
{
    struct project p = { .home = NULL };
    bool failed = is_reason(r->halted_reason, HALTED_TOOL_ERROR) ||
                  is_reason(r->halted_reason, HALTED_ERROR);
    bool early = failed && !r->step_count;
    if (is_reason(r->halted_reason, HALTED_CANCELLED) && !r->step_count)
        return project_cancelled(before, input);
    if (!begin_record(&p, before, early ? NULL : r->thread, r->metadata))
        return finish_record(&p, false);
    if (is_reason(r->halted_reason, HALTED_ASK_USER))
        await_user(&p, r->pending_question, r->pending_tool_call_id);
    else if (is_reason(r->halted_reason, HALTED_MANUAL))
        await_tools(&p, r->manual_tool_call_count, r->manual_tool_calls,
                    r->final_response);
    else if (failed)
        set_error(&p, r->error, allm_json_get(r->metadata, "error"),
                  r->metadata);
    return finish_record(&p, !early || keep_input(&p, input));
}

/* The rows of a step after "a tool asks" and "a tool failed". */
static void set_step_status(struct project *p, const allm_step_result *r)
{
    const allm_response *answer = r->response;
    allm_finish reason = answer ? answer->finish_reason : ALLM_FINISH_NONE;
    if (r->manual_tool_call_count ||
        (reason == ALLM_FINISH_TOOL_CALLS &&
         json_is(allm_json_get(r->metadata, "mode"), "manual")))
        await_tools(p, r->manual_tool_call_count, r->manual_tool_calls, answer);
    else if (reason == ALLM_FINISH_ERROR)
        set_error(p, answer->error, allm_json_get(answer->metadata, "error"),
                  r->metadata);
    else if (!r->done)
        p->fields.status = ALLM_SESSION_IDLE;
}

allm_session_record *project_step(const allm_session_record *before,
                                  const allm_step_result *r,
                                  const struct tool_result *halt)
{
    struct project p = { .home = NULL };
    const allm_json *m = r->metadata;
    enum outcome_kind kind = halt ? halt->outcome.kind : OUTCOME_NONE;
    if (!begin_record(&p, before, r->thread, m))
        return finish_record(&p, false);
    if (kind == OUTCOME_QUESTION)
        await_user(&p, halt->outcome.question, halt->view.call->id);
    else if (kind == OUTCOME_FAILURE)
        set_error(&p, r->error, allm_json_get(m, "error"), m);
    else
        set_step_status(&p, r);
    return finish_record(&p, true);
}
