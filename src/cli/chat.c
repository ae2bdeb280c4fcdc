/*
 * chat.c - allm chat: a conversation, line by line
 *
 * Lines that begin with a slash are commands.  Ctrl-C cancels an answer, and at
 * the prompt ends the program.  The terminal's own line editing is used.
 */
#include "cli/chat_lines.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/opts.h"
#include "cli/print.h"
#include "cli/show.h"
#include "cli/target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct wish {
    const char *model, *system;
    struct flag_list options;
} wish;

static const struct flag flags[] = {
    { 'm', "--model", FLAG_TEXT, offsetof(struct wish, model), "P:M",
      "provider:model to talk to" },
    { 's', "--system", FLAG_TEXT, offsetof(struct wish, system), "TEXT",
      "what the model is told first" },
    { 'o', "--option", FLAG_PAIR, offsetof(struct wish, options), "K V",
      "an option of the provider" },
    { .name = NULL },
};

struct chat {
    struct target target;
    struct opts options;
    allm_engine *engine;
    allm_thread *thread;
    int64_t in, out; /* tokens so far */
    int code;        /* of the last answer */
    bool over;
};

/* ------------------------------------------------------------------ answers --- */

static void count_usage(struct chat *c, const allm_usage *u)
{
    c->in += u ? u->input_tokens.value : 0;
    c->out += u ? u->output_tokens.value : 0;
}

/* What was said stays, unless the call failed. */
static void keep(struct chat *c, const allm_chat_result *result)
{
    if (!result || result->error || !result->thread)
        return;
    allm_thread *more = allm_thread_copy(result->thread);
    if (!more)
        return;
    allm_thread_free(c->thread);
    c->thread = more;
    if (result->final_response)
        count_usage(c, result->final_response->usage);
    if (result->pending_question)
        print_format("%s\n", result->pending_question);
}

static void say(struct chat *c, const char *line)
{
    struct show how = { .form = SHOW_STREAM };
    allm_thread *asked = allm_thread_copy(c->thread);
    allm_thread_add(asked, ALLM_ROLE_USER, line);
    allm_stream *stream = allm_chat(c->engine, asked,
                                    ALLM(call_opts, .json = c->options.json));
    c->code = show_chat(stream, &how);
    if (c->code == END_SIGNAL + SIGINT)
        print_note("(cancelled; the question is forgotten)");
    else
        keep(c, allm_stream_chat_result(stream));
    allm_stream_free(stream);
    allm_thread_free(asked);
}

/* ----------------------------------------------------------------- commands --- */

static void show_commands(struct chat *c, const char *rest)
{
    (void)c;
    (void)rest;
    print_note("/model P:M   talk to another model");
    print_note("/system TEXT begin anew, and tell the model this first");
    print_note("/usage       tokens so far");
    print_note("/save FILE   write the conversation as JSON");
    print_note("/exit        or Ctrl-D");
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
    }
    target_release(&other);
}

static void begin_anew(struct chat *c, const char *rest)
{
    allm_thread_free(c->thread);
    c->thread = allm_thread_new(NULL);
    if (rest && *rest)
        allm_thread_add(c->thread, ALLM_ROLE_SYSTEM, rest);
}

static void tell_usage(struct chat *c, const char *rest)
{
    (void)rest;
    print_note("usage: %lld tokens in, %lld out", (long long)c->in,
               (long long)c->out);
}

/* All of it, or an error. */
static bool write_file(const char *path, const char *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    while (fd >= 0 && len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        bytes += n;
        len -= (size_t)n;
    }
    int error = errno;
    bool ok = fd >= 0 && !len;
    if (fd >= 0 && close(fd) && ok) {
        error = errno;
        ok = false;
    }
    errno = error;
    return ok;
}

static void save(struct chat *c, const char *rest)
{
    size_t len = 0;
    if (!*rest) {
        print_fault("/save needs a file: /save FILE");
        return;
    }
    allm_text *text = allm_thread_json(c->thread, ALLM_FORM_TAGGED);
    const char *bytes = allm_text_bytes(text, &len);
    if (!bytes || allm_text_error(text))
        print_fault("the conversation cannot be written as JSON");
    else if (!write_file(rest, bytes, len))
        print_fault("cannot write %s: %s", rest, strerror(errno));
    else
        print_note("saved to %s", rest);
    allm_text_free(text);
}

static void leave(struct chat *c, const char *rest)
{
    (void)rest;
    c->over = true;
}

static const struct {
    const char *name;
    void (*run)(struct chat *, const char *rest);
} commands[] = {
    { "/help", show_commands }, { "/model", change_model },
    { "/system", begin_anew },  { "/usage", tell_usage },
    { "/save", save },          { "/exit", leave },
    { "/quit", leave },
};

static void obey(struct chat *c, const char *line)
{
    size_t len = strcspn(line, " ");
    const char *rest = line + len + (line[len] == ' ');
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strlen(commands[i].name) == len &&
            !memcmp(commands[i].name, line, len)) {
            commands[i].run(c, rest);
            return;
        }
    print_fault("there is no command %.*s; /help lists them", (int)len, line);
}

/* --------------------------------------------------------------------- loop --- */

static int talk(struct chat *c)
{
    const char *line;
    if (chat_lines_shown())
        print_note("talking to %s; /help for commands, Ctrl-D to leave",
                   c->target.model);
    while (!c->over && !print_broken() && (line = chat_lines_next())) {
        if (*line == '/')
            obey(c, line);
        else if (*line)
            say(c, line);
    }
    return chat_lines_shown() ? END_DONE : c->code;
}

static int run(int argc, char **argv)
{
    struct chat c = { .code = END_DONE };
    if (!flags_read(flags, &wish, &argc, argv))
        return END_USAGE;
    if (argc) {
        print_fault("chat takes no words; to ask once: allm \"...\"");
        return END_USAGE;
    }
    int code = opts_read(&c.options, &wish.options)
                   ? target_choose(&c.target, wish.model)
                   : END_USAGE;
    if (code == END_DONE) {
        c.engine = allm_engine_new(ALLM(engine_opts, .model = c.target.model,
                                        .keys = c.target.keys,
                                        .catalog = c.target.catalog));
        begin_anew(&c, wish.system);
        code = talk(&c);
    }
    allm_thread_free(c.thread);
    allm_engine_free(c.engine);
    target_release(&c.target);
    opts_release(&c.options);
    return code;
}

const struct command chat_command = {
    .name = "chat",
    .usage = "[FLAG...]",
    .summary = "talk to a model, line by line",
    .more = "/help lists what can be done besides talking.  Ctrl-C cancels an "
            "answer.\n",
    .flags = flags,
    .run = run,
};
