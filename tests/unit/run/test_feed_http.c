/* test_feed_http.c - from the bytes of an answer to events */
#include "run/feed_http.h"

#include "base/file.h"
#include "harness/check.h"
#include "harness/dialect.h"
#include "harness/play.h"
#include "provider/dialects.h"

#include <stdio.h>
#include <stdlib.h>

#define A    "data: {\"text\": \"a\"}\n\n"
#define B    "data: {\"text\": \"b\"}\n\n"
#define STOP "data: {\"finish\": \"stop\"}\n\n"
#define END  "data: end\n\n"

typedef const struct scripted_step script[];

#define TALK \
    "started text:Grüße text:,  text:world completed:Grüße, world/stop ok"

/* -------------------------------------------------------------- cutting --- */

/* A file under tests/fixture/; the arena is released by the caller. */
static struct slice fixture(struct arena *a, const char *name)
{
    char path[1024];
    struct slice s = { "", 0 };
    const char *source = getenv("SOURCE_DIR");
    arena_init(a, mem_default());
    snprintf(path, sizeof path, "%s/tests/fixture/%s", source ? source : ".",
             name);
    CHECK(!file_read(a, path, 1 << 20, &s));
    return s;
}

static const char *play_step(const allm_adapter *adapter,
                             struct scripted_step body)
{
    const struct scripted_step steps[] = { STEP_HEAD(200), body, STEP_END,
                                           STEP_DONE };
    struct dialect_set d = { .steps = steps, .adapter = adapter };
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    const char *told = play_all(s);
    allm_stream_free(s);
    CHECK_ALWAYS(d.play.closes <= 1);
    dialect_tear_down(&d);
    return told;
}

static const struct {
    const char *file;
    const allm_adapter *adapter;
    const char *events;
} files[] = {
    { "feed/talk.sse", &dialect_sse, TALK },
    { "feed/talk.ndjson", &dialect_ndjson, TALK },
    { "feed/talk.json", &dialect_sse,
      "started text:Grüße, world completed:Grüße, world/stop ok" },
    { "feed/talk.json", &dialect_whole,
      "started text:Grüße, world completed:Grüße, world/stop ok" },
};

enum { FILES = sizeof files / sizeof *files };

static void files_are_served_whole_and_byte_by_byte(void)
{
    for (size_t i = 0; i < FILES; i++) {
        check_row(files[i].file);
        struct scripted_step whole = STEP_FILE(files[i].file, 0);
        struct scripted_step bytes = STEP_FILE(files[i].file, 1);
        CHECK_TEXT(play_step(files[i].adapter, whole), files[i].events);
        CHECK_TEXT(play_step(files[i].adapter, bytes), files[i].events);
    }
}

static void cut_everywhere(const char *file, const allm_adapter *adapter,
                           const char *events)
{
    struct arena a;
    struct slice all = fixture(&a, file);
    for (size_t i = 1; i < all.len; i++) {
        const size_t places[] = { i, 0 };
        struct scripted_step body = STEP_FILE(file, 0);
        body.places = places;
        if (!CHECK_TEXT(play_step(adapter, body), events))
            printf("#   cut at %zu\n", i);
    }
    arena_release(&a);
}

static void a_body_may_be_cut_anywhere(void)
{
    for (size_t i = 0; i < FILES; i++)
        cut_everywhere(files[i].file, files[i].adapter, files[i].events);
}

/* Ascending places, 0 at the end. */
static void choose_places(struct random r, size_t len, size_t *out, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        at += 1 + random_below(r, 1 + len / 4);
        out[i] = at < len ? at : 0;
        if (!out[i])
            break;
    }
    out[n - 1] = 0;
}

static void a_body_may_come_in_any_pieces(void)
{
    struct random r = check_random();
    for (size_t n = 0; n < 400; n++) {
        struct arena a;
        size_t i = random_below(r, FILES), places[32];
        struct slice all = fixture(&a, files[i].file);
        struct scripted_step body = STEP_FILE(files[i].file, 0);
        choose_places(r, all.len, places, 32);
        body.places = places;
        CHECK_TEXT(play_step(files[i].adapter, body), files[i].events);
        arena_release(&a);
    }
}

