/*
 * chat.c - allm chat: an interactive conversation
 *
 * Lines that begin with a slash are commands.  Ctrl-C cancels an answer and
 * keeps what has arrived.  What is typed meanwhile is in the next line.  With
 * -S the conversation is saved after every answer.
 */
#include "cli/ask.h"
#include "cli/chat_lines.h"
#include "cli/chat_state.h"
#include "cli/chat_usage.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/exit.h"
#include "cli/history.h"
#include "cli/print.h"
#include "cli/prompt.h"
#include "cli/settings.h"
#include "cli/toolbox.h"
#include "term/mem.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

void chat_limit(struct chat *c, double max_cost)
{
    allm_budget_free(c->budget);
    c->max_cost = max_cost;
    c->budget = max_cost > 0
                    ? allm_budget_new(ALLM(budget_opts, .max_cost = max_cost))
                    : NULL;
}

void chat_count(struct chat *c, const allm_stream *stream)
{
    allm_usage *usage = chat_usage_total(allm_stream_chat_result(stream));
    c->in += usage ? usage->input_tokens.value : 0;
    c->out += usage ? usage->output_tokens.value : 0;
    c->cost += usage ? usage->total_cost.value : 0;
    c->unpriced = c->unpriced || (usage && !usage->total_cost.set);
    allm_usage_free(usage);
}

/* The answer was cancelled: keep the prompt and what has arrived. */
static void keep_partial(struct chat *c, const allm_message *prompt)
{
    size_t len;
    const char *text = answer_last_text(&len);
    allm_message *answer =
        len ? allm_message_from_text(ALLM_ROLE_ASSISTANT, text) : NULL;
    bool kept = answer && prompt && session_ready(&c->session) == END_DONE &&
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
    c->code = chat_model_call(c, message);
    c->asked = c->code == END_ASKED;
    int number = c->code - END_SIGNAL;
    if (number != SIGINT && number != SIGTERM && number != SIGHUP)
        return;
    keep_partial(c, message);
    c->ended = number != SIGINT || !chat_lines_interactive();
    c->over = c->ended;
}

/* Forget what was attached to the last prompt. */
static void drop_attached(struct chat *c)
{
    while (c->files.count)
        term_free((void *)(uintptr_t)c->files.word[--c->files.count]);
    c->typed.count = 0;
    bytes_release(&c->before);
}

/* Detach the file that cannot be sent; the others are for the next try. */
static void detach_file(struct chat *c)
{
    size_t at = prompt_good_files();
    struct flag_list *list = &c->files;
    size_t words = 1;
    if (at >= list->count) {
        at = 2 * (at - list->count);
        list = &c->typed;
        words = 2;
    } else {
        term_free((void *)(uintptr_t)list->word[at]);
    }
    if (at >= list->count)
        return;
    list->count -= words;
    memmove(list->word + at, list->word + at + words,
            (list->count - at) * sizeof *list->word);
}

/* False: the message cannot be sent as it is. */
static bool send_text(struct chat *c, const char *text)
{
    size_t before = c->before.len;
    allm_thread *thread = allm_thread_new(NULL);
    const struct prompt_files files = { .attached = &c->files,
                                        .typed = &c->typed };
    bytes_text(&c->before, text);
    bool ok = prompt_add_message(thread, bytes_string(&c->before), &files) ==
                  ALLM_OK &&
              prompt_fetch_images(&thread, &c->target, &c->taps);
    if (ok)
        chat_send_message(c, allm_thread_last(thread));
    else
        c->code = END_USAGE;
    allm_thread_free(thread);
    if (ok || !chat_lines_interactive()) {
        drop_attached(c);
    } else {
        detach_file(c);
        bytes_splice(&c->before, before, c->before.len - before, "", 0);
    }
    return ok;
}

