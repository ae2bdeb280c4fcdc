/*
 * test_server.c - MCP servers as tools, with a real process
 *
 * tag: thread
 * tag: clock (timeouts)
 */
#include "allm.h"
#include "harness/box.h"
#include "harness/check.h"
#include "harness/noun.h"
#include "harness/play.h"
#include "harness/turns.h"
#include "toolbox/server_http.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static allm_status wait_box(struct box *b)
{
    return allm_toolbox_wait(b->box, -1);
}

/* The row of a server in the report, as JSON, without what changes; static. */
static const char *row_of(struct box *b, const char *member)
{
    static char text[4096];
    allm_json *report = allm_toolbox_report(b->box);
    const allm_json *row = allm_json_at(allm_json_get(report, "servers"), 0);
    allm_text *value = allm_json_write(allm_json_get(row, member), 0);
    const char *bytes = allm_text_bytes(value, NULL);
    snprintf(text, sizeof text, "%s", bytes ? bytes : "none");
    allm_text_free(value);
    allm_json_free(report);
    return text;
}

static size_t count_tools(struct box *b)
{
    const allm_executor *x = allm_toolbox_executor(b->box);
    size_t count = 0;
    if (x)
        x->tools(x->self, &count);
    return count;
}

static const char *error_of(const struct box *b)
{
    const allm_error *error = allm_toolbox_error(b->box);
    return error ? error->message : NULL;
}

static bool contains(const char *text, const char *part)
{
    if ((text && strstr(text, part)) || !check_whole())
        return true;
    fprintf(stderr, "got: %.400s\n", text ? text : "nothing");
    return false;
}

/* The result of one call, or "no memory". */
static const char *call_echo(const char *words, const char *members,
                             const char *tool, const char *args)
{
    static char text[65536];
    struct box b;
    box_open(&b, NULL);
    snprintf(text, sizeof text, "no memory");
    if (box_add_echo(&b, "e", words, members) == ALLM_OK && !wait_box(&b))
        snprintf(text, sizeof text, "%s", box_call(&b, tool, args));
    box_close(&b);
    return text;
}

/* ---------------------------------------------------------------- tests --- */

static void calls_a_tool_in_both_eras(void)
{
    CHECK_TEXT(call_echo("", "", "e__echo", "{'text': 'hi \\u00e9'}"),
               "hi \xc3\xa9");
    CHECK_TEXT(call_echo("'modern'", "", "e__echo", "{'text': 'hi'}"), "hi");
}

/* Servers with the SDK of Rust end if they are probed. */
static void that_ends_when_it_is_probed_starts_again(void)
{
    CHECK_TEXT(call_echo("'strict'", "", "e__echo", "{'text': 'hi'}"), "hi");
}

static void maps_results(void)
{
    struct box b;
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "", ""), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    CHECK_TEXT(box_call(&b, "e__add", "{'x': 2, 'y': 3}"), "{\"sum\":5}");
    CHECK(contains(box_call(&b, "e__wrong", "{}"), "schema_errors"));
    CHECK(contains(box_call(&b, "e__fail", "{}"), "no such thing"));
    CHECK_TEXT(box_call(&b, "e__image", "{}"),
               "look\n[image, image/png, 9 bytes]\n"
               "[image, image/gif, 6 bytes]\n[image, image/png, 3 bytes]");
    CHECK(contains(box_call(&b, "e__error", "{}"),
                   "wrong (error -32602 of the server)"));
    CHECK(contains(box_call(&b, "e__roots", "{}"), b.root));
    box_close(&b);
}

/* What is an image by its bytes is a part of the message; what only claims to
 * be one is not. */
