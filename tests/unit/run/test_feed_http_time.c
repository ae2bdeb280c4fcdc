/*
 * test_feed_http_time.c - answers over HTTP: retries, timeouts, hubs, stops
 *
 * tag: thread
 */
#include "run/feed_http.h"

#include "harness/check.h"
#include "harness/dialect.h"
#include "harness/play.h"

#include <stdio.h>

#define A    "data: {\"text\": \"a\"}\n\n"
#define B    "data: {\"text\": \"b\"}\n\n"
#define PING "data: {\"ping\": true}\n\n"
#define BUSY "data: {\"busy\": true}\n\n"
#define STOP "data: {\"finish\": \"stop\"}\n\n"
#define END  "data: end\n\n"
#define GOOD STEP_HEAD(200), STEP_BYTES(A END), STEP_END, STEP_DONE
#define SAID "started text:a completed:a/stop ok"

/* Without chance: 3 attempts after 100 and 200 ms. */
#define EXACT "{'base_delay_ms': 100, 'jitter_ms': 0}"

typedef const struct scripted_step script[];

/* What one call told, when it ended (ms since the start), how often it was
 * sent: "...; 100 ms, 2 sent". */
static const char *timed(const struct scripted_step *steps,
                         const allm_call_opts *opts)
{
    static char told[1024];
    allm_json *retry = play_json(EXACT);
    struct dialect_set d = { .steps = steps, .retry = retry };
    dialect_set_up(&d);
    int64_t began = d.clock.now_ns;
    allm_stream *s = play_call_with(d.engine, opts);
    const char *events = play_all(s);
    snprintf(told, sizeof told, "%s; %d ms, %zu sent", events,
             (int)((d.clock.now_ns - began) / 1000000), d.play.opens);
    CHECK_ALWAYS(d.play.open_now == 0); /* the end has closed it */
    allm_stream_free(s);
    dialect_tear_down(&d);
    allm_json_free(retry);
    return told;
}

/* -------------------------------------------------------------- retries --- */

static void failures_before_the_first_byte_are_tried_again(void)
{
    script unreachable = { STEP_REFUSE("network_error", "no route"), GOOD };
    CHECK_TEXT(timed(unreachable, NULL), SAID "; 100 ms, 2 sent");
    script dropped = { STEP_ERROR("network_error", "reset"),
                       STEP_HEAD(200), STEP_BYTES(""), STEP_BYTES(""),
                       STEP_ERROR("network_error", "reset"), GOOD };
    CHECK_TEXT(timed(dropped, NULL), SAID "; 300 ms, 3 sent");
    script busy = { STEP_HEAD(503), STEP_BYTES("{"), STEP_END, GOOD };
    CHECK_TEXT(timed(busy, NULL), SAID "; 100 ms, 2 sent");
    script explained = { STEP_HEAD(503), STEP_BYTES("{\"why\": \"x\"}"),
                         STEP_END, GOOD };     /* its event is not emitted */
    CHECK_TEXT(timed(explained, NULL), SAID "; 100 ms, 2 sent");
    script told_when = { STEP_HEADERS(429, "retry-after", "2"), STEP_END,
                         GOOD };
    CHECK_TEXT(timed(told_when, NULL), SAID "; 2000 ms, 2 sent");
    script late = { STEP_HEAD(200), STEP_STAY, GOOD };
    CHECK_TEXT(timed(late, ALLM(call_opts, .first_ms = 50)),
               SAID "; 150 ms, 2 sent");
}

