/*
 * test_toolbox.c - programs as tools, with the real warden
 *
 * tag: thread
 * tag: clock (timeouts)
 */
#include "allm.h"
#include "harness/check.h"
#include "harness/external.h"
#include "harness/noun.h"
#include "harness/play.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct kit {
    struct external_count before;
    allm_toolbox *box;
    allm_engine *engine;
    uint32_t timeout_ms;
};

/* Every call is allowed. */
static void open_kit(struct kit *k, const allm_toolbox_opts *given)
{
    allm_toolbox_opts opts = given ? *given : *ALLM(toolbox_opts, .root = NULL);
    allm_json *rules = noun_json("[{'tool':'*','verdict':'auto'}]");
    opts.rules = rules;
    external_warden();
    *k = (struct kit){ .before = external_count() };
    setenv("TMPDIR", external_folder(), 1);
    k->box = allm_toolbox_new(&opts);
    allm_json_free(rules);
    k->engine = play_engine("{'script': []}", NULL);
}

static void close_kit(struct kit *k)
{
    allm_engine_free(k->engine);
    allm_toolbox_free(k->box);
    CHECK_ALWAYS(!external_left("allm-tool-"));     /* private folders */
    external_clean();
    CHECK_ALWAYS(external_same(k->before));
}

/* Start these calls; name and arguments (with ' for ") alternate. */
static allm_stream *start_calls(struct kit *k, size_t count,
                                const char *const *words)
{
    allm_tool_call *calls[8] = { NULL };
    bool whole = true;
    for (size_t i = 0; i < count; i++) {
        char id[8];
        snprintf(id, sizeof id, "c%zu", i);
        allm_json *args = noun_json(words[2 * i + 1]);
        calls[i] = allm_tool_call_new(
            ALLM(tool_call, .id = id, .name = words[2 * i], .arguments = args));
        allm_json_free(args);
        whole = whole && calls[i];
    }
    const allm_executor *x = allm_toolbox_executor(k->box);
    size_t tool_count = 0;
    const allm_tool *const *tools = x ? x->tools(x->self, &tool_count) : NULL;
    allm_stream *s = NULL;
    if (whole && x)
        s = allm_tool_calls(k->engine, count,
                            (const allm_tool_call *const *)calls,
                            ALLM(tool_calls_opts, .executor = x, .tools = tools,
                                 .tool_count = tool_count, .request_id = "r1",
                                 .session_id = "s1", .live_tool_events = 1,
                                 .max_concurrency = 4,
                                 .tool_timeout_ms = k->timeout_ms));
    for (size_t i = 0; i < count; i++)
        allm_tool_call_free(calls[i]);
    return s;
}

/* The content that the model sees, or "halt" and why; static. */
static const char *finish(allm_stream *s)
{
    static char text[4096];
    allm_stream_wait(s);
    const allm_message *m = allm_stream_tool_message(s, 0);
    allm_text *halt = allm_json_write(allm_stream_tool_halt(s), 0);
    snprintf(text, sizeof text, "%s", m && m->text ? m->text : "nothing");
    if (allm_stream_tool_halt(s))
        snprintf(text, sizeof text, "halt %s", allm_text_bytes(halt, NULL));
    allm_text_free(halt);
    allm_stream_free(s);
    return text;
}

static const char *call_tool(struct kit *k, const char *name, const char *args)
{
    const char *words[] = { name, args };
    return finish(start_calls(k, 1, words));
}

/* A script and its description (with ' for "); the members follow the name. */
static allm_status add_script(struct kit *k, const char *name,
                              const char *members, const char *script)
{
    char file[80], text[1024];
    snprintf(file, sizeof file, "%s.json", name);
    snprintf(text, sizeof text, "{'name': '%s', 'description': 'A test.'%s%s}",
             name, *members ? ", " : "", members);
    for (char *at = text; *at; at++)
        if (*at == '\'')
            *at = '"';
    external_file(file, text);
    snprintf(text, sizeof text, "#!/bin/sh\n%s\n", script);
    return allm_toolbox_add_program(k->box, external_file(name, text));
}