static void shows_images_to_the_model(void)
{
    struct box b;
    box_open(&b, "read_file");
    external_file("a.txt", "\x89PNG\r\n\x1a\n");
    CHECK_INT(box_add_echo(&b, "e", "", ""), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    const char *words[] = { "e__image", "{}", "read_file",
                            "{'path': 'a.txt'}" };
    allm_stream *s = box_start_all(&b, 2, words);
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    const allm_message *m = allm_stream_tool_message(s, 0);
    CHECK_INT(GET(m, part_count), 3);
    if (m && m->part_count == 3) {
        CHECK_TEXT(m->parts[1]->image->data, "iVBORw0KGgo=");
        CHECK_TEXT(m->parts[1]->image->mime_type, "image/png");
        CHECK_TEXT(m->parts[2]->image->mime_type, "image/gif");
    }
    m = allm_stream_tool_message(s, 1);
    CHECK_INT(GET(m, part_count), 2);
    if (m && m->part_count == 2) {
        CHECK_TEXT(m->parts[0]->text, "[a.txt is an image: image/png]\n");
        CHECK_TEXT(m->parts[1]->image->data, "iVBORw0KGgo=");
    }
    allm_stream_free(s);
    box_close(&b);
}

static void lists_tools_by_name_after_those_before_it(void)
{
    struct box b;
    box_open(&b, "read_file");
    CHECK_INT(box_add_echo(&b, "b", "'pages'", "'tools': ['e*', '!error']"),
              ALLM_OK);
    CHECK_INT(box_add_echo(&b, "a", "", "'tools': ['add']"), ALLM_OK);
    CHECK_INT(allm_toolbox_add_builtin(b.box, "glob"), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    const allm_executor *x = allm_toolbox_executor(b.box);
    size_t count;
    const allm_tool *const *tools = x->tools(x->self, &count);
    CHECK_INT(count, 4);
    CHECK_TEXT(tools[0]->name, "read_file");
    CHECK_TEXT(tools[1]->name, "b__echo");
    CHECK_TEXT(tools[2]->name, "a__add");
    CHECK_TEXT(tools[3]->name, "glob");
    CHECK_INT(tools[1]->effect, ALLM_EFFECT_WRITE);
    box_close(&b);
}

/* A name that a program has already is left out, and reported. */
static void names_a_tool_that_is_left_out(void)
{
    struct box b;
    box_open(&b, NULL);
    external_file("x.json", "{\"name\":\"e__echo\",\"description\":\"x\"}");
    const char *path = external_file("x", "#!/bin/sh\necho mine\n");
    CHECK_INT(allm_toolbox_add_program(b.box, path), ALLM_OK);
    CHECK_INT(box_add_echo(&b, "e", "", "'tools': ['echo', 'add']"), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    CHECK_INT(count_tools(&b), 2);
    CHECK_TEXT(box_call(&b, "e__echo", "{}"), "mine\n");
    allm_json *report = allm_toolbox_report(b.box);
    const allm_json *failed = allm_json_get(report, "failed");
    CHECK_INT(allm_json_count(failed), 1);
    CHECK_TEXT(allm_json_text(allm_json_get(allm_json_at(failed, 0), "error"),
                              NULL),
               "there is already a tool named e__echo");
    allm_json_free(report);
    box_close(&b);
}

static void trusts_hints_only_if_told(void)
{
    struct box b;
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "",
                           "'trust': true, 'tools': ['echo', 'add'], "
                           "'timeout': 5"),
              ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    const allm_executor *x = allm_toolbox_executor(b.box);
    size_t count;
    const allm_tool *const *tools = x->tools(x->self, &count);
    CHECK_INT(count, 2);
    CHECK_INT(tools[0]->effect, ALLM_EFFECT_WRITE);
    CHECK_INT(tools[1]->effect, ALLM_EFFECT_PURE);
    CHECK_INT(tools[1]->timeout_ms, 5000);
    box_close(&b);
}

static void death_fails_the_call_and_says_why(void)
{
    struct box b;
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "", ""), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    const char *text = box_call(&b, "e__die", "{}");
    CHECK(contains(text, "exit status 3"));
    CHECK(contains(text, "it was too much"));
    CHECK_TEXT(box_call(&b, "e__echo", "{'text': 'again'}"), "again");
    box_close(&b);
}

/* A tool that changes nothing is called once more. */
static void death_is_not_seen_by_harmless_calls(void)
{
    struct box b;
    box_open(&b, NULL);
    external_file("die-once", "");
    CHECK_INT(box_add_echo(&b, "e", "", "'trust': true"), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    CHECK_TEXT(box_call(&b, "e__die_once", "{}"), "alive");
    box_close(&b);
}

static void that_does_not_start_is_reported(void)
{
    static const char *const entries[][2] = {
        { "{'command': '/no/such/program'}", "/no/such/program cannot be" },
        { "{'command': 'no-such-program-x'}", "in PATH" },
        { "{'command': '/bin/sh', 'args': ['-c', 'echo oh >&2; exit 9']}",
          "exit status 9; it wrote:\\noh" },
        { "{'command': '/bin/cat', 'start_timeout': 0.1}", "0" },
    };
    for (size_t i = 0; i < 3; i++) {
        struct box b;
        box_open(&b, NULL);
        allm_json *entry = noun_json(entries[i][0]);
        CHECK_INT(allm_toolbox_add_server(b.box, "x", entry), ALLM_OK);
        CHECK_INT(wait_box(&b), ALLM_OK);
        CHECK_TEXT(row_of(&b, "state"), "\"failed\"");
        CHECK(contains(row_of(&b, "error"), entries[i][1]));
        CHECK_INT(count_tools(&b), 0);
        allm_json_free(entry);
        box_close(&b);
    }
}

static void that_is_required_must_start(void)
{
    struct box b;
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "x", "'quits'", "'required': true"), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_ERR_TOOL);
    CHECK(contains(error_of(&b),
                   "server x is required, but failed: server x ended with exit "
                   "status 2; it wrote:\nno license"));
    box_close(&b);
}

static void entries_that_are_wrong_are_refused(void)
{
    static const char *const wrong[][2] = {
        { "[]", "must be an object" },
        { "{}", "either \"command\" or \"url\"" },
        { "{'command': 'a', 'url': 'http://b'}", "either" },
        { "{'command': ''}", "command must be" },
        { "{'command': 'a', 'args': 'b'}", "args must be" },
        { "{'command': 'a', 'args': [1]}", "args must be" },
        { "{'command': 'a', 'env': {'A=B': 'c'}}", "env must be" },
        { "{'command': 'a', 'env': {'A': []}}", "env must be" },
        { "{'command': 'a', 'type': 'pigeon'}", "type must be" },
        { "{'command': 'a', 'type': 'http'}", "either" },
        { "{'command': 'a', 'timeout': 0}", "timeout must be" },
        { "{'command': 'a', 'trust': 1}", "trust must be" },
        { "{'command': 'a', 'sandbox': {'moon': true}}", "moon" },
        { "{'url': 'ftp://a'}", "url must begin" },
        { "{'url': 'http://a', 'auth': 'x'}", "auth must be" },
        { "{'url': 'http://a', 'headers': {'a:b': 'c'}}", "headers must be" },
    };
    struct box b;
    box_open(&b, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        allm_json *entry = noun_json(wrong[i][0]);
        CHECK_INT(allm_toolbox_add_server(b.box, "x", entry),
                  ALLM_ERR_VALIDATION);
        CHECK(contains(error_of(&b), wrong[i][1]));
        allm_json_free(entry);
    }
    CHECK_INT(box_add_echo(&b, "", "", ""), ALLM_ERR_VALIDATION);
    CHECK_INT(box_add_echo(&b, "e", "", ""), ALLM_OK);
    CHECK_INT(box_add_echo(&b, "e", "", ""), ALLM_ERR_VALIDATION);
    CHECK(contains(error_of(&b), "already"));
    box_close(&b);
}

