/*
 * test_player.c - which exchange is played for a request, and misses
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/dialect.h"
#include "harness/drain.h"
#include "harness/play.h"

#include <pthread.h>
#include <stdio.h>

#define FIRST "{\"allm_recording\": 1}\n"
#define OK    "{\"answer\": {\"status\": 200}}\n"
#define SAY(text) \
    OK "{\"ms\": 5, \"text\": \"" text "\"}\n{\"end\": \"complete\"}\n"

static allm_player *replay_of(const char *text, uint32_t flags)
{
    allm_player *r =
        allm_player_new(NULL, ALLM(player_opts, .text = text, .flags = flags));
    CHECK(r && !allm_player_error(r));
    return r;
}

static const char *ask(const allm_player *r, const struct drain *d)
{
    return drain_all(allm_player_transport(r), d);
}

/* ------------------------------------------------------------- matching --- */

#define THREE \
    FIRST \
    "{\"request\": {\"method\": \"POST\", \"url\": \"https://a.example/x\"," \
    " \"headers\": [\"Content-Type: application/json\", \"User-Agent: old\"," \
    " \"x-api-key: [REDACTED]\"]," \
    " \"body\": {\"a\": 1, \"b\": [\"x\", \"y\"]}}}\n" SAY("one") \
    "{\"request\": {\"url\": \"https://b.example/\"}}\n" SAY("two") \
    "{\"request\": {\"body_text\": \"plain\"}}\n" SAY("three")
static const char three[] = THREE;

static void the_first_that_asks_the_same_is_played(void)
{
    allm_player *r = replay_of(three, 0);
    CHECK_INT(allm_player_left(r), 3);
    CHECK_TEXT(ask(r, &(struct drain){ .url = "https://b.example/" }),
               "200 [two] ok");
    CHECK_TEXT(ask(r, &(struct drain){ .body = "plain" }), "200 [three] ok");
    CHECK_TEXT(
        ask(r, &(struct drain){
                          .key = "another-key",
                          .body = "{\"b\":[\"x\",\"y\"], \"a\": 1}" }),
        "200 [one] ok");
    CHECK_INT(allm_player_left(r), 0);
    allm_player_free(r);
}

static void in_order_nothing_is_compared(void)
{
    allm_player *r = replay_of(three, ALLM_PLAYER_IN_ORDER);
    CHECK_TEXT(ask(r, &(struct drain){ .url = "u" }), "200 [one] ok");
    CHECK_TEXT(ask(r, &(struct drain){ .url = "u" }), "200 [two] ok");
    CHECK_TEXT(ask(r, &(struct drain){ .url = "u" }), "200 [three] ok");
    CHECK_TEXT(ask(r, &(struct drain){ .url = "u" }),
               "!no_scripted_response: replay miss: POST u: every exchange of "
               "the recording has been played; record again, or use a new "
               "player for each run");
    allm_player_free(r);
}

static void a_miss_tells_the_nearest(void)
{
    static const struct {
        struct drain ask;
        const char *why;
    } rows[] = {
        { { .body = "{\"a\": 1, \"b\": [\"x\", \"z\"]}" },
          "!no_scripted_response: replay miss: POST https://a.example/x: the "
          "nearest request that is left in the recording, line 2, differs in 1 "
          "place, first at /body/b/1: recorded \"y\", requested \"z\"; record "
          "again, correct the file, or match in order" },
        { { .body = "{\"a\": 1, \"b\": [\"x\", \"y\"], \"c\": null}" },
          "first at /body/c: recorded nothing, requested null" },
        { { .method = "GET", .body = "{\"a\": 1, \"b\": [\"x\", \"y\"]}" },
          "first at /method: recorded \"POST\", requested \"GET\"" },
        { { .url = "https://c.example/", .body = "{}" },
          "line 6, differs in 1 place, first at /url: recorded "
          "\"https://b.example/\", requested \"https://c.example/\"" },
        { { .url = "https://c.example/?key=abc", .body = "{}" },
          "POST https://c.example/?key=[REDACTED]: " },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_player *r = replay_of(three, 0);
        const char *told = ask(r, &rows[i].ask);
        CHECK_WHY(strstr(told, rows[i].why), told);
        CHECK_INT(allm_player_left(r), 3);
        allm_player_free(r);
    }
}

static void headers_count_but_not_all(void)
{
    static const char text[] = FIRST
        "{\"request\": {\"headers\": [\"x-mine: a\"]}}\n" SAY("");
    allm_player *r = replay_of(text, 0);
    const char *told = ask(r, &(struct drain){ .url = "u" });
    CHECK_WHY(strstr(told, "differs in 2 places, first at /headers/x-mine: "
                           "recorded \"a\", requested nothing"),
              told);
    allm_player_free(r);
}

/* It is mended when it is written, and so when it is compared. */
static void what_is_not_utf8_is_found_again(void)
{
    allm_player *r = replay_of(
        FIRST "{\"request\": {\"url\": \"\xef\xbf\xbd\"}}\n" SAY("a"), 0);
    CHECK_TEXT(ask(r, &(struct drain){ .url = "\xff" }), "200 [a] ok");
    allm_player_free(r);
}