static void answers_by_its_output(void)
{
    static const struct {
        const char *why, *members, *script, *want;
    } rows[] = {
        { "text", "", "echo hi", "hi\n" },
        { "arguments on stdin, the name in argv", "",
          "read line; echo \"$1 $line\"", "tool {\"a\":[1,\"x\"]}\n" },
        { "the variables of the call", "",
          "echo $ALLM_TOOL $ALLM_CALL_ID $ALLM_SESSION $TERM", "tool c0 s1 "
                                                              "dumb\n" },
        { "nothing", "", ":", "" },
        { "NULs", "", "printf 'a\\000b'", "[binary, 3 bytes, sha256 " },
        { "half a character", "", "printf '\\303'", "[binary, 1 bytes" },
        { "JSON", "'output': 'json'", "echo '{\"a\": [1, 2]}'",
          "{\"a\":[1,2]}" },
        { "not JSON", "'output': 'json'", "echo '{\"a\"'",
          "invalid_return" },
        { "the place where it is not JSON", "'output': 'json'",
          "echo '{\"a\"'", "line 2, column 1" },
        { "too much JSON", "'output': 'json'",
          "head -c 2000000 /dev/zero | tr '\\0' 1", "more than 1 MiB" },
        { "a result", "'output': 'result'", "echo '{\"ok\": 7}'", "7" },
        { "a failure", "'output': 'result'", "echo '{\"error\": \"no\"}'",
          "{\"error\":\"no\"}" },
        { "a question", "'output': 'result'",
          "echo '{\"ask_user\": \"which?\", \"opts\": {\"a\": 1}}'",
          "halt " },
        { "a halt", "'output': 'result'", "echo '{\"halt\": [\"done\", 3]}'",
          "halt " },
        { "no result", "'output': 'result'", "echo '{\"ok\": 1, \"error\": "
                                             "\"x\"}'",
          "invalid_return" },
        { "a wrong halt", "'output': 'result'", "echo '{\"halt\": \"x\"}'",
          "invalid_return" },
        { "the place of a wrong halt", "'output': 'result'",
          "echo '{\"halt\": \"x\"}'", "line 1, column 1" },
        { "an exit status", "", "exit 3", "{\"error\":\"exit status 3\"}" },
        { "stderr", "", "echo partly; echo 'why' >&2; exit 1",
          "{\"error\":\"why\"}" },
        { "a signal", "", "kill -SEGV $$", "handler_exit" },
        { "stdin is closed", "", "exec <&-; echo fine", "fine\n" },
        { "stdin is not read", "", "echo fine", "fine\n" },
        { "a child writes afterwards", "",
          "(sleep 0.02; echo late) & echo now", "now\nlate\n" },
        { "a child stays", "", "sleep 1000 & echo now", "now\n" },
        { "the working directory", "", "[ \"$PWD\" = / ] || echo elsewhere",
          "elsewhere\n" },
        { "a private home", "", "echo x >$HOME/f && cat $TMPDIR/f", "x\n" },
        { "nothing outside", "", "cat /etc/shadow ~root/.ssh 2>/dev/null || "
                                 "echo no",
          "no\n" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kit k;
        check_row(rows[i].why);
        open_kit(&k, NULL);
        CHECK_INT(add_script(&k, "tool", rows[i].members, rows[i].script),
                  ALLM_OK);
        const char *got = call_tool(&k, "tool", "{'a': [1, 'x']}");
        size_t len = strlen(rows[i].want);
        if (!len || rows[i].want[len - 1] == '\n')
            CHECK_TEXT(got, rows[i].want);
        else
            CHECK_WHY(strstr(got, rows[i].want) != NULL, got);
        close_kit(&k);
    }
}

static void reads_much_output(void)
{
    struct kit k;
    open_kit(&k, NULL);
    add_script(&k, "tool", "'timeout': 300",
               "yes | head -c 200000000; echo the end");
    const char *words[] = { "tool", "{}" };
    allm_stream *s = start_calls(&k, 1, words);
    allm_stream_wait(s);
    const allm_message *m = allm_stream_tool_message(s, 0);
    CHECK(m && strstr(m->text, "\n[198951432 bytes left out]\n"));
    CHECK(m && slice_ends(slice_of(m->text), SLICE("the end\n")));
    allm_stream_free(s);
    close_kit(&k);
}

static void passes_long_arguments(void)
{
    enum { MUCH = 10 * 1000 * 1000 };
    struct kit k;
    char *text = malloc(MUCH + 32);
    open_kit(&k, NULL);
    add_script(&k, "tool", "", "wc -c");
    add_script(&k, "deaf", "", "sleep 0.05; echo deaf");
    memset(text, 'x', MUCH + 31);
    memcpy(text, "{'a':'", 6);
    memcpy(text + MUCH, "'}", 3);
    CHECK_TEXT(call_tool(&k, "tool", text), "10000003\n");
    CHECK_TEXT(call_tool(&k, "deaf", text), "deaf\n");
    free(text);
    close_kit(&k);
}

static void ends_at_its_own_timeout(void)
{
    struct kit k;
    open_kit(&k, NULL);
    add_script(&k, "tool", "'timeout': 0.1",
               "trap '' TERM; while :; do sleep 1; done");
    CHECK(strstr(call_tool(&k, "tool", "{}"), "no answer within 100 ms"));
    add_script(&k, "slow", "'timeout': 20", "sleep 0.2; echo done");
    k.timeout_ms = 50;
    CHECK_TEXT(call_tool(&k, "slow", "{}"), "done\n");
    close_kit(&k);              /* waits for the end of the first one */
}

/* A tool that leaves a mark in the folder and stays, with its child. */
static void add_stayer(struct kit *k, const char *folder)
{
    char needs[128], script[160];
    snprintf(needs, sizeof needs, "'needs': {'write': ['%s']}", folder);
    snprintf(script, sizeof script,
             "trap '' TERM; mkdir %s/mark$$; sleep 1000 & sleep 1000", folder);
    CHECK_INT(add_script(k, "stay", needs, script), ALLM_OK);
}

/* Wait until n of them run.  Their process ids may be equal, since each has a
 * namespace of its own. */
static void wait_for_marks(const char *folder, size_t n)
{
    for (;;) {
        struct stat st;
        if (!stat(folder, &st) && st.st_nlink >= n + 2)
            return;
        sched_yield();
    }
}

static void is_killed_with_its_stream(void)
{
    struct kit k;
    const char *words[] = { "stay", "{}", "stay", "{}" };
    const allm_event *event;
    char folder[64];
    open_kit(&k, NULL);
    snprintf(folder, sizeof folder, "%s", external_file("x", ""));
    *strrchr(folder, '/') = 0;
    add_stayer(&k, folder);
    allm_stream *s = start_calls(&k, 2, words);
    /* A call begins after its event. */
    for (int i = 0; i < 2; i++)
        CHECK_INT(allm_stream_next(s, &event), ALLM_EVENT);
    wait_for_marks(folder, 1);
    allm_stream_free(s);
    close_kit(&k);
}

static void is_killed_with_the_toolbox(void)
{
    struct kit k;
    const char *words[] = { "stay", "{}", "quick", "{}", "stay", "{}",
                            "stay", "{}" };
    const allm_event *event;
    char folder[64];
    open_kit(&k, ALLM(toolbox_opts, .max_procs = 2));
    snprintf(folder, sizeof folder, "%s", external_file("x", ""));
    *strrchr(folder, '/') = 0;
    add_stayer(&k, folder);
    add_script(&k, "quick", "", "echo done");
    allm_stream *s = start_calls(&k, 4, words);
    /* When the quick one has ended, all have begun: two run, one waits. */
    while (allm_stream_next(s, &event) == ALLM_EVENT &&
           event->type != ALLM_EV_TOOL_EXECUTION_COMPLETED)
        ;
    wait_for_marks(folder, 1);
    allm_toolbox_free(k.box);
    k.box = NULL;
    CHECK(strstr(finish(s), "the toolbox was freed"));
    close_kit(&k);
}

static void waits_in_line(void)
{
    struct kit k;
    char script[256];
    const char *words[] = { "tool", "{}", "tool", "{}", "tool", "{}",
                            "tool", "{}" };
    open_kit(&k, ALLM(toolbox_opts, .max_procs = 1));
    const char *lock = external_file("lock", "");
    char path[160];
    snprintf(path, sizeof path, "'needs': {'write': ['%.*s']}",
             (int)(strrchr(lock, '/') - lock), lock);
    snprintf(script, sizeof script,
             "mkdir %s.d || exit 9; sleep 0.01; rmdir %s.d; echo alone", lock,
             lock);
    CHECK_INT(add_script(&k, "tool", path, script), ALLM_OK);
    allm_stream *s = start_calls(&k, 4, words);
    allm_stream_wait(s);
    for (size_t i = 0; i < 4; i++) {
        const allm_message *m = allm_stream_tool_message(s, i);
        CHECK_TEXT(m ? m->text : NULL, "alone\n");
    }
    allm_stream_free(s);
    close_kit(&k);
}

static void refuses_bad_descriptions(void)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        { "not JSON", "tool.json" },
        { "[]", "1 to 256" },
        { "[3]", "must be an object" },
        { "{\"description\": \"x\"}", "name is required" },
        { "{\"name\": \"a b\", \"description\": \"x\"}", "name is required" },
        { "{\"name\": \"a\"}", "tool a: description is required" },
        { "{\"name\": \"a\", \"description\": \"x\", \"effect\": \"none\"}",
          "effect must be" },
        { "{\"name\": \"a\", \"description\": \"x\", \"output\": \"xml\"}",
          "output must be" },
        { "{\"name\": \"a\", \"description\": \"x\", \"timeout\": 0}",
          "timeout must be" },
        { "{\"name\": \"a\", \"description\": \"x\", \"input_schema\": "
          "{\"type\": \"thing\"}}",
          "input_schema" },
        { "{\"name\": \"a\", \"description\": \"x\", \"parameters\": 3}",
          "input_schema must be" },
        { "{\"name\": \"a\", \"description\": \"x\", \"needs\": "
          "{\"camera\": true}}",
          "needs.camera is not known" },
        { "[{\"name\": \"a\", \"description\": \"x\"}, "
          "{\"name\": \"a\", \"description\": \"y\"}]",
          "described twice" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kit k;
        check_row(rows[i].text);
        open_kit(&k, NULL);
        external_file("tool.json", rows[i].text);
        const char *path = external_file("tool", "#!/bin/sh\n");
        CHECK_INT(allm_toolbox_add_program(k.box, path), ALLM_ERR_VALIDATION);
        CHECK_ERROR(allm_toolbox_error(k.box), ALLM_ERR_VALIDATION,
                    "invalid_tool", rows[i].words);
        close_kit(&k);
    }
}

