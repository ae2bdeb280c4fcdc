/*
 * op_turn.c - the operations in which a session calls the model
 *
 *      start, step    with the current session, or a new one
 *      reply          with a text
 *      continue       with a message, or without
 *
 * The events of a pulled stream also go through a reducer, which must produce
 * the same session.
 */
#include "call.h"
#include "engine.h"
#include "kept.h"
#include "ops.h"
#include "pull.h"
#include "shared_session.h"
#include "thread_input.h"

#include <string.h>

enum turn_kind { START, REPLY, CONTINUE, STEP };

struct turn {
    struct scenario *s;
    enum turn_kind kind;
    bool streaming;
    int64_t take;
    struct call call;
    allm_session *session;      /* the session to use */
    allm_session *fresh;        /* the same, if the operation created it */
    struct thread_input input;  /* the thread of a new session */
    bool has_input;
    const char *text;           /* for reply */
    allm_codec *message;        /* for continue */
    allm_json *message_json;    /* its JSON form */
    allm_reducer *reducer;
};

static bool has_tag(const allm_json *v, const char *name)
{
    const char *tag = allm_json_text(allm_json_get(v, "__type__"), NULL);
    return tag && strstr(tag, name);
}

/* Does it look like a message, valid or not? */
static bool is_message(const allm_json *v)
{
    return allm_json_type_of(v) == ALLM_JSON_OBJECT &&
           (allm_json_get(v, "role") || has_tag(v, "Message"));
}

/* Does it look like a thread or a list of messages? */
static bool is_thread(const allm_json *v)
{
    if (allm_json_type_of(v) == ALLM_JSON_OBJECT)
        return allm_json_get(v, "messages") || has_tag(v, "Thread");
    bool all = allm_json_type_of(v) == ALLM_JSON_ARRAY;
    for (const allm_json *m = NULL; all && (m = allm_json_next(v, m));)
        all = is_message(m);
    return all;
}

/* Create a session from a list of messages or a thread; anything else is an
 * error of the library. */
static allm_session *open_session(struct turn *t, const allm_json *op,
                                  const allm_json *form)
{
    size_t count = 0;
    const allm_message *const none = NULL;
    if (!is_thread(form))
        return allm_session_from_messages(1, &none);
    t->has_input = thread_input_init(&t->input, t->s, op);
    const allm_thread *thread = t->has_input ? thread_input_thread(&t->input)
                                             : NULL;
    if (allm_json_type_of(form) != ALLM_JSON_ARRAY)
        return allm_session_from_thread(thread);
    const allm_message *const *list = allm_thread_messages(thread, &count);
    return allm_session_from_messages(count, list);
}

/* The session to use: a new one if the operation has a thread, else that of the
 * file. */
static void find_session(struct turn *t, const allm_json *op)
{
    static const char *const names[] = { "messages", "thread", "input" };
    const allm_json *form = NULL;
    for (size_t i = 0; !form && i < sizeof names / sizeof *names; i++)
        form = allm_json_get(op, names[i]);
    if (form)
        t->session = t->fresh = shared_session_keep(t->s,
                                                    open_session(t, op, form));
    else
        t->session = shared_session_get(t->s);
}

/* An invalid message becomes one that the library rejects after it has checked
 * the session's status. */
static allm_stream *continue_with(struct turn *t)
{
    allm_type type = ALLM_TYPE_MESSAGE;
    const allm_message *m = allm_codec_value(t->message, type);
    const allm_message unfit = { .size = sizeof unfit, .text = "",
                                 .role = ALLM_ROLE_TOOL };
    if (t->message && !m)
        m = &unfit;
    return allm_session_continue(t->s->engine, t->session, m, &t->call.opts);
}

static allm_stream *start_stream(struct turn *t)
{
    const allm_engine *e = t->s->engine;
    switch (t->kind) {
    case START:
        return allm_session_start(e, t->session, &t->call.opts);
    case REPLY:
        return allm_session_reply(e, t->session, t->text, &t->call.opts);
    case CONTINUE:
        return continue_with(t);
    default:
        return allm_session_step(e, t->session, &t->call.opts);
    }
}