static void some_failures_are_final(void)
{
    script always = { STEP_REFUSE("network_error", "a"),
                      STEP_REFUSE("network_error", "b"),
                      STEP_REFUSE("network_error", "c"), GOOD };
    CHECK_TEXT(timed(always, NULL), "adapter network_error; 300 ms, 3 sent");
    script key = { STEP_HEAD(401), STEP_END, GOOD };
    CHECK_TEXT(timed(key, NULL), "adapter authentication_failed; 0 ms, 1 sent");
    script money = { STEP_HEAD(402), STEP_END, GOOD };
    CHECK_TEXT(timed(money, NULL), "adapter rate_limited; 0 ms, 1 sent");
    script tomorrow = { STEP_HEADERS(429, "retry-after", "86400"), STEP_END,
                        GOOD };
    CHECK_TEXT(timed(tomorrow, NULL), "adapter rate_limited; 0 ms, 1 sent");
    script mute = { STEP_HEAD(200), STEP_STAY, STEP_HEAD(200), STEP_STAY,
                    STEP_HEAD(200), STEP_STAY, GOOD };
    CHECK_TEXT(timed(mute, ALLM(call_opts, .first_ms = 50)),
               "adapter timeout; 450 ms, 3 sent");
}

static void nothing_is_tried_again_after_the_first_byte(void)
{
    script cut = { STEP_HEAD(200), STEP_BYTES(":"),
                   STEP_ERROR("network_error", "reset"), GOOD };
    CHECK_TEXT(timed(cut, NULL), "error:stream/truncated ok; 0 ms, 1 sent");
    script told = { STEP_HEAD(200), STEP_BYTES("data: {\"error\": \"no\"}\n\n"),
                    STEP_END, GOOD };
    CHECK_TEXT(timed(told, NULL), "error:adapter/unknown ok; 0 ms, 1 sent");
    script late = { STEP_HEAD(200), STEP_BYTES("\n"), STEP_STAY, GOOD };
    CHECK_TEXT(timed(late, ALLM(call_opts, .first_ms = 50)),
               "error:adapter/timeout ok; 50 ms, 1 sent");
}

static void every_attempt_is_encoded_anew(void)
{
    script steps = { STEP_HEAD(500), STEP_END,
                     STEP_ERROR("network_error", "x"), GOOD };
    allm_json *retry = play_json(EXACT);
    struct dialect_set d = { .steps = steps, .retry = retry };
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    CHECK_TEXT(play_all(s), SAID);
    for (size_t i = 0; i < 3; i++) {
        char want[64];
        snprintf(want, sizeof want, "\"attempt\":%zu}", i + 1);
        CHECK(strstr(d.play.request[i].body, want));
        CHECK_TEXT(d.play.request[i].url, d.play.request[0].url);
    }
    CHECK_INT(d.play.request[2].at_ns, 1000000 + 300 * 1000000);
    CHECK_INT(d.play.opens, 3);
    CHECK_INT(d.play.closes, 3);
    allm_stream_free(s);
    dialect_tear_down(&d);
    allm_json_free(retry);
}

static void write_down(const allm_trace_event *e, void *ud)
{
    char *out = ud;
    size_t n = strlen(out);
    int64_t delay = 0, attempt = 0;
    if (strcmp(e->what, "retry") != 0)
        return;
    allm_json_int64(allm_json_get(e->metadata, "delay_ms"), &delay);
    allm_json_int64(allm_json_get(e->metadata, "attempt"), &attempt);
    snprintf(out + n, 256 - n, "%d:%d:%s ", (int)attempt, (int)delay,
             allm_json_text(allm_json_get(e->metadata, "reason"), NULL));
}

static void retries_are_reported(void)
{
    script steps = { STEP_REFUSE("network_error", "x"), STEP_HEAD(503),
                     STEP_END, GOOD };
    char told[256] = "";
    allm_json *retry = play_json(EXACT);
    struct dialect_set d = { .steps = steps, .retry = retry,
                             .trace = write_down, .trace_ud = told };
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    CHECK_TEXT(play_all(s), SAID);
    CHECK_TEXT(told, "1:100:network_error 2:200:provider_unavailable ");
    allm_stream_free(s);
    dialect_tear_down(&d);
    allm_json_free(retry);
}

/* ------------------------------------------------------------ deadlines --- */

