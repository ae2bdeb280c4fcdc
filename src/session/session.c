/* session.c - the public functions of sessions */
#include "session/state.h"

#include "base/buf.h"
#include "base/caller_struct.h"
#include "base/status.h"
#include "data/error.h"
#include "data/session_record.h"
#include "session/approve.h"
#include "session/commit.h"
#include "session/disk.h"
#include "session/durable.h"
#include "session/fork.h"
#include "session/operation.h"
#include "session/resume.h"
#include "json/build.h"
#include "json/json.h"
#include "json/write.h"

#include <stdint.h>

allm_session *allm_session_new(const allm_session_record *fields)
{
    allm_session *s = state_new();
    if (!s)
        return NULL;
    s->record = allm_session_record_new(
        fields ? fields : ALLM(session_record, .id = NULL));
    const allm_error *error = shape_error(s->record);
    if (error) {
        s->error = status_retell(&s->scratch, error);
        s->invalid = true;
    }
    return s;
}

static allm_session *invalid_input(void)
{
    struct arena a = arena_in(mem_default());
    struct build b = build_array_in(&a);
    build_array(&b);
    build_text(&b, SLICE("session_input"));
    build_text(&b, SLICE("invalid_type"));
    build_end(&b);
    build_end(&b);
    allm_session *s = state_invalid(
        error_validation(&a, "invalid_session_input", build_done(&b)));
    arena_release(&a);
    return s;
}

allm_session *allm_session_from_record(const allm_session_record *record)
{
    return record ? allm_session_new(record) : invalid_input();
}

allm_session *allm_session_from_thread(const allm_thread *thread)
{
    return thread ? allm_session_new(ALLM(session_record, .thread = thread))
                  : invalid_input();
}

static bool is_message(const allm_message *m)
{
    allm_message fields;
    return m && caller_struct_take(&fields, sizeof fields, m) &&
           fields.role >= ALLM_ROLE_SYSTEM && fields.role <= ALLM_ROLE_TOOL &&
           (fields.text || fields.parts);
}

allm_session *allm_session_from_messages(size_t count,
                                         const allm_message *const *messages)
{
    for (size_t i = 0; i < count; i++)
        if (!messages || !is_message(messages[i]))
            return invalid_input();
    allm_thread *t = allm_thread_new(NULL);
    allm_session *s = NULL;
    if (allm_thread_append_all(t, count, messages) == ALLM_OK)
        s = allm_session_from_thread(t);
    allm_thread_free(t);
    return s;
}

void allm_session_free(allm_session *s)
{
    if (s)
        state_drop(s);
}

const allm_error *allm_session_error(const allm_session *s)
{
    return s ? s->error : status_nomem();
}

const allm_session_record *allm_session_fields(const allm_session *s)
{
    return s ? s->record : NULL;
}

const allm_thread *allm_session_thread(const allm_session *s)
{
    return s && s->record ? s->record->thread : NULL;
}

const allm_message *const *allm_session_messages(const allm_session *s,
                                                 size_t *count)
{
    size_t ignored;
    if (!count)
        count = &ignored;
    *count = 0;
    return allm_thread_messages(allm_session_thread(s), count);
}

const allm_tool_call *const *allm_session_pending_tool_calls(
    const allm_session *s, size_t *count)
{
    const allm_session_record *r = s ? s->record : NULL;
    if (count)
        *count = r ? r->pending_tool_call_count : 0;
    return r ? r->pending_tool_calls : NULL;
}

/* Clear the last error before a change; false: the change is refused. */
static bool begin_change(allm_session *s, const allm_error **error)
{
    if (s->invalid) {
        *error = s->error;
        return false;
    }
    arena_reset(&s->scratch);
    s->error = NULL;
    *error = durable_refresh(s, &s->scratch);
    if (!*error)
        *error = state_busy(s, &s->scratch);
    return !*error;
}

/* Write the change to the store, if the session is in one; a change that
 * failed is undone.  `before` is a reference to the old record; it is
 * dropped. */
static allm_status end_change(allm_session *s, allm_session_record *before,
                              const char *by, const allm_error *error)
{
    if (!error && s->place && before && s->record != before)
        error = commit_change(s->place, by, s->record, &s->scratch);
    if (error && before && s->record != before)
        before = state_replace(s, before);
    allm_session_record_free(before);
    return error ? state_refuse(s, error) : ALLM_OK;
}

static allm_session_record *keep_record(const allm_session *s)
{
    return shape_keep_root(&session_record_shape, s->record);
}

