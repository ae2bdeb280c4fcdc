/* sessions_run.c - allm sessions resume, abandon, cancel, settle */
#include "cli/broken.h"
#include "cli/exit.h"
#include "cli/follow.h"
#include "cli/opts.h"
#include "cli/print.h"
#include "cli/session_resume.h"
#include "cli/session_store.h"
#include "cli/sessions.h"
#include "cli/show.h"
#include "cli/toolbox.h"

#include <string.h>

/* Open and hold a session that exists, broken off or not. */
static int hold_session(struct sessions *s, const char *name,
                        allm_session **session)
{
    *session = allm_session_open(s->store, name, ALLM_SESSION_LOCK);
    const allm_error *error = allm_session_error(*session);
    return error ? session_store_fail(error) : END_DONE;
}

static int run_resume(struct sessions *s, struct session *session)
{
    struct show how = { .form = s->json ? SHOW_JSON : SHOW_STREAM,
                        .session = session };
    struct opts options = { NULL };
    allm_stream *stream = NULL;
    if (!opts_read(&options, &s->options))
        return END_USAGE;
    const struct session_resume resume = { s->model, options.json,
                                           s->ask_user };
    int code = session_resume_start(session, &resume, &stream);
    if (code == END_DONE)
        code = show_chat(stream, &how);
    allm_stream_free(stream);
    session_resume_release();
    opts_release(&options);
    return code;
}

int sessions_resume(struct sessions *s, char **argv)
{
    struct session session = { .path = argv[0], .store = s->store };
    const struct toolbox_wish wish = { .flags = &s->toolbox,
                                       .use = TOOLBOX_ASKS };
    int code = hold_session(s, argv[0], &session.session);
    if (code == END_DONE)
        code = toolbox_open(&wish);
    if (code == END_DONE)
        code = run_resume(s, &session);
    toolbox_close();
    allm_session_free(session.session);
    return code;
}

/* Drop what the session waits for: the calls stay without a result. */
static allm_status stop_waiting(allm_session *session)
{
    allm_session_record fields = *allm_session_fields(session);
    fields.home = NULL;
    fields.status = ALLM_SESSION_IDLE;
    fields.pending_question = NULL;
    fields.pending_tool_call_id = NULL;
    fields.pending_tool_calls = NULL;
    fields.pending_tool_call_count = 0;
    return allm_session_replace(session, &fields);
}

static bool is_waiting(const allm_session *session)
{
    allm_session_status status = allm_session_fields(session)->status;
    return !broken_of(session) && (status == ALLM_SESSION_AWAITING_USER ||
                                   status == ALLM_SESSION_AWAITING_TOOLS);
}

int sessions_abandon(struct sessions *s, char **argv)
{
    allm_session *session;
    int code = hold_session(s, argv[0], &session);
    if (code == END_DONE &&
        (is_waiting(session) ? stop_waiting(session)
                             : allm_session_abandon(session)) < 0)
        code = session_store_fail(allm_session_error(session));
    allm_session_free(session);
    return code;
}

int sessions_cancel(struct sessions *s, char **argv)
{
    return allm_store_cancel(s->store, argv[0]) == ALLM_OK
               ? END_DONE
               : session_store_fail(allm_store_error(s->store));
}

/* Print why the call was not settled. */
static int refuse_call(const allm_session *session, const char *call)
{
    char names[300];
    const allm_error *error = allm_session_error(session);
    const char *me = allm_session_fields(session)->id;
    if (!error || strcmp(error->reason, "unknown_tool_call_id") != 0)
        return session_store_fail(error);
    if (broken_calls(session, names))
        return print_misuse("\"%s\" is not an unknown call of %s; these are: "
                            "%s",
                            call, me, names);
    return print_misuse("%s has no unknown call, so \"%s\" cannot be settled",
                        me, call);
}

int sessions_settle(struct sessions *s, char **argv)
{
    allm_session *session;
    if ((s->happened != NULL) + s->did_not_happen + s->again != 1)
        return print_misuse(
            "say what happened: --happened TEXT, --not or --again");
    const allm_tool_answer answer = { .size = sizeof answer,
                                      .text = s->happened,
                                      .text_len = s->happened
                                                      ? strlen(s->happened)
                                                      : 0 };
    int code = hold_session(s, argv[0], &session);
    allm_settle how = s->happened         ? ALLM_SETTLE_HAPPENED
                      : s->did_not_happen ? ALLM_SETTLE_NOT_HAPPENED
                                          : ALLM_SETTLE_AGAIN;
    if (code == END_DONE &&
        allm_session_settle(session, argv[1], how,
                            s->happened ? &answer : NULL) < 0)
        code = refuse_call(session, argv[1]);
    if (code == END_DONE)
        print_note("settled; to continue: allm sessions resume %s", argv[0]);
    allm_session_free(session);
    return code;
}

int sessions_follow(struct sessions *s, char **argv)
{
    struct follow f = { .name = argv[0], .events = s->events,
                        .forever = s->forever };
    if (s->from && strlen(s->from) >= sizeof f.cursor)
        return print_misuse("--from needs a cursor of an event, such as 12.3");
    if (s->from)
        memcpy(f.cursor, s->from, strlen(s->from) + 1);
    return follow_session(s->store, &f);
}