static void refuses_what_is_no_program(void)
{
    struct kit k;
    open_kit(&k, NULL);
    CHECK_INT(allm_toolbox_add_program(k.box, "/no/such/tool"),
              ALLM_ERR_VALIDATION);
    CHECK_INT(allm_toolbox_add_program(k.box, external_file("text", "x")),
              ALLM_ERR_VALIDATION);
    const allm_error *e = allm_toolbox_error(k.box);
    CHECK(e && strstr(e->message, "chmod +x"));
    CHECK_INT(allm_toolbox_add_program(
                  k.box, external_file("mute", "#!/bin/sh\nexit 1\n")),
              ALLM_ERR_VALIDATION);
    e = allm_toolbox_error(k.box);
    CHECK(e && strstr(e->message, "--allm-describe failed"));
    const char *long_one = external_file(
        "long", "#!/bin/sh\nhead -c 2000000 /dev/zero | tr '\\0' 1\n");
    CHECK_INT(allm_toolbox_add_program(k.box, long_one), ALLM_ERR_VALIDATION);
    e = allm_toolbox_error(k.box);
    CHECK(e && strstr(e->message, "printed more than 1 MiB"));
    CHECK_INT(allm_toolbox_add_program(
                  k.box, external_file("plain", "#!/bin/sh\necho up 3:00\n")),
              ALLM_ERR_VALIDATION);
    e = allm_toolbox_error(k.box);
    CHECK(e && strstr(e->message, "there is no file") &&
          strstr(e->message, "plain.json): the JSON text was refused"));
    CHECK_INT(allm_toolbox_add_program(k.box, external_file("wrong",
                                                            "#!/no/such/sh\n")),
              ALLM_ERR_TOOL);
    e = allm_toolbox_error(k.box);
    CHECK(e && strstr(e->message, "its interpreter /no/such/sh"));
    CHECK_INT(add_script(&k, "tool", "", "echo 1"), ALLM_OK);
    char other[160];
    snprintf(other, sizeof other, "%s", external_file("other", "#!/bin/sh\n"));
    external_file("other.json", "{\"name\":\"tool\",\"description\":\"x\"}");
    CHECK_INT(allm_toolbox_add_program(k.box, other), ALLM_ERR_VALIDATION);
    e = allm_toolbox_error(k.box);
    CHECK(e && strstr(e->message, "already a tool named tool"));
    allm_json *report = allm_toolbox_report(k.box);
    CHECK_INT(allm_json_count(allm_json_get(report, "failed")), 7);
    CHECK_INT(allm_json_count(allm_json_get(report, "tools")), 1);
    allm_json_free(report);
    close_kit(&k);
}