static void the_connection_has_its_deadline(void)
{
    const allm_call_opts *soon = ALLM(call_opts, .connect_ms = 40);
    script never = { STEP_CONNECT(-1), STEP_STAY, GOOD };
    CHECK_TEXT(timed(never, soon), SAID "; 140 ms, 2 sent");
    script in_time = { STEP_CONNECT(39), STEP_DELAY(500), GOOD };
    CHECK_TEXT(timed(in_time, soon), SAID "; 539 ms, 1 sent");
    script thrice = { STEP_CONNECT(-1), STEP_STAY, STEP_CONNECT(99), STEP_STAY,
                      STEP_CONNECT(41), STEP_STAY, STEP_DONE };
    CHECK_TEXT(timed(thrice, soon), "adapter timeout; 420 ms, 3 sent");
    script by_default = { STEP_CONNECT(30001), STEP_STAY, GOOD };
    CHECK_TEXT(timed(by_default, NULL), SAID "; 30100 ms, 2 sent");
}

/* A transport without ready() counts as connected. */
static void a_transport_may_not_know_of_connections(void)
{
    script steps = { STEP_CONNECT(60), GOOD };
    struct dialect_set d = { .steps = steps, .blind = true };
    dialect_set_up(&d);
    allm_stream *s = play_call_with(d.engine,
                                    ALLM(call_opts, .connect_ms = 40));
    CHECK_TEXT(play_all(s), SAID);
    CHECK_INT(d.play.opens, 1);
    allm_stream_free(s);
    dialect_tear_down(&d);
}

static void content_must_come(void)
{
    const allm_call_opts *soon = ALLM(call_opts, .first_ms = 50,
                                      .silence_ms = 80);
    script comments = { STEP_HEAD(200), STEP_BYTES(": a\n\n"), STEP_DELAY(30),
                        STEP_BYTES(": b\n\n"), STEP_DELAY(30), GOOD };
    CHECK_TEXT(timed(comments, soon),
               "error:adapter/timeout ok; 50 ms, 1 sent");
    script pings = { STEP_HEAD(200), STEP_BYTES(PING), STEP_DELAY(30),
                     STEP_BYTES(PING), STEP_DELAY(30), GOOD };
    CHECK_TEXT(timed(pings, soon), "error:adapter/timeout ok; 50 ms, 1 sent");
    script work = { STEP_HEAD(200), STEP_BYTES(BUSY), STEP_DELAY(30),
                    STEP_BYTES(BUSY), STEP_DELAY(30), GOOD };
    CHECK_TEXT(timed(work, soon), SAID "; 60 ms, 1 sent");
    script silence = { STEP_HEAD(200), STEP_BYTES(A), STEP_DELAY(79),
                       STEP_BYTES(B), STEP_DELAY(40), STEP_BYTES(PING),
                       STEP_DELAY(41), STEP_BYTES(END), STEP_END, STEP_DONE };
    CHECK_TEXT(timed(silence, soon),
               "started text:a text:b error:adapter/timeout ok; 159 ms, 1 "
               "sent");
    script document = { STEP_HEAD(200), STEP_BYTES("{\"text\": "),
                        STEP_DELAY(40), STEP_BYTES("\"a\", "), STEP_DELAY(40),
                        STEP_BYTES("\"finish\": 1}"), STEP_END, STEP_DONE };
    CHECK_TEXT(timed(document, soon), SAID "; 80 ms, 1 sent");
}

static void the_whole_has_its_deadline(void)
{
    const allm_call_opts *soon = ALLM(call_opts, .total_ms = 90);
    script steps = { STEP_HEAD(200), STEP_BYTES(A), STEP_DELAY(60),
                     STEP_BYTES(B), STEP_DELAY(60), STEP_BYTES(END), STEP_END,
                     STEP_DONE };
    CHECK_TEXT(timed(steps, soon),
               "started text:a text:b error:adapter/timeout ok; 90 ms, 1 "
               "sent");
    script silent = { STEP_HEAD(200), STEP_STAY, GOOD };
    CHECK_TEXT(timed(silent, soon), "adapter timeout; 90 ms, 1 sent");
}

/* A retry that would come too late is not waited for. */
static void a_retry_must_come_in_time(void)
{
    script steps = { STEP_REFUSE("network_error", "x"), GOOD };
    CHECK_TEXT(timed(steps, ALLM(call_opts, .total_ms = 100)),
               "adapter network_error; 0 ms, 1 sent");
    CHECK_TEXT(timed(steps, ALLM(call_opts, .total_ms = 101)),
               SAID "; 100 ms, 2 sent");
}

