/*
 * chat.c - allm chat: an interactive conversation
 *
 * Lines that begin with a slash are commands.  Ctrl-C cancels an answer and
 * keeps what has arrived.  What is typed meanwhile is in the next line.  With
 * -S the conversation is saved after every answer.
 */
#include "cli/ask_user.h"
#include "cli/chat_lines.h"
#include "cli/chat_state.h"
#include "cli/chat_usage.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/exit.h"
#include "cli/history.h"
#include "cli/print.h"
#include "cli/prompt.h"
#include "term/mem.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct settings {
    const char *model, *system;
    struct session_choice session;
    struct flag_list options;
    struct answer_look look;
    uint32_t max_turns, timeout_ms;
    bool ask_user, usage;
} settings;

static const struct flag flags[] = {
    { 'm', "--model", FLAG_TEXT, offsetof(struct settings, model), "P:M",
      "provider:model to use", FILL_MODEL, .setting = "model",
      .use = FLAG_MOST },
    { 's', "--system", FLAG_TEXT, offsetof(struct settings, system), "TEXT",
      "the system prompt", .setting = "system", .use = FLAG_MOST },
    { 'S', "--session", FLAG_TEXT, offsetof(struct settings, session.word),
      "NAME", "start or continue a session; with / or .: a file",
      FILL_SESSION },
    { 'c', "--continue", FLAG_SWITCH,
      offsetof(struct settings, session.latest), NULL,
      "continue the session that changed last" },
    { 0, "--keep", FLAG_SWITCH, offsetof(struct settings, session.keep), NULL,
      "start a session with a new name" },
    { 0, "--store", FLAG_TEXT, offsetof(struct settings, session.store), "URI",
      "the store of the sessions; else ALLM_STORE" },
    { 0, "--ask", FLAG_SWITCH, offsetof(struct settings, ask_user), NULL,
      "let the model ask a question", .use = FLAG_MOST },
    { 'o', "--option", FLAG_PAIR, offsetof(struct settings, options), "K V",
      "an option of the provider", .use = FLAG_MOST },
    { 0, "--markdown", FLAG_CHOICE, offsetof(struct settings, look.markdown),
      "auto|on|off", "show Markdown; auto: on a terminal", FILL_WORDS,
      "auto|on|off", .setting = "output.markdown" },
    { 0, "--color", FLAG_CHOICE, offsetof(struct settings, look.color),
      "auto|on|off", "use colours; auto: on a terminal", FILL_WORDS,
      "auto|on|off", .setting = "output.color" },
    { 0, "--width", FLAG_NUMBER, offsetof(struct settings, look.width), "N",
      "columns of a line of Markdown", .setting = "output.width" },
    { 'R', "--hide-reasoning", FLAG_SWITCH,
      offsetof(struct settings, look.hide_reasoning), NULL,
      "do not print the reasoning on stderr", .setting = "output.reasoning" },
    { 'u', "--usage", FLAG_SWITCH, offsetof(struct settings, usage), NULL,
      "print tokens and cost on stderr", .setting = "usage" },
    { 0, "--max-turns", FLAG_NUMBER, offsetof(struct settings, max_turns), "N",
      "stop after N answers of the model", .setting = "max_turns" },
    { 0, "--timeout", FLAG_SECONDS, offsetof(struct settings, timeout_ms), "T",
      "stop an answer after this time: 90, 90s, 5m, 2h",
      .setting = "timeout" },
    FLAGS_OF_TOOLS,
    { .name = NULL },
};

static void count_usage(struct chat *c, const allm_stream *stream)
{
    allm_usage *usage = chat_usage_total(allm_stream_chat_result(stream));
    c->in += usage ? usage->input_tokens.value : 0;
    c->out += usage ? usage->output_tokens.value : 0;
    c->cost += usage ? usage->total_cost.value : 0;
    allm_usage_free(usage);
}

static void print_question(const struct chat *c)
{
    const char *question = session_question(&c->session);
    if (!question)
        return;
    print_text(question);
    print_text("\n");
}

/* The answer was cancelled: keep the prompt and what has arrived. */
static void keep_partial(struct chat *c, const allm_message *prompt)
{
    size_t len;
    const char *text = answer_last_text(&len);
    allm_message *answer =
        len ? allm_message_from_text(ALLM_ROLE_ASSISTANT, text) : NULL;
    bool kept = answer && session_ready(&c->session) == END_DONE &&
                allm_session_append(c->session.session, prompt) == ALLM_OK &&
                allm_session_append(c->session.session, answer) == ALLM_OK &&
                session_save(&c->session) == END_DONE;
    print_note(kept ? "(cancelled; what has arrived is kept)"
                    : "(cancelled; the prompt is not kept)");
    allm_message_free(answer);
}

void chat_send_message(struct chat *c, const allm_message *message)
{
    int ready = session_ready(&c->session);
    if (ready != END_DONE) {
        c->code = ready;
        return;
    }
    allm_stream *stream = allm_session_continue(
        c->engine, c->session.session, message,
        ALLM(call_opts, .json = c->options.json, .max_turns = c->max_turns,
             .total_ms = c->timeout_ms));
    c->code = show_chat(stream, &c->how);
    count_usage(c, stream);
    allm_stream_free(stream);
    if (c->code == END_SIGNAL + SIGINT)
        keep_partial(c, message);
    if (c->code == END_ASKED)
        print_question(c);
}

