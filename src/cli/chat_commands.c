/* chat_commands.c - the commands of a chat: lines that begin with / or ! */
#include "cli/catalog.h"
#include "cli/chat_state.h"
#include "cli/console.h"
#include "cli/exit.h"
#include "cli/history.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/suggest.h"
#include "cli/user_command.h"
#include "term/mem.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* --------------------------------------------------------- the thread --- */

/* Where the last prompt of the user is; false: there is none. */
static bool find_last_prompt(const struct chat *c, size_t *at)
{
    size_t count = 0;
    const allm_message *const *m = allm_session_messages(c->session.session,
                                                         &count);
    for (*at = count; *at && m[*at - 1]->role != ALLM_ROLE_USER; --*at)
        ;
    if (!*at)
        print_fault("there is no prompt yet");
    return (*at)-- > 0;
}

/* Keep the first n messages of the conversation. */
static bool cut_thread(struct chat *c, size_t n)
{
    size_t count = 0;
    allm_session *s = c->session.session;
    if (c->session.store) {
        print_fault("the store keeps every step of this session; begin another "
                    "one with allm chat -S NAME");
        return false;
    }
    const allm_message *const *m = allm_session_messages(s, &count);
    allm_thread *thread = allm_thread_new(NULL);
    allm_thread_append_all(thread, n, m);
    allm_session_record record = *allm_session_fields(s);
    record.thread = thread;
    record.status = ALLM_SESSION_IDLE;
    record.pending_question = record.pending_tool_call_id = NULL;
    record.pending_tool_call_count = 0;
    record.pending_tool_calls = NULL;
    record.error = NULL;
    bool cut = allm_session_replace(s, &record) == ALLM_OK &&
               session_save(&c->session) == END_DONE;
    allm_thread_free(thread);
    if (!cut)
        print_fault("the conversation cannot be changed");
    return cut;
}

static void undo_exchange(struct chat *c, const char *rest)
{
    size_t at, count = 0;
    (void)rest;
    if (!find_last_prompt(c, &at))
        return;
    const char *text =
        allm_session_messages(c->session.session, &count)[at]->text;
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
    if (cut_thread(c, at))
        chat_send_message(c, allm_thread_at(old, at));
    allm_thread_free(old);
}

/* Begin again; the system prompt stays. */
static void clear_conversation(struct chat *c, const char *rest)
{
    size_t count = 0;
    const allm_message *const *m = allm_session_messages(c->session.session,
                                                         &count);
    (void)rest;
    bool system = count && m[0]->role == ALLM_ROLE_SYSTEM;
    if (cut_thread(c, system))
        print_note("(a new conversation)");
}

/* ------------------------------------------------------------- set-up --- */

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
        snprintf(c->prompt, sizeof c->prompt, "%.200s> ", other.model);
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
    opts_release(&c->options);
    opts_read(&c->options, &c->pairs);
}

static void print_token_counts(struct chat *c, const char *rest)
{
    (void)rest;
    print_note("usage: %lld tokens in, %lld out, $%.6f", (long long)c->in,
               (long long)c->out, c->cost);
}

/* -------------------------------------------------------------- files --- */

static bool is_readable(const char *path)
{
    int fd = input_open(path);
    if (fd < 0)
        return false;
    input_close(fd);
    return true;
}

static void attach_file(struct chat *c, const char *rest)
{
    if (!*rest)
        print_fault("/attach needs a file: /attach FILE");
    else if (c->files.count == FLAGS_MAX)
        print_fault("too many files: a prompt can have %d", (int)FLAGS_MAX);
    else if (is_readable(rest)) {
        c->files.word[c->files.count++] = term_copy(rest, strlen(rest));
        print_note("(the next prompt has %zu files)", c->files.count);
    }
}

/* A text as a fenced block before the next prompt. */
static void add_block(struct chat *c, const char *name, const char *text,
                      size_t len)
{
    bytes_format(&c->before, "```%s\n", name);
    bytes_add(&c->before, text, len);
    bytes_text(&c->before,
               len && text[len - 1] == '\n' ? "```\n\n" : "\n```\n\n");
}

static void include_file(struct chat *c, const char *rest)
{
    struct input in = { NULL, 0, 0 };
    if (!*rest) {
        print_fault("/file needs a file: /file FILE");
        return;
    }
    if (input_load(&in, rest) && input_is_text(&in)) {
        add_block(c, rest, in.ptr, in.len);
        print_note("(%s comes before the next prompt)", rest);
    } else if (in.ptr) {
        print_fault("%s is not UTF-8 text; use /attach for an image", rest);
    }
    input_release(&in);
}

static void save_conversation(struct chat *c, const char *rest)
{
    const char *path = *rest ? rest : c->session.path;
    if (!path)
        print_fault("/save needs a file: /save FILE");
    else if (session_save_to(&c->session, path) == END_DONE)
        print_note("saved to %s", path);
}

static void load_conversation(struct chat *c, const char *rest)
{
    char *path = c->path[c->next];
    struct session other = { 0 };
    struct session_choice choice = { .word = path, .store = c->store };
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
    chat_resume(c);
}

/* ------------------------------------------------------------- answer --- */