/* --------------------------------------------------------------- bodies --- */

static void bodies_are_what_their_first_byte_says(void)
{
    static const struct {
        const char *why, *body, *events;
    } rows[] = {
        { "blank lines first", "\r\n\n" A STOP END,
          "started text:a completed:a/stop ok" },
        { "spaces first", "  \n " A STOP END,
          "started text:a completed:a/stop ok" },
        { "a byte order mark", "\xEF\xBB\xBF" A STOP,
          "started text:a completed:a/stop ok" },
        { "no blank line at the end", A "data: {\"finish\": \"stop\"}",
          "started text:a completed:a/stop ok" },
        { "the last frame is cut, but all was there", A STOP "data: {\"fini",
          "started text:a completed:a/stop ok" },
        { "a frame is cut", A "data: {\"te",
          "started text:a error:stream/truncated ok" },
        { "what follows the end is not looked at", A END "data: {{{\n\n",
          "started text:a completed:a/stop ok" },
        { "a document", "{\"text\": \"a\", \"finish\": \"stop\"}",
          "started text:a completed:a/stop ok" },
        { "a document behind a byte order mark",
          "\xEF\xBB\xBF{\"text\": \"a\", \"finish\": \"stop\"}",
          "started text:a completed:a/stop ok" },
        { "a document that is an error", " \n{\"error\": \"no\"}",
          "error:adapter/unknown ok" },
        { "a document that is cut", "{\"text\": \"a\", \"fin",
          "error:adapter/malformed_response ok" },
        { "a page", "<html>login</html>",
          "error:adapter/malformed_response ok" },
        { "white space only", " \n \n", "error:stream/truncated ok" },
        { "comments only", ": a\n\n: b\n\n", "error:stream/truncated ok" },
        { "an event without data", "event: x\n\n",
          "error:stream/truncated ok" },
        { "the field error", A "error: \"no\"\n\n",
          "started text:a error:adapter/unknown ok" },
        { "the event error", A "event: error\ndata: \"no\"\n\n",
          "started text:a error:adapter/unknown ok" },
        { "an error and its event",
          "data: {\"text\": \"a\", \"error\": \"\"}\n\n",
          "started text:a error:adapter/unknown ok" },
        { "an error event, and more", "data: {\"tells\": \"no\"}\n\n" A STOP,
          "error:adapter/unknown started text:a completed:a/stop ok" },
        { "not said why", A "data: {\"sulk\": true}\n\n",
          "started text:a error:adapter/unknown ok" },
        { "not returned", A "data: {\"hides\": \"no\"}\n\n",
          "started text:a error:adapter/unknown ok" },
        { "an error in the last frame", A "data: {\"error\": \"no\"}",
          "started text:a error:adapter/unknown ok" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scripted_step body = { .kind = SCRIPTED_BYTES,
                                      .bytes = rows[i].body,
                                      .len = strlen(rows[i].body) };
        check_row(rows[i].why);
        CHECK_TEXT(play_step(&dialect_sse, body), rows[i].events);
        body.cut = 1;
        CHECK_TEXT(play_step(&dialect_sse, body), rows[i].events);
    }
}

static void an_answer_without_a_byte_is_no_success(void)
{
    script plain = { STEP_HEAD(200), STEP_END, STEP_DONE };
    script empty_pieces = { STEP_HEAD(200), STEP_BYTES(""), STEP_BYTES(""),
                            STEP_END, STEP_DONE };
    static const allm_adapter *const all[] = { &dialect_sse, &dialect_ndjson,
                                               &dialect_whole };
    for (size_t i = 0; i < 3; i++) {
        struct dialect_set d = { .steps = i ? plain : empty_pieces,
                                 .adapter = all[i] };
        dialect_set_up(&d);
        allm_stream *s = play_call(d.engine);
        CHECK_TEXT(play_all(s), "error:stream/truncated ok");
        const allm_response *r = allm_stream_response(s);
        CHECK(r && r->finish_reason == ALLM_FINISH_ERROR);
        CHECK_INT(d.play.opens, 1);     /* it is not tried again */
        allm_stream_free(s);
        dialect_tear_down(&d);
    }
}

/* A dialect that never complains cannot make a success of nothing, either. */
static void nothing_is_no_success_without_finish(void)
{
    script steps = { STEP_HEAD(200), STEP_BYTES(": a\n\n"), STEP_END,
                     STEP_DONE };
    allm_adapter silent = dialect_sse;
    silent.finish = NULL;
    struct dialect_set d = { .steps = steps, .adapter = &silent };
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    CHECK_TEXT(play_all(s), "error:stream/truncated ok");
    allm_stream_free(s);
    dialect_tear_down(&d);
}

/* ----------------------------------------------------------------- ends --- */

static void finish_is_called_once_however_the_end_is_found(void)
{
    script by_end = { STEP_HEAD(200), STEP_BYTES(A END), STEP_STAY,
                      STEP_DONE };
    script by_grace = { STEP_HEAD(200), STEP_BYTES(A STOP), STEP_STAY,
                        STEP_DONE };
    script by_close = { STEP_HEAD(200), STEP_BYTES(A STOP), STEP_END,
                        STEP_DONE };
    script by_reset = { STEP_HEAD(200), STEP_BYTES(A STOP),
                        STEP_ERROR("network_error", "reset by peer"),
                        STEP_DONE };
    const struct scripted_step *all[] = { by_end, by_grace, by_close,
                                          by_reset };
    for (size_t i = 0; i < 4; i++) {
        dialect_finished = 0;
        CHECK_TEXT(dialect_play(all[i], NULL),
                   "started text:a completed:a/stop ok");
        CHECK_INT(dialect_finished, 1);
    }
}

static void the_protocols_end_closes_without_reading_on(void)
{
    script steps = { STEP_HEAD(200), STEP_BYTES(A END), STEP_STAY, STEP_DONE };
    struct dialect_set d = { .steps = steps };
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    CHECK_TEXT(play_all(s), "started text:a completed:a/stop ok");
    CHECK_INT(d.play.reads, 1);
    CHECK_INT(d.play.closes, 1);        /* before the stream is freed */
    CHECK_INT(d.clock.now_ns, 1000000); /* no time has passed */
    allm_stream_free(s);
    CHECK_ALWAYS(d.play.closes <= 1);
    dialect_tear_down(&d);
}

/* Lack of memory is never reported as something else. */
static void a_transport_without_memory_ends_the_call(void)
{
    struct scripted_step steps[] = {
        STEP_HEAD(200), STEP_BYTES(A STOP),
        { .kind = SCRIPTED_ERROR, .reason = "out_of_memory", .bytes = "x",
          .error = ALLM_ERR_NOMEM },
        STEP_DONE
    };
    struct scripted_step opening[] = { steps[2], STEP_DONE };
    opening[0].kind = SCRIPTED_REFUSE;
    CHECK_TEXT(dialect_play(steps, NULL), "started text:a nomem out_of_memory");
    CHECK_TEXT(dialect_play(steps + 2, NULL), "nomem out_of_memory");
    CHECK_TEXT(dialect_play(opening, NULL), "nomem out_of_memory");
}

static void events_may_point_into_the_last_frame(void)
{
    script steps = { STEP_HEAD(200), STEP_BYTES("data: =abc\n\n"), STEP_END,
                     STEP_DONE };
    struct dialect_set d = { .steps = steps };
    const allm_event *event = NULL;
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    allm_stream_next(s, &event);
    CHECK(event && event->text_len == 3 && !memcmp(event->text, "abc", 3));
    allm_stream_wait(s);
    CHECK_INT(d.play.closes, 1);
    allm_stream_free(s);
    dialect_tear_down(&d);
}

static void errors_need_a_kind(void)
{
    script steps = { STEP_HEAD(200), STEP_BYTES(A),
                     { .kind = SCRIPTED_ERROR, .reason = "unknown",
                       .bytes = "x", .error = ALLM_OK },
                     STEP_DONE };
    script opening = { { .kind = SCRIPTED_REFUSE, .reason = "unknown",
                         .bytes = "x", .error = ALLM_OK },
                       STEP_DONE };
    CHECK_TEXT(dialect_play(steps, NULL),
               "started text:a error:stream/truncated ok");
    CHECK_TEXT(dialect_play(opening, NULL), "misuse invalid_event");
}

static void errors_in_the_middle_say_whose_they_are(void)
{
    script steps = { STEP_HEADERS(200, "X-Request-ID", "r9"),
                     STEP_BYTES(A "data: {\"error\": \"no\"}\n\n"), STEP_END,
                     STEP_DONE };
    struct dialect_set d = { .steps = steps };
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    CHECK_TEXT(play_all(s), "started text:a error:adapter/unknown ok");
    const allm_error *e = allm_stream_error(s);
    CHECK_TEXT(e ? e->request_id : NULL, "r9");
    CHECK_TEXT(e ? e->provider : NULL, "test");
    CHECK(e && !e->http_status.set);
    allm_stream_free(s);
    dialect_tear_down(&d);
}

static void a_cut_connection_keeps_what_came(void)
{
    script steps = { STEP_HEAD(200), STEP_BYTES(A B "data: {\"te"),
                     STEP_ERROR("network_error", "reset by peer"), STEP_DONE };
    struct dialect_set d = { .steps = steps };
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    CHECK_TEXT(play_all(s), "started text:a text:b error:stream/truncated ok");
    CHECK(s && strstr(play_why(s), "broke off") &&
          strstr(play_why(s), "reset by peer"));
    const allm_response *r = allm_stream_response(s);
    CHECK(r && !strcmp(r->output_text, "ab") &&
          r->finish_reason == ALLM_FINISH_ERROR);
    CHECK_INT(d.play.opens, 1);
    CHECK_INT(d.play.closes, 1);
    allm_stream_free(s);
    dialect_tear_down(&d);
}

/* ------------------------------------------------------------- refusals --- */

/* Play one HTTP error without a retry; returns the message. */
static const char *refused(const struct scripted_step *steps)
{
    static char told[4096];
    allm_json *never = play_json("false");
    struct dialect_set d = { .steps = steps, .retry = never };
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    CHECK(allm_stream_wait(s) < 0);
    CHECK(s && !allm_stream_response(s));
    const allm_error *e = allm_stream_error(s);
    if (e)
        snprintf(told, sizeof told, "%s %d %s after:%d id:%s by:%s", e->reason,
                 e->http_status.set ? (int)e->http_status.value : -1,
                 e->message,
                 e->retry_after_ms.set ? (int)e->retry_after_ms.value : -1,
                 e->request_id ? e->request_id : "-",
                 e->provider ? e->provider : "-");
    CHECK_ALWAYS(d.play.closes <= 1);
    allm_stream_free(s);
    dialect_tear_down(&d);
    allm_json_free(never);
    return told;
}

static const struct {
    const char *events;
    struct scripted_step steps[8];
} refusals[] = {
    { "content_filter 400 because after:-1 id:r1 by:test",
      { STEP_HEADERS(400, "X-Request-Id", "r1"),
        STEP_PIECES("{\"why\": \"because\"}", 1), STEP_END } },
    { "rate_limited 429 HTTP status 429: slow down after:1500 id:r2 "
      "by:test",
      { STEP_HEADERS(429, "Retry-After", "1.5", "request-id", "r2"),
        STEP_BYTES("{\"error\": {\"message\": \"slow down\"}}"),
        STEP_END } },
    { "rate_limited 429 HTTP status 429 after:20 id:r3 by:test",
      { STEP_HEADERS(429, "retry-after", "9", "retry-after-ms", "20",
                     "cf-ray", "r3"),
        STEP_END } },
    { "rate_limited 429 HTTP status 429 after:30 id:r4 by:test",
      { STEP_HEADERS(429, "X-MS-Retry-After-MS", "30",
                     "x-goog-request-id", "r4"),
        STEP_BYTES("<html>"), STEP_END } },
    { "rate_limited 429 adapter error (test): rate_limited after:7 id:- "
      "by:test",
      { STEP_HEADERS(429, "retry-after", "9"),
        STEP_BYTES("{\"later\": 7}"), STEP_END } },
    { "provider_unavailable 503 HTTP status 503: a after:2000 id:- by:test",
      { STEP_HEADERS(503, "retry-after",
                     "Tue, 14 Nov 2023 22:13:22 GMT"),
        STEP_BYTES("\n{\"error\": \"a\"}"), STEP_END } },
    { "unknown 302 HTTP status 302: the server points to https://else.example; "
      "the request and the key are sent nowhere but to base_url, so set that "
      "to the right address after:-1 id:- by:test",
      { STEP_HEADERS(302, "location", "https://else.example"),
        STEP_END } },
    { "unknown 307 HTTP status 307: the server points to "
      "https://[REDACTED]@else.example/v1?api-version=1&key=[REDACTED]; "
      "the request and the key are sent nowhere but to base_url, so set that "
      "to the right address after:-1 id:- by:test",
      { STEP_HEADERS(307, "location",
                     "https://me:pass@else.example/v1?api-version=1&key=abc"),
        STEP_END } },
    { "content_filter 418 !tea after:-1 id:- by:test",
      { STEP_HEAD(418), STEP_BYTES("!tea"), STEP_END } },
    { "content_filter 418 !te after:-1 id:- by:test",
      { STEP_HEAD(418), STEP_BYTES(""), STEP_BYTES("!te"),
        STEP_ERROR("network_error", "reset") } },
    { "content_filter 418 !t after:-1 id:- by:test",
      { STEP_HEAD(418), STEP_BYTES("!t"), STEP_DELAY(100),
        STEP_STAY } },
};

static void refusals_are_explained(void)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        check_row(refusals[i].events);
        CHECK_TEXT(refused(refusals[i].steps), refusals[i].events);
    }
}