/* The error has what is known of the body, whichever timeout comes first. */
static void a_late_refusal_is_a_refusal(void)
{
    script steps = { STEP_HEAD(401), STEP_BYTES("{"), STEP_STAY, STEP_DONE };
    CHECK_TEXT(timed(steps, ALLM(call_opts, .first_ms = 50)),
               "adapter authentication_failed; 50 ms, 1 sent");
    CHECK_TEXT(timed(steps, ALLM(call_opts, .total_ms = 60)),
               "adapter authentication_failed; 60 ms, 1 sent");
}

static void deadlines_run_from_the_first_pull(void)
{
    script steps = { STEP_CONNECT(10), STEP_DELAY(20), GOOD };
    struct dialect_set d = { .steps = steps };
    dialect_set_up(&d);
    allm_stream *s = play_call_with(d.engine,
                                    ALLM(call_opts, .connect_ms = 40,
                                         .first_ms = 50, .total_ms = 60));
    clock_advance(&d.clock, 3600 * 1000);
    CHECK_TEXT(play_all(s), SAID);
    allm_stream_free(s);
    dialect_tear_down(&d);
}

static void a_missing_end_is_waited_for_two_seconds(void)
{
    script never = { STEP_HEAD(200), STEP_BYTES(A STOP), STEP_STAY,
                     STEP_DONE };
    CHECK_TEXT(timed(never, NULL), SAID "; 2000 ms, 1 sent");
    script pings = { STEP_HEAD(200), STEP_BYTES(A STOP), STEP_DELAY(1500),
                     STEP_BYTES(PING), STEP_DELAY(1000), STEP_BYTES(B END),
                     STEP_END, STEP_DONE };
    CHECK_TEXT(timed(pings, NULL), SAID "; 2000 ms, 1 sent");
    script more = { STEP_HEAD(200), STEP_BYTES(A STOP), STEP_DELAY(1500),
                    STEP_BYTES(BUSY), STEP_DELAY(1500), STEP_BYTES(END),
                    STEP_END, STEP_DONE };
    CHECK_TEXT(timed(more, NULL), SAID "; 3000 ms, 1 sent");
    script quiet = { STEP_HEAD(200), STEP_BYTES(A),
                     STEP_BYTES("data: {\"finish\": 1, \"quiet\": 1}\n\n"),
                     STEP_STAY, STEP_DONE };
    CHECK_TEXT(timed(quiet, NULL), SAID "; 2000 ms, 1 sent");
}

static void a_deadline_after_all_is_there_is_an_end(void)
{
    script never = { STEP_HEAD(200), STEP_BYTES(A STOP), STEP_STAY,
                     STEP_DONE };
    CHECK_TEXT(timed(never, ALLM(call_opts, .silence_ms = 70)),
               SAID "; 70 ms, 1 sent");
    CHECK_TEXT(timed(never, ALLM(call_opts, .total_ms = 90)),
               SAID "; 90 ms, 1 sent");
}

/* -------------------------------------------------------- back-pressure --- */

static void the_feed_never_reads_ahead(void)
{
    script steps = { STEP_HEAD(200), STEP_BYTES(A A), STEP_BYTES(B),
                     STEP_BYTES("data: {\"texts\": [\"c\", \"d\"]}\n\n"),
                     STEP_BYTES(END), STEP_END, STEP_DONE };
    static const struct {
        const char *word;
        size_t reads;
    } rows[] = {
        { "started", 1 }, { "text:a", 1 }, { "text:a", 1 }, { "text:b", 2 },
        { "text:c", 3 },  { "text:d", 3 }, { "completed:aabcd/stop", 4 },
    };
    struct dialect_set d = { .steps = steps };
    const allm_event *event;
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    CHECK_INT(d.play.reads, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!CHECK(allm_stream_next(s, &event) == ALLM_EVENT))
            break;
        CHECK_TEXT(play_word(event), rows[i].word);
        CHECK_INT(d.play.reads, rows[i].reads);
    }
    allm_stream_free(s);
    dialect_tear_down(&d);
}