/* Print the code blocks of the last answer. */
static void extract_code(struct chat *c, const char *rest)
{
    size_t len, blocks = 0;
    bool inside = false;
    const char *line = answer_last_text(&len);
    (void)c;
    (void)rest;
    for (; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        bool fence = !strncmp(line + strspn(line, " "), "```", 3);
        inside = fence ? !inside : inside;
        blocks += fence && inside;
        if (inside && !fence)
            print_bytes(line, strcspn(line, "\n") + 1);
    }
    if (!blocks)
        print_fault("the last answer has no code block");
}

/* Edit the next prompt in the user's editor. */
static void edit_prompt(struct chat *c, const char *rest)
{
    struct bytes text = { NULL, 0, 0 };
    (void)c;
    bytes_text(&text, rest);
    console_pause(true);
    if (user_command_edit(&text))
        console_prefill(bytes_string(&text));
    console_pause(false);
    bytes_release(&text);
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
    if (output.len && console_fd() >= 0) {
        console_discard(); /* only a key pressed after this counts */
        print_note("include the output in the next prompt? [y/N]");
        int key = console_key();
        if (key == 'y' || key == 'Y') {
            add_block(c, command, output.ptr, output.len);
            print_note("(it comes before the next prompt)");
        }
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
    { "/model", "P:M", "use another model", change_model },
    { "/system", "TEXT", "replace the system prompt", change_system },
    { "/options", "K V", "set an option of the provider", change_option },
    { "/attach", "FILE", "attach a text file or an image", attach_file },
    { "/file", "FILE", "put a text before the next prompt", include_file },
    { "/edit", "TEXT", "write the next prompt in your editor", edit_prompt },
    { "/retry", "", "ask the last prompt again", retry_prompt },
    { "/undo", "", "remove the last prompt and its answer", undo_exchange },
    { "/clear", "", "begin a new conversation", clear_conversation },
    { "/save", "FILE", "save the conversation, for -S and /load",
      save_conversation },
    { "/load", "FILE", "continue another conversation", load_conversation },
    { "/extract", "", "print the code of the last answer", extract_code },
    { "/usage", "", "tokens and cost so far", print_token_counts },
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
            print_note("%-8s %-5s %s", commands[i].name, commands[i].arguments,
                       commands[i].help);
    print_note("!COMMAND       run a command of your shell");
}

static void reject_command(const char *name)
{
    struct suggest s;
    suggest_begin(&s, name);
    for (size_t i = 0; i < COMMANDS; i++)
        suggest_try(&s, commands[i].name);
    const char *found = suggest_found(&s);
    print_fault("unknown command %s%s%s; /help lists the commands", name,
                found ? "; did you mean " : "", found ? found : "");
}

void chat_commands_run(struct chat *c, const char *line)
{
    char name[64];
    size_t len = strcspn(line, " ");
    const char *rest = line + len + (line[len] == ' ');
    if (*line == '!') {
        run_shell(c, line + 1);
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)len, line);
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i].name, name)) {
            char *copy = term_copy(rest, strlen(rest));
            commands[i].run(c, copy);
            term_free(copy);
            return;
        }
    reject_command(name);
}

/* --------------------------------------------------------- completion --- */

static void add_word(struct bytes *words, const char *word, const char *after)
{
    bytes_text(words, word);
    bytes_text(words, after);
    bytes_byte(words, '\n');
}

/* The files whose path begins like this. */
static void complete_file(const char *begin, struct bytes *words)
{
    char folder[4096], path[8192];
    const char *slash = strrchr(begin, '/');
    int n = slash ? (int)(slash - begin) + 1 : 0;
    snprintf(folder, sizeof folder, "%.*s", n, begin);
    DIR *dir = opendir(n ? folder : ".");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strncmp(e->d_name, begin + n, strlen(begin + n)) != 0 ||
            (*e->d_name == '.' && begin[n] != '.'))
            continue;
        snprintf(path, sizeof path, "%s%s", folder, e->d_name);
        DIR *inner = opendir(path);
        add_word(words, path, inner ? "/" : "");
        if (inner)
            closedir(inner);
    }
    if (dir)
        closedir(dir);
}

static void complete_model(const char *begin, struct bytes *words)
{
    allm_catalog *catalog = catalog_open();
    const allm_model_ref *m;
    for (size_t i = 0; catalog && (m = allm_catalog_at(catalog, i)); i++) {
        char name[512];
        snprintf(name, sizeof name, "%s:%s", m->provider ? m->provider : "",
                 m->id);
        if (!strncmp(name, begin, strlen(begin)))
            add_word(words, name, "");
    }
    allm_catalog_free(catalog);
}

size_t chat_commands_complete(void *ud, const char *text, size_t at,
                              struct bytes *words)
{
    char line[4096];
    (void)ud;
    snprintf(line, sizeof line, "%.*s", (int)at, text);
    size_t len = strcspn(line, " "), from = line[len] ? len + 1 : 0;
    if (*line != '/')
        return at;
    for (size_t i = 0; !from && i < COMMANDS; i++)
        if (!strncmp(commands[i].name, line, strlen(line)))
            add_word(words, commands[i].name, "");
    if (from && !strncmp(line, "/model ", 7))
        complete_model(line + from, words);
    else if (from && strncmp(line, "/system ", 8) != 0)
        complete_file(line + from, words);
    return from;
}