static void noise_is_counted_and_ignored(void)
{
    struct box b;
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "", ""), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    CHECK_TEXT(box_call(&b, "e__noise", "{}"), "after the noise");
    CHECK_TEXT(box_call(&b, "e__echo", "{'text': 'still'}"), "still");
    CHECK_TEXT(row_of(&b, "ignored"), "104");
    box_close(&b);
}

static void that_babbles_is_ended_and_started_again(void)
{
    static const char *const calls[][2] = {
        { "e__babble", "100 lines in a row" },
        { "e__long", "a line of more than 16 MiB" },
    };
    for (size_t i = 0; i < 2; i++) {
        struct box b;
        box_open(&b, NULL);
        CHECK_INT(box_add_echo(&b, "e", "", ""), ALLM_OK);
        CHECK_INT(wait_box(&b), ALLM_OK);
        CHECK(contains(box_call(&b, calls[i][0], "{}"), calls[i][1]));
        CHECK_TEXT(box_call(&b, "e__echo", "{'text': 'new'}"), "new");
        box_close(&b);
    }
}

static void call_times_out_and_the_server_goes_on(void)
{
    struct box b;
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "", "'timeout': 0.1"), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    CHECK(contains(box_call(&b, "e__hang", "{}"), "no answer within 100 ms"));
    CHECK_TEXT(box_call(&b, "e__echo", "{'text': 'still'}"), "still");
    box_close(&b);
}

static void list_changes_for_the_next_chat(void)
{
    struct box b;
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "", ""), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    const allm_executor *x = allm_toolbox_executor(b.box);
    size_t count, later;
    const allm_tool *const *tools = x->tools(x->self, &count);
    int fd = allm_toolbox_fd(b.box);
    CHECK_INT(wait_box(&b), ALLM_OK);
    CHECK_TEXT(box_call(&b, "e__more", "{}"), "there is more");
    struct pollfd news = { .fd = fd, .events = POLLIN };
    CHECK_INT(poll(&news, 1, 20000), 1);
    x->tools(x->self, &later);
    CHECK_INT(later, count + 1);
    CHECK_TEXT(tools[0]->name, "e__add");       /* still valid */
    CHECK_TEXT(box_call(&b, "e__extra", "{}"), "extra");
    box_close(&b);
}

