/*
 * test_crew.c - the end of calls of every kind, all at once
 *
 * A program, a shell, a built-in tool, servers of both eras, one of which waits
 * for a form.  They run until their toolbox is freed, their stream is
 * cancelled, or their time is over.
 *
 * tag: thread
 * tag: clock (the time that freeing takes)
 */
#include "toolbox/builtin.h"
#include "toolbox/toolbox.h"

#include "base/clock.h"
#include "harness/box.h"
#include "harness/check.h"
#include "harness/noun.h"
#include "harness/server.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CALLS = 7, SIGNS = 4 };

struct scene {
    struct box box;
    struct server *web;         /* for http_get */
    allm_stream *stream;
    pthread_t puller;
    atomic_int signs;           /* calls that servers have begun */
    allm_elicitation *form;
    char url[64];
};

/* ------------------------------------------------------------ the scene --- */

static void keep_form(void *ud, allm_elicitation *e)
{
    struct scene *s = ud;
    s->form = e;
    atomic_fetch_add(&s->signs, 1);
}

static void count_sign(void *ud, const allm_tool_progress *p)
{
    struct scene *s = ud;
    (void)p;
    atomic_fetch_add(&s->signs, 1);
}

/* A program that ignores SIGTERM, with a child. */
static void add_stay(struct scene *s, const char *members)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"name\":\"stay\",\"description\":\"x\",\"needs\":{\"write\":["
             "\"%s\"]}%s}",
             s->box.root, members);
    external_file("stay.json", text);
    const char *path = external_file("stay",
                                     "#!/bin/sh\ntrap '' TERM; mkdir stays; "
                                     "sleep 1000 & sleep 1000\n");
    CHECK_INT(allm_toolbox_add_program(s->box.box, path), ALLM_OK);
}

static void open_scene(struct scene *s, const char *timeout)
{
    char members[64] = "", own[64] = "";
    if (timeout) {
        snprintf(members, sizeof members, "'timeout': %s", timeout);
        snprintf(own, sizeof own, ",\"timeout\":%s", timeout);
    }
    *s = (struct scene){ .form = NULL };
    unsetenv("http_proxy");
    box_open(&s->box, NULL);
    box_renew(&s->box, ALLM(toolbox_opts, .elicit = keep_form,
                            .progress = count_sign, .ud = s));
    CHECK_INT(allm_toolbox_add_builtin(s->box.box, "bash,http_get"), ALLM_OK);
    builtins_env(s->box.box->builtins)->net.public_only = false;
    add_stay(s, own);
    CHECK_INT(box_add_echo(&s->box, "e", "", members), ALLM_OK);
    CHECK_INT(box_add_echo(&s->box, "m", "'modern'", members), ALLM_OK);
    CHECK_INT(box_add_echo(&s->box, "f", "", members), ALLM_OK);
    CHECK_INT(allm_toolbox_wait(s->box.box, -1), ALLM_OK);
    s->web = server_new();
    snprintf(s->url, sizeof s->url, "{'url': 'http://127.0.0.1:%d/a'}",
             server_port(s->web));
}

static void *pull_all(void *arg)
{
    struct scene *s = arg;
    allm_stream_wait(s->stream);
    return NULL;
}

static bool is_running(struct scene *s, const char *mark)
{
    char path[256];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", s->box.root, mark);
    return !stat(path, &st);
}

static bool all_run(struct scene *s)
{
    return is_running(s, "stays") && is_running(s, "shell") &&
           server_look(s->web).paused == 1 && atomic_load(&s->signs) == SIGNS;
}

/* Begin all calls, and wait until each of them runs. */
static void begin_all(struct scene *s)
{
    static const struct server_step nothing[] = { SERVER_PAUSE, SERVER_END };
    const char *words[2 * CALLS] = {
        "stay", "{}",
        "bash", "{'command': 'mkdir shell; sleep 1000 & sleep 1000', "
                "'write': true}",
        "http_get", s->url,
        "e__hang", "{}",
        "m__hang", "{}",
        "f__ask", "{}",
        "e__hang", "{}",
    };
    server_play_always(s->web, nothing);
    s->stream = box_start_all(&s->box, CALLS, words);
    CHECK_ALWAYS(!pthread_create(&s->puller, NULL, pull_all, s));
    while (!all_run(s))
        sched_yield();
}

/* The result of each call contains this. */
static void check_results(struct scene *s, size_t count, const char *part)
{
    pthread_join(s->puller, NULL);
    for (size_t i = 0; i < count; i++) {
        const allm_message *m = allm_stream_tool_message(s->stream, i);
        const char *text = m && m->text ? m->text : "nothing";
        if (!CHECK_WHY(strstr(text, part) != NULL, "a result"))
            fprintf(stderr, "call %zu: %.300s\n", i, text);
    }
    allm_stream_free(s->stream);
    s->stream = NULL;
}