static void describes_itself(void)
{
    struct kit k;
    open_kit(&k, NULL);
    const char *path = external_file(
        "both", "#!/bin/sh\n"
                "case $1 in\n"
                "--allm-describe) echo '[{\"name\":\"one\",\"description\":"
                "\"1\"},{\"name\":\"two\",\"description\":\"2\"}]';;\n"
                "*) echo \"I am $1\";;\n"
                "esac\n");
    CHECK_INT(allm_toolbox_add_program(k.box, path), ALLM_OK);
    CHECK_TEXT(call_tool(&k, "one", "{}"), "I am one\n");
    CHECK_TEXT(call_tool(&k, "two", "{}"), "I am two\n");
    close_kit(&k);
}

static void adds_a_folder(void)
{
    struct kit k;
    open_kit(&k, NULL);
    const char *path = external_file("b", "#!/bin/sh\necho b\n");
    external_file("b.json", "{\"name\":\"b\",\"description\":\"b\"}");
    external_file("a", "#!/bin/sh\necho a\n");
    external_file("a.json", "{\"name\":\"a\",\"description\":\"a\"}");
    external_file("bad", "#!/bin/sh\nexit 1\n");
    external_file("notes.txt", "no program");
    char folder[160];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path),
             path);
    CHECK_INT(allm_toolbox_add_program(k.box, folder), ALLM_OK);
    size_t count = 0;
    const allm_executor *x = allm_toolbox_executor(k.box);
    const allm_tool *const *tools = x ? x->tools(x->self, &count) : NULL;
    CHECK_INT(count, 2);
    CHECK_TEXT(count == 2 ? tools[0]->name : NULL, "a");
    CHECK_TEXT(call_tool(&k, "b", "{}"), "b\n");
    close_kit(&k);
}