/* It may be another version of the program, with other tools. */
static void that_starts_again_is_asked_again(void)
{
    struct box b;
    box_open(&b, NULL);
    struct pollfd news = { .fd = allm_toolbox_fd(b.box), .events = POLLIN };
    CHECK_INT(box_add_echo(&b, "e", "'grows'", ""), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    size_t count = count_tools(&b);
    CHECK(contains(box_call(&b, "e__die", "{}"), "exit status 3"));
    while (check_whole() && count_tools(&b) == count) {
        CHECK_INT(poll(&news, 1, 20000), 1);
        allm_toolbox_wait(b.box, 0);
    }
    CHECK_TEXT(box_call(&b, "e__extra", "{}"), "extra");
    box_close(&b);
}

static void count_free(void *ud)
{
    ++*(int *)ud;
}

static struct allm_home *new_list(int *freed)
{
    struct allm_home *home = home_new(mem_default(), 64);
    CHECK(home && home_on_free(home, count_free, freed));
    return home;
}

/* Of lists that nobody has seen only the newest is kept. */
static void lists_that_nobody_saw_are_freed(void)
{
    const allm_tool tools[] = { { .name = "a" }, { .name = "b" } };
    const struct entry entries[] = { { .tool = &tools[0] },
                                     { .tool = &tools[1] } };
    struct tool_list list;
    size_t place;
    int freed = 0;
    list_init(&list, mem_default());
    CHECK(list_reserve(&list, &place));
    CHECK(list_replace(&list, place, 1, entries, new_list(&freed)));
    CHECK(list_replace(&list, place, 1, entries, new_list(&freed)));
    CHECK_INT(freed, 1);
    CHECK_INT(list_entries(&list)->count, 1);
    for (int i = 0; i < 100; i++) {
        CHECK(list_replace(&list, place, 2, entries, new_list(&freed)));
        CHECK(list_find(&list, "a") != NULL);
    }
    CHECK_INT(freed, 100);
    CHECK(list_find(&list, "b") != NULL);
    CHECK(list_replace(&list, place, 0, NULL, new_list(&freed)));
    CHECK_INT(freed, 100);
    list_release(&list);
    CHECK_INT(freed, 103);
}

struct logged {
    pthread_mutex_t lock;
    char text[8192];
};

static void note_log(const allm_trace_event *e, void *ud)
{
    struct logged *l = ud;
    allm_text *text = allm_json_write(e->metadata, 0);
    pthread_mutex_lock(&l->lock);
    size_t n = strlen(l->text);
    snprintf(l->text + n, sizeof l->text - n, "%s %s %s\n", e->span, e->what,
             allm_text_bytes(text, NULL));
    pthread_mutex_unlock(&l->lock);
    allm_text_free(text);
}

static void log_goes_to_the_trace(void)
{
    static const char *const lines[] = {
        "server log {\"server\":\"e\",\"level\":\"info\",\"logger\":\"db\","
        "\"data\":{\"n\":1}}\n",
        "server ignored {\"server\":\"e\",\"bad\":1,\"stray\":0,"
        "\"unknown\":0}\n",
        "server stderr {\"server\":\"e\",\"line\":\"loading\"}\n",
        "server stderr {\"server\":\"e\",\"line\":\""
        "\xef\xbf\xbd\xef\xbf\xbd\"}\n",
        "server stderr {\"server\":\"e\",\"line\":\"00000",
        "server stderr {\"server\":\"e\",\"line\":\"-rest\"}\n",
        "server stderr {\"server\":\"e\",\"line\":\"half\"}\n",
    };
    struct box b;
    struct logged l = { .lock = PTHREAD_MUTEX_INITIALIZER };
    box_open(&b, NULL);
    box_renew(&b, ALLM(toolbox_opts, .trace = note_log, .trace_ud = &l));
    CHECK_INT(box_add_echo(&b, "e", "", ""), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    CHECK_TEXT(box_call(&b, "e__log", "{}"), "logged");
    box_close(&b);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK(contains(l.text, lines[i]));
}

static void has_a_clean_environment(void)
{
    struct box b;
    setenv("SECRET_OF_TEST", "x", 1);
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "",
                           "'env': {'GIVEN': 'v', 'NUMBER': 7, "
                           "'LEFT': null}"),
              ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    CHECK_TEXT(box_call(&b, "e__variable", "{'key': 'GIVEN'}"), "v");
    CHECK_TEXT(box_call(&b, "e__variable", "{'key': 'NUMBER'}"), "7");
    CHECK_TEXT(box_call(&b, "e__variable", "{'key': 'LEFT'}"), "(not set)");
    CHECK_TEXT(box_call(&b, "e__variable", "{'key': 'SECRET_OF_TEST'}"),
               "(not set)");
    const char *home = getenv("HOME");
    CHECK_TEXT(box_call(&b, "e__variable", "{'key': 'HOME'}"),
               home ? home : "(not set)");
    box_close(&b);
    unsetenv("SECRET_OF_TEST");
}

static void files_are_free_unless_it_has_a_sandbox(void)
{
    char members[PATH_MAX + 64], folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", box_echo_path());
    *strrchr(folder, '/') = 0;
    snprintf(members, sizeof members, "'sandbox': {'read': ['%s']}", folder);
    CHECK_TEXT(call_echo("", "", "e__read", "{}"), "read");
    CHECK_TEXT(call_echo("", members, "e__read", "{}"), "refused");
}

/* The user's own configuration may name a secret. */
static void sandbox_has_what_the_user_grants(void)
{
    struct box b;
    char members[PATH_MAX + 64], folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", box_echo_path());
    *strrchr(folder, '/') = 0;
    snprintf(members, sizeof members,
             "'sandbox': {'read': ['%s'], 'env': ['OPENAI_API_KEY']}", folder);
    setenv("OPENAI_API_KEY", "k-1", 1);
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "", members), ALLM_ERR_VALIDATION);
    allm_json *grants = noun_json("['OPENAI_API_KEY']");
    box_renew(&b, ALLM(toolbox_opts, .grants = grants));
    CHECK_INT(box_add_echo(&b, "e", "", members), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    CHECK_TEXT(box_call(&b, "e__variable", "{'key': 'OPENAI_API_KEY'}"), "k-1");
    allm_json_free(grants);
    box_close(&b);
    unsetenv("OPENAI_API_KEY");
}

/* Its children may begin sessions of their own, and end with it. */
static void ends_with_all_that_it_started(void)
{
    char text[2 * PATH_MAX];
    int64_t end = clock_after(clock_now_ns(clock_real()), 10000);
    struct box b;
    box_open(&b, NULL);
    snprintf(text, sizeof text,
             "{'command': '/bin/sh', 'args': ['-c', 'setsid sleep 1000 "
             "</dev/null >/dev/null 2>&1 & echo $! >child; exec %s']}",
             box_echo_path());
    allm_json *entry = noun_json(text);
    CHECK_INT(allm_toolbox_add_server(b.box, "e", entry), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    const char *written = box_file(&b, "child");
    pid_t child = written ? (pid_t)strtol(written, NULL, 10) : 0;
    CHECK(child > 1);
    while (getsid(child) != child && clock_now_ns(clock_real()) < end)
        sched_yield();
    CHECK_INT(getsid(child), child);
    allm_json_free(entry);
    allm_toolbox_free(b.box);
    b.box = NULL;
    CHECK_INT(kill(child, 0), -1);
    box_close(&b);
}

static void ends_although_it_is_stubborn(void)
{
    CHECK_TEXT(call_echo("'stubborn'", "", "e__echo", "{'text': 'no'}"), "no");
}

/* A list without an end, and one with a wrong schema. */
static void lists_what_is_valid(void)
{
    struct box b;
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "'loops'", ""), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    CHECK_INT(count_tools(&b), 7);
    box_close(&b);
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "'broken'", "'tools': ['echo', 'broken']"),
              ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    CHECK_INT(count_tools(&b), 1);
    CHECK_TEXT(row_of(&b, "left_out"), "1");
    box_close(&b);
}

