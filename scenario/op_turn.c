/*
 * op_turn.c - what a session asks the model, waited for or pulled
 *
 *      start, step    with the session that is there, or a new one
 *      reply          with a text
 *      continue       with a message, or without
 *
 * What is pulled is folded by a reducer as well, and must come to the same
 * session.
 */
#include "call.h"
#include "engine.h"
#include "ops.h"
#include "pull.h"
#include "stage.h"
#include "talk.h"

#include <string.h>

enum deal { START, REPLY, CONTINUE, STEP };

struct turn {
    struct scenario *s;
    enum deal deal;
    bool streaming;
    int64_t take;
    struct call call;
    allm_session *session;      /* that is asked */
    allm_session *fresh;        /* the same, if it was made for this */
    struct talk talk;           /* what it was made of */
    bool talked;
    const char *text;           /* of a reply */
    allm_codec *message;        /* of a continue */
    allm_json *given;           /* its form */
    allm_reducer *fold;
};

static bool has_tag(const allm_json *v, const char *name)
{
    const char *tag = allm_json_text(allm_json_get(v, "__type__"), NULL);
    return tag && strstr(tag, name);
}

/* It is meant as a message, if only a wrong one. */
static bool is_message(const allm_json *v)
{
    return allm_json_type_of(v) == ALLM_JSON_OBJECT &&
           (allm_json_get(v, "role") || has_tag(v, "Message"));
}

/* It is meant as messages or a thread. */
static bool is_talk(const allm_json *v)
{
    if (allm_json_type_of(v) == ALLM_JSON_OBJECT)
        return allm_json_get(v, "messages") || has_tag(v, "Thread");
    bool all = allm_json_type_of(v) == ALLM_JSON_ARRAY;
    for (const allm_json *m = NULL; all && (m = allm_json_next(v, m));)
        all = is_message(m);
    return all;
}

/* A list of messages, as they are; a thread; neither. */
static allm_session *open_talk(struct turn *t, const allm_json *op,
                               const allm_json *given)
{
    size_t count = 0;
    const allm_message *const none = NULL;
    if (!is_talk(given))
        return allm_session_from_messages(1, &none);
    t->talked = talk_init(&t->talk, t->s, op);
    const allm_thread *thread = t->talked ? talk_thread(&t->talk) : NULL;
    if (allm_json_type_of(given) != ALLM_JSON_ARRAY)
        return allm_session_from_thread(thread);
    const allm_message *const *list = allm_thread_messages(thread, &count);
    return allm_session_from_messages(count, list);
}

/* The session to ask: that of the file, unless the operation brings what
 * another is made of. */
static void find_session(struct turn *t, const allm_json *op)
{
    static const char *const names[] = { "messages", "thread", "input" };
    const allm_json *given = NULL;
    for (size_t i = 0; !given && i < sizeof names / sizeof *names; i++)
        given = allm_json_get(op, names[i]);
    if (given)
        t->session = t->fresh = open_talk(t, op, given);
    else
        t->session = stage_session(t->s);
}

/* With a message that is none: the library looks at the status first. */
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