/* The form of the thread with the invalid message. */
static allm_json *whole_thread_json(const struct turn *t)
{
    size_t len = 0;
    allm_text *text = allm_thread_json(allm_session_thread(t->session),
                                       ALLM_FORM_PLAIN);
    const char *bytes = allm_text_bytes(text, &len);
    allm_json *before = allm_json_parse(bytes ? bytes : "", len, NULL);
    const allm_json *list = allm_json_get(before, "messages");
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    allm_json_build_key(b, "messages");
    allm_json_build_array(b);
    for (const allm_json *m = NULL; (m = allm_json_next(list, m));)
        allm_json_build_value(b, m);
    allm_json_build_value(b, t->message_json);
    allm_json_build_end(b);
    allm_json_build_end(b);
    allm_json_free(before);
    allm_text_free(text);
    return allm_json_build_done(b);
}

/* Why the input was rejected; NULL: it was not.  The caller frees *faults. */
static const allm_error *find_input_error(const struct turn *t,
                                          const allm_stream *stream,
                                          allm_error **faults)
{
    const allm_error *error = allm_stream_error(stream);
    const allm_message *m = allm_codec_value(t->message, ALLM_TYPE_MESSAGE);
    *faults = NULL;
    if (t->has_input)
        return thread_input_error(&t->input, error, faults);
    if (!t->message || !error)
        return NULL;
    bool empty = !strcmp(error->reason, "missing_field");
    if (!empty && (m || error->kind != ALLM_ERR_VALIDATION))
        return NULL;
    allm_json *whole = whole_thread_json(t);
    *faults = allm_validate_json("thread", whole);
    allm_json_free(whole);
    return *faults ? *faults : allm_codec_error(t->message);
}

static allm_text *result_text(const struct turn *t, const allm_stream *stream)
{
    const allm_step_result *step = allm_stream_step_result(stream);
    const allm_chat_result *chat = allm_stream_chat_result(stream);
    if (t->kind == STEP)
        return step ? allm_step_result_json(step, ALLM_FORM_PLAIN) : NULL;
    return chat ? allm_chat_result_json(chat, ALLM_FORM_PLAIN) : NULL;
}

static void begin_reducer(struct turn *t)
{
    const allm_message *m = allm_codec_value(t->message, ALLM_TYPE_MESSAGE);
    allm_reducer_mode mode = t->kind == STEP ? ALLM_REDUCER_STEP
                                             : ALLM_REDUCER_CHAT;
    const char *input = m && m->role == ALLM_ROLE_USER ? m->text : t->text;
    t->reducer =
        allm_reducer_new(allm_session_fields(t->session),
                         ALLM(reducer_opts, .mode = mode, .input = input));
}

/* The JSON form of the session, without the note that only a session in a
 * store has: events do not say which tools had begun. */
static allm_text *comparable_text(const allm_session *session)
{
    allm_session_record fields = *allm_session_fields(session);
    allm_json *rest = fields.metadata
                          ? allm_json_set(fields.metadata,
                                          "interrupted_tool_calls", NULL)
                          : NULL;
    if (rest)
        fields.metadata = rest;
    allm_text *text = allm_session_record_json(&fields, ALLM_FORM_TAGGED);
    allm_json_free(rest);
    return text;
}

/* The session and the reducer's session must be equal. */
static void check_reducer(const struct turn *t)
{
    size_t a_len = 0, b_len = 0;
    const allm_reduced *reduced = allm_reducer_finalize(t->reducer);
    allm_text *a = comparable_text(t->session);
    allm_text *b = reduced ? allm_session_record_json(reduced->session,
                                                      ALLM_FORM_TAGGED)
                           : NULL;
    const char *session_json = allm_text_bytes(a, &a_len);
    const char *reducer_json = allm_text_bytes(b, &b_len);
    if (!session_json || !reducer_json || a_len != b_len ||
        memcmp(session_json, reducer_json, a_len) != 0)
        scenario_reject(t->s,
                        "the reducer produced another session: %.400s "
                        "instead of %.400s",
                        reducer_json ? reducer_json : "none",
                        session_json ? session_json : "none");
    allm_text_free(a);
    allm_text_free(b);
}