static void a_long_difference_is_shortened(void)
{
    char body[3000];
    allm_player *r = replay_of(FIRST "{\"request\": {\"body\": 1}}\n" SAY(""),
                               0);
    memset(body, 'x', sizeof body);
    body[0] = body[sizeof body - 2] = '"';
    body[sizeof body - 1] = '\0';
    const char *told = ask(r, &(struct drain){ .body = body });
    CHECK_WHY(strlen(told) < 700 && strstr(told, "xxx...; record"), told);
    allm_player_free(r);
}

/* ----------------------------------------------------------- no network --- */

static void an_empty_recording_refuses_all(void)
{
    allm_player *r = allm_player_new(NULL, NULL);
    CHECK(r && !allm_player_error(r));
    CHECK_TEXT(ask(r, &(struct drain){ .url = "https://x.example" }),
               "!no_scripted_response: replay miss: POST https://x.example: "
               "the recording is empty, so every request is refused and "
               "no network is used");
    allm_player_free(r);
}

static void what_cannot_be_read_refuses_all(void)
{
    static const struct {
        const char *path;
        allm_player_opts opts;
        const char *why;
    } rows[] = {
        { "/nonexistent/file", { 0 }, "!unreadable_recording: the recording "
          "\"/nonexistent/file\" cannot be read (there is no such "
          "file or folder)" },
        { NULL, { .text = "x" }, "!invalid_recording: the recording, line 1" },
        { NULL, { .text = FIRST "y", .text_len = sizeof FIRST - 2 }, "empty" },
        { "a", { .text = FIRST }, "not both" },
        { NULL, { .flags = 64 }, "use ALLM_PLAYER_*" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        allm_player_opts o = rows[i].opts;
        check_row(rows[i].why);
        o.size = sizeof o;
        allm_player *r = allm_player_new(rows[i].path, &o);
        const char *told = ask(r, &(struct drain){ .url = "u" });
        CHECK_WHY(strstr(told, rows[i].why), told);
        CHECK_INT(allm_player_left(r), 0);
        allm_player_free(r);
    }
    allm_player *r = allm_player_new(NULL, &(allm_player_opts){ .flags = 1 });
    CHECK_TEXT(allm_player_error(r)->reason, "struct_size");
    allm_player_free(r);
}

static void nothing_is_accepted(void)
{
    CHECK_ALWAYS(allm_player_error(NULL)->kind == ALLM_ERR_NOMEM);
    CHECK_ALWAYS(!allm_player_left(NULL));
    CHECK_ALWAYS(strstr(ask(NULL, &(struct drain){ .url = "u" }), "memory"));
    allm_player_free(NULL);
}

/* ----------------------------------------------------------------- ends --- */

static void reading_past_the_end_fails(void)
{
    allm_player *r = replay_of(FIRST "{\"request\": {}}\n" OK
                                     "{\"text\": \"a\"}\n"
                                     "{\"end\": \"closed\"}\n",
                               0);
    CHECK_TEXT(ask(r, &(struct drain){ .url = "u" }),
               "200 [a] !no_scripted_response: replay miss: the recording "
               "stops here (the recording, line 5): the recorded program "
               "closed the connection; record again");
    allm_player_free(r);
}

static void time_passes_only_if_requested(void)
{
    static const char text[] = FIRST
        "{\"request\": {}}\n{\"connect_ms\": 4}\n" OK
        "{\"ms\": 5, \"text\": \"a\"}\n{\"ms\": 7, \"text\": \"b\"}\n"
        "{\"ms\": 1, \"error\": {\"message\": \"m\"}}\n";
    struct clock_manual manual = { 1000000, 0 };
    allm_clock clock = play_clock(&manual);
    for (uint32_t flags = 0; flags < 2; flags++) {
        allm_player *r = allm_player_new(NULL,
                                         ALLM(player_opts, .text = text,
                                              .clock = &clock, .flags = flags));
        CHECK_TEXT(ask(r, &(struct drain){ .clock = &manual }),
                   flags ? "(connecting) +5200 [a] +7 [b] +1 "
                           "!network_error: m"
                         : "200 [a] [b] !network_error: m");
        allm_player_free(r);
    }
}

/* -------------------------------------------------------------- engines --- */

static allm_engine *engine_over(const allm_player *r)
{
    return allm_engine_new(ALLM(engine_opts, .model = "test:m",
                                .adapter_table = &dialect_sse,
                                .transport = allm_player_transport(r)));
}

/* It would be the same miss again. */
static void a_miss_is_not_tried_again(void)
{
    allm_json *retry = play_json("{'retry_on': ['no_scripted_response']}");
    allm_player *r = allm_player_new(NULL, NULL);
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "test:m", .adapter_table = &dialect_sse,
             .retry = retry, .transport = allm_player_transport(r)));
    allm_stream *s = play_call(e);
    const char *told = play_all(s);
    CHECK_WHY(!strcmp(told, "adapter no_scripted_response") ||
                  strstr(told, "error:adapter/no_scripted_response"),
              told);
    CHECK(strstr(play_why(s), "replay miss: POST https://test.example/talk"));
    allm_stream_free(s);
    allm_engine_free(e);
    allm_player_free(r);
    allm_json_free(retry);
}

