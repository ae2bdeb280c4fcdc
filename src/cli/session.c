/*
 * session.c - a conversation in memory, in a file or in the store
 *
 * A session that ended with an error rejects all input.  A user of a shell just
 * wants to continue, so the status is reset.  Unanswered prompts are dropped,
 * since the user will repeat them.
 */
#include "cli/session.h"

#include "cli/approvals.h"
#include "cli/broken.h"
#include "cli/exit.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/reword.h"
#include "cli/session_store.h"
#include "conf/member.h"

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
    return error ? exit_of_error(error) : END_SESSION;
}

/* The metadata without the error, and with this model (NULL: unchanged). */
static allm_json *metadata_of(const allm_json *old, const char *model)
{
    allm_json_build *b = member_new_object();
    for (const allm_json *k = NULL; (k = allm_json_next(old, k));) {
        const char *name = allm_json_text(k, NULL);
        if (!strcmp(name, "error") || (model && !strcmp(name, "model")))
            continue;
        member_value(b, name, allm_json_value(k));
    }
    if (model)
        member_text(b, "model", model);
    return member_done(b);
}

static bool is_stuck(const allm_session_record *r)
{
    return r->status == ALLM_SESSION_ERROR ||
           (r->status == ALLM_SESSION_AWAITING_TOOLS &&
            !r->pending_tool_call_count);
}

static int replace_fields(const struct session *s, allm_session_record *fields,
                          const char *model)
{
    allm_json *metadata = metadata_of(fields->metadata, model);
    fields->home = NULL;
    fields->metadata = metadata;
    allm_status status = allm_session_replace(s->session, fields);
    allm_json_free(metadata);
    return status == ALLM_OK ? END_DONE : report_failure(s);
}

/* Replace the thread and the model (NULL: unchanged), and reset a status that
 * does not allow the user to continue. */
static int update_session(struct session *s, const allm_thread *thread,
                          const char *model)
{
    allm_session_record fields = *fields_of(s);
    if (thread)
        fields.thread = thread;
    if (is_stuck(&fields)) {
        fields.status = ALLM_SESSION_IDLE;
        fields.error = NULL;
    }
    return replace_fields(s, &fields, model);
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
    if (!input_bytes_are_text(system, strlen(system)))
        return print_misuse("the system prompt is not UTF-8 text");
    while (system_count < n &&
           allm_thread_at(old, system_count)->role == ALLM_ROLE_SYSTEM)
        system_count++;
    return change_thread(s, copy_messages(old, system_count, n, system));
}

/* The model in the metadata, or NULL. */
static const char *kept_model(const struct session *s)
{
    return member_read(fields_of(s)->metadata, "model");
}

const char *session_model(const struct session *s)
{
    return *s->model ? s->model : kept_model(s);
}

/* In the store, a call that fails at the start must leave nothing behind: the
 * model is kept with the answer. */
int session_set_model(struct session *s, const char *model)
{
    const char *now = session_model(s);
    if (now && !strcmp(now, model))
        return END_DONE;
    if (!s->store)
        return update_session(s, NULL, model);
    snprintf(s->model, sizeof s->model, "%s", model);
    return END_DONE;
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
    if (allm_json_count(allm_json_get(r->metadata, "approvals"))) {
        approvals_report(r->metadata, s->path);
        return END_ASKED;
    }
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
    return r->status == ALLM_SESSION_AWAITING_TOOLS &&
                   !approvals_decided(r->metadata)
               ? report_pending_tools(s)
               : END_DONE;
}

bool session_approves(const struct session *s)
{
    const allm_session_record *r = fields_of(s);
    return r->status == ALLM_SESSION_AWAITING_TOOLS &&
           r->pending_tool_call_count &&
           allm_json_count(allm_json_get(r->metadata, "approvals"));
}

/* Drop the unanswered prompt of a session that was opened to read. */
static int drop_unanswered(struct session *s)
{
    const allm_thread *t = fields_of(s)->thread;
    return change_thread(s, copy_messages(t, 0, count_answered(t), NULL));
}

/* Continue with a copy in memory: it may change, the store does not. */
static int copy_to_memory(struct session *s)
{
    const allm_error *error = allm_session_error(s->session);
    bool missing = error && error->reason &&
                   !strcmp(error->reason, "session_not_found");
    if (error && !missing)
        return report_failure(s);
    allm_session *copy = missing ? allm_session_new(NULL)
                                 : allm_session_from_record(fields_of(s));
    allm_session_free(s->session);
    s->session = copy;
    if (allm_session_error(copy))
        return report_failure(s);
    const allm_thread *t = fields_of(s)->thread;
    bool asks = count_answered(t) < allm_thread_count(t);   /* it may run */
    return asks || broken_of(copy) ? drop_unanswered(s) : END_DONE;
}