/* Set a record with these fields, which are copied. */
static const allm_error *set_record(allm_session *s,
                                    const allm_session_record *fields)
{
    allm_session_record *r = allm_session_record_new(fields);
    const allm_error *error = shape_error(r);
    if (error) {
        error = status_retell(&s->scratch, error);
        allm_session_record_free(r);
        return error;
    }
    allm_session_record_free(state_replace(s, r));
    return NULL;
}

/* Set a record with these fields and one more message. */
static const allm_error *set_with_message(allm_session *s,
                                          allm_session_record fields,
                                          const allm_message *message)
{
    const allm_error *error = NULL;
    allm_thread *t = state_thread_with(s, message, &s->scratch, &error);
    if (!t)
        return error;
    fields.thread = t;
    fields.home = NULL;
    error = set_record(s, &fields);
    allm_thread_free(t);
    return error;
}

/* The metadata without the note about an operation that is not open here. */
static const allm_json *without_broken_off(struct arena *a,
                                           const allm_json *metadata)
{
    static const char *const left_out[] = { "broken_off", NULL };
    if (!json_at(metadata, "broken_off"))
        return metadata;
    struct build b = build_object_in(a);
    build_entries(&b, metadata, left_out);
    return build_finish(&b);
}

allm_status allm_session_replace(allm_session *s,
                                 const allm_session_record *fields)
{
    const allm_error *error = NULL;
    allm_session_record mine;
    if (!s)
        return ALLM_ERR_NOMEM;
    if (!begin_change(s, &error) || !fields)
        return state_refuse(s, error);
    allm_session_record *before = keep_record(s);
    if (s->place && caller_struct_take(&mine, sizeof mine, fields)) {
        mine.size = sizeof mine;
        mine.home = NULL;
        mine.id = before->id;   /* the name in the store */
        mine.metadata = without_broken_off(&s->scratch, mine.metadata);
        if (fields->metadata && !mine.metadata)
            error = status_nomem();
        fields = &mine;
    }
    return end_change(s, before, "replace",
                      error ? error : set_record(s, fields));
}

allm_status allm_session_append(allm_session *s, const allm_message *message)
{
    const allm_error *error = NULL;
    if (!s)
        return ALLM_ERR_NOMEM;
    if (!begin_change(s, &error) || !message)
        return state_refuse(s, error);
    allm_session_record *before = keep_record(s);
    return end_change(s, before, "append",
                      set_with_message(s, *s->record, message));
}

allm_status allm_session_append_user(allm_session *s, const char *text)
{
    return allm_session_append(s, ALLM(message, .role = ALLM_ROLE_USER,
                                       .text = text));
}

/* The content of an answer that is a JSON value. */
static struct slice value_text(struct arena *a, const allm_json *value)
{
    if (allm_json_type_of(value) == ALLM_JSON_TEXT)
        return json_slice(value);
    struct buf b = buf_in(a, SIZE_MAX / 2);
    return json_write(&b, value, 0) ? buf_slice(&b) : (struct slice){ 0 };
}

static bool is_complete_answer(const allm_tool_answer *a)
{
    return a->tool_call_id &&
           (a->text != NULL) + (a->value != NULL) + (a->parts != NULL) == 1 &&
           (!a->value || allm_json_type_of(a->value) != ALLM_JSON_NONE);
}

/* Fill in the message of an answer; its text is in the arena. */
static const allm_error *read_answer(const allm_tool_answer *given,
                                     struct arena *a, allm_message *out)
{
    allm_tool_answer answer;
    bool known = caller_struct_take(&answer, sizeof answer, given);
    if (!given || !known || !is_complete_answer(&answer))
        return status_error(
            a, ALLM_ERR_MISUSE, "wrong_answer",
            "the answer to a tool call needs a tool_call_id and exactly "
            "one of text, value and parts; fill it in with "
            "ALLM(tool_answer, ...)");
    *out = (allm_message){ .size = sizeof *out, .role = ALLM_ROLE_TOOL,
                           .tool_call_id = answer.tool_call_id,
                           .text = answer.text, .text_len = answer.text_len,
                           .parts = answer.parts,
                           .part_count = answer.part_count };
    if (answer.value) {
        struct slice text = value_text(a, answer.value);
        out->text = text.ptr;
        out->text_len = text.len;
    }
    return out->text || out->parts ? NULL : status_nomem();
}

allm_status allm_session_append_tool_result(allm_session *s,
                                            const allm_tool_answer *answer)
{
    allm_message m;
    const allm_error *error = NULL;
    if (!s)
        return ALLM_ERR_NOMEM;
    if (!begin_change(s, &error))
        return state_refuse(s, error);
    allm_session_record *before = keep_record(s);
    error = read_answer(answer, &s->scratch, &m);
    if (!error)
        error = set_with_message(s, *s->record, &m);
    return end_change(s, before, "append", error);
}