/* A request may be long, and the answer may take hours. */
static void the_request_is_dropped_when_the_answer_comes(void)
{
    enum { MIB = 1 << 20 };
    script steps = { STEP_HEAD(200), STEP_BYTES(A), STEP_STAY, STEP_DONE };
    struct dialect_set d = { .steps = steps };
    allm_json *opts = play_json("{'encode': 'long'}");
    dialect_set_up(&d);
    allm_stream *s = play_call_with(d.engine, ALLM(call_opts, .json = opts));
    CHECK(check_live_bytes() > MIB);
    allm_stream_next(s, NULL);
    CHECK(check_live_bytes() < MIB);
    allm_stream_free(s);
    dialect_tear_down(&d);
    allm_json_free(opts);
}

/* Bytes that make no events do not keep a caller inside for ever. */
static void a_flood_of_comments_can_be_stopped(void)
{
    struct scripted_step steps[1002] = { STEP_HEAD(200) };
    const struct scripted_step beat = STEP_BYTES(": beat\n\n");
    for (size_t i = 1; i < 1000; i++)
        steps[i] = beat;
    steps[1000] = (struct scripted_step)STEP_STAY;
    struct dialect_set d = { .steps = steps };
    dialect_set_up(&d);
    allm_hub *hub = allm_hub_new(NULL);
    allm_stream *s = play_call(d.engine);
    CHECK_INT(allm_hub_add(hub, s, NULL), ALLM_OK);
    if (allm_hub_wait(hub, 0, NULL)) {
        CHECK_INT(allm_stream_next(s, NULL), ALLM_AGAIN);
        CHECK(d.play.reads < 100);
        allm_stream_cancel(s);
        CHECK(allm_hub_wait(hub, 0, NULL) == s);
        CHECK_INT(allm_stream_next(s, NULL), ALLM_OK);
        CHECK_INT(d.play.closes, 1);
    }
    allm_stream_free(s);
    allm_hub_free(hub);
    dialect_tear_down(&d);
}

/* ---------------------------------------------------------------- stops --- */

/* Free after n pulls, whatever it is doing: closed once, no more is read. */
static void a_stream_may_be_freed_at_any_time(void)
{
    script steps = { STEP_CONNECT(5), STEP_HEAD(200), STEP_BYTES(A),
                     STEP_DELAY(10), STEP_BYTES(B), STEP_BYTES(END), STEP_END,
                     STEP_DONE };
    for (int pulls = 0; pulls < 6; pulls++) {
        struct dialect_set d = { .steps = steps };
        dialect_set_up(&d);
        allm_stream *s = play_call(d.engine);
        for (int i = 0; i < pulls; i++)
            allm_stream_next(s, NULL);
        size_t reads = d.play.reads;
        allm_stream_free(s);
        CHECK_INT(d.play.opens, pulls > 0);
        CHECK_INT(d.play.closes, pulls > 0);
        CHECK_ALWAYS(d.play.reads == reads);
        dialect_tear_down(&d);
    }
}

static void a_cancelled_call_closes_at_once(void)
{
    script steps = { STEP_HEAD(200), STEP_BYTES(A B), STEP_STAY, STEP_DONE };
    struct dialect_set d = { .steps = steps };
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    allm_stream_next(s, NULL);
    allm_stream_next(s, NULL);
    allm_stream_cancel(s);
    CHECK_TEXT(play_all(s), "ok");
    CHECK_INT(d.play.closes, 1);
    CHECK_INT(d.play.reads, 1);
    const allm_response *r = allm_stream_response(s);
    CHECK(r && !strcmp(r->output_text, "a"));
    CHECK_TEXT(allm_stream_error(s)->reason, "cancelled");
    allm_stream_free(s);
    dialect_tear_down(&d);
}