static int open_file(struct session *s, unsigned use)
{
    uint32_t flags = (use & SESSION_READ_ONLY ? 0u
                                              : (uint32_t)ALLM_SESSION_LOCK) |
                     (use & SESSION_CREATE ? (uint32_t)ALLM_SESSION_CREATE : 0);
    int code = session_name_check_file(s->path);
    if (code != END_DONE)
        return code;
    s->session = allm_session_load(s->path, flags);
    return allm_session_error(s->session) ? report_failure(s) : END_DONE;
}

/* Is there nothing in it that somebody could miss? */
static bool is_blank(const struct session *s)
{
    const allm_session_record *r = s->session ? fields_of(s) : NULL;
    return r && !allm_thread_count(r->thread) &&
           r->status == ALLM_SESSION_IDLE && !broken_of(s->session) &&
           !allm_json_get(r->metadata, "cancelled_input");
}

static int open_stored(struct session *s, const char *uri, unsigned use)
{
    bool reads = use & SESSION_READ_ONLY, creates = use & SESSION_CREATE;
    int code = session_name_check(s->path, uri);
    if (code == END_DONE && reads && !session_store_exists(uri)) {
        s->session = allm_session_new(NULL);
        return END_DONE;
    }
    if (code == END_DONE)
        code = session_store_open(&s->store, uri,
                                  reads || !creates ? ALLM_STORE_NO_CREATE : 0,
                                  0);
    if (code != END_DONE)
        return code;
    s->session = allm_session_open(s->store, s->path,
                                   reads     ? 0
                                   : creates ? (uint32_t)ALLM_SESSION_CREATE
                                             : (uint32_t)ALLM_SESSION_LOCK);
    if (reads)
        return copy_to_memory(s);
    if (allm_session_error(s->session))
        return report_failure(s);
    s->is_new = creates && is_blank(s);
    return use & SESSION_BROKEN ? END_DONE : broken_drop(s->session);
}

/* Open what the choice names. */
static int open_choice(struct session *s, const struct session_choice *c,
                       unsigned use)
{
    int code = session_name_choose(c, &s->path);
    if (code != END_DONE)
        return code;
    if (s->path)
        return session_name_is_file(s->path) ? open_file(s, use)
                                             : open_stored(s, c->store, use);
    s->session = allm_session_new(NULL);
    return END_DONE;
}

/* Open a session that only a setting asks for.  If there is no room for it, the
 * answer comes nevertheless. */
static int open_spare(struct session *s, const struct session_choice *choice,
                      unsigned use)
{
    char why[400];
    struct session_choice none = *choice;
    print_divert(why, sizeof why);
    int code = open_choice(s, choice, use);
    print_divert(NULL, 0);
    if (code == END_DONE)
        return code;
    print_note("the session is not kept: %s", why);
    session_close(s);
    none.may_keep = false;
    return open_choice(s, &none, use);
}

int session_open(struct session *s, const struct session_choice *choice,
                 unsigned use)
{
    *s = (struct session){ 0 };
    int code = session_name_is_spare(choice) ? open_spare(s, choice, use)
                                             : open_choice(s, choice, use);
    if (code != END_DONE || broken_of(s->session))
        return code;
    if (fields_of(s)->status == ALLM_SESSION_ERROR)
        print_note("the last answer failed; continuing from there");
    if (!(use & SESSION_APPROVE && session_approves(s)))
        code = session_approves(s) ? report_pending_tools(s) : session_ready(s);
    if (use & SESSION_READ_ONLY)
        s->path = NULL;
    return code;
}

/* A session whose first call has failed is not kept. */
void session_close(struct session *s)
{
    bool blank = s->is_new && is_blank(s);
    allm_session_free(s->session);
    if (blank)
        allm_store_remove(s->store, s->path);
    allm_store_free(s->store);
    *s = (struct session){ 0 };
}

int session_save_to(const struct session *s, const char *path)
{
    return allm_session_save(s->session, path) == ALLM_OK ? END_DONE
                                                          : report_failure(s);
}

/* Add the model to a session in the store, if it is another one. */
static int save_model(const struct session *s)
{
    allm_session_record fields = *fields_of(s);
    const char *now = kept_model(s);
    if (!*s->model || (now && !strcmp(now, s->model)) || broken_of(s->session))
        return END_DONE;
    return replace_fields(s, &fields, s->model);
}

int session_save(const struct session *s)
{
    if (s->store)
        return save_model(s);
    return s->path ? session_save_to(s, s->path) : END_DONE;
}