static const allm_error *unknown_call_error(struct arena *a, const char *id)
{
    allm_error *e = status_draft(a, ALLM_ERR_SESSION, "unknown_tool_call_id",
                                 "no pending tool call has the id \"%s\"; "
                                 "allm_session_pending_tool_calls() lists "
                                 "them",
                                 id);
    struct build b = build_object_in(a);
    build_text_copy_at(&b, "tool_call_id", slice_of(id));
    build_end(&b);
    if (!e)
        return status_nomem();
    e->metadata = build_done(&b);
    e->tool_call_id = arena_text(a, id);
    return a->broken ? status_nomem() : e;
}

/* The index of a pending call; SIZE_MAX: not found. */
static size_t find_pending(const allm_session_record *r, const char *id)
{
    for (size_t i = 0; i < r->pending_tool_call_count; i++)
        if (r->pending_tool_calls[i]->id &&
            !strcmp(r->pending_tool_calls[i]->id, id))
            return i;
    return SIZE_MAX;
}

/* Append one answer; the session may be changed. */
static const allm_error *submit_answer(allm_session *s,
                                       const allm_tool_answer *answer)
{
    allm_message m = { .size = sizeof m };
    allm_session_record fields = *s->record;
    const allm_error *error = state_forbids(s, SESSION_SUBMIT, &s->scratch);
    if (!error)
        error = read_answer(answer, &s->scratch, &m);
    if (error)
        return error;
    const char *id = m.tool_call_id ? m.tool_call_id : "";
    size_t at = find_pending(&fields, id);
    if (at == SIZE_MAX)
        return unknown_call_error(&s->scratch, id);
    size_t left = fields.pending_tool_call_count - 1;
    const allm_tool_call **calls = arena_zero(&s->scratch,
                                              (left + 1) * sizeof *calls);
    if (!calls)
        return status_nomem();
    for (size_t i = 0; i < left; i++)
        calls[i] = fields.pending_tool_calls[i + (i >= at)];
    fields.pending_tool_calls = calls;
    fields.pending_tool_call_count = left;
    if (!left)
        fields.status = ALLM_SESSION_IDLE;
    return set_with_message(s, fields, &m);
}

allm_status allm_session_submit_tool_result(allm_session *s,
                                            const allm_tool_answer *answer)
{
    return allm_session_submit_tool_results(s, 1, &answer);
}

allm_status allm_session_submit_tool_results(
    allm_session *s, size_t count, const allm_tool_answer *const *answers)
{
    const allm_error *error = NULL;
    if (!s || (count && !answers))
        return ALLM_ERR_NOMEM;
    if (!begin_change(s, &error))
        return state_refuse(s, error);
    /* All or none: keep the first record until the last answer is accepted. */
    allm_session_record *before = keep_record(s);
    for (size_t i = 0; !error && i < count; i++)
        error = submit_answer(s, answers[i]);
    return end_change(s, before, "submit", error);
}

allm_status allm_session_approve(allm_session *s, const char *tool_call_id,
                                 bool allow, const char *why)
{
    const allm_error *error = NULL;
    if (!s)
        return ALLM_ERR_NOMEM;
    if (!begin_change(s, &error))
        return state_refuse(s, error);
    allm_session_record *before = keep_record(s);
    allm_session_record *next = approve_decide(s->record, tool_call_id, allow,
                                               why, &s->scratch, &error);
    if (next)
        allm_session_record_free(state_replace(s, next));
    return end_change(s, before, "approve", error);
}

allm_stream *allm_session_start(const allm_engine *e, allm_session *s,
                                const allm_call_opts *opts)
{
    return operation_begin(e, s, SESSION_START, NULL, opts);
}

allm_stream *allm_session_continue(const allm_engine *e, allm_session *s,
                                   const allm_message *message,
                                   const allm_call_opts *opts)
{
    enum session_op op = !message ? SESSION_CONTINUE
                         : message->role == ALLM_ROLE_USER
                             ? SESSION_REPLY
                             : SESSION_CONTINUE_WITH;
    return operation_begin(e, s, op, message, opts);
}

allm_stream *allm_session_reply(const allm_engine *e, allm_session *s,
                                const char *text, const allm_call_opts *opts)
{
    return allm_session_continue(
        e, s, ALLM(message, .role = ALLM_ROLE_USER, .text = text), opts);
}