/* Free the toolbox: within 5 s, whatever runs. */
static void free_in_time(allm_toolbox *box)
{
    int64_t begin = clock_now_ns(clock_real());
    allm_toolbox_free(box);
    int64_t ms = (clock_now_ns(clock_real()) - begin) / 1000000;
    if (!CHECK_WHY(ms < 5000, "the time that freeing takes"))
        fprintf(stderr, "it took %lld ms\n", (long long)ms);
}

static void close_scene(struct scene *s)
{
    if (s->box.box)
        free_in_time(s->box.box);
    s->box.box = NULL;
    allm_elicitation_free(s->form);     /* it may outlive everything */
    allm_stream_free(s->stream);
    server_free(s->web);
    box_close(&s->box);         /* no process or descriptor is left */
}

/* ---------------------------------------------------------------- tests --- */

static void end_with_the_toolbox(void)
{
    struct scene s;
    open_scene(&s, NULL);
    begin_all(&s);
    free_in_time(s.box.box);
    s.box.box = NULL;
    check_results(&s, CALLS, "handler_exit");
    close_scene(&s);
}

/* The stream may go first: nobody waits for the answers. */
static void end_with_the_stream_and_the_toolbox(void)
{
    struct scene s;
    open_scene(&s, NULL);
    begin_all(&s);
    allm_stream_cancel(s.stream);
    pthread_join(s.puller, NULL);
    allm_stream_free(s.stream);
    s.stream = NULL;
    close_scene(&s);
}

/* Servers go on. */
static void end_with_the_stream(void)
{
    struct scene s;
    open_scene(&s, NULL);
    begin_all(&s);
    allm_stream_cancel(s.stream);
    pthread_join(s.puller, NULL);
    allm_stream_free(s.stream);
    s.stream = NULL;
    CHECK_TEXT(box_call(&s.box, "e__echo", "{'text': 'on'}"), "on");
    CHECK_TEXT(box_call(&s.box, "m__echo", "{'text': 'on'}"), "on");
    CHECK_TEXT(box_call(&s.box, "f__echo", "{'text': 'on'}"), "on");
    close_scene(&s);
}

/* Each has a time of its own, but the call whose form a person fills in; then
 * servers go on, too. */
static void end_at_their_time(void)
{
    enum { COUNT = 4 };
    struct scene s;
    const char *words[2 * COUNT] = {
        "stay", "{}",
        "bash", "{'command': 'trap : TERM; while :; do sleep 1; done', "
                "'timeout': 1}",
        "e__hang", "{}",
        "m__hang", "{}",
    };
    open_scene(&s, "1");
    s.stream = box_start_all(&s.box, COUNT, words);
    CHECK_ALWAYS(!pthread_create(&s.puller, NULL, pull_all, &s));
    check_results(&s, COUNT, "timeout");
    CHECK_TEXT(box_call(&s.box, "m__echo", "{'text': 'on'}"), "on");
    close_scene(&s);
}

/* A thread whose reference is the last one. */
static void *request_and_free(void *arg)
{
    allm_toolbox *box = arg;
    allm_json *params = noun_json("{'name': 'hang'}");
    allm_json *got = allm_toolbox_request(box, "m", "tools/call", params, 500);
    CHECK_ERROR(allm_json_error(got), ALLM_ERR_TOOL, "timeout", "500 ms");
    allm_json_free(got);
    allm_json_free(params);
    free_in_time(box);
    return NULL;
}

static void end_with_the_last_reference(void)
{
    enum { THREADS = 3 };
    struct scene s;
    pthread_t threads[THREADS];
    open_scene(&s, NULL);
    begin_all(&s);
    for (size_t i = 0; i < THREADS; i++)
        CHECK_ALWAYS(!pthread_create(&threads[i], NULL, request_and_free,
                                     allm_toolbox_keep(s.box.box)));
    allm_toolbox_free(s.box.box);
    s.box.box = NULL;
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    check_results(&s, CALLS, "handler_exit");
    close_scene(&s);
}

/* A server that does not end by itself, while it is being ended already. */
static void ends_a_server_that_is_ending(void)
{
    struct scene s;
    open_scene(&s, NULL);
    CHECK_INT(box_add_echo(&s.box, "s", "'stubborn'", ""), ALLM_OK);
    CHECK_INT(allm_toolbox_wait(s.box.box, -1), ALLM_OK);
    begin_all(&s);
    const char *text = box_call(&s.box, "s__babble", "{}");
    CHECK(strstr(text, "100 lines in a row"));
    free_in_time(s.box.box);
    s.box.box = NULL;
    check_results(&s, CALLS, "handler_exit");
    close_scene(&s);
}

TESTS = {
    TEST_ONCE(end_with_the_toolbox),
    TEST_ONCE(end_with_the_stream_and_the_toolbox),
    TEST_ONCE(end_with_the_stream),
    TEST_ONCE(end_at_their_time),
    TEST_ONCE(end_with_the_last_reference),
    TEST_ONCE(ends_a_server_that_is_ending),
    TESTS_END,
};