static void shortens_long_names(void)
{
    struct box b;
    char name[65];
    memset(name, 'n', 64);
    name[64] = 0;
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, name, "", "'tools': ['echo', 'die once']"),
              ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    const allm_executor *x = allm_toolbox_executor(b.box);
    size_t count;
    const allm_tool *const *tools = x->tools(x->self, &count);
    CHECK_INT(count, 2);
    CHECK_INT(strlen(tools[0]->name), 64);
    CHECK(strcmp(tools[0]->name, tools[1]->name) != 0);
    CHECK_TEXT(box_call(&b, tools[1]->name, "{'text': 'long'}"), "long");
    box_close(&b);
}

/* It answers nothing: "initialize" is tried as well, then it has failed. */
static void gives_up_a_silent_server(void)
{
    struct box b;
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "'silent'", "'start_timeout': 0.1"),
              ALLM_OK);
    CHECK_INT(allm_toolbox_wait(b.box, 0), ALLM_AGAIN);
    CHECK_INT(wait_box(&b), ALLM_OK);
    CHECK_TEXT(row_of(&b, "state"), "\"failed\"");
    CHECK(contains(row_of(&b, "error"), "raise start_timeout"));
    box_close(&b);
}

static void starts_again_after_a_crash(void)
{
    struct box b;
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "'crashes'", "'trust': true"), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    CHECK(count_tools(&b) > 0);
    CHECK_TEXT(box_call(&b, "e__echo", "{'text': 'back'}"), "back");
    box_close(&b);
}

static void counts_a_closed_output_as_its_end(void)
{
    struct box b;
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "", ""), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    b.timeout_ms = 20000;
    CHECK(contains(box_call(&b, "e__mute", "{}"), "ended with exit status 0"));
    CHECK_TEXT(box_call(&b, "e__echo", "{'text': 'again'}"), "again");
    box_close(&b);
}

/* Wait until a server is in this state. */
static void wait_for_state(struct box *b, const char *state)
{
    struct pollfd news = { .fd = allm_toolbox_fd(b->box), .events = POLLIN };
    while (strcmp(row_of(b, "state"), state) != 0) {
        poll(&news, 1, 100);
        allm_toolbox_wait(b->box, 0);
    }
}

