/*
 * elicitation.c - forms of MCP servers, for the user
 *
 *      event --> elicit(ud, form)      in the thread of the toolbox
 *      answer, from any thread --task--> the client of the server
 *
 * A form is shared by the thread, by whoever answers it, and by its task; the
 * last one frees it.  It may outlive the toolbox.
 */
#include "base/status.h"
#include "toolbox/server.h"
#include "json/json.h"

/* ALLM_ELICITATION and the thread's view of it are one. */
struct allm_elicitation {
    struct crew_task task;
    struct allm_home *home;     /* owns it */
    struct inbox *inbox;
    const char *server_name, *message;
    const allm_json *schema;
    const allm_error *error;    /* of the last answer; for the caller only */
    atomic_bool answered;

    /* For the thread only. */
    struct server *server;      /* NULL: needs no answer any more */
    struct allm_elicitation *next;
    uint64_t question, number;  /* number: of the request that it is about */

    /* The answer. */
    enum mcp_action action;
    bool later;
    const allm_json *content;
};

static void release_form(void *form)
{
    inbox_drop(((allm_elicitation *)form)->inbox);
}

/* --------------------------------------------------------------- thread --- */

/* While a form is open, no call ends for its time: a legacy server does not say
 * which one the form is about. */
static void pause_calls(struct server *s)
{
    for (struct server_job *job = s->jobs; job; job = job->next)
        server_call_pause(job, s->forms != NULL);
}

static void unlink_form(allm_elicitation *e)
{
    struct server *s = e->server;
    allm_elicitation **at = s ? &s->forms : NULL;
    while (at && *at && *at != e)
        at = &(*at)->next;
    if (at && *at) {
        *at = e->next;
        e->server = NULL;
        home_drop(e->home);
        pause_calls(s);
    }
}

/* The call that a form is about.  A legacy server does not say it: then it is
 * the only one that is under way. */
static struct server_job *find_job(const struct server *s, uint64_t number)
{
    struct server_job *found = NULL;
    for (struct server_job *job = s->jobs; job; job = job->next) {
        if (number && job->number == number)
            return job;
        if (number || job->method != MCP_TOOLS_CALL || !job->number)
            continue;
        if (found)
            return NULL;
        found = job;
    }
    return found;
}

static void answer_form(void *ud)
{
    allm_elicitation *e = ud;
    struct server *s = e->server;
    struct allm_home *home = e->home;
    struct server_job *job = s && e->later ? find_job(s, e->number) : NULL;
    if (s) {
        struct arena a = arena_in(s->owner->mem);
        unlink_form(e);
        mcp_client_answer(s->client, e->question, e->action, e->content, &a,
                          server_now());
        arena_release(&a);
        if (job)
            server_call_later(s, job, e->message, e->schema);
        server_pump(s);
    }
    home_drop(home);
}

static allm_elicitation *new_form(struct server *s, const struct mcp_event *ev)
{
    struct allm_home *home = home_new(s->owner->mem, 1024);
    allm_elicitation *e = home ? arena_zero(home_arena(home), sizeof *e) : NULL;
    struct slice message = json_text_at(ev->value, "message");
    if (!e) {
        home_drop(home);
        return NULL;
    }
    e->home = home;
    e->task = (struct crew_task){ .run = answer_form, .ud = e };
    e->server = s;
    e->question = ev->question;
    e->number = ev->number;
    atomic_init(&e->answered, false);
    e->server_name = arena_text(home_arena(home), s->conf.name);
    e->message = message.ptr ? message.ptr : "";
    e->schema = json_at(ev->value, "requestedSchema");
    e->inbox = inbox_keep(crew_inbox(s->owner->opts.crew));
    if (home_on_free(home, release_form, e) && e->server_name &&
        home_hold(home, ev->home))
        return e;
    home_drop(home);
    return NULL;
}

void server_elicit(struct server *s, const struct mcp_event *ev)
{
    allm_elicitation *e = new_form(s, ev);
    if (!e) {
        struct arena a = arena_in(s->owner->mem);
        mcp_client_answer(s->client, ev->question, MCP_CANCEL, NULL, &a,
                          server_now());
        arena_release(&a);
        return;
    }
    e->next = s->forms;
    s->forms = e;
    pause_calls(s);
    home_keep(e->home);         /* for the caller */
    s->owner->opts.elicit(s->owner->opts.ud, e);
}

void server_withdraw(struct server *s, uint64_t question)
{
    allm_elicitation *e = s->forms;
    while (e && e->question != question)
        e = e->next;
    if (e)
        unlink_form(e);
}

void server_drop_forms(struct server *s)
{
    while (s->forms)
        unlink_form(s->forms);
}

/* --------------------------------------------------------------- caller --- */

const char *allm_elicitation_server(const allm_elicitation *e)
{
    return e ? e->server_name : NULL;
}

const char *allm_elicitation_message(const allm_elicitation *e)
{
    return e ? e->message : NULL;
}

const allm_json *allm_elicitation_schema(const allm_elicitation *e)
{
    return e ? e->schema : NULL;
}

const allm_error *allm_elicitation_error(const allm_elicitation *e)
{
    return e ? e->error : status_nomem();
}

/* Hand the answer to the thread, once. */
static allm_status post_answer(allm_elicitation *e, enum mcp_action action,
                               bool later)
{
    if (atomic_exchange(&e->answered, true))
        return ALLM_ERR_MISUSE;
    e->action = action;
    e->later = later;
    home_keep(e->home);         /* for the task */
    if (!inbox_post(e->inbox, &e->task.item))
        home_drop(e->home);     /* the toolbox is gone */
    return ALLM_OK;
}

/* What does not fit, in a sentence. */
static allm_status refuse_content(allm_elicitation *e, const allm_json *faults)
{
    struct arena *a = home_arena(e->home);
    const allm_json *first = allm_json_at(faults, 0);
    struct slice path = json_text_at(first, "path");
    struct slice text = json_text_at(first, "message");
    e->error = faults
                   ? status_error(a, ALLM_ERR_VALIDATION, "invalid_arguments",
                                  "%s: %s", path.ptr ? path.ptr : "",
                                  text.ptr ? text.ptr : "does not fit")
                   : status_nomem();
    return e->error->kind;
}

allm_status allm_elicitation_accept(allm_elicitation *e,
                                    const allm_json *content)
{
    if (!e)
        return ALLM_ERR_NOMEM;
    if (atomic_load(&e->answered))
        return ALLM_ERR_MISUSE;
    struct arena *a = home_arena(e->home);
    const allm_json *copy = json_copy(a, content);
    const allm_json *full = copy || !content ? mcp_form_fill(a, e->schema, copy)
                                             : NULL;
    const allm_json *faults = full ? mcp_form_faults(a, e->schema, full) : NULL;
    e->error = NULL;
    if (!faults || allm_json_count(faults))
        return refuse_content(e, faults);
    e->content = full;
    return post_answer(e, MCP_ACCEPT, false);
}

allm_status allm_elicitation_decline(allm_elicitation *e)
{
    return e ? post_answer(e, MCP_DECLINE, false) : ALLM_ERR_NOMEM;
}

allm_status allm_elicitation_later(allm_elicitation *e)
{
    return e ? post_answer(e, MCP_CANCEL, true) : ALLM_ERR_NOMEM;
}

void allm_elicitation_free(allm_elicitation *e)
{
    if (!e)
        return;
    post_answer(e, MCP_CANCEL, false);
    home_drop(e->home);
}