static void explains_what_it_cannot_start(void)
{
    struct kit k;
    open_kit(&k, NULL);
    add_script(&k, "tool", "", "echo 1");
    chmod(external_file("tool", "#!/no/such/shell\n"), 0755);
    CHECK(
        strstr(call_tool(&k, "tool", "{}"), "its interpreter /no/such/shell"));
    chmod(external_file("tool", "#!/bin/sh\r\necho 1\r\n"), 0755);
    CHECK(strstr(call_tool(&k, "tool", "{}"), "ends in CR LF"));
    chmod(external_file("tool", "#!/bin/sh\n"), 0644);
    CHECK(strstr(call_tool(&k, "tool", "{}"), "not executable"));
    unlink(external_file("tool", ""));
    CHECK(strstr(call_tool(&k, "tool", "{}"), "No such file"));
    setenv("ALLM_WARDEN", "/no/such/warden", 1);
    const char *got = call_tool(&k, "tool", "{}");
    CHECK_WHY(strstr(got, "allm-warden") && strstr(got, "warden_missing"), got);
    unsetenv("ALLM_WARDEN");
    close_kit(&k);
}

static void names_a_hidden_interpreter(void)
{
    struct kit k;
    char script[256], place[64] = "/tmp/allm-hidden-XXXXXX";
    open_kit(&k, NULL);
    CHECK_ALWAYS(mkdtemp(place) != NULL);
    snprintf(script, sizeof script, "cp /bin/sh %s/sh", place);
    CHECK_ALWAYS(system(script) == 0);
    add_script(&k, "tool", "", "echo 1");
    snprintf(script, sizeof script, "#!%s/sh\necho ran\n", place);
    external_file("tool", script);
    snprintf(script, sizeof script, "add %s/sh to needs.read", place);
    CHECK(strstr(call_tool(&k, "tool", "{}"), script));
    snprintf(script, sizeof script, "rm -r %s", place);
    CHECK_ALWAYS(system(script) == 0);
    close_kit(&k);
}