/* Five times, after 0.5, 1, 2, 4 and 8 s; then only if it is asked for. */
static void starts_again_five_times(void)
{
    struct clock_manual manual = { .now_ns = 0 };
    allm_clock clock = play_clock(&manual);
    struct box b;
    box_open(&b, NULL);
    box_renew(&b, ALLM(toolbox_opts, .clock = &clock));
    CHECK_INT(box_add_echo(&b, "e", "", ""), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    for (int i = 0; i < 6; i++)
        CHECK(contains(box_call(&b, "e__die", "{}"), "exit status 3"));
    wait_for_state(&b, "\"failed\"");
    CHECK(contains(row_of(&b, "error"), "it was too much"));
    CHECK(contains(box_call(&b, "e__die", "{}"), "exit status 3"));
    wait_for_state(&b, "\"failed\"");
    CHECK_TEXT(box_call(&b, "e__echo", "{'text': 'asked'}"), "asked");
    allm_toolbox_free(b.box);
    b.box = NULL;
    CHECK_INT(manual.now_ns / 1000000, 500 + 1000 + 2000 + 4000 + 8000);
    box_close(&b);
}

static void frees_a_toolbox_while_servers_start(void)
{
    struct box b;
    box_open(&b, NULL);
    for (int i = 0; i < 8; i++) {
        char name[8];
        snprintf(name, sizeof name, "e%d", i);
        CHECK_INT(box_add_echo(&b, name, "", ""), ALLM_OK);
    }
    box_close(&b);
}

/* Later and later, and never at once. */
static void rests_before_it_listens_again(void)
{
    static const struct {
        int64_t retry_ms, ms;
        unsigned tries;
    } rows[] = {
        { 0, 100, 0 },          { 0, 200, 1 },       { 0, 3200, 5 },
        { 0, 3200, 4000000000 }, { 1000, 1000, 0 },   { 1000, 16000, 4 },
        { 1000, 30000, 5 },     { 45000, 45000, 0 }, { 45000, 45000, 5 },
        { INT64_MAX, 60000, 9 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_INT(http_rest_ms(rows[i].retry_ms, rows[i].tries), rows[i].ms);
}

/* -------------------------------------------------------------- compact --- */

/* A transport that keeps the bodies and replies with a call of tool_help, then
 * with a text. */
struct wire {
    char *bodies[2];
    size_t lens[2], opened;
    bool said;
};

static allm_exchange *open_wire(void *self, const allm_http_view *v,
                                allm_waker *waker, const allm_error **error)
{
    struct wire *w = self;
    (void)waker, (void)error;
    if (w->opened == 2)
        return NULL;
    w->bodies[w->opened] = malloc(v->body_len + 1);
    memcpy(w->bodies[w->opened], v->body, v->body_len);
    w->lens[w->opened++] = v->body_len;
    w->said = false;
    return (allm_exchange *)self;
}

static allm_status read_wire(void *self, allm_exchange *x, allm_chunk *chunk)
{
    static const char *const replies[] = {
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{"
        "\"index\":0,\"id\":\"c1\",\"function\":{\"name\":\"tool_help\","
        "\"arguments\":\"{\\\"names\\\":[\\\"e__tool_007\\\"]}\"}}]},"
        "\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},"
        "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    };
    struct wire *w = self;
    (void)x;
    if (w->said)
        return ALLM_OK;
    w->said = true;
    chunk->bytes = replies[w->opened - 1];
    chunk->len = strlen(chunk->bytes);
    return ALLM_EVENT;
}

static const allm_http_head *head_wire(void *self, allm_exchange *x)
{
    static const allm_http_head head = { .size = sizeof head, .status = 200 };
    (void)self, (void)x;
    return &head;
}

static void close_wire(void *self, allm_exchange *x)
{
    (void)self, (void)x;
}

/* A chat of two steps with these tools. */
static void chat_over(struct wire *w, const allm_executor *x)
{
    const allm_transport t = { .size = sizeof t, .self = w, .open = open_wire,
                               .read = read_wire, .head = head_wire,
                               .close = close_wire };
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "openai:m", .transport = &t));
    allm_thread *thread = turns_thread();
    allm_stream *s = allm_chat(e, thread,
                               ALLM(call_opts, .api_key = "k", .executor = x));
    allm_stream_wait(s);        /* without compact tools there is no help */
    allm_stream_free(s);
    allm_thread_free(thread);
    allm_engine_free(e);
}

/* The bytes of the member "tools", up to the end of the array. */
static struct slice tools_of(const struct wire *w, size_t step)
{
    const char *from = strstr(w->bodies[step], "\"tools\":[");
    const char *to = from ? strstr(from, "}}]") : NULL;
    return to ? (struct slice){ from, (size_t)(to - from) } : SLICE("none");
}

static size_t measure_chat(const char *members, struct wire *w)
{
    struct box b;
    box_open(&b, NULL);
    *w = (struct wire){ .opened = 0 };
    CHECK_INT(box_add_echo(&b, "e", "'many'", members), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    CHECK_INT(count_tools(&b), 200);
    chat_over(w, allm_toolbox_executor(b.box));
    box_close(&b);
    return w->lens[0];
}

static void sends_many_tools_in_compact_form(void)
{
    struct wire full, compact;
    size_t whole = measure_chat("'compact': false", &full);
    size_t small = measure_chat("", &compact);
    CHECK_INT(compact.opened, 2);
    CHECK(whole > 200 * 1024);
    CHECK_INT(small * 8 / whole, 0);    /* less than an eighth */
    CHECK(tools_of(&compact, 0).len > 10000);
    CHECK_SLICE(tools_of(&compact, 0), tools_of(&compact, 1));
    for (size_t i = 0; i < 2; i++) {
        free(full.bodies[i]);
        free(compact.bodies[i]);
    }
}

/* ------------------------------------------------------------- requests --- */

static const char *request(struct box *b, const char *method,
                           const char *params)
{
    static char text[65536];
    allm_json *given = params ? noun_json(params) : NULL;
    allm_json *got = allm_toolbox_request(b->box, "e", method, given, 0);
    const allm_error *error = allm_json_error(got);
    allm_text *written = error ? NULL : allm_json_write(got, 0);
    const char *bytes = allm_text_bytes(written, NULL);
    snprintf(text, sizeof text, "%s",
             error   ? error->message
             : bytes ? bytes
                     : "no memory");
    allm_text_free(written);
    allm_json_free(got);
    allm_json_free(given);
    return text;
}

static void answers_requests_of_the_program(void)
{
    struct box b;
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "", "'disabled': true"), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    CHECK_TEXT(row_of(&b, "state"), "\"off\"");
    CHECK(contains(request(&b, "tools/list", NULL), "{\"tools\":[{\"name\""));
    CHECK_TEXT(request(&b, "tools/call",
                       "{'name': 'echo', 'arguments': "
                       "{'text': 'x'}}"),
               "{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}");
    CHECK_TEXT(request(&b, "resources/read", "{'uri': 'x:1'}"),
               "{\"contents\":[{\"uri\":\"x:1\",\"text\":\"the text\"}]}");
    CHECK_TEXT(request(&b, "prompts/list", NULL),
               "{\"prompts\":[{\"name\":\"ask\"}]}");
    CHECK_TEXT(request(&b, "tools/call", NULL), "the parameters have no name");
    CHECK_TEXT(request(&b, "tools/call", "{'name': 'x', 'arguments': [1]}"),
               "the parameters must have an object as arguments");
    CHECK_TEXT(request(&b, "tools/dance", NULL),
               "this request cannot be made: tools/dance");
    CHECK(contains(request(&b, "prompts/get", "{'name': 'x'}"), "-32601"));
    CHECK_TEXT(request(&b, NULL, NULL),
               "a request needs a server and a method");
    CHECK_INT(count_tools(&b), 0);
    box_close(&b);
}

static void starts_with_its_first_call_if_it_has_a_manifest(void)
{
    static char members[65536];
    struct box b;
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "", ""), ALLM_OK);
    snprintf(members, sizeof members, "'manifest': %s",
             request(&b, "manifest", NULL));
    CHECK(contains(members, "\"revision\":\"2025-06-18\""));
    CHECK(contains(members, "\"prompts\":[{\"name\":\"ask\"}]"));
    box_close(&b);

    box_open(&b, NULL);
    static char text[66000];
    snprintf(text, sizeof text, "{'command': '%s', %s}", box_echo_path(),
             members);
    allm_json *entry = noun_json(text);
    CHECK_INT(allm_toolbox_add_server(b.box, "e", entry), ALLM_OK);
    allm_json_free(entry);
    CHECK_TEXT(row_of(&b, "state"), "\"off\"");
    CHECK_TEXT(row_of(&b, "pid"), "none");
    CHECK_TEXT(box_call(&b, "e__echo", "{'text': 'late'}"), "late");
    CHECK_TEXT(row_of(&b, "state"), "\"ready\"");
    box_close(&b);
}

static void request_gives_up_after_its_time(void)
{
    struct box b;
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "", "'timeout': 0.1"), ALLM_OK);
    CHECK_TEXT(request(&b, "tools/call", "{'name': 'hang'}"),
               "the server did not answer in time");
    allm_json *params = noun_json("{'name': 'hang'}");
    allm_json *got = allm_toolbox_request(b.box, "e", "tools/call", params, 50);
    CHECK(contains(allm_json_error(got)->message, "within 50 ms"));
    allm_json_free(got);
    allm_json_free(params);
    got = allm_toolbox_request(b.box, "other", "tools/list", NULL, 0);
    CHECK(contains(allm_json_error(got)->message, "no server named other"));
    allm_json_free(got);
    box_close(&b);
}

