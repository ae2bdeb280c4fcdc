/*
 * mcp_ask.c - the tool "ask" of "allm mcp": a prompt to a model
 *
 * With a session, the prompt continues a conversation of the store, which is
 * locked until the answer is complete.
 */
#include "cli/mcp_ask.h"

#include "cli/ask_parts.h"
#include "cli/batch_models.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "conf/member.h"
#include "term/mem.h"

#include <stdio.h>
#include <string.h>

const char mcp_ask_tool[] =
    "{\"name\": \"ask\", \"description\": \"Sends a prompt to a language "
    "model and returns its answer.\", \"inputSchema\": {\"type\": \"object\", "
    "\"properties\": {"
    "\"prompt\": {\"type\": \"string\", \"description\": \"What to ask\"}, "
    "\"system\": {\"type\": \"string\", \"description\": \"How the model shall "
    "behave\"}, "
    "\"model\": {\"type\": \"string\", \"description\": \"PROVIDER:MODEL; "
    "without it the default\"}, "
    "\"session\": {\"type\": \"string\", \"description\": \"The name of a "
    "stored conversation to continue; it need not exist\"}}, "
    "\"required\": [\"prompt\"]}}";

static struct ask asked;
static struct batch_models models;
static const char *store;

int mcp_ask_open(const struct mcp_flags *f, const allm_json *options,
                 bool optional, bool *found)
{
    char why[300];
    asked.model = f->model;
    store = f->store;
    models = (struct batch_models){ .ask = &asked, .options = options,
                                    .alone = true,
                                    .pacer = allm_pacer_new(NULL) };
    models.taps.trace_fd = -1;
    if (optional)
        print_divert(why, sizeof why);
    const struct batch_model *m = batch_models_find(&models, NULL);
    print_divert(NULL, 0);
    const allm_error *error = m->code == END_DONE ? allm_engine_error(m->engine)
                                                  : NULL;
    if (error)
        print_fault("%s", error->message);
    *found = m->code == END_DONE && !error;
    return error ? exit_of_error(error) : optional ? END_DONE : m->code;
}

static const char *text_of(const allm_mcp_request *r, const char *name)
{
    return member_read(r->arguments, name);
}

/* Open the session that the request names; false: a->why says why not. */
static bool open_named(struct mcp_ask *a, const char *name)
{
    if (!*name || session_name_is_file(name)) {
        snprintf(a->why, sizeof a->why,
                 "the session must be the name of a stored session");
        return false;
    }
    a->name = term_copy(name, strlen(name));
    print_divert(a->why, sizeof a->why);
    int code = session_open(&a->session,
                            &(struct session_choice){ .word = a->name,
                                                      .store = store },
                            SESSION_CREATE);
    print_divert(NULL, 0);
    return code == END_DONE;
}

/* The model that the request names, else that of -m, else of the session. */
static const struct batch_model *find_model(struct mcp_ask *a,
                                            const allm_mcp_request *r)
{
    const char *word = text_of(r, "model");
    if (!word && !asked.model && a->name)
        word = session_model(&a->session);
    const struct batch_model *m = batch_models_find(&models, word);
    const allm_error *error = m->engine ? allm_engine_error(m->engine) : NULL;
    if (m->code == END_DONE && !error)
        return m;
    snprintf(a->why, sizeof a->why, "%s", error ? error->message : m->why);
    return NULL;
}

static allm_thread *make_thread(const allm_mcp_request *r, const char *system)
{
    allm_thread *thread = allm_thread_new(NULL);
    if (system)
        allm_thread_add(thread, ALLM_ROLE_SYSTEM, system);
    allm_thread_add(thread, ALLM_ROLE_USER, text_of(r, "prompt"));
    return thread;
}

static allm_stream *ask_alone(const struct batch_model *m,
                              const allm_mcp_request *r,
                              const allm_call_opts *opts)
{
    const char *system = text_of(r, "system");
    allm_thread *thread = make_thread(r, system ? system : m->target.system);
    allm_request *request = allm_request_from_thread(thread, NULL);
    allm_stream *stream = allm_generate(m->engine, request, opts);
    allm_request_free(request);
    allm_thread_free(thread);
    return stream;
}

/* The system prompt of the model is only for a new session. */
static bool prepare_session(struct mcp_ask *a, const struct batch_model *m,
                            const char *system)
{
    const allm_thread *t = allm_session_thread(a->session.session);
    if (!system && !allm_thread_count(t))
        system = m->target.system;
    print_divert(a->why, sizeof a->why);
    bool ok = session_set_system(&a->session, system) == END_DONE &&
              session_set_model(&a->session, m->target.name) == END_DONE;
    print_divert(NULL, 0);
    return ok;
}

static allm_stream *ask_in_session(struct mcp_ask *a,
                                   const struct batch_model *m,
                                   const allm_mcp_request *r,
                                   const allm_call_opts *opts)
{
    if (!prepare_session(a, m, text_of(r, "system")))
        return NULL;
    allm_thread *thread = make_thread(r, NULL);
    allm_stream *stream = allm_session_continue(m->engine, a->session.session,
                                                allm_thread_last(thread), opts);
    allm_thread_free(thread);
    return stream;
}

allm_stream *mcp_ask_start(struct mcp_ask *a, const allm_mcp_request *r)
{
    const char *name = text_of(r, "session");
    if (name && !open_named(a, name))
        return NULL;
    const struct batch_model *m = find_model(a, r);
    if (!m)
        return NULL;
    const allm_call_opts opts = { .size = sizeof opts, .model = m->target.model,
                                  .json = m->target.options };
    return name ? ask_in_session(a, m, r, &opts) : ask_alone(m, r, &opts);
}

void mcp_ask_keep(struct mcp_ask *a)
{
    if (a->name)
        session_save(&a->session);
}

void mcp_ask_end(struct mcp_ask *a)
{
    session_close(&a->session);
    term_free(a->name);
    a->name = NULL;
}