/* "env" does not find it: PATH has nothing in the home. */
static void names_an_interpreter_in_the_home(void)
{
    struct kit k;
    char text[256], place[64] = "/tmp/allm-home-XXXXXX", *home, *path;
    open_kit(&k, NULL);
    home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    path = strdup(getenv("PATH"));
    CHECK_ALWAYS(mkdtemp(place) != NULL);
    snprintf(text, sizeof text, "mkdir %s/bin && cp /bin/sh %s/bin/own-sh",
             place, place);
    CHECK_ALWAYS(system(text) == 0);
    snprintf(text, sizeof text, "/usr/bin:/bin:%s/bin", place);
    setenv("PATH", text, 1);
    setenv("HOME", place, 1);
    CHECK_INT(add_script(&k, "tool", "", "exit 127"), ALLM_OK);
    CHECK(strstr(call_tool(&k, "tool", "{}"), "exit status 127"));
    external_file("tool", "#!/usr/bin/env own-sh\necho ran\n");
    snprintf(text, sizeof text, "begin it with #!%s/bin/own-sh", place);
    CHECK(strstr(call_tool(&k, "tool", "{}"), text));
    external_file("tool", "#!/usr/bin/env -S own-sh -e\necho ran\n");
    CHECK(strstr(call_tool(&k, "tool", "{}"), text));
    const char *other = external_file("other", "#!/usr/bin/env own-sh\n:\n");
    CHECK(allm_toolbox_add_program(k.box, other) < 0);
    const allm_error *e = allm_toolbox_error(k.box);
    CHECK(e && strstr(e->message, text));
    setenv("PATH", path, 1);
    if (home)
        setenv("HOME", home, 1);
    free(home);
    free(path);
    snprintf(text, sizeof text, "rm -r %s", place);
    CHECK_ALWAYS(system(text) == 0);
    close_kit(&k);
}

static void needs_its_root(void)
{
    struct kit k;
    char root[] = "/tmp/allm-root-XXXXXX";
    CHECK_ALWAYS(mkdtemp(root) != NULL);
    open_kit(&k, ALLM(toolbox_opts, .root = root));
    add_script(&k, "tool", "", "pwd");
    char want[64];
    snprintf(want, sizeof want, "%s\n", root);
    CHECK_TEXT(call_tool(&k, "tool", "{}"), want);
    rmdir(root);
    CHECK(strstr(call_tool(&k, "tool", "{}"), "No such file"));
    close_kit(&k);
    open_kit(&k, ALLM(toolbox_opts, .root = "/no/such/root"));
    CHECK_MISUSE(allm_toolbox_error(k.box), "invalid_option", "root");
    CHECK_INT(allm_toolbox_add_program(k.box, "/bin/true"), ALLM_ERR_MISUSE);
    close_kit(&k);
}