/* The default policy would try a 503 again. */
static void a_provider_may_say_not_to_try_again(void)
{
    for (int i = 0; i < 2; i++) {
        struct scripted_step refusal = STEP_HEADERS(503, "X-Should-Retry",
                                                    "false");
        if (i)
            refusal = (struct scripted_step)STEP_HEAD(503);
        script steps = { refusal, STEP_END, refusal, STEP_END,
                         refusal, STEP_END, STEP_DONE };
        struct dialect_set d = { .steps = steps };
        dialect_set_up(&d);
        allm_stream *s = play_call(d.engine);
        CHECK_TEXT(play_all(s), "adapter provider_unavailable");
        CHECK_INT(d.play.opens, i ? 3 : 1);
        allm_stream_free(s);
        dialect_tear_down(&d);
    }
}

static void a_dialect_may_have_no_explain(void)
{
    script steps = { STEP_HEAD(404), STEP_BYTES("{\"why\": \"x\"}"), STEP_END,
                     STEP_DONE };
    allm_adapter a = dialect_sse;
    a.explain = NULL;
    struct dialect_set d = { .steps = steps, .adapter = &a };
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    CHECK_TEXT(play_all(s), "adapter invalid_request");
    CHECK_TEXT(play_why(s), "HTTP status 404");
    allm_stream_free(s);
    dialect_tear_down(&d);
}