allm_stream *allm_session_step(const allm_engine *e, allm_session *s,
                               const allm_call_opts *opts)
{
    return operation_begin(e, s, SESSION_STEP, NULL, opts);
}

allm_status allm_session_save(allm_session *s, const char *path)
{
    return s ? disk_save(s, path) : ALLM_ERR_NOMEM;
}

allm_session *allm_session_load(const char *path, uint32_t flags)
{
    return disk_load(path, flags);
}

static allm_session *without_store(void)
{
    struct arena a = arena_in(mem_default());
    allm_session *s = state_invalid(
        status_error(&a, ALLM_ERR_MISUSE, "missing_store",
                     "the store is NULL: open one with allm_store_open()"));
    arena_release(&a);
    return s;
}

allm_session *allm_session_open(allm_store *store, const char *name,
                                uint32_t flags)
{
    return store ? durable_open(store, name, flags) : without_store();
}

allm_session *allm_session_claim(allm_store *store, const char *queue,
                                 uint32_t wait_ms)
{
    return store ? durable_claim(store, queue ? queue : "", wait_ms)
                 : without_store();
}

allm_stream *allm_session_resume(const allm_engine *e, allm_session *s,
                                 const allm_call_opts *opts)
{
    return resume_session(e, s, opts);
}

/* Clear the last error; then NULL, or why the session cannot be changed. */
static const allm_error *begin_settling(allm_session *s)
{
    if (s->invalid)
        return s->error;
    arena_reset(&s->scratch);
    s->error = NULL;
    return resume_check(s, &s->scratch);
}

static const allm_error *settled_content(allm_session *s, const char *id,
                                         allm_settle how,
                                         const allm_tool_answer *answer,
                                         struct slice *out)
{
    allm_message m = { .size = sizeof m };
    allm_tool_answer mine;
    *out = SLICE("This call did not happen: the program was interrupted "
                 "before it took effect.");
    if ((unsigned)how > ALLM_SETTLE_AGAIN)
        return status_error(&s->scratch, ALLM_ERR_MISUSE, "wrong_answer",
                            "allm_session_settle: %d is none of the ways to "
                            "settle a call; pass an ALLM_SETTLE_...",
                            (int)how);
    if (how != ALLM_SETTLE_HAPPENED)
        return answer
                   ? status_error(&s->scratch, ALLM_ERR_MISUSE, "wrong_answer",
                                  "allm_session_settle: only "
                                  "ALLM_SETTLE_HAPPENED has an answer")
                   : NULL;
    if (!answer || !caller_struct_take(&mine, sizeof mine, answer))
        return read_answer(NULL, &s->scratch, &m);
    mine.size = sizeof mine;
    mine.tool_call_id = id;
    const allm_error *error = read_answer(&mine, &s->scratch, &m);
    if (!error && m.parts)
        error = status_error(&s->scratch, ALLM_ERR_MISUSE, "wrong_answer",
                             "allm_session_settle: the answer needs text or a "
                             "value; parts cannot be recorded");
    *out = (struct slice){ m.text,
                           m.text && !m.text_len ? strlen(m.text)
                                                 : m.text_len };
    return error;
}

allm_status allm_session_settle(allm_session *s, const char *tool_call_id,
                                allm_settle how, const allm_tool_answer *answer)
{
    struct slice content = { 0 };
    if (!s)
        return ALLM_ERR_NOMEM;
    const allm_error *error = begin_settling(s);
    if (!error)
        error = settled_content(s, tool_call_id, how, answer, &content);
    if (!error)
        error = resume_settle(s, tool_call_id, how, content, &s->scratch);
    return error ? state_refuse(s, error) : ALLM_OK;
}

allm_status allm_session_abandon(allm_session *s)
{
    if (!s)
        return ALLM_ERR_NOMEM;
    const allm_error *error = begin_settling(s);
    if (!error)
        error = resume_abandon(s, &s->scratch);
    return error ? state_refuse(s, error) : ALLM_OK;
}

allm_status allm_session_let_go(allm_session *s)
{
    if (!s)
        return ALLM_ERR_NOMEM;
    if (!s->invalid) {
        arena_reset(&s->scratch);
        s->error = NULL;
    }
    const allm_error *error = resume_let_go(s, &s->scratch);
    return error ? state_refuse(s, error) : ALLM_OK;
}

allm_status allm_session_fork(const allm_session *s, uint64_t seq,
                              const char *name)
{
    return s ? fork_session(s, seq, name) : ALLM_ERR_NOMEM;
}

allm_session *allm_session_at(const allm_session *s, uint64_t seq)
{
    return s ? fork_read(s, seq) : NULL;
}
