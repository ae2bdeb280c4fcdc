/* chat_model.c - the model of a chat: its options, its engine and its calls */
#include "cli/ask_user.h"
#include "cli/chat_state.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/registry.h"
#include "cli/timing.h"
#include "cli/toolbox.h"
#include "term/escape.h"

#include <stdio.h>
#include <string.h>

bool chat_model_options(struct chat *c)
{
    opts_release(&c->options);
    return ask_parts_options(c->ask, &c->pairs, &c->options);
}

static void make_chat_engine(struct chat *c)
{
    bool ask_user = c->ask->ask_user;
    allm_json *retry = ask_parts_retry(c->ask);
    allm_engine_opts opts = {
        .size = sizeof opts,
        .model = c->target.model,
        .keys = c->target.keys,
        .catalog = c->target.catalog,
        .net = &c->target.net,
        .retry = retry,
        .tool_count = ask_user ? 1 : 0,
        .tools = ask_user ? ask_user_tools() : NULL,
    };
    toolbox_apply(&opts);
    taps_apply(&c->taps, &opts);
    allm_engine_free(c->engine);
    c->engine = allm_engine_new(&opts);
    allm_json_free(retry);
}

/* What the flags ask for, or what /model has chosen since.  A key, an address
 * or headers of the flags are for the model of the flags: no other provider
 * gets them. */
static struct wish make_chat_wish(const struct chat *c, const char *word)
{
    const struct ask *a = c->ask;
    struct wish wish = ask_parts_wish(a, &c->template, &c->session,
                                      c->system.ptr ? c->system.ptr : a->system,
                                      c->options.json);
    wish.any_key = a->taps.replay != NULL;
    if (word || *c->model) {
        wish.model = word ? word : c->model;
        wish.task = wish.key = wish.base_url = NULL;
        wish.headers = NULL;
    }
    return wish;
}

int chat_model_choose(struct chat *c, const char *word)
{
    struct target other;
    const struct wish wish = make_chat_wish(c, word);
    int code = target_resolve(&other, &wish);
    if (code != END_DONE) {
        target_release(&other);
        return code;
    }
    if (word)
        snprintf(c->model, sizeof c->model, "%s", word);
    target_release(&c->target);
    c->target = other;
    make_chat_engine(c);
    if (c->format)
        registry_note_schema(c->target.model);
    return session_set_model(&c->session, c->target.name);
}

/* The next prompt has the name, which may come from a session of others. */
static void show_name(struct chat *c)
{
    struct bytes name = { NULL, 0, 0 };
    escape_text(c->target.name, strlen(c->target.name), &name);
    snprintf(c->prompt, sizeof c->prompt, "%.200s> ", bytes_string(&name));
    bytes_release(&name);
}

void chat_model_change(struct chat *c, const char *rest)
{
    if (!*rest)
        print_note("%s", c->target.name);
    else if (chat_model_choose(c, rest) == END_DONE)
        show_name(c);
}

/* The call failed: try the next model of the task, if nothing has arrived. */
static bool try_next_model(void *ud, const allm_error *error)
{
    struct chat *c = ud;
    if (c->started || !target_fall_back(&c->target, error) ||
        session_ready(&c->session) != END_DONE)
        return false;
    make_chat_engine(c);
    show_name(c);
    return session_set_model(&c->session, c->target.name) == END_DONE;
}

/* JSON is not Markdown, and it is printed as a whole. */
static struct show choose_look(struct chat *c)
{
    struct show how = c->how;
    how.form = c->format || c->ask->no_stream ? SHOW_WHOLE : SHOW_STREAM;
    how.value = c->format != NULL;
    how.try_next = try_next_model;
    how.ud = c;
    if (c->format)
        how.look.markdown = "off";
    return how;
}

int chat_model_call(struct chat *c, const allm_message *message)
{
    const struct show how = choose_look(c);
    int code = SHOW_AGAIN;
    if (toolbox_renew())
        make_chat_engine(c);
    c->started = false;
    while (code == SHOW_AGAIN) {
        allm_call_opts opts = ask_parts_call(c->ask, c->format,
                                             c->target.options, c->budget);
        opts.on_event = ask_parts_note;
        opts.on_event_ud = &c->started;
        timing_begin();
        allm_stream *stream = allm_session_continue(c->engine,
                                                    c->session.session, message,
                                                    &opts);
        code = show_chat(stream, &how);
        chat_count(c, stream);
        allm_stream_free(stream);
    }
    return code;
}
