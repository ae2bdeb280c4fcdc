/* chat_commands.c - the commands of a chat: lines that begin with / or ! */
#include "cli/attach.h"
#include "cli/chat_state.h"
#include "cli/console.h"
#include "cli/exit.h"
#include "cli/extract.h"
#include "cli/print.h"
#include "cli/prompt.h"
#include "cli/question.h"
#include "cli/suggest.h"
#include "cli/user_command.h"
#include "term/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --------------------------------------------------------- the thread --- */

/* Where the last prompt of the user is; false: there is none. */
static bool find_last_prompt(const struct chat *c, size_t *at)
{
    const allm_thread *t = allm_session_thread(c->session.session);
    *at = allm_thread_count(t);
    while (*at && allm_thread_at(t, *at - 1)->role != ALLM_ROLE_USER)
        --*at;
    if (!*at)
        print_fault("there is no prompt yet");
    return (*at)-- > 0;
}

/* The session with another conversation, waiting for nothing. */
static allm_session_record idle_record(const allm_session *s,
                                       allm_thread *thread)
{
    allm_session_record record = *allm_session_fields(s);
    record.thread = thread;
    record.status = ALLM_SESSION_IDLE;
    record.pending_question = record.pending_tool_call_id = NULL;
    record.pending_tool_call_count = 0;
    record.pending_tool_calls = NULL;
    record.error = NULL;
    return record;
}

static bool put_thread(struct chat *c, allm_thread *thread)
{
    allm_session_record record = idle_record(c->session.session, thread);
    return (allm_session_replace(c->session.session, &record) == ALLM_OK &&
            session_save(&c->session) == END_DONE) ||
           print_fault("the conversation cannot be changed");
}

/* Keep the first n messages of the conversation. */
static bool cut_thread(struct chat *c, size_t n)
{
    size_t count = 0;
    const allm_message *const *m = allm_session_messages(c->session.session,
                                                         &count);
    allm_thread *thread = allm_thread_new(NULL);
    allm_thread_append_all(thread, n, m);
    bool cut = put_thread(c, thread);
    allm_thread_free(thread);
    return cut;
}

/* Does the conversation end with what a model or a tool said? */
static bool ends_with_answer(const struct chat *c)
{
    const allm_message *last =
        allm_thread_last(allm_session_thread(c->session.session));
    return last && (last->role == ALLM_ROLE_TOOL ||
                    (last->role == ALLM_ROLE_ASSISTANT &&
                     (last->text_len || last->tool_call_count)));
}

static void undo_exchange(struct chat *c, const char *rest)
{
    size_t at;
    (void)rest;
    if (!find_last_prompt(c, &at))
        return;
    const char *text =
        allm_thread_at(allm_session_thread(c->session.session), at)->text;
    if (text)
        console_prefill(text);
    if (cut_thread(c, at))
        print_note("(the last prompt and its answer are removed)");
}

static void retry_prompt(struct chat *c, const char *rest)
{
    size_t at;
    (void)rest;
    if (!find_last_prompt(c, &at))
        return;
    allm_thread *old =
        allm_thread_copy(allm_session_thread(c->session.session));
    if (cut_thread(c, at)) {
        chat_send_message(c, allm_thread_at(old, at));
        if (c->code != END_DONE && !c->asked && !ends_with_answer(c) &&
            put_thread(c, old))
            print_note("(the answer from before is kept)");
    }
    allm_thread_free(old);
}

/* Begin again; the system prompt stays. */
static void clear_conversation(struct chat *c, const char *rest)
{
    const allm_message *first =
        allm_thread_at(allm_session_thread(c->session.session), 0);
    (void)rest;
    bool system = first && first->role == ALLM_ROLE_SYSTEM;
    if (cut_thread(c, system))
        print_note("(a new conversation)");
}

/* ------------------------------------------------------------- set-up --- */

static void change_system(struct chat *c, const char *rest)
{
    struct input file = { NULL, 0, 0 };
    if (!*rest)
        print_fault("/system needs a prompt: /system TEXT, or @FILE");
    else if (input_load_at(&file, rest))
        session_set_system(&c->session, file.ptr ? file.ptr : rest);
    input_release(&file);
}

static void change_option(struct chat *c, const char *rest)
{
    size_t len = strcspn(rest, " ");
    for (size_t i = 0; !*rest && i < c->pairs.count; i += 2)
        print_note("%s %s", c->pairs.word[i], c->pairs.word[i + 1]);
    if (!*rest)
        return;
    if (!rest[len] || c->pairs.count + 2 > FLAGS_MAX) {
        print_fault("/options needs a name and a value: /options temperature "
                    "0.2");
        return;
    }
    c->pairs.word[c->pairs.count++] = term_copy(rest, len);
    c->pairs.word[c->pairs.count++] = term_copy(rest + len + 1,
                                                strlen(rest + len + 1));
    if (chat_model_options(c))
        chat_model_choose(c, NULL);
}