/* An error body without an end is explained by its beginning. */
static void a_refusal_is_not_waited_for_long(void)
{
    script steps = { STEP_HEAD(401), STEP_BYTES("{\"error\": \"no\"}"),
                     STEP_STAY, STEP_DONE };
    struct dialect_set d = { .steps = steps };
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    CHECK_TEXT(play_all(s), "adapter authentication_failed");
    CHECK_INT(d.clock.now_ns, 1000000 + 5000 * 1000000LL);
    CHECK_INT(d.play.opens, 1);
    allm_stream_free(s);
    dialect_tear_down(&d);
}

static void a_long_refusal_is_read_up_to_its_limit(void)
{
    enum { KIB = 1024 };
    static char body[100 * KIB];
    memset(body, ' ', sizeof body);
    memcpy(body, "{\"error\": \"long\"}", 17);
    for (size_t cut = 0; cut <= 40000; cut += 20000) {
        const struct scripted_step steps[] = {
            STEP_HEAD(400),
            { .kind = SCRIPTED_BYTES, .bytes = body, .len = sizeof body,
              .cut = cut },
            STEP_BYTES("not read"), STEP_END, STEP_DONE
        };
        struct dialect_set d = { .steps = steps };
        dialect_set_up(&d);
        allm_stream *s = play_call(d.engine);
        CHECK_TEXT(play_all(s), "adapter invalid_request");
        CHECK_TEXT(play_why(s), "HTTP status 400: long");
        CHECK_INT(d.play.reads, cut == 0 ? 1 : cut == 20000 ? 4 : 2);
        allm_stream_free(s);
        dialect_tear_down(&d);
    }
}