static allm_stream *ask(struct turn *t)
{
    const allm_engine *e = t->s->engine;
    switch (t->deal) {
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

/* The form of the conversation with the message that is none. */
static allm_json *whole_talk(const struct turn *t)
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
    allm_json_build_value(b, t->given);
    allm_json_build_end(b);
    allm_json_build_end(b);
    allm_json_free(before);
    allm_text_free(text);
    return allm_json_build_done(b);
}

/* Why it was refused at once; NULL: it was not.  The caller frees *faults. */
static const allm_error *refusal(const struct turn *t,
                                 const allm_stream *stream, allm_error **faults)
{
    const allm_error *error = allm_stream_error(stream);
    const allm_message *m = allm_codec_value(t->message, ALLM_TYPE_MESSAGE);
    *faults = NULL;
    if (t->talked)
        return talk_error(&t->talk, error, faults);
    if (!t->message || !error)
        return NULL;
    bool empty = !strcmp(error->reason, "missing_field");
    if (!empty && (m || error->kind != ALLM_ERR_VALIDATION))
        return NULL;
    allm_json *whole = whole_talk(t);
    *faults = allm_validate_json("thread", whole);
    allm_json_free(whole);
    return *faults ? *faults : allm_codec_error(t->message);
}

static allm_text *result_text(const struct turn *t, const allm_stream *stream)
{
    const allm_step_result *step = allm_stream_step_result(stream);
    const allm_chat_result *chat = allm_stream_chat_result(stream);
    if (t->deal == STEP)
        return step ? allm_step_result_json(step, ALLM_FORM_PLAIN) : NULL;
    return chat ? allm_chat_result_json(chat, ALLM_FORM_PLAIN) : NULL;
}

static void begin_fold(struct turn *t)
{
    const allm_message *m = allm_codec_value(t->message, ALLM_TYPE_MESSAGE);
    allm_reducer_mode mode = t->deal == STEP ? ALLM_REDUCER_STEP
                                             : ALLM_REDUCER_CHAT;
    const char *said = m && m->role == ALLM_ROLE_USER ? m->text : t->text;
    t->fold = allm_reducer_new(allm_session_fields(t->session),
                               ALLM(reducer_opts, .mode = mode, .input = said));
}

/* The session and what the reducer made of the events are the same. */
static void check_fold(const struct turn *t)
{
    size_t a_len = 0, b_len = 0;
    const allm_reduced *reduced = allm_reducer_finalize(t->fold);
    allm_text *a = allm_session_record_json(allm_session_fields(t->session),
                                            ALLM_FORM_TAGGED);
    allm_text *b = reduced ? allm_session_record_json(reduced->session,
                                                      ALLM_FORM_TAGGED)
                           : NULL;
    const char *mine = allm_text_bytes(a, &a_len);
    const char *its = allm_text_bytes(b, &b_len);
    if (!mine || !its || a_len != b_len || memcmp(mine, its, a_len) != 0)
        scenario_refuse(t->s,
                        "the reducer made another session: %.400s "
                        "instead of %.400s",
                        its ? its : "none", mine ? mine : "none");
    allm_text_free(a);
    allm_text_free(b);
}

/* True: the session has a result. */
static bool report_stream(struct turn *t, struct report *r, allm_stream *stream)
{
    const allm_error *early = allm_stream_error(stream);
    allm_status status = t->streaming ? pull_events(r, stream, t->take, t->fold)
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
        begin_fold(t);
    allm_stream *stream = ask(t);
    error = refusal(t, stream, &faults);
    bool settled = !error && report_stream(t, r, stream);
    if (error)
        report_end(r, error);
    allm_stream_free(stream);   /* now the session has what there is */
    allm_error_free(faults);
    if (settled && t->streaming)
        check_fold(t);
    if (settled && t->fresh) {
        stage_enter(t->s, t->fresh);
        t->fresh = NULL;
    }
}

/* What is said: a text, a message, or what is neither. */
static void read_words(struct turn *t, const allm_json *op)
{
    const allm_json *text = allm_json_get(op, "text");
    const allm_json *message = allm_json_get(op, "message");
    if (t->deal == REPLY && allm_json_type_of(text) == ALLM_JSON_TEXT) {
        t->text = allm_json_text(text, NULL);
    } else if (t->deal == REPLY) {
        allm_json *user = allm_json_parse("{\"role\":\"user\"}", ALLM_NUL_ENDED,
                                          NULL);
        t->deal = CONTINUE;
        t->given = allm_json_set(user, "content", text);
        allm_json_free(user);
    } else if (message && allm_json_type_of(message) != ALLM_JSON_NULL) {
        t->given = allm_json_copy(message);
    }
    if (t->given)
        t->message = engine_decode(t->given, "Message");
}

static void turn(struct scenario *s, const allm_json *op, struct report *r,
                 enum deal deal, bool streaming)
{
    struct turn t = { .s = s, .deal = deal, .streaming = streaming };
    if (!pull_take(s, op, &t.take))
        return;
    if (deal == START || deal == STEP)
        find_session(&t, op);
    else
        t.session = stage_session(s);
    read_words(&t, op);
    call_init(&t.call, s, op);
    if (!*s->fault)
        run_turn(&t, r);
    call_release(&t.call);
    allm_codec_free(t.message);
    allm_json_free(t.given);
    allm_reducer_free(t.fold);
    allm_session_free(t.fresh);
    if (t.talked)
        talk_release(&t.talk);
}

void op_session_start(struct scenario *s, const allm_json *op, struct report *r)
{
    turn(s, op, r, START, false);
}

void op_session_stream_start(struct scenario *s, const allm_json *op,
                             struct report *r)
{
    turn(s, op, r, START, true);
}

void op_session_reply(struct scenario *s, const allm_json *op, struct report *r)
{
    turn(s, op, r, REPLY, false);
}

void op_session_stream_reply(struct scenario *s, const allm_json *op,
                             struct report *r)
{
    turn(s, op, r, REPLY, true);
}

void op_session_continue(struct scenario *s, const allm_json *op,
                         struct report *r)
{
    turn(s, op, r, CONTINUE, false);
}

void op_session_step(struct scenario *s, const allm_json *op, struct report *r)
{
    turn(s, op, r, STEP, false);
}

void op_session_stream_step(struct scenario *s, const allm_json *op,
                            struct report *r)
{
    turn(s, op, r, STEP, true);
}