static void a_waiting_retry_is_cancelled(void)
{
    script steps = { STEP_REFUSE("network_error", "x"), GOOD };
    struct dialect_set d = { .steps = steps };
    dialect_set_up(&d);
    allm_hub *hub = allm_hub_new(NULL);
    allm_stream *s = play_call(d.engine);
    allm_hub_add(hub, s, NULL);
    if (allm_hub_wait(hub, 0, NULL)) {
        CHECK_INT(allm_stream_next(s, NULL), ALLM_AGAIN);
        allm_stream_cancel(s);
        CHECK_INT(allm_stream_next(s, NULL), ALLM_OK);
        CHECK_INT(d.play.opens, 1);
    }
    allm_stream_free(s);
    allm_hub_free(hub);
    dialect_tear_down(&d);
}

/* ----------------------------------------------------------------- hubs --- */

static void a_ring_from_a_thread_wakes(void)
{
    script steps = { STEP_RING, STEP_HEAD(200), STEP_RING, STEP_BYTES(A),
                     STEP_RING, STEP_BYTES(END), STEP_END, STEP_DONE };
    for (int real = 0; real < 2; real++) {
        struct dialect_set d = { .steps = steps, .real_time = real };
        dialect_set_up(&d);
        allm_stream *s = play_call(d.engine);
        CHECK_TEXT(play_all(s), SAID);
        CHECK_INT(d.clock.now_ns, 1000000);     /* no deadline was needed */
        allm_stream_free(s);
        dialect_tear_down(&d);
    }
}

enum { MANY = 12 };

static void many_exchanges_run_in_one_hub(void)
{
    struct scripted_step steps[MANY * 7 + 1];
    const struct scripted_step one[7] = {
        STEP_CONNECT(3), STEP_HEAD(200), STEP_PIECES(A, 5), STEP_DELAY(10),
        STEP_RING, STEP_BYTES(END), STEP_END
    };
    allm_stream *streams[MANY], *s;
    for (size_t i = 0; i < MANY; i++)
        memcpy(steps + 7 * i, one, sizeof one);
    steps[MANY * 7] = (struct scripted_step)STEP_DONE;
    struct dialect_set d = { .steps = steps };
    dialect_set_up(&d);
    allm_hub *hub = allm_hub_new(NULL);
    for (size_t i = 0; i < MANY; i++) {
        streams[i] = play_call(d.engine);
        allm_hub_add(hub, streams[i], NULL);
    }
    while ((s = allm_hub_wait(hub, -1, NULL)))
        while (allm_stream_next(s, NULL) == ALLM_EVENT)
            ;
    CHECK_INT(d.clock.now_ns, 1000000 + 13 * 1000000);  /* all at once */
    for (size_t i = 0; i < MANY; i++) {
        const allm_response *r = allm_stream_response(streams[i]);
        CHECK(r && !strcmp(r->output_text, "a"));
        allm_stream_free(streams[i]);
    }
    CHECK_INT(d.play.opens, MANY);
    CHECK_INT(d.play.closes, MANY);
    allm_hub_free(hub);
    dialect_tear_down(&d);
}

TESTS = {
    TEST(failures_before_the_first_byte_are_tried_again),
    TEST(some_failures_are_final),
    TEST(nothing_is_tried_again_after_the_first_byte),
    TEST(every_attempt_is_encoded_anew),
    TEST(retries_are_reported),
    TEST(the_connection_has_its_deadline),
    TEST(a_transport_may_not_know_of_connections),
    TEST(content_must_come),
    TEST(the_whole_has_its_deadline),
    TEST(a_retry_must_come_in_time),
    TEST(a_late_refusal_is_a_refusal),
    TEST(deadlines_run_from_the_first_pull),
    TEST(a_missing_end_is_waited_for_two_seconds),
    TEST(a_deadline_after_all_is_there_is_an_end),
    TEST(the_feed_never_reads_ahead),
    TEST(the_request_is_dropped_when_the_answer_comes),
    TEST(a_flood_of_comments_can_be_stopped),
    TEST(a_stream_may_be_freed_at_any_time),
    TEST(a_cancelled_call_closes_at_once),
    TEST(a_waiting_retry_is_cancelled),
    TEST(a_ring_from_a_thread_wakes),
    TEST(many_exchanges_run_in_one_hub),
    TESTS_END,
};