/* A document that ends with the last byte that is read, and one that ends a
 * byte later: that is not understood any more. */
static void refusals_of_64_kib_are_read_whole(void)
{
    enum { LIMIT = 64 * 1024 };
    static const char first[] = "{\"error\": \"long\"";
    static char body[LIMIT + 1];
    for (size_t len = LIMIT; len <= LIMIT + 1; len++) {
        memset(body, ' ', sizeof body);
        memcpy(body, first, sizeof first - 1);
        body[len - 1] = '}';
        const struct scripted_step steps[] = {
            STEP_HEAD(400),
            { .kind = SCRIPTED_BYTES, .bytes = body, .len = len, .cut = 5000 },
            STEP_END, STEP_DONE
        };
        CHECK_TEXT(refused(steps),
                   len == LIMIT ? "invalid_request 400 HTTP status 400: long "
                                  "after:-1 id:- by:test"
                                : "invalid_request 400 HTTP status 400 "
                                  "after:-1 id:- by:test");
    }
}

/* --------------------------------------------------------------- misuse --- */

static const char *encoded(const char *json)
{
    script steps = { STEP_HEAD(200), STEP_END, STEP_DONE };
    struct dialect_set d = { .steps = steps };
    allm_json *opts = play_json(json);
    dialect_set_up(&d);
    allm_stream *s = play_call_with(d.engine, ALLM(call_opts, .json = opts));
    CHECK(allm_stream_error(s) != NULL);        /* before the first pull */
    const char *told = play_all(s);
    CHECK_INT(d.play.opens, 0);
    allm_stream_free(s);
    dialect_tear_down(&d);
    allm_json_free(opts);
    return told;
}

