/* sandbox.c - allm sandbox: run a command in the sandbox of tools */
#include "cli/sandbox.h"

#include "cli/command.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/toolbox.h"

#include "allm.h"
#include "conf/member.h"

#include <signal.h>
#include <stdio.h>

struct wants {
    struct sandbox_needs needs;
    const char *mode;
    uint32_t timeout_ms;
};

static const struct flag flags[] = {
    { 0, "--read", FLAG_LIST, offsetof(struct wants, needs.read), "PATH",
      "it may read and execute this; repeatable", FILL_FILE,
      .use = FLAG_MOST },
    { 0, "--write", FLAG_LIST, offsetof(struct wants, needs.write), "PATH",
      "it may write this; repeatable", FILL_FILE,
      .use = FLAG_MOST },
    { 0, "--net", FLAG_SWITCH, offsetof(struct wants, needs.net), NULL,
      "it may use the network", .use = FLAG_MOST },
    { 0, "--mode", FLAG_CHOICE, offsetof(struct wants, mode), "on|strict|off",
      "what must be in force: the most, all, nothing", FILL_WORDS,
      "on|strict|off", .use = FLAG_MOST },
    { 0, "--timeout", FLAG_SECONDS, offsetof(struct wants, timeout_ms), "S",
      "end it after this time", .use = FLAG_MOST },
    { .name = NULL },
};

static void add_paths(allm_json_build *b, const char *key,
                      const struct flag_list *list)
{
    if (list->count)
        member_array(b, key);
    for (size_t i = 0; i < list->count; i++)
        allm_json_build_text(b, list->word[i], ALLM_NUL_ENDED);
    if (list->count)
        allm_json_build_end(b);
}

allm_json *sandbox_needs_json(const struct sandbox_needs *n)
{
    allm_json_build *b = member_new_object();
    add_paths(b, "read", &n->read);
    add_paths(b, "write", &n->write);
    if (n->net)
        member_bool(b, "net", true);
    return member_done(b);
}

/* As a shell reports it. */
static int code_of(const allm_json *result)
{
    int64_t status = 0, sig = 0;
    const char *wall = member_read(result, "wall");
    allm_json_int64(allm_json_get(result, "status"), &status);
    allm_json_int64(allm_json_get(result, "signal"), &sig);
    if (wall)
        print_note("ended by the sandbox: %s", wall);
    if (allm_json_true(allm_json_get(result, "timed_out")))
        print_note("ended because the time of --timeout was up");
    return sig ? END_SIGNAL + (int)sig : (int)status;
}

static int run_command(const struct wants *w, char **argv)
{
    allm_sandbox_mode mode = toolbox_mode(w->mode);
    allm_json *needs = sandbox_needs_json(&w->needs);
    if (mode == ALLM_SANDBOX_OFF)
        print_fault("the sandbox is off: the command can do whatever you can");
    print_flush();
    signal(SIGINT, SIG_IGN);    /* the command is in our process group */
    signal(SIGQUIT, SIG_IGN);
    allm_json *result = allm_sandbox_run(needs, mode, (const char *const *)argv,
                                         ALLM_SANDBOX_STDIO, w->timeout_ms);
    const allm_error *error = allm_json_error(result);
    int code = END_FAILED;
    if (error) {
        print_fault("%s", error->message);
    } else {
        toolbox_note_missing(result);
        code = code_of(result);
    }
    allm_json_free(needs);
    allm_json_free(result);
    return code;
}

static const char *wall_word(const allm_json *part, const char *key)
{
    const allm_json *v = allm_json_get(part, key);
    return allm_json_type_of(v) != ALLM_JSON_BOOL ? "-"
           : allm_json_true(v)                    ? "yes"
                                                  : "no";
}

static bool is_in_force(const allm_json *part)
{
    return allm_json_true(allm_json_get(part, "first")) ||
           allm_json_true(allm_json_get(part, "second"));
}

void sandbox_check(void)
{
    allm_json *r = allm_sandbox_report();
    const allm_error *error = allm_json_error(r);
    const allm_json *parts = allm_json_get(r, "parts"), *part = NULL;
    char text[256];
    if (error)
        print_finding(false, "sandbox", error->message);
    while ((part = allm_json_next(parts, part))) {
        snprintf(text, sizeof text,
                 "%-10s first wall %-3s  second wall %-3s  "
                 "%s",
                 member_read(part, "part"), wall_word(part, "first"),
                 wall_word(part, "second"), member_read(part, "note"));
        print_finding(is_in_force(part), "sandbox", text);
    }
    allm_json_free(r);
}

static int run_sandbox_command(int argc, char **argv)
{
    struct wants w = { .mode = NULL };
    if (!flags_read(flags, &w, &argc, argv))
        return END_USAGE;
    argv[argc] = NULL;          /* flags were removed before it */
    if (argc > 0)
        return run_command(&w, argv);
    sandbox_check();
    return print_end(END_DONE);
}

const struct command sandbox_command = {
    .name = "sandbox",
    .usage = "[FLAG...] [-- COMMAND [ARG...]]",
    .summary = "run a command in the sandbox of tools",
    .more = "The command may read the working directory, and write only to a "
            "private folder,\nwhich is its HOME; it has no network.  Without "
            "a command, prints which parts of\nthe sandbox this kernel has.  "
            "The exit code is that of the command.\n",
    .examples = "allm sandbox -- ls ~\n"
                "allm sandbox --write . -- make\n"
                "allm sandbox --net -- curl -s https://example.com\n",
    .flags = flags,
    .group = GROUP_STATE,
    .run = run_sandbox_command,
};