static void print_token_counts(struct chat *c, const char *rest)
{
    (void)rest;
    char cost[64] = "cost unknown";
    if (!c->unpriced)
        snprintf(cost, sizeof cost, "$%.6f", c->cost);
    print_note("usage: %lld tokens in, %lld out, %s", (long long)c->in,
               (long long)c->out, cost);
}

/* /budget USD: what the rest of the chat may cost. */
static void change_budget(struct chat *c, const char *rest)
{
    char *end;
    double most = strtod(rest, &end);
    if (!*rest && c->budget) {
        print_note("$%.6f of $%.6f are used", allm_budget_cost(c->budget),
                   c->max_cost);
        return;
    }
    bool amount = !*end && most > 0 && most < HUGE_VAL;
    if (*rest && strcmp(rest, "none") != 0 && !amount) {
        print_fault("/budget needs an amount in US dollars, or none: /budget "
                    "0.50");
        return;
    }
    if (*rest)
        chat_limit(c, !strcmp(rest, "none") ? 0 : most);
    print_note(c->budget ? "(the chat stops before it costs $%.6f more)"
                         : "(no limit is set)",
               c->max_cost);
}

/* -------------------------------------------------------------- files --- */

/* The lines of the chat come from standard input. */
static bool is_no_stdin(const char *path)
{
    if (strcmp(path, "-") != 0)
        return true;
    return print_fault(
        "a chat reads its lines from standard input, so - is no file");
}

/* What can be read only once is read when it is sent. */
static bool is_readable(const char *path)
{
    struct stat st;
    if (!is_no_stdin(path))
        return false;
    if (attach_is_url(path) || (!stat(path, &st) && S_ISREG(st.st_mode)))
        return prompt_can_attach(path);
    int fd = input_open(path);
    if (fd < 0)
        return false;
    input_close(fd);
    return true;
}

bool chat_commands_attach(struct chat *c, const char *path)
{
    if (c->files.count == PROMPT_FILES)
        return print_fault("too many files: a prompt can have %d",
                           (int)PROMPT_FILES);
    if (!is_readable(path))
        return false;
    c->files.word[c->files.count++] = term_copy(path, strlen(path));
    return true;
}

static void attach_file(struct chat *c, const char *rest)
{
    if (!*rest)
        print_fault("/attach needs a file: /attach FILE");
    else if (chat_commands_attach(c, rest))
        print_note("(the next prompt has %zu file%s)", c->files.count,
                   c->files.count == 1 ? "" : "s");
}

/* A text as a fenced block before the next prompt. */
static void add_block(struct chat *c, const char *name, const struct input *in)
{
    struct input block = { NULL, 0, 0 };
    if (prompt_append_block(&block, name, in))
        bytes_add(&c->before, block.ptr, block.len);
    input_release(&block);
}

bool chat_commands_include(struct chat *c, const char *path)
{
    struct input in = { NULL, 0, 0 };
    bool ok = is_no_stdin(path) && input_load(&in, path);
    if (ok && !input_is_text(&in)) {
        print_fault("%s is not UTF-8 text; attach an image", path);
        ok = false;
    }
    if (ok)
        add_block(c, path, &in);
    input_release(&in);
    return ok;
}

static void include_file(struct chat *c, const char *rest)
{
    if (!*rest)
        print_fault("/file needs a file: /file FILE");
    else if (chat_commands_include(c, rest))
        print_note("(%s comes before the next prompt)", rest);
}

/* ------------------------------------------------------------- answer --- */

/* Print the code blocks of the last answer. */
static void extract_code(struct chat *c, const char *rest)
{
    size_t len;
    const char *text = answer_last_text(&len);
    (void)c;
    (void)rest;
    if (!extract_print(text, len, EXTRACT_ALL))
        print_fault("the last answer has no code block");
}

static void copy_answer(struct chat *c, const char *rest)
{
    (void)c;
    (void)rest;
    answer_copy();
}

/* Edit the next prompt in the user's editor. */
static void edit_prompt(struct chat *c, const char *rest)
{
    struct bytes text = { NULL, 0, 0 };
    (void)c;
    if (console_fd() < 0) {
        print_fault("/edit needs a terminal in which lines are edited");
        return;
    }
    bytes_text(&text, rest);
    console_pause(true);
    if (user_command_edit(&text))
        console_prefill(bytes_string(&text));
    console_pause(false);
    bytes_release(&text);
}

static bool wants_output(void)
{
    static const struct question_choice choices[] = { { 'y', "[y]es" },
                                                      { 'n', "[n]o" } };
    return question_choose(&(struct question){
               .title = "include the output in the next prompt?",
               .count = 2,
               .choices = choices }) == 0;
}