static void what_cannot_be_encoded_is_never_sent(void)
{
    CHECK_TEXT(encoded("{'encode': 'fails'}"), "adapter unsupported_feature");
    CHECK_TEXT(encoded("{'encode': 'late'}"), "adapter timeout");
    CHECK_TEXT(encoded("{'encode': 'sulks'}"), "adapter invalid_request");
    CHECK_TEXT(encoded("{'encode': 'nowhere'}"), "engine invalid_engine");
    CHECK_TEXT(encoded("{'encode': 'header'}"), "engine invalid_engine");
    CHECK_TEXT(encoded("{'base_url': 'http://a\\nb'}"),
               "engine invalid_engine");
}

static const char *misused(const allm_adapter *adapter,
                           const allm_transport *transport, const char *as)
{
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "test:m",
                                          .adapter_table = adapter,
                                          .transport = transport));
    allm_stream *s = play_call(e);
    static char why[256];
    snprintf(why, sizeof why, "%s", play_why(s));
    CHECK_TEXT(play_all(s), as);
    allm_stream_free(s);
    allm_engine_free(e);
    return why;
}

static void tables_must_be_whole(void)
{
    struct scripted play = { .steps = NULL };
    allm_transport t = scripted_transport(&play), none = { .size = 0 };
    allm_adapter a = dialect_sse;
    const char *odd = "misuse struct_size", *lame = "engine invalid_engine";
    CHECK(strstr(misused(&dialect_sse, &none, odd), "must have open"));
    t.head = NULL;
    CHECK(strstr(misused(&dialect_sse, &t, odd), "must have open"));
    t = scripted_transport(&play);
    a.encode = NULL;
    CHECK(strstr(misused(&a, &t, lame), "no encode"));
}

