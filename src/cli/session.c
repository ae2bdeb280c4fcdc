/*
 * session.c - a conversation, in memory or in a file: -S FILE
 *
 * A session that ended with an error rejects all input.  A user of a shell just
 * wants to continue, so the status is reset.  Unanswered prompts are dropped,
 * since the user will repeat them.
 */
#include "cli/session.h"

#include "cli/exit.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/reword.h"

#include <stdio.h>
#include <string.h>

static const allm_session_record *fields_of(const struct session *s)
{
    return allm_session_fields(s->session);
}

/* Print why the session cannot be used, or cannot be changed. */
static int report_failure(const struct session *s)
{
    const allm_error *error = allm_session_error(s->session);
    const char *text = error && error->message ? error->message
                                               : "out of memory";
    print_fault("%.*s", reword_length(text), text);
    return END_SESSION;
}

/* The metadata without the error, and with this model (NULL: unchanged). */
static allm_json *metadata_of(const allm_json *old, const char *model)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    for (const allm_json *k = NULL; (k = allm_json_next(old, k));) {
        const char *name = allm_json_text(k, NULL);
        if (!strcmp(name, "error") || (model && !strcmp(name, "model")))
            continue;
        allm_json_build_key(b, name);
        allm_json_build_value(b, allm_json_value(k));
    }
    if (model) {
        allm_json_build_key(b, "model");
        allm_json_build_text(b, model, ALLM_NUL_ENDED);
    }
    allm_json_build_end(b);
    return allm_json_build_done(b);
}

static bool is_stuck(const allm_session_record *r)
{
    return r->status == ALLM_SESSION_ERROR ||
           (r->status == ALLM_SESSION_AWAITING_TOOLS &&
            !r->pending_tool_call_count);
}

/* Replace the thread and the model (NULL: unchanged), and reset a status that
 * does not allow the user to continue. */
static int update_session(struct session *s, const allm_thread *thread,
                          const char *model)
{
    allm_session_record fields = *fields_of(s);
    allm_json *metadata = metadata_of(fields.metadata, model);
    fields.home = NULL;
    fields.metadata = metadata;
    if (thread)
        fields.thread = thread;
    if (is_stuck(&fields)) {
        fields.status = ALLM_SESSION_IDLE;
        fields.error = NULL;
    }
    allm_status status = allm_session_replace(s->session, &fields);
    allm_json_free(metadata);
    return status == ALLM_OK ? END_DONE : report_failure(s);
}

/* A system message (NULL: none) and the messages from..to; the caller frees
 * the thread. */
static allm_thread *copy_messages(const allm_thread *old, size_t from,
                                  size_t to, const char *system)
{
    allm_thread *t = allm_thread_new(
        ALLM(thread_opts, .metadata = allm_thread_metadata(old)));
    if (system)
        allm_thread_add(t, ALLM_ROLE_SYSTEM, system);
    for (size_t i = from; i < to; i++)
        allm_thread_append(t, allm_thread_at(old, i));
    return t;
}

static int change_thread(struct session *s, allm_thread *thread)
{
    const allm_error *error = thread ? allm_thread_error(thread) : NULL;
    int code = END_SESSION;
    if (!thread || error)
        print_fault("%s", error ? error->message : "out of memory");
    else
        code = update_session(s, thread, NULL);
    allm_thread_free(thread);
    return code;
}

int session_set_system(struct session *s, const char *system)
{
    const allm_thread *old = allm_session_thread(s->session);
    const allm_message *first = allm_thread_at(old, 0);
    size_t n = allm_thread_count(old), system_count = 0;
    if (!system || (first && first->role == ALLM_ROLE_SYSTEM && first->text &&
                    !strcmp(first->text, system)))
        return END_DONE;
    if (!input_bytes_are_text(system, strlen(system))) {
        print_fault("the system prompt is not UTF-8 text");
        return END_USAGE;
    }
    while (system_count < n &&
           allm_thread_at(old, system_count)->role == ALLM_ROLE_SYSTEM)
        system_count++;
    return change_thread(s, copy_messages(old, system_count, n, system));
}

const char *session_model(const struct session *s)
{
    return allm_json_text(allm_json_get(fields_of(s)->metadata, "model"), NULL);
}

int session_set_model(struct session *s, const char *model)
{
    const char *now = session_model(s);
    return now && !strcmp(now, model) ? END_DONE
                                      : update_session(s, NULL, model);
}

const char *session_question(const struct session *s)
{
    const allm_session_record *r = fields_of(s);
    return r->status == ALLM_SESSION_AWAITING_USER ? r->pending_question : NULL;
}

/* Print which tool results the session waits for. */
static int report_pending_tools(const struct session *s)
{
    const allm_session_record *r = fields_of(s);
    char names[200] = "";
    size_t at = 0;
    for (size_t i = 0; i < r->pending_tool_call_count && at < 150; i++) {
        int n = snprintf(names + at, sizeof names - at, "%s%.40s",
                         i ? ", " : "", r->pending_tool_calls[i]->name);
        at += n > 0 ? (size_t)n : 0;
    }
    print_fault("%s waits for the result of a tool (%s), which only the "
                "program that runs the tool can submit",
                s->path ? s->path : "the conversation", names);
    return END_ASKED;
}

static bool is_empty(const allm_message *m)
{
    return m->role == ALLM_ROLE_ASSISTANT && !m->text_len && !m->part_count &&
           !m->tool_call_count;
}

/* The number of messages without an unanswered prompt at the end. */
static size_t count_answered(const allm_thread *t)
{
    size_t n = allm_thread_count(t);
    if (n && is_empty(allm_thread_at(t, n - 1)))
        n--;
    if (n && allm_thread_at(t, n - 1)->role == ALLM_ROLE_USER)
        n--;
    return n;
}

int session_ready(struct session *s)
{
    const allm_session_record *r = fields_of(s);
    if (r->status == ALLM_SESSION_ERROR)
        return change_thread(s, copy_messages(r->thread, 0,
                                              count_answered(r->thread), NULL));
    if (is_stuck(r))
        return update_session(s, NULL, NULL);
    return r->status == ALLM_SESSION_AWAITING_TOOLS ? report_pending_tools(s)
                                                    : END_DONE;
}

int session_open(struct session *s, const char *path, unsigned use)
{
    bool read_only = use & SESSION_READ_ONLY;
    uint32_t flags = (read_only ? 0u : (uint32_t)ALLM_SESSION_LOCK) |
                     (use & SESSION_CREATE ? (uint32_t)ALLM_SESSION_CREATE : 0);
    s->path = path;
    s->session = path ? allm_session_load(path, flags) : allm_session_new(NULL);
    if (allm_session_error(s->session))
        return report_failure(s);
    if (fields_of(s)->status == ALLM_SESSION_ERROR)
        print_note("the last answer failed; continuing from there");
    int code = session_ready(s);
    if (read_only)
        s->path = NULL;
    return code;
}

void session_close(struct session *s)
{
    allm_session_free(s->session);
    *s = (struct session){ NULL, NULL };
}

int session_save_to(const struct session *s, const char *path)
{
    return allm_session_save(s->session, path) == ALLM_OK ? END_DONE
                                                          : report_failure(s);
}

int session_save(const struct session *s)
{
    return s->path ? session_save_to(s, s->path) : END_DONE;
}