/* ---------------------------------------------------------------- forms --- */

struct asked {
    char log[512];
    int answer;                 /* 0: accept; 1: decline; 2: later; 3: free */
    allm_elicitation *kept;
    int told[2];                /* a pipe; or { 0, 0 } */
};

static void fill_in(void *ud, allm_elicitation *e)
{
    struct asked *a = ud;
    allm_json *wrong = noun_json("{'who': 5}");
    allm_json *right = noun_json("{'who': 'Ada'}");
    snprintf(a->log, sizeof a->log, "%s: %s", allm_elicitation_server(e),
             allm_elicitation_message(e));
    CHECK(allm_elicitation_schema(e) != NULL);
    if (a->answer == 0) {
        CHECK_INT(allm_elicitation_accept(e, wrong), ALLM_ERR_VALIDATION);
        CHECK(contains(allm_elicitation_error(e)->message, "who"));
        CHECK_INT(allm_elicitation_accept(e, right), ALLM_OK);
        CHECK_INT(allm_elicitation_decline(e), ALLM_ERR_MISUSE);
    } else if (a->answer == 1) {
        CHECK_INT(allm_elicitation_decline(e), ALLM_OK);
    } else if (a->answer == 2) {
        CHECK_INT(allm_elicitation_later(e), ALLM_OK);
    }
    if (a->answer == 4)
        a->kept = e;
    else
        allm_elicitation_free(e);
    if (a->told[1])
        CHECK_INT(write(a->told[1], "x", 1), 1);
    allm_json_free(wrong);
    allm_json_free(right);
}

static void note_progress(void *ud, const allm_tool_progress *p)
{
    struct asked *a = ud;
    size_t n = strlen(a->log);
    snprintf(a->log + n, sizeof a->log - n, "[%s %s %s %d/%d %s]", p->server,
             p->tool, p->call_id, (int)p->progress, (int)p->total, p->message);
}

static void open_asking(struct box *b, struct asked *a)
{
    box_open(b, NULL);
    box_renew(b, ALLM(toolbox_opts, .elicit = fill_in,
                      .progress = note_progress, .ud = a));
    CHECK_INT(box_add_echo(b, "e", "", ""), ALLM_OK);
    CHECK_INT(wait_box(b), ALLM_OK);
}

static void asks_the_user(void)
{
    static const char *const seen[] = {
        "{\"action\":\"accept\",\"content\":{\"who\":\"Ada\",\"n\":7}}",
        "{\"action\":\"decline\"}",
        "<awaiting user response>",
        "{\"action\":\"cancel\"}",
    };
    for (int i = 0; i < 4; i++) {
        struct asked a = { .answer = i };
        struct box b;
        open_asking(&b, &a);
        CHECK_TEXT(box_call(&b, "e__ask", "{}"), seen[i]);
        CHECK_TEXT(a.log, "e: Who?");
        CHECK_TEXT(box_call(&b, "e__echo", "{'text': 'on'}"), "on");
        box_close(&b);
    }
}

/* A form may outlive its call, and the toolbox. */
static void forgets_forms(void)
{
    struct asked a = { .answer = 4 };
    struct box b;
    open_asking(&b, &a);
    b.timeout_ms = 100;
    allm_json *params = noun_json("{'name': 'ask'}");
    allm_json_free(allm_toolbox_request(b.box, "e", "tools/call", params, 200));
    CHECK(a.kept != NULL);
    allm_toolbox_free(b.box);
    b.box = NULL;
    CHECK_INT(allm_elicitation_decline(a.kept), ALLM_OK);
    allm_elicitation_free(a.kept);
    allm_json_free(params);
    box_close(&b);
}

static void pull_ready(allm_hub *hub)
{
    const allm_event *event;
    allm_stream *s;
    while ((s = allm_hub_wait(hub, 0, NULL)))
        while (allm_stream_next(s, &event) == ALLM_EVENT)
            ;
}

/* A thread with a hub and an engine of its own. */
static void *call_from_hub(void *arg)
{
    const char *const words[] = { "e__echo", "{'text': 'x'}", "e__more", "{}" };
    const allm_event *event;
    struct box own = *(struct box *)arg;
    allm_hub *hub = allm_hub_new(NULL);
    allm_stream *s[3];
    own.engine = play_engine("{'script': []}", NULL);
    for (int i = 0; i < 3; i++) {
        s[i] = box_start_all(&own, 2, words);
        CHECK_INT(allm_hub_add(hub, s[i], NULL), ALLM_OK);
    }
    allm_stream_cancel(s[2]);
    for (allm_stream *r;
         allm_hub_count(hub) && (r = allm_hub_wait(hub, -1, NULL));)
        while (allm_stream_next(r, &event) == ALLM_EVENT)
            ;
    for (int i = 0; i < 2; i++) {
        const allm_message *m = allm_stream_tool_message(s[i], 0);
        CHECK_TEXT(m ? m->text : NULL, "x");
    }
    for (int i = 0; i < 3; i++)
        allm_stream_free(s[i]);
    allm_hub_free(hub);
    allm_engine_free(own.engine);
    return NULL;
}