#define TALK                                                                  \
    "{\"request\": {\"url\": \"https://test.example/talk\"}}\n" OK            \
    "{\"ms\": 2, \"text\": \"data: {\\\"text\\\": \\\"a\\\"}\\n\\n\"}\n"      \
    "{\"ms\": 2, \"text\": \"data: {\\\"finish\\\": \\\"stop\\\"}\\n\\n\"}\n" \
    "{\"ms\": 2, \"end\": \"complete\"}\n"

static void many_streams_in_a_hub(void)
{
    enum { STREAMS = 4 };
    allm_stream *s[STREAMS];
    struct clock_manual manual = { 1000000, 1700000000000 };
    allm_clock clock = play_clock(&manual);
    allm_player *r = allm_player_new(
        NULL, ALLM(player_opts, .text = FIRST TALK TALK TALK TALK,
                   .flags = ALLM_PLAYER_TIMED, .clock = &clock));
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "test:m", .adapter_table = &dialect_sse,
             .clock = &clock, .transport = allm_player_transport(r)));
    allm_hub *hub = allm_hub_new(ALLM(hub_opts, .clock = &clock));
    for (size_t i = 0; i < STREAMS; i++) {
        s[i] = play_call(e);
        allm_hub_add(hub, s[i], NULL);
    }
    allm_stream *next;
    const allm_event *event;
    while ((next = allm_hub_wait(hub, -1, NULL)))
        while (allm_stream_next(next, &event) == ALLM_EVENT)
            ;
    for (size_t i = 0; i < STREAMS; i++) {
        const allm_response *answer = allm_stream_response(s[i]);
        CHECK(answer && !strcmp(answer->output_text, "a"));
        allm_stream_free(s[i]);
    }
    CHECK_INT(allm_player_left(r), 0);
    allm_hub_free(hub);
    allm_engine_free(e);
    allm_player_free(r);
}

/* -------------------------------------------------------------- threads --- */

enum { THREADS = 4, CALLS = 25 };

static void *call_often(void *engine)
{
    size_t good = 0;
    for (int i = 0; i < CALLS; i++) {
        allm_stream *s = play_call(engine);
        const allm_event *event;
        while (allm_stream_next(s, &event) == ALLM_EVENT)
            ;
        const allm_response *answer = allm_stream_response(s);
        good += answer && answer->output_text &&
                !strcmp(answer->output_text, "a");
        allm_stream_free(s);
    }
    return good == CALLS ? engine : NULL;
}

/* A replay, recorded while it is played by several threads. */
static void threads_share_replay_and_recorder(void)
{
    static char text[(THREADS * CALLS + 1) * sizeof TALK];
    pthread_t threads[THREADS];
    snprintf(text, sizeof text, "%s", FIRST);
    for (int i = 0; i < THREADS * CALLS; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s", TALK);
    allm_player *r = replay_of(text, 0);
    allm_recorder *record = allm_recorder_new(
        NULL, ALLM(recorder_opts, .transport = allm_player_transport(r)));
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "test:m", .adapter_table = &dialect_sse,
             .transport = allm_recorder_transport(record)));
    for (size_t i = 0; i < THREADS; i++)
        CHECK_ALWAYS(!pthread_create(&threads[i], NULL, call_often, e));
    for (size_t i = 0; i < THREADS; i++) {
        void *good;
        pthread_join(threads[i], &good);
        CHECK(good);
    }
    CHECK_INT(allm_player_left(r), 0);
    allm_text *all = allm_recorder_text(record);
    allm_player *again = replay_of(allm_text_bytes(all, NULL), 0);
    CHECK_INT(allm_player_left(again), THREADS * CALLS);
    allm_player_free(again);
    allm_text_free(all);
    allm_engine_free(e);
    allm_recorder_free(record);
    allm_player_free(r);
}

static void calls_read_what_is_played(void)
{
    allm_player *r = replay_of(FIRST TALK, 0);
    allm_engine *e = engine_over(r);
    allm_stream *s = play_call(e);
    CHECK_TEXT(play_all(s), "started text:a completed:a/stop ok");
    allm_stream_free(s);
    allm_engine_free(e);
    allm_player_free(r);
}

TESTS = {
    TEST(the_first_that_asks_the_same_is_played),
    TEST(in_order_nothing_is_compared),
    TEST(a_miss_tells_the_nearest),
    TEST(headers_count_but_not_all),
    TEST(what_is_not_utf8_is_found_again),
    TEST(a_long_difference_is_shortened),
    TEST(an_empty_recording_refuses_all),
    TEST(what_cannot_be_read_refuses_all),
    TEST(nothing_is_accepted),
    TEST(reading_past_the_end_fails),
    TEST(time_passes_only_if_requested),
    TEST(calls_read_what_is_played),
    TEST(a_miss_is_not_tried_again),
    TEST(many_streams_in_a_hub),
    TEST_ONCE(threads_share_replay_and_recorder),
    TESTS_END,
};