/* The three of examples/tools, in a folder with a database and a repository. */
static void examples_work(void)
{
    static const char set_up[] =
        "cd %s && python3 -c \"import sqlite3; "
        "d = sqlite3.connect('notes.db'); "
        "d.execute('create table notes(id, day, text)'); "
        "d.execute('insert into notes values (1, 2, 3)'); d.commit()\" && "
        "git init -q . && git -c user.name=a -c user.email=b commit -q "
        "--allow-empty -m first";
    const char *source = getenv("SOURCE_DIR"), *build = getenv("BUILD_DIR");
    char path[4096], command[1024], root[] = "/tmp/allm-root-XXXXXX";
    struct kit k;
    if (!source || !build) {
        check_skip("SOURCE_DIR and BUILD_DIR are not set");
        return;
    }
    CHECK_ALWAYS(mkdtemp(root) != NULL);
    snprintf(command, sizeof command, set_up, root);
    if (system(command) != 0) {
        check_skip("git or the sqlite3 of Python is missing");
    } else {
        open_kit(&k, ALLM(toolbox_opts, .root = root));
        snprintf(path, sizeof path, "%s/examples/tools", source);
        CHECK_INT(allm_toolbox_add_program(k.box, path), ALLM_OK);
        snprintf(path, sizeof path, "%s/examples/word_count", build);
        CHECK_INT(allm_toolbox_add_program(k.box, path), ALLM_OK);
        CHECK_TEXT(call_tool(&k, "query", "{'sql': 'select * from notes'}"),
                   "[[1,2,3]]");
        CHECK(strstr(call_tool(&k, "query", "{'sql': 'drop table notes'}"),
                     "readonly"));
        CHECK_TEXT(call_tool(&k, "word_count", "{'text': 'one two  three'}"),
                   "{\"words\":3}");
        CHECK(strstr(call_tool(&k, "git_log", "{'count': 1}"), "first"));
        close_kit(&k);
    }
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK_ALWAYS(system(command) == 0);
}

/* A thread with a hub of its own: all its streams end with the answer. */
static void *pull_hub(void *arg)
{
    struct kit *k = arg;
    const char *words[] = { "tool", "{}", "tool", "{}" };
    allm_hub *hub = allm_hub_new(NULL);
    allm_stream *s[3], *ready;
    size_t right = 0;
    const allm_event *event;
    for (size_t i = 0; i < 3; i++) {
        s[i] = start_calls(k, 2, words);
        CHECK_INT(allm_hub_add(hub, s[i], NULL), ALLM_OK);
    }
    while (allm_hub_count(hub) && (ready = allm_hub_wait(hub, -1, NULL)))
        while (allm_stream_next(ready, &event) == ALLM_EVENT)
            right += event->type == ALLM_EV_TOOL_EXECUTION_COMPLETED;
    CHECK_INT(right, 6);
    for (size_t i = 0; i < 3; i++) {
        const allm_message *m = allm_stream_tool_message(s[i], 1);
        CHECK_TEXT(m ? m->text : NULL, "done\n");
        allm_stream_free(s[i]);
    }
    allm_hub_free(hub);
    return NULL;
}

static void serves_eight_hubs(void)
{
    enum { HUBS = 8 };
    struct kit k, of[HUBS];
    pthread_t threads[HUBS];
    open_kit(&k, NULL);
    CHECK_INT(add_script(&k, "tool", "", "echo done"), ALLM_OK);
    for (int i = 0; i < HUBS; i++) {
        of[i] = k;
        of[i].engine = play_engine("{'script': []}", NULL);
    }
    for (int i = 0; i < HUBS; i++)
        CHECK_ALWAYS(!pthread_create(&threads[i], NULL, pull_hub, &of[i]));
    for (int i = 0; i < HUBS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < HUBS; i++)
        allm_engine_free(of[i].engine);
    close_kit(&k);
}