static void serves_eight_hubs(void)
{
    pthread_t threads[8];
    struct box b;
    box_open(&b, NULL);
    CHECK_INT(box_add_echo(&b, "e", "", ""), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    for (int i = 0; i < 8; i++)
        CHECK_ALWAYS(!pthread_create(&threads[i], NULL, call_from_hub, &b));
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    CHECK_TEXT(box_call(&b, "e__echo", "{'text': 'on'}"), "on");
    box_close(&b);
}

/* The time of a form is not that of its call, nor of one that begins
 * meanwhile. */
static void waits_for_the_user(void)
{
    struct asked a = { .answer = 4 };
    struct box b;
    const allm_event *event;
    char byte;
    allm_json *right = noun_json("{'who': 'Ada'}");
    open_asking(&b, &a);
    CHECK_INT(pipe(a.told), 0);
    CHECK_INT(box_add_echo(&b, "quick", "", "'timeout': 0.1"), ALLM_OK);
    CHECK_INT(wait_box(&b), ALLM_OK);
    allm_stream *s = box_start(&b, "quick__ask", "{}");
    allm_hub *hub = allm_hub_new(NULL);
    CHECK_INT(allm_hub_add(hub, s, NULL), ALLM_OK);
    pull_ready(hub);
    CHECK_INT(read(a.told[0], &byte, 1), 1);
    pull_ready(hub);
    CHECK_INT(allm_hub_timeout(hub), -1);
    allm_stream *later = box_start(&b, "quick__hang", "{}");
    CHECK_INT(allm_hub_add(hub, later, NULL), ALLM_OK);
    do
        pull_ready(hub);
    while (allm_hub_timeout(hub) >= 0 && allm_hub_wait(hub, -1, NULL));
    CHECK_INT(allm_hub_count(hub), 2);
    allm_stream_free(later);
    allm_elicitation_accept(a.kept, right);
    allm_elicitation_free(a.kept);
    while (allm_hub_wait(hub, -1, NULL))
        while (allm_stream_next(s, &event) == ALLM_EVENT)
            ;
    const allm_message *m = allm_stream_tool_message(s, 0);
    CHECK(contains(m ? m->text : NULL, "Ada"));
    allm_stream_free(s);
    allm_hub_free(hub);
    allm_json_free(right);
    close(a.told[0]);
    close(a.told[1]);
    box_close(&b);
}

static void tells_of_progress(void)
{
    struct asked a = { .answer = 0 };
    struct box b;
    open_asking(&b, &a);
    CHECK_TEXT(box_call(&b, "e__slow", "{}"), "done");
    CHECK_TEXT(a.log, "[e e__slow c0 1/2 step][e e__slow c0 2/2 step]");
    box_close(&b);
}

TESTS = {
    TEST_ONCE(asks_the_user),
    TEST_ONCE(forgets_forms),
    TEST_ONCE(serves_eight_hubs),
    TEST_ONCE(waits_for_the_user),
    TEST_ONCE(tells_of_progress),
    TEST_ONCE(calls_a_tool_in_both_eras),
    TEST_ONCE(that_ends_when_it_is_probed_starts_again),
    TEST_ONCE(maps_results),
    TEST_ONCE(shows_images_to_the_model),
    TEST_ONCE(lists_tools_by_name_after_those_before_it),
    TEST_ONCE(names_a_tool_that_is_left_out),
    TEST_ONCE(trusts_hints_only_if_told),
    TEST_ONCE(death_fails_the_call_and_says_why),
    TEST_ONCE(death_is_not_seen_by_harmless_calls),
    TEST_ONCE(that_does_not_start_is_reported),
    TEST_ONCE(that_is_required_must_start),
    TEST(entries_that_are_wrong_are_refused),
    TEST_ONCE(noise_is_counted_and_ignored),
    TEST_ONCE(that_babbles_is_ended_and_started_again),
    TEST_ONCE(call_times_out_and_the_server_goes_on),
    TEST_ONCE(list_changes_for_the_next_chat),
    TEST_ONCE(that_starts_again_is_asked_again),
    TEST_ONCE(lists_that_nobody_saw_are_freed),
    TEST_ONCE(log_goes_to_the_trace),
    TEST_ONCE(has_a_clean_environment),
    TEST_ONCE(files_are_free_unless_it_has_a_sandbox),
    TEST_ONCE(sandbox_has_what_the_user_grants),
    TEST_ONCE(ends_with_all_that_it_started),
    TEST_ONCE(ends_although_it_is_stubborn),
    TEST_ONCE(answers_requests_of_the_program),
    TEST_ONCE(starts_with_its_first_call_if_it_has_a_manifest),
    TEST_ONCE(request_gives_up_after_its_time),
    TEST_ONCE(lists_what_is_valid),
    TEST_ONCE(shortens_long_names),
    TEST_ONCE(gives_up_a_silent_server),
    TEST_ONCE(starts_again_after_a_crash),
    TEST_ONCE(counts_a_closed_output_as_its_end),
    TEST_ONCE(starts_again_five_times),
    TEST_ONCE(frees_a_toolbox_while_servers_start),
    TEST_ONCE(rests_before_it_listens_again),
    TEST_ONCE(sends_many_tools_in_compact_form),
    TESTS_END,
};
