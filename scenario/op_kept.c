/* op_kept.c - operations of sessions in a store: resume, settle, follow ... */
#include "call.h"
#include "kept.h"
#include "ops.h"
#include "pull.h"
#include "shared_session.h"

#include <string.h>

/* ------------------------------------------------------------- resume --- */

static void report_result(struct report *r, const allm_stream *stream)
{
    const allm_chat_result *chat = allm_stream_chat_result(stream);
    const allm_step_result *step = allm_stream_step_result(stream);
    allm_text *text = chat   ? allm_chat_result_json(chat, ALLM_FORM_PLAIN)
                      : step ? allm_step_result_json(step, ALLM_FORM_PLAIN)
                             : NULL;
    if (text)
        report_text(r, "result", text);
    allm_text_free(text);
}

static void run_resume(struct scenario *s, struct report *r,
                       allm_stream *stream, int64_t take)
{
    const allm_error *early = allm_stream_error(stream);
    allm_status status = pull_events(r, stream, take, NULL);
    if (status == ALLM_OK)
        report_result(r, stream);
    report_end(r, status < 0 ? allm_stream_error(stream) : early);
    allm_stream_free(stream);   /* this updates the session */
    kept_disarm(s);
}

void op_session_resume(struct scenario *s, const allm_json *op,
                       struct report *r)
{
    struct call call;
    int64_t take;
    allm_session *session = shared_session_get(s);
    if (!session || !pull_take(s, op, &take))
        return;
    call_init(&call, s, op);
    if (kept_arm(s, op))
        run_resume(s, r, allm_session_resume(s->engine, session, &call.opts),
                   take);
    call_release(&call);
}

/* -------------------------------------------------- settle and abandon --- */

static bool read_how(struct scenario *s, const allm_json *op, allm_settle *how)
{
    static const char *const words[] = { "happened", "not_happened", "again" };
    const char *word = allm_json_text(allm_json_get(op, "how"), NULL);
    for (int i = 0; word && i < 3; i++)
        if (!strcmp(words[i], word)) {
            *how = (allm_settle)i;
            return true;
        }
    return scenario_reject(s, "\"how\" must be happened, not_happened or "
                              "again");
}

void op_session_settle(struct scenario *s, const allm_json *op,
                       struct report *r)
{
    struct tool_answer answer;
    allm_settle how = ALLM_SETTLE_AGAIN;
    const allm_json *result = allm_json_get(op, "result");
    const char *id = allm_json_text(allm_json_get(op, "tool_call_id"), NULL);
    allm_session *session = shared_session_get(s);
    if (!session || !read_how(s, op, &how))
        return;
    tool_answer_init(&answer, NULL, result);
    allm_session_settle(session, id, how, result ? &answer.fields : NULL);
    report_end(r, allm_session_error(session));
    tool_answer_release(&answer);
}

void op_session_abandon(struct scenario *s, const allm_json *op,
                        struct report *r)
{
    allm_session *session = shared_session_get(s);
    (void)op;
    if (!session)
        return;
    allm_session_abandon(session);
    report_end(r, allm_session_error(session));
}

/* --------------------------------------------------- fork and records --- */

/* A number that may be absent; false: rejected. */
static bool read_number(struct scenario *s, const allm_json *op,
                        const char *key, uint64_t *n)
{
    const allm_json *v = allm_json_get(op, key);
    *n = 0;
    return !v || allm_json_uint64(v, n) ||
           scenario_reject(s, "\"%s\" must be a non-negative integer", key);
}

/* The new session is the result. */
static void report_fork(struct scenario *s, struct report *r, const char *name)
{
    allm_session *made = allm_session_open(s->kept.look, name, 0);
    allm_text *text = allm_session_record_json(allm_session_fields(made),
                                               ALLM_FORM_PLAIN);
    report_text(r, "result", text);
    report_end(r, allm_session_error(made));
    allm_text_free(text);
    allm_session_free(made);
}

void op_session_fork(struct scenario *s, const allm_json *op, struct report *r)
{
    uint64_t seq;
    const char *name = allm_json_text(allm_json_get(op, "name"), NULL);
    allm_session *session = shared_session_get(s);
    if (!session || !read_number(s, op, "seq", &seq))
        return;
    if (!name) {
        scenario_reject(s, "\"name\" must be a string");
        return;
    }
    if (allm_session_fork(session, seq, name) < 0)
        report_end(r, allm_store_error(s->kept.store));
    else if (kept_note(s, name))
        report_fork(s, r, name);
}

void op_session_records(struct scenario *s, const allm_json *op,
                        struct report *r)
{
    uint64_t from, limit;
    if (!shared_session_get(s) || !read_number(s, op, "from", &from) ||
        !read_number(s, op, "limit", &limit))
        return;
    kept_report_records(s, r, "result", from, (size_t)limit);
    report_end(r, allm_store_error(s->kept.look));
}

/* ------------------------------------------------------------- follow --- */

/* Up to n events, or "end": to the end of one operation. */
static bool read_until(struct scenario *s, const allm_json *op, int64_t *most)
{
    const allm_json *until = allm_json_get(op, "until");
    const char *word = allm_json_text(until, NULL);
    *most = -1;
    if (word ? !strcmp(word, "end") : allm_json_int64(until, most) && *most > 0)
        return true;
    return scenario_reject(s, "\"until\" must be \"end\" or a number of "
                              "events");
}

void op_follow(struct scenario *s, const allm_json *op, struct report *r)
{
    int64_t most;
    const char *cursor = allm_json_text(allm_json_get(op, "cursor"), NULL);
    if (!shared_session_get(s) || !read_until(s, op, &most))
        return;
    kept_settle(s);
    allm_stream *stream = allm_store_follow(s->kept.look, s->kept.name, cursor,
                                            most < 0 ? ALLM_FOLLOW_ONE : 0);
    const allm_error *early = allm_stream_error(stream);
    allm_status status = pull_events(r, stream, most, NULL);
    report_end(r, status < 0 ? allm_stream_error(stream) : early);
    allm_stream_free(stream);
}