/* True: the session has a result. */
static bool report_stream(struct turn *t, struct report *r, allm_stream *stream)
{
    const allm_error *early = allm_stream_error(stream);
    allm_status status = t->streaming
                             ? pull_events(r, stream, t->take, t->reducer)
                             : allm_stream_wait(stream);
    allm_text *text = status == ALLM_OK ? result_text(t, stream) : NULL;
    if (text)
        report_text(r, "result", text);
    allm_text_free(text);
    report_end(r, status < 0 ? allm_stream_error(stream) : early);
    return status >= 0 && !early;
}

static void run_turn(struct turn *t, struct report *r)
{
    allm_error *faults = NULL;
    const allm_error *error = allm_session_error(t->session);
    if (t->fresh && error) {
        report_end(r, error);
        return;
    }
    if (t->streaming)
        begin_reducer(t);
    allm_stream *stream = start_stream(t);
    error = find_input_error(t, stream, &faults);
    bool settled = !error && report_stream(t, r, stream);
    if (error)
        report_end(r, error);
    allm_stream_free(stream);   /* this updates the session */
    allm_error_free(faults);
    bool crashed = kept_disarm(t->s);
    if (settled && t->streaming)
        check_reducer(t);
    if ((settled || crashed) && t->fresh) {
        shared_session_replace(t->s, t->fresh);
        t->fresh = NULL;
    }
}

/* Read the prompt: a text, a message, or an invalid value. */
static void read_prompt(struct turn *t, const allm_json *op)
{
    size_t len = 0;
    const allm_json *text = allm_json_get(op, "text");
    const allm_json *message = allm_json_get(op, "message");
    const char *words = allm_json_text(text, &len);
    if (t->kind == REPLY && words && strlen(words) == len) {
        t->text = words;
    } else if (t->kind == REPLY) {
        allm_json *user = allm_json_parse("{\"role\":\"user\"}", ALLM_NUL_ENDED,
                                          NULL);
        t->kind = CONTINUE;
        t->message_json = allm_json_set(user, "content", text);
        allm_json_free(user);
    } else if (message && allm_json_type_of(message) != ALLM_JSON_NULL) {
        t->message_json = allm_json_copy(message);
    }
    if (t->message_json)
        t->message = engine_decode(t->message_json, "Message");
}

static void run_session_op(struct scenario *s, const allm_json *op,
                           struct report *r, enum turn_kind kind,
                           bool streaming)
{
    struct turn t = { .s = s, .kind = kind, .streaming = streaming };
    if (!pull_take(s, op, &t.take))
        return;
    if (kind == START || kind == STEP)
        find_session(&t, op);
    else
        t.session = shared_session_get(s);
    read_prompt(&t, op);
    call_init(&t.call, s, op);
    if (!*s->fault && kept_arm(s, op))
        run_turn(&t, r);
    call_release(&t.call);
    allm_codec_free(t.message);
    allm_json_free(t.message_json);
    allm_reducer_free(t.reducer);
    allm_session_free(t.fresh);
    if (t.has_input)
        thread_input_release(&t.input);
}

void op_session_start(struct scenario *s, const allm_json *op, struct report *r)
{
    run_session_op(s, op, r, START, false);
}

void op_session_stream_start(struct scenario *s, const allm_json *op,
                             struct report *r)
{
    run_session_op(s, op, r, START, true);
}

void op_session_reply(struct scenario *s, const allm_json *op, struct report *r)
{
    run_session_op(s, op, r, REPLY, false);
}

void op_session_stream_reply(struct scenario *s, const allm_json *op,
                             struct report *r)
{
    run_session_op(s, op, r, REPLY, true);
}

void op_session_continue(struct scenario *s, const allm_json *op,
                         struct report *r)
{
    run_session_op(s, op, r, CONTINUE, false);
}

void op_session_step(struct scenario *s, const allm_json *op, struct report *r)
{
    run_session_op(s, op, r, STEP, false);
}

void op_session_stream_step(struct scenario *s, const allm_json *op,
                            struct report *r)
{
    run_session_op(s, op, r, STEP, true);
}
