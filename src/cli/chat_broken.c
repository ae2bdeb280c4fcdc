/*
 * chat_broken.c - a chat opens a session whose last operation was broken off
 *
 *      no answer yet           it is dropped, with a note
 *      a call is unknown       what happened? --> the next one, or resume
 *      else                    continue, or drop it?
 *
 * Without a terminal nobody can be asked: the commands are printed.
 */
#include "cli/broken.h"
#include "cli/chat_state.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/question.h"
#include "cli/session_resume.h"
#include "cli/session_store.h"
#include "conf/member.h"

static const allm_json *first_unknown(const allm_session *session)
{
    return allm_json_at(allm_json_get(broken_of(session), "unknown_tool_calls"),
                        0);
}

/* Report a failure; END_DONE: it is none. */
static int end_of(const struct session *s, allm_status status)
{
    return status < 0 ? session_store_fail(allm_session_error(s->session))
                      : END_DONE;
}

static int drop_operation(const struct session *s)
{
    int code = end_of(s, allm_session_abandon(s->session));
    if (code == END_DONE)
        print_note("(dropped; complete steps are kept)");
    return code;
}

static int resume_operation(struct chat *c, struct session *s,
                            const char *model)
{
    const struct session_resume resume = { model, c->options.json,
                                           c->ask->ask_user };
    struct show how = c->how;
    allm_stream *stream = NULL;
    how.session = s;
    int code = session_resume_start(s, &resume, &stream);
    if (stream) {
        c->code = show_chat(stream, &how);
        chat_count(c, stream);
    }
    allm_stream_free(stream);
    session_resume_release();
    if (code == END_DONE && broken_of(s->session))
        code = broken_report(s->session);
    return code == END_DONE ? session_ready(s) : code;
}

/* ------------------------------------------------------ unknown calls --- */

static void add_member(struct bytes *text, const allm_json *call,
                       const char *key)
{
    const allm_json *value = allm_json_get(call, key);
    if (value)
        member_show(text, value);
    else
        bytes_text(text, "?");
}

static int ask_about_call(const struct session *s, const allm_json *call)
{
    static const struct question_choice choices[] = {
        { 'h', "it [h]appened" },
        { 'n', "it did [n]ot" },
        { 'r', "[r]un it again" },
        { 'd', "[d]rop everything" },
    };
    struct bytes title = { NULL, 0, 0 }, body = { NULL, 0, 0 };
    bytes_format(&title, "%s was broken off while a call ran; what happened?",
                 s->path);
    add_member(&body, call, "name");
    bytes_byte(&body, ' ');
    add_member(&body, call, "arguments");
    bytes_text(&body, "\nbegun at ");
    add_member(&body, call, "at");
    int choice = question_choose(
        &(struct question){ .title = bytes_string(&title),
                            .body = bytes_string(&body), .body_len = body.len,
                            .count = sizeof choices / sizeof *choices,
                            .choices = choices });
    bytes_release(&title);
    bytes_release(&body);
    return choice;
}

/* Settle the call with a result, if the user types one. */
static int settle_with_result(const struct session *s, const char *id)
{
    struct bytes text = { NULL, 0, 0 };
    int code = END_ASKED;
    print_note("  what was its result?");
    if (question_line("> ", &text)) {
        const allm_tool_answer answer = { .size = sizeof answer,
                                          .text = bytes_string(&text),
                                          .text_len = text.len };
        code = end_of(s, allm_session_settle(s->session, id,
                                             ALLM_SETTLE_HAPPENED, &answer));
    }
    bytes_release(&text);
    return code;
}

/* Settle one call; *dropped: the operation was dropped. */
static int settle_call(const struct session *s, const allm_json *call,
                       bool *dropped)
{
    const char *id = member_read(call, "id");
    int choice = ask_about_call(s, call);
    if (choice == 0)
        return settle_with_result(s, id);
    *dropped = choice == 3;
    if (choice == 3)
        return drop_operation(s);
    if (choice == QUESTION_LEFT)
        return END_ASKED;
    return end_of(s, allm_session_settle(s->session, id,
                                         choice == 1 ? ALLM_SETTLE_NOT_HAPPENED
                                                     : ALLM_SETTLE_AGAIN,
                                         NULL));
}

/* --------------------------------------------------------------- rest --- */

static int ask_to_continue(const struct session *s, bool *dropped)
{
    static const struct question_choice choices[] = {
        { 'c', "[c]ontinue" },
        { 'd', "[d]rop it" },
    };
    struct bytes title = { NULL, 0, 0 };
    bytes_format(&title, "%s was broken off after the model had answered",
                 s->path);
    const struct question q = { .title = bytes_string(&title), .count = 2,
                                .choices = choices };
    int choice = question_choose(&q);
    bytes_release(&title);
    *dropped = choice == 1;
    if (choice == QUESTION_LEFT)
        return END_ASKED;
    return choice ? drop_operation(s) : END_DONE;
}

int chat_broken_settle(struct chat *c, struct session *s, const char *model)
{
    bool dropped = false;
    int code = END_DONE;
    const allm_json *call;
    if (!broken_of(s->session))
        return END_DONE;
    if (!broken_answered(s->session) || !question_possible())
        return broken_drop(s->session);
    if (!first_unknown(s->session))
        code = ask_to_continue(s, &dropped);
    while (code == END_DONE && !dropped && (call = first_unknown(s->session)))
        code = settle_call(s, call, &dropped);
    if (code == END_ASKED)
        return broken_report(s->session);
    return code == END_DONE && !dropped ? resume_operation(c, s, model) : code;
}