static void what_is_sent(void)
{
    script steps = { STEP_HEAD(200), STEP_BYTES(A END), STEP_END, STEP_DONE };
    struct dialect_set d = { .steps = steps };
    dialect_set_up(&d);
    allm_stream *s = play_call(d.engine);
    CHECK_INT(d.play.opens, 0); /* not before the first pull */
    allm_stream_wait(s);
    const struct scripted_request *r = &d.play.request[0];
    CHECK_TEXT(r->method, "POST");
    CHECK_TEXT(r->url, "https://test.example/talk");
    CHECK_TEXT(r->headers, "content-type: application/json\nx-mine: a\tb\n");
    CHECK_TEXT(r->body,
               "{\"model\":\"m\",\"provider\":\"test\",\"attempt\":1}");
    CHECK_TEXT(r->secret_name, "");
    allm_stream_free(s);
    dialect_tear_down(&d);
}

/* How many blocks so many streams have that wait behind these bytes. */
static size_t blocks_at_rest(const struct scripted_step *steps, size_t streams)
{
    allm_stream *s, *all[64];
    allm_json *opts = play_json("{'base_url': 'http://x'}");
    struct dialect_set d = { .steps = steps, .adapter = &anthropic_adapter,
                             .adapter_opts = opts };
    size_t before = check_live_blocks();
    dialect_set_up(&d);
    allm_hub *hub = allm_hub_new(NULL);
    for (size_t i = 0; i < streams; i++) {
        all[i] = play_call_with(d.engine, ALLM(call_opts, .api_key = "k"));
        allm_hub_add(hub, all[i], NULL);
    }
    while ((s = allm_hub_wait(hub, 0, NULL)))
        while (allm_stream_next(s, NULL) == ALLM_EVENT)
            ;
    size_t blocks = check_live_blocks() - before;
    for (size_t i = 0; i < streams; i++)
        allm_stream_free(all[i]);
    allm_hub_free(hub);
    dialect_tear_down(&d);
    allm_json_free(opts);
    return blocks;
}

/* What makes reading quick is kept while a stream waits, unless it is one of
 * many. */
static void one_of_many_that_waits_keeps_no_skeleton(void)
{
#define TEXT "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":" \
             "{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n"
    script one = { STEP_HEAD(200), STEP_BYTES(TEXT), STEP_STAY,
                   STEP_DONE };
    script five = { STEP_HEAD(200), STEP_BYTES(TEXT TEXT TEXT TEXT TEXT),
                    STEP_STAY, STEP_DONE };
    static const struct {
        size_t streams, skeletons;      /* only the first one has bytes */
    } rows[] = { { 1, 1 }, { 63, 1 }, { 64, 0 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_INT(blocks_at_rest(five, rows[i].streams),
                  blocks_at_rest(one, rows[i].streams) + rows[i].skeletons);
}

TESTS = {
    TEST(one_of_many_that_waits_keeps_no_skeleton),
    TEST(files_are_served_whole_and_byte_by_byte),
    TEST_ONCE(a_body_may_be_cut_anywhere),
    TEST_ONCE(a_body_may_come_in_any_pieces),
    TEST(bodies_are_what_their_first_byte_says),
    TEST(an_answer_without_a_byte_is_no_success),
    TEST(nothing_is_no_success_without_finish),
    TEST(finish_is_called_once_however_the_end_is_found),
    TEST(the_protocols_end_closes_without_reading_on),
    TEST(a_transport_without_memory_ends_the_call),
    TEST(events_may_point_into_the_last_frame),
    TEST(errors_need_a_kind),
    TEST(errors_in_the_middle_say_whose_they_are),
    TEST(a_cut_connection_keeps_what_came),
    TEST(refusals_are_explained),
    TEST(a_provider_may_say_not_to_try_again),
    TEST(a_dialect_may_have_no_explain),
    TEST(a_refusal_is_not_waited_for_long),
    TEST(a_long_refusal_is_read_up_to_its_limit),
    TEST(refusals_of_64_kib_are_read_whole),
    TEST(what_cannot_be_encoded_is_never_sent),
    TEST(tables_must_be_whole),
    TEST(what_is_sent),
    TESTS_END,
};
