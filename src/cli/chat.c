/*
 * chat.c - allm chat: an interactive conversation
 *
 * Lines that begin with a slash are commands.  Ctrl-C cancels an answer.  With
 * -S the conversation is saved after every answer.
 */
#include "cli/ask_user.h"
#include "cli/chat_lines.h"
#include "cli/chat_usage.h"
#include "cli/command.h"
#include "cli/edit.h"
#include "cli/exit.h"
#include "cli/history.h"
#include "cli/opts.h"
#include "cli/print.h"
#include "cli/session.h"
#include "cli/show.h"
#include "cli/target.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct settings {
    const char *model, *system;
    struct session_choice session;
    struct flag_list options;
    bool ask_user;
} settings;

static const struct flag flags[] = {
    { 'm', "--model", FLAG_TEXT, offsetof(struct settings, model), "P:M",
      "provider:model to use", FILL_MODEL, .setting = "model" },
    { 's', "--system", FLAG_TEXT, offsetof(struct settings, system), "TEXT",
      "the system prompt" },
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
      "let the model ask a question" },
    { 'o', "--option", FLAG_PAIR, offsetof(struct settings, options), "K V",
      "an option of the provider" },
    FLAGS_OF_TOOLS,
    { .name = NULL },
};

struct chat {
    struct target target;
    struct opts options;
    allm_engine *engine;
    struct session session;
    char path[2][4096]; /* of /load: the session's, and the next one */
    unsigned next;      /* the free element of path */
    int64_t in, out;    /* tokens so far */
    int code;           /* exit code of the last answer */
    bool over;
};

static void count_usage(struct chat *c, const allm_stream *stream)
{
    allm_usage *usage = chat_usage_total(allm_stream_chat_result(stream));
    c->in += usage ? usage->input_tokens.value : 0;
    c->out += usage ? usage->output_tokens.value : 0;
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

static void send_line(struct chat *c, const char *line)
{
    struct show how = { .form = SHOW_STREAM, .session = &c->session,
                        .chat = true };
    int ready = session_ready(&c->session);
    if (ready != END_DONE) {
        c->code = ready;
        return;
    }
    allm_stream *stream =
        allm_session_reply(c->engine, c->session.session, line,
                           ALLM(call_opts, .json = c->options.json));
    c->code = show_chat(stream, &how);
    if (c->code == END_SIGNAL + SIGINT)
        print_note("(cancelled; the prompt is not kept)");
    count_usage(c, stream);
    allm_stream_free(stream);
    if (c->code == END_ASKED)
        print_question(c);
}

static void show_commands(struct chat *c, const char *rest)
{
    (void)c;
    (void)rest;
    print_note("/model P:M   use another model");
    print_note("/system TEXT replace the system prompt");
    print_note("/usage       tokens so far");
    print_note("/save FILE   save the conversation, for -S and /load");
    print_note("/load FILE   continue another conversation");
    print_note("/exit        end the chat (also Ctrl-D)");
}

static void change_model(struct chat *c, const char *rest)
{
    struct target other = { .model = "" };
    if (!*rest) {
        print_note("%s", c->target.model);
        return;
    }
    if (target_choose(&other, rest) == END_DONE) {
        allm_engine *engine = allm_engine_with_model(c->engine, other.model);
        allm_engine_free(c->engine);
        c->engine = engine;
        snprintf(c->target.model, sizeof c->target.model, "%s", other.model);
        session_set_model(&c->session, other.model);
    }
    target_release(&other);
}

static void change_system(struct chat *c, const char *rest)
{
    if (*rest)
        session_set_system(&c->session, rest);
    else
        print_fault("/system needs a prompt: /system TEXT");
}

static void print_token_counts(struct chat *c, const char *rest)
{
    (void)rest;
    print_note("usage: %lld tokens in, %lld out", (long long)c->in,
               (long long)c->out);
}

static void save_conversation(struct chat *c, const char *rest)
{
    const char *path = *rest ? rest : c->session.path;
    if (!path)
        print_fault("/save needs a file: /save FILE");
    else if (session_save_to(&c->session, path) == END_DONE)
        print_note("saved to %s", path);
}

/* Add the earlier prompts to the history, and print an open question. */
static void resume_conversation(const struct chat *c)
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

static void load_conversation(struct chat *c, const char *rest)
{
    char *path = c->path[c->next];
    struct session other = { 0 };
    struct session_choice choice = { .word = path,
                                     .store = settings.session.store };
    if (!*rest || strlen(rest) >= sizeof c->path[0]) {
        print_fault("/load needs a file: /load FILE");
        return;
    }
    if (c->session.path && !strcmp(c->session.path, rest)) {
        print_note("%s is already the current conversation", rest);
        return;
    }
    snprintf(path, sizeof c->path[0], "%s", rest);
    if (session_open(&other, &choice, 0) != END_DONE) {
        session_close(&other);
        return;
    }
    session_close(&c->session);
    c->session = other;
    c->next = !c->next;
    if (session_model(&other))
        change_model(c, session_model(&other));
    resume_conversation(c);
}

static void end_chat(struct chat *c, const char *rest)
{
    (void)rest;
    c->over = true;
}

static const struct {
    const char *name;
    void (*run)(struct chat *, const char *rest);
} commands[] = {
    { "/help", show_commands }, { "/model", change_model },
    { "/system", change_system },    { "/usage", print_token_counts },
    { "/save", save_conversation },          { "/load", load_conversation },
    { "/exit", end_chat },         { "/quit", end_chat },
};

static void run_slash_command(struct chat *c, const char *line)
{
    size_t len = strcspn(line, " ");
    const char *rest = line + len + (line[len] == ' ');
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strlen(commands[i].name) == len &&
            !memcmp(commands[i].name, line, len)) {
            commands[i].run(c, rest);
            return;
        }
    print_fault("unknown command %.*s; /help lists the commands", (int)len,
                line);
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
    if (edit_is_possible())
        sigaction(SIGINT, &act, NULL);
}

static int run_chat(struct chat *c)
{
    const char *line;
    ignore_interrupts();
    if (chat_lines_interactive())
        print_note("chat with %s; /help lists the commands, Ctrl-D ends",
                   c->target.model);
    resume_conversation(c);
    while (!c->over && !print_broken() && (line = chat_lines_next())) {
        if (*line == '/')
            run_slash_command(c, line);
        else if (*line)
            send_line(c, line);
    }
    if (chat_lines_interactive())
        return END_DONE;
    return c->code == END_DONE && chat_lines_rejected() ? END_USAGE : c->code;
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
    int code = opts_read(&c.options, &settings.options) ? open_chat(&c)
                                                        : END_USAGE;
    if (code == END_DONE)
        code = run_chat(&c);
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