/* Forget what was attached to the last prompt. */
static void drop_attached(struct chat *c)
{
    while (c->files.count)
        term_free((void *)(uintptr_t)c->files.word[--c->files.count]);
    bytes_release(&c->before);
}

void chat_send(struct chat *c, const char *text)
{
    allm_thread *thread = allm_thread_new(NULL);
    bytes_text(&c->before, text);
    if (prompt_add_text(thread, bytes_string(&c->before), &c->files) == ALLM_OK)
        chat_send_message(c, allm_thread_last(thread));
    allm_thread_free(thread);
    drop_attached(c);
}

void chat_resume(const struct chat *c)
{
    size_t count = 0;
    const allm_message *const *m = allm_session_messages(c->session.session,
                                                         &count);
    for (size_t i = 0; i < count; i++)
        if (m[i]->role == ALLM_ROLE_USER && m[i]->text)
            history_add(m[i]->text);
    if (count && c->session.path) /* without a file, it is only -s */
        print_note("%s: %zu messages so far", c->session.path, count);
    print_question(c);
}

static void ignore_signal(int number)
{
    (void)number;
}

/* A Ctrl-C just after an answer, or while it is saved, was meant to cancel the
 * answer: it must not end the chat. */
static void ignore_interrupts(void)
{
    struct sigaction act = { .sa_handler = ignore_signal };
    if (console_is_possible())
        sigaction(SIGINT, &act, NULL);
}

static int run_lines(struct chat *c)
{
    const char *line;
    while (!c->over && !print_broken() && (line = chat_lines_next(c->prompt))) {
        snprintf(c->prompt, sizeof c->prompt, "> ");
        if (*line == '/' || *line == '!')
            chat_commands_run(c, line);
        else if (*line)
            chat_send(c, line);
    }
    if (chat_lines_interrupted())
        return END_SIGNAL + SIGINT;
    if (chat_lines_interactive())
        return END_DONE;
    return c->code == END_DONE && chat_lines_rejected() ? END_USAGE : c->code;
}

static int run_chat(struct chat *c)
{
    static const struct editor_hooks hooks = {
        .history = history_line, .complete = chat_commands_complete
    };
    ignore_interrupts();
    if (chat_lines_interactive()) {
        history_open();
        print_note("chat with %s; /help lists the commands, Ctrl-D ends",
                   c->target.model);
    }
    chat_resume(c);
    if (console_is_possible())
        console_open(&hooks);
    int code = run_lines(c);
    console_close();
    history_close();
    return code;
}

/* Open the session, choose the model and create the engine. */
static int open_chat(struct chat *c)
{
    int code = session_open(&c->session, &settings.session, SESSION_CREATE);
    if (code == END_DONE)
        code = session_set_system(&c->session, settings.system);
    if (code == END_DONE)
        code = target_choose(&c->target, settings.model
                                             ? settings.model
                                             : session_model(&c->session));
    if (code == END_DONE)
        code = session_set_model(&c->session, c->target.model);
    if (code != END_DONE)
        return code;
    c->engine = allm_engine_new(
        ALLM(engine_opts, .model = c->target.model, .keys = c->target.keys,
             .catalog = c->target.catalog,
             .tool_count = settings.ask_user ? 1 : 0,
             .tools = settings.ask_user ? ask_user_tools() : NULL));
    return END_DONE;
}

static void set_up_chat(struct chat *c)
{
    snprintf(c->prompt, sizeof c->prompt, "> ");
    c->pairs = settings.options;
    c->own_pairs = settings.options.count;
    c->store = settings.session.store;
    c->max_turns = settings.max_turns;
    c->timeout_ms = settings.timeout_ms;
    c->how = (struct show){ .form = SHOW_STREAM, .usage = settings.usage,
                            .session = &c->session, .chat = true,
                            .look = settings.look };
}

static int run_chat_command(int argc, char **argv)
{
    static struct chat c;
    if (!flags_read(flags, &settings, &argc, argv))
        return END_USAGE;
    if (argc) {
        print_fault("chat takes no arguments; for a single prompt: allm "
                    "\"...\"");
        return END_USAGE;
    }
    set_up_chat(&c);
    int code = opts_read(&c.options, &c.pairs) ? open_chat(&c) : END_USAGE;
    if (code == END_DONE)
        code = run_chat(&c);
    drop_attached(&c);
    while (c.pairs.count > c.own_pairs)
        term_free((void *)(uintptr_t)c.pairs.word[--c.pairs.count]);
    session_close(&c.session);
    allm_engine_free(c.engine);
    target_release(&c.target);
    opts_release(&c.options);
    return code;
}

const struct command chat_command = {
    .name = "chat",
    .usage = "[FLAG...]",
    .summary = "chat with a model",
    .more = "/help lists the commands of the chat.  Ctrl-C cancels an "
            "answer.\n",
    .flags = flags,
    .run = run_chat_command,
};
