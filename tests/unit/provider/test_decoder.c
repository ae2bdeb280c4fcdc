/* test_decoder.c - from the bytes of a body to events */
#include "provider/decoder.h"

#include "harness/check.h"
#include "harness/dialect.h"
#include "harness/play.h"
#include "provider/dialects.h"

#include <stdio.h>

/* A body being decoded by a test. */
struct bench {
    struct arena events, life;
    struct allm_sink sink;
    struct decoding d;
    allm_call call;
    uint64_t state[1024];
    bool content;
    char told[1024];
};

static void bench_init(struct bench *b, const allm_adapter *adapter, bool whole)
{
    *b = (struct bench){ .call = { .size = sizeof(allm_call) } };
    CHECK_ALWAYS(adapter->state_size <= sizeof b->state);
    arena_init(&b->events, mem_default());
    arena_init(&b->life, mem_default());
    sink_init(&b->sink, &b->events, &b->life);
    decoder_init(&b->d, mem_default(), adapter, &b->call, b->state, whole);
}

static void bench_release(struct bench *b)
{
    decoder_release(&b->d);
    arena_release(&b->events);
    arena_release(&b->life);
}

static void say(struct bench *b, const char *word)
{
    size_t n = strlen(b->told);
    snprintf(b->told + n, sizeof b->told - n, "%s%s", n ? " " : "", word);
}

/* Take the events, as a stream does between two calls. */
static void drain(struct bench *b)
{
    const allm_event *event;
    while ((event = sink_take(&b->sink)))
        say(b, play_word(event));
    if (b->sink.failure)
        say(b, b->sink.failure->reason);
    arena_reset(&b->events);
    sink_init(&b->sink, &b->events, &b->life);
}

static allm_status feed(struct bench *b, const char *text)
{
    struct slice in = slice_of(text);
    allm_status status;
    while ((status = decoder_feed(&b->d, &in, &b->sink, &b->content)) ==
               ALLM_EVENT &&
           !b->sink.ended)
        drain(b);
    CHECK(status != ALLM_OK || in.len == 0);
    drain(b);
    return status;
}

static allm_status finish(struct bench *b)
{
    allm_status status;
    while ((status = decoder_end(&b->d, &b->sink)) == ALLM_EVENT)
        drain(b);
    drain(b);
    return status;
}

/* ------------------------------------------------------------- framings --- */

static const struct {
    const char *why;
    const allm_adapter *adapter;
    bool whole;
    const char *body, *events;
} bodies[] = {
    { "SSE", &dialect_sse, false,
      "data: {\"text\": \"a\"}\n\n: c\n\ndata: {\"finish\": 1}\n\n",
      "started text:a completed:a/stop" },
    { "SSE, the last frame open", &dialect_sse, false,
      "data: {\"text\": \"a\"}\n\ndata: {\"finish\": 1}",
      "started text:a completed:a/stop" },
    { "NDJSON", &dialect_ndjson, false,
      "{\"text\": \"a\"}\r\n\n{\"finish\": 1}\n",
      "started text:a completed:a/stop" },
    { "a line that is no JSON", &dialect_ndjson, false,
      "{\"text\": \"a\"}\nx\n", "started text:a malformed_response" },
    { "whole", &dialect_whole, false, "{\"text\": \"a\", \"finish\": 1}",
      "started text:a completed:a/stop" },
    { "a document instead of SSE", &dialect_sse, true,
      "{\"text\": \"a\",\n\n \"finish\": 1}",
      "started text:a completed:a/stop" },
    { "events of the last frame", &dialect_sse, false,
      "data: {\"texts\": [\"a\", \"b\"], \"finish\": 1}",
      "started text:a text:b completed:ab/stop" },
    { "the end, and more", &dialect_sse, false,
      "data: {\"text\": \"a\"}\n\ndata: end\n\ndata: {\"text\": \"b\"}\n\n",
      "started text:a completed:a/stop" },
    { "the end without its line", &dialect_ndjson, false,
      "{\"text\": \"a\"}\nend", "started text:a completed:a/stop" },
    { "a line that was cut is no odd line", &dialect_ndjson, false,
      "{\"text\": \"a\"}\n{\"text\": \"b", "started text:a truncated" },
    { "nothing", &dialect_sse, false, "", "truncated" },
    { "nothing, whole", &dialect_whole, false, "", "truncated" },
    { "no finish", &dialect_sse, false, "data: {\"text\": \"a\"}\n\n",
      "started text:a truncated" },
    { "the name goes with its frame", &dialect_sse, false,
      "event: error\ndata: \"why\"\n\n", "unknown" },
    { "the field error", &dialect_sse, false, "error: \"why\"\n\n", "unknown" },
};