/* !command: run it, and offer its output to the model. */
static void run_shell(struct chat *c, const char *command)
{
    struct bytes output = { NULL, 0, 0 };
    console_pause(true);
    int code = user_command_run(command, &output);
    console_pause(false);
    if (code > 0)
        print_note("(exit code %d)", code);
    if (output.len && wants_output()) {
        add_block(c, command,
                  &(struct input){ output.ptr, output.len, output.len });
        print_note("(it comes before the next prompt)");
    }
    bytes_release(&output);
}

static void end_chat(struct chat *c, const char *rest)
{
    (void)rest;
    c->over = true;
}

/* -------------------------------------------------------------- table --- */

static void show_commands(struct chat *c, const char *rest);

static const struct {
    const char *name, *arguments, *help;
    void (*run)(struct chat *, const char *rest);
} commands[] = {
    { "/help", "", "this list", show_commands },
    { "/model", "P:M", "use another model", chat_model_change },
    { "/system", "TEXT", "replace the system prompt", change_system },
    { "/options", "K V", "set an option of the provider", change_option },
    { "/tools", "NAMES", "add tools, as -T does; list them", chat_tools_list },
    { "/approve", "ID", "decide about the calls that wait",
      chat_tools_approve },
    { "/mcp", "", "list the MCP servers", chat_tools_servers },
    { "/attach", "FILE", "attach a text file or an image", attach_file },
    { "/file", "FILE", "put a text before the next prompt", include_file },
    { "/template", "NAME", "use a template for the prompts; none: no more",
      chat_template_change },
    { "/edit", "TEXT", "write the next prompt in your editor", edit_prompt },
    { "/retry", "", "ask the last prompt again", retry_prompt },
    { "/undo", "", "remove the last prompt and its answer", undo_exchange },
    { "/fork", "NAME", "continue in a copy, and keep this one",
      chat_sessions_fork },
    { "/save", "FILE", "save the conversation, for -S and /load",
      chat_sessions_save },
    { "/load", "NAME", "continue another session, or a file",
      chat_sessions_load },
    { "/sessions", "", "list the stored sessions", chat_sessions_list },
    { "/search", "WORD", "find stored sessions with these words",
      chat_sessions_search },
    { "/usage", "", "tokens and cost so far", print_token_counts },
    { "/budget", "USD", "limit the cost of the rest", change_budget },
    { "/copy", "", "copy the last answer to the clipboard", copy_answer },
    { "/extract", "", "print the code of the last answer", extract_code },
    { "/clear", "", "begin a new conversation", clear_conversation },
    { "/exit", "", "end the chat (also Ctrl-D)", end_chat },
    { "/quit", "", NULL, end_chat },
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void show_commands(struct chat *c, const char *rest)
{
    (void)c;
    (void)rest;
    for (size_t i = 0; i < COMMANDS; i++)
        if (commands[i].help)
            print_note("%-9s %-5s %s", commands[i].name, commands[i].arguments,
                       commands[i].help);
    print_note("!COMMAND        run a command of your shell");
}

const char *chat_commands_name(size_t index)
{
    return index < COMMANDS ? commands[index].name : NULL;
}

static void reject_command(const char *name)
{
    struct suggest s;
    suggest_begin(&s, name);
    for (size_t i = 0; i < COMMANDS; i++)
        suggest_try(&s, commands[i].name);
    const char *found = suggest_found(&s);
    for (size_t i = 0; i < COMMANDS && !found && name[1]; i++)
        if (!strncmp(commands[i].name, name, strlen(name)))
            found = commands[i].name;
    print_fault("unknown command %s%s%s; /help lists the commands", name,
                found ? "; did you mean " : "", found ? found : "");
}

int chat_commands_split(char *text, char *words[CHAT_WORDS])
{
    int count = 0;
    while (*(text += strspn(text, " ")) && count < CHAT_WORDS) {
        bool quoted = *text == '"';
        words[count++] = text += quoted;
        text += strcspn(text, quoted ? "\"" : " ");
        if (*text)
            *text++ = '\0';
    }
    return count;
}

/* What follows the name of a command, without the blanks around it: Tab adds
 * one behind a name. */
static char *copy_rest(const char *rest)
{
    static const char blanks[] = " \t\n";
    rest += strspn(rest, blanks);
    size_t len = strlen(rest);
    while (len && strchr(blanks, rest[len - 1]))
        len--;
    return term_copy(rest, len);
}

void chat_commands_run(struct chat *c, const char *line)
{
    char name[64];
    size_t len = strcspn(line, " \t\n");
    if (*line == '!') {
        run_shell(c, line + 1);
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)len, line);
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i].name, name)) {
            char *rest = copy_rest(line + len);
            commands[i].run(c, rest);
            term_free(rest);
            return;
        }
    reject_command(name);
}