void chat_resume(struct chat *c)
{
    size_t count = 0;
    const allm_message *const *m = allm_session_messages(c->session.session,
                                                         &count);
    for (size_t i = 0; i < count; i++)
        if (m[i]->role == ALLM_ROLE_USER && m[i]->text)
            history_add(m[i]->text);
    if (count && c->session.path) /* without a file, it is only -s */
        print_note("%s: %zu messages so far", c->session.path, count);
    c->asked = session_question(&c->session) != NULL;
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

/* Ask the model's questions, and send the answers. */
static void answer_questions(struct chat *c)
{
    struct bytes text = { NULL, 0, 0 };
    while (c->asked && chat_question_ask(c, &text)) {
        send_text(c, bytes_string(&text));
        bytes_clear(&text);
    }
    bytes_release(&text);
}

/* A line of the user: the answer to a question, or a prompt. */
static void send_line(struct chat *c, const char *line)
{
    struct bytes prompt = { NULL, 0, 0 };
    bool ok = true;
    if (session_question(&c->session))
        ok = send_text(c, line);
    else if (chat_template_fill(c, line, &prompt))
        ok = send_text(c, bytes_string(&prompt));
    else
        c->code = END_USAGE;
    if (!ok && console_is_possible())
        console_prefill(line);
    bytes_release(&prompt);
}

static int run_lines(struct chat *c)
{
    const char *line;
    chat_tools_remind(c);
    answer_questions(c);
    while (!c->over && !print_broken() && (line = chat_lines_next(c->prompt))) {
        snprintf(c->prompt, sizeof c->prompt, "> ");
        if (*line == '/' || *line == '!')
            chat_commands_run(c, line);
        else if (*line)
            send_line(c, line);
        answer_questions(c);
    }
    if (chat_lines_interrupted())
        return END_SIGNAL + SIGINT;
    if (chat_lines_interactive() && !c->ended)
        return END_DONE;
    return c->code == END_DONE && chat_lines_rejected() ? END_USAGE : c->code;
}

static void open_console(struct chat *c)
{
    static struct editor_hooks hooks = { .history = history_line,
                                         .complete = chat_complete };
    hooks.ud = c;
    ignore_interrupts();
    if (console_is_possible())
        console_open(&hooks);
}

static int run_chat(struct chat *c)
{
    if (chat_lines_interactive()) {
        history_open();
        print_note("chat with %s; /help lists the commands, Ctrl-D ends",
                   c->target.name);
    }
    chat_resume(c);
    int code = run_lines(c);
    history_close();
    return code;
}

/* -a, --at and -f belong to the first prompt. */
static bool add_first_files(struct chat *c)
{
    const struct ask *a = c->ask;
    bool ok = true;
    for (size_t i = 0; ok && i < a->files.count; i++)
        ok = chat_commands_attach(c, a->files.word[i]);
    for (size_t i = 0; ok && i < a->texts.count; i++)
        ok = chat_commands_include(c, a->texts.word[i]);
    c->typed = a->typed_files;
    return ok;
}

/* Everything that can be wrong without a session. */
static int read_flags(struct chat *c)
{
    const struct ask *a = c->ask;
    int code = settings_open();
    if (code != END_DONE)
        return code;
    if (!chat_model_options(c) || !input_load_at(&c->system, a->system) ||
        !add_first_files(c))
        return END_USAGE;
    chat_limit(c, a->max_cost);
    code = taps_open(&c->taps);
    return code == END_DONE ? chat_template_open(c, a->template, &a->params)
                            : code;
}

static int open_chat_tools(struct chat *c)
{
    return toolbox_open(&(struct toolbox_wish){
        .flags = &c->ask->toolbox,
        .names = template_use_value(&c->template, "tools"),
        .use = TOOLBOX_ASKS,
        .taps = &c->taps,
    });
}

/* Open the session, choose the model and create the engine. */
static int open_chat(struct chat *c)
{
    const struct ask *a = c->ask;
    int code = session_open(&c->session, &a->session,
                            SESSION_CREATE | SESSION_BROKEN | SESSION_APPROVE);
    open_console(c);
    if (code == END_DONE)
        code = open_chat_tools(c);
    if (code == END_DONE)
        code = chat_broken_settle(c, &c->session, a->model);
    if (code == END_DONE)
        code = chat_model_choose(c, NULL);
    if (code == END_DONE)
        code = session_set_system(&c->session,
                                  ask_parts_system(a, &c->template, &c->session,
                                                   c->target.system));
    return code;
}

static void close_chat(struct chat *c)
{
    console_close();
    drop_attached(c);
    while (c->pairs.count > c->ask->options.count)
        term_free((void *)(uintptr_t)c->pairs.word[--c->pairs.count]);
    session_close(&c->session);
    allm_engine_free(c->engine);
    toolbox_close();
    target_release(&c->target);
    template_use_release(&c->template);
    input_release(&c->system);
    opts_release(&c->options);
    allm_json_free(c->format);
    allm_budget_free(c->budget);
}

static int run_chat_command(int argc, char **argv)
{
    static struct ask a;
    static struct chat c = { .prompt = "> " };
    if (!command_read(command_find("chat"), NULL, &a, &argc, argv))
        return END_USAGE;
    if (argc)
        return print_misuse(
            "chat takes no arguments; for a single prompt: allm \"...\"");
    ask_parts_fill(&a);
    a.session.may_keep = true;
    c.ask = &a;
    c.pairs = a.options;
    c.taps = a.taps;
    c.how = (struct show){ .usage = a.usage, .session = &c.session,
                           .chat = true, .look = a.look };
    int code = read_flags(&c);
    if (code == END_DONE)
        code = open_chat(&c);
    if (code == END_DONE)
        code = run_chat(&c);
    close_chat(&c);
    return taps_close(&c.taps, code);
}

/* All of them are those of ask. */
static const struct flag flags[] = { { .name = NULL } };

const struct command chat_command = {
    .name = "chat",
    .usage = "[FLAG...]",
    .summary = "chat with a model",
    .more = "/help lists the commands of the chat.  Ctrl-C cancels an "
            "answer.\n",
    .examples = "allm chat -m ollama:llama3.2\n"
                "allm chat -S notes -s \"You are brief.\"\n"
                "allm chat -t review -f main.c\n",
    .flags = flags,
    .shared = ask_flags,
    .shared_use = FLAG_CHAT,
    .run = run_chat_command,
};