enum { BODIES = sizeof bodies / sizeof *bodies };

static void bodies_become_events(void)
{
    for (size_t i = 0; i < BODIES; i++) {
        struct bench b;
        check_row(bodies[i].why);
        bench_init(&b, bodies[i].adapter, bodies[i].whole);
        if (feed(&b, bodies[i].body) >= 0)
            finish(&b);
        CHECK_TEXT(b.told, bodies[i].events);
        bench_release(&b);
    }
}

static void bytes_become_the_same_events(void)
{
    for (size_t i = 0; i < BODIES; i++) {
        struct bench b;
        allm_status status = ALLM_OK;
        check_row(bodies[i].why);
        bench_init(&b, bodies[i].adapter, bodies[i].whole);
        for (const char *p = bodies[i].body; *p && status >= 0; p++) {
            const char one[2] = { *p, '\0' };
            status = feed(&b, one);
        }
        if (status >= 0)
            finish(&b);
        CHECK_TEXT(b.told, bodies[i].events);
        bench_release(&b);
    }
}

static void one_call_gives_the_events_of_one_frame(void)
{
    struct bench b;
    struct slice in = SLICE("data: {\"texts\": [\"a\", \"b\"]}\n\n"
                            "data: {\"text\": \"c\"}\n\n");
    bench_init(&b, &dialect_sse, false);
    CHECK_INT(decoder_feed(&b.d, &in, &b.sink, &b.content), ALLM_EVENT);
    drain(&b);
    CHECK_TEXT(b.told, "started text:a text:b");
    CHECK(in.len > 10);         /* the other frame is untouched */
    bench_release(&b);
}

/* -------------------------------------------------------- what it tells --- */