static void accepts_null(void)
{
    CHECK_ALWAYS(allm_toolbox_add_program(NULL, "x") == ALLM_ERR_NOMEM);
    CHECK_ALWAYS(!allm_toolbox_executor(NULL));
    CHECK_ALWAYS(!allm_toolbox_report(NULL));
    CHECK_ALWAYS(!allm_toolbox_keep(NULL));
    allm_toolbox_free(NULL);
    allm_toolbox *box = allm_toolbox_new(NULL);
    CHECK_ALWAYS(allm_toolbox_add_program(box, NULL) < 0);
    CHECK_ALWAYS(allm_toolbox_keep(box) == box);
    allm_toolbox_free(box);
    allm_toolbox_free(box);
}

static const char *last_error(const struct kit *k)
{
    const allm_error *error = allm_toolbox_error(k->box);
    return error ? error->message : "none";
}

static void says_what_is_missing(void)
{
    struct kit k;
    open_kit(&k, NULL);
    CHECK_INT(allm_toolbox_add_program(k.box, NULL), ALLM_ERR_MISUSE);
    CHECK_TEXT(last_error(&k), "a program needs a path");
    CHECK_INT(allm_toolbox_add_builtin(k.box, NULL), ALLM_ERR_MISUSE);
    CHECK_TEXT(last_error(&k), "built-in tools need their names");
    CHECK_INT(allm_toolbox_add_server(k.box, "s", NULL), ALLM_ERR_MISUSE);
    CHECK_TEXT(last_error(&k), "a server needs a name and an entry");
    close_kit(&k);
}

/* Takes descriptors until there are no more; returns how many. */
static size_t take_all(int *taken, size_t most)
{
    size_t n = 0;
    while (n < most && (taken[n] = dup(0)) >= 0)
        n++;
    return n;
}

static void names_the_limit_of_files(void)
{
    struct rlimit before, few = { 0 };
    int taken[64];
    struct kit k;
    open_kit(&k, NULL);
    allm_json *entry = noun_json("{'command': 'x'}");
    CHECK(!getrlimit(RLIMIT_NOFILE, &before));
    few = (struct rlimit){ .rlim_cur = 48, .rlim_max = before.rlim_max };
    CHECK(!setrlimit(RLIMIT_NOFILE, &few));
    size_t count = take_all(taken, 64);
    CHECK_INT(allm_toolbox_add_server(k.box, "s", entry), ALLM_ERR_TOOL);
    while (count)
        close(taken[--count]);
    CHECK(!setrlimit(RLIMIT_NOFILE, &before));
    CHECK(strstr(last_error(&k), "(ulimit -n)") != NULL);
    allm_json_free(entry);
    close_kit(&k);
}

TESTS = {
    TEST_ONCE(answers_by_its_output),
    TEST_ONCE(reads_much_output),
    TEST_ONCE(passes_long_arguments),
    TEST_ONCE(ends_at_its_own_timeout),
    TEST_ONCE(is_killed_with_its_stream),
    TEST_ONCE(is_killed_with_the_toolbox),
    TEST_ONCE(waits_in_line),
    TEST(refuses_bad_descriptions),
    TEST_ONCE(refuses_what_is_no_program),
    TEST_ONCE(describes_itself),
    TEST_ONCE(adds_a_folder),
    TEST_ONCE(explains_what_it_cannot_start),
    TEST_ONCE(names_a_hidden_interpreter),
    TEST_ONCE(names_an_interpreter_in_the_home),
    TEST_ONCE(needs_its_root),
    TEST_ONCE(examples_work),
    TEST_ONCE(serves_eight_hubs),
    TEST(accepts_null),
    TEST_ONCE(says_what_is_missing),
    TEST_ONCE(names_the_limit_of_files),
    TESTS_END,
};