static void only_frames_with_content_are_content(void)
{
    static const struct {
        const char *body;
        bool content;
    } rows[] = {
        { ": comment\n\n", false },
        { "event: x\n\n", false },
        { "data: {\"ping\": 1}\n\n", false },
        { "data: {\"te", false },
        { "data: {\"busy\": 1}\n\n", true },
        { "data: {\"busy\": 1}\n\ndata: {\"ping\": 1}\n\n", true },
        { "data: {\"text\": \"a\"}\n\n", true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        check_row(rows[i].body);
        bench_init(&b, &dialect_sse, false);
        feed(&b, rows[i].body);
        CHECK_INT(b.content, rows[i].content);
        bench_release(&b);
    }
}

static void the_end_ends(void)
{
    struct bench b;
    struct slice in = SLICE("data: end\n\ndata: {{{\n\n");
    dialect_finished = 0;
    bench_init(&b, &dialect_sse, false);
    CHECK_INT(decoder_feed(&b.d, &in, &b.sink, &b.content), ALLM_EVENT);
    CHECK(b.sink.ended);
    drain(&b);
    CHECK_INT(decoder_feed(&b.d, &in, &b.sink, &b.content), ALLM_OK);
    CHECK_INT(finish(&b), ALLM_OK);
    CHECK_TEXT(b.told, "completed:/stop");
    CHECK_INT(dialect_finished, 1);
    bench_release(&b);
}

/* --------------------------------------------------------------- limits --- */

static void bodies_have_a_limit(void)
{
    struct bench b;
    bench_init(&b, &dialect_sse, false);
    b.d.limit = 20;
    CHECK_INT(feed(&b, "data: {\"busy\": 1}\n\n"), ALLM_OK);
    CHECK_INT(feed(&b, "data: {\"busy\": 1}\n\n"), ALLM_ERR_ADAPTER);
    CHECK_TEXT(b.told, "malformed_response");
    bench_release(&b);

    bench_init(&b, &dialect_whole, false);
    b.d.whole.limit = 20;
    CHECK_INT(feed(&b, "{\"text\": \"abcd\","), ALLM_OK);
    CHECK_INT(feed(&b, "\"finish\": \"stop\"}"), ALLM_ERR_ADAPTER);
    CHECK_TEXT(b.told, "malformed_response");
    bench_release(&b);
}

/* Comments, of which nothing is kept; then a document, with a smaller limit. */
static void the_limit_of_a_body_is_exact(void)
{
    enum { PIECE = 1 << 20 };
    static char comment[PIECE + 1];
    struct bench b;
    memset(comment, ':', PIECE - 1);
    comment[PIECE - 1] = '\n';
    bench_init(&b, &dialect_sse, false);
    for (int n = 0; n < DECODER_BODY_LIMIT / PIECE; n++)
        CHECK_INT(feed(&b, comment), ALLM_OK);
    CHECK_INT(feed(&b, ":"), ALLM_ERR_ADAPTER);
    CHECK_TEXT(b.told, "malformed_response");
    bench_release(&b);

    bench_init(&b, &dialect_whole, false);
    b.d.limit = b.d.whole.limit = 20;
    CHECK_INT(feed(&b, "12345678901234567890"), ALLM_OK);
    CHECK_INT(feed(&b, "1"), ALLM_ERR_ADAPTER);
    bench_release(&b);
}

static void lines_have_a_limit(void)
{
    static char spaces[(1 << 20) + 1];
    struct bench b;
    memset(spaces, ' ', 1 << 20);
    for (int i = 0; i < 2; i++) {
        allm_status status = ALLM_OK;
        bench_init(&b, i ? &dialect_ndjson : &dialect_sse, false);
        feed(&b, i ? "[" : "data: [");
        for (int n = 0; n < 17 && status == ALLM_OK; n++)
            status = feed(&b, spaces);
        CHECK_INT(status, ALLM_ERR_ADAPTER);
        CHECK_TEXT(b.told, "malformed_response");
        bench_release(&b);
    }
}

/* The memory of frames without events is freed frame by frame. */
static void silent_frames_take_no_room(void)
{
    enum { TIMES = 10000 };
    static const char ping[] = "data: {\"type\":\"ping\"}\n\n";
    static char pings[TIMES * (sizeof ping - 1) + 1];
    struct bench b;
    for (int i = 0; i < TIMES; i++)
        memcpy(pings + (size_t)i * (sizeof ping - 1), ping, sizeof ping);
    bench_init(&b, &anthropic_adapter, false);
    size_t before = check_live_bytes();
    struct slice in = slice_of(pings);
    CHECK_INT(decoder_feed(&b.d, &in, &b.sink, &b.content), ALLM_OK);
    CHECK(check_live_bytes() - before < 65536);
    bench_release(&b);
}

/* Frames that are alike make a skeleton, until there is time. */
static void likeness_is_learned_and_forgotten(void)
{
    static const char *const frames[] = {
        "data: {\"type\":\"message_start\",\"message\":{}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
        "{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
        "{\"type\":\"text_delta\",\"text\":\"bc\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
        "{\"type\":\"text_delta\",\"text\":\"d\"}}\n\n",
    };
    struct bench b;
    bench_init(&b, &anthropic_adapter, false);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        feed(&b, frames[i]);
    CHECK(b.d.skeleton.form && b.d.skeleton.misses == 0);
    CHECK_TEXT(b.told, "started text:a text:bc text:d");
    decoder_rest(&b.d);
    CHECK_ALWAYS(!b.d.skeleton.form);
    bench_release(&b);
}

TESTS = {
    TEST(likeness_is_learned_and_forgotten),
    TEST(bodies_become_events),
    TEST(bytes_become_the_same_events),
    TEST(one_call_gives_the_events_of_one_frame),
    TEST(only_frames_with_content_are_content),
    TEST(the_end_ends),
    TEST(bodies_have_a_limit),
    TEST_ONCE(the_limit_of_a_body_is_exact),
    TEST(lines_have_a_limit),
    TEST_ONCE(silent_frames_take_no_room),
    TESTS_END,
};
