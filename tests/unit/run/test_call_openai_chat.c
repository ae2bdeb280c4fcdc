/*
 * test_call_openai_chat.c - calls through a dialect, over a scripted transport
 *
 * The bytes come in pieces of a few bytes each; the clock moves by itself.
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"

#include <stdio.h>

enum ending { ENDS, STAYS_OPEN, BREAKS };

struct reply {
    int32_t status;
    const char *body;
    enum ending ending;
    const char *header[2];      /* one more; or NULL */
};

struct server {
    const struct reply *reply;
    size_t count, opened;
    size_t at;                  /* in the body */
    allm_http_head head;
    char asked[2048];           /* address, secret header and body */
};

static allm_exchange *server_open(void *self, const allm_http_view *v,
                                  allm_waker *waker, const allm_error **error)
{
    struct server *s = self;
    (void)waker;
    (void)error;
    if (s->opened == s->count)
        return NULL;
    snprintf(s->asked, sizeof s->asked, "%s %s|%s: %s|%.*s", v->method, v->url,
             v->secret_name ? v->secret_name : "",
             v->secret_value ? v->secret_value : "", (int)v->body_len, v->body);
    s->opened++;
    s->at = 0;
    return self;
}

static allm_status server_read(void *self, allm_exchange *x, allm_chunk *chunk)
{
    static const allm_error reset = { .size = sizeof reset,
                                      .kind = ALLM_ERR_ADAPTER,
                                      .reason = "network_error",
                                      .message = "connection reset" };
    struct server *s = self;
    (void)x;
    const struct reply *r = &s->reply[s->opened - 1];
    size_t left = strlen(r->body) - s->at;
    if (left) {
        chunk->bytes = r->body + s->at;
        chunk->len = left < 7 ? left : 7;
        s->at += chunk->len;
        return ALLM_EVENT;
    }
    chunk->error = &reset;
    return r->ending == ENDS         ? ALLM_OK
           : r->ending == STAYS_OPEN ? ALLM_AGAIN
                                     : ALLM_ERR_ADAPTER;
}

static const allm_http_head *server_head(void *self, allm_exchange *x)
{
    struct server *s = self;
    (void)x;
    const struct reply *r = &s->reply[s->opened - 1];
    s->head = (allm_http_head){ .size = sizeof s->head,
                                .status = r->status,
                                .header_count = r->header[0] ? 1 : 0,
                                .header = r->header };
    return &s->head;
}

static void server_close(void *self, allm_exchange *x)
{
    (void)self;
    (void)x;
}

/* The events of a call to these replies; the server remembers the rest. */
static const char *call(struct server *s, const char *model,
                        struct clock_manual *clock)
{
    static char told[8192];
    const allm_transport t = { .size = sizeof t,
                               .self = s,
                               .open = server_open,
                               .read = server_read,
                               .head = server_head,
                               .close = server_close };
    allm_clock c = play_clock(clock);
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = model, .transport = &t, .clock = &c));
    allm_stream *stream =
        play_call_with(e, ALLM(call_opts, .api_key = "sk-secret-42"));
    snprintf(told, sizeof told, "%s", play_all(stream));
    allm_stream_free(stream);
    allm_engine_free(e);
    return told;
}

#define CALL(model, words, ...)                                            \
    const struct reply replies[] = { __VA_ARGS__ };                        \
    struct server s = { .reply = replies,                                  \
                        .count = sizeof replies / sizeof *replies };       \
    struct clock_manual clock = { .now_ns = 0 };                           \
    CHECK_TEXT(call(&s, model, &clock), words)

#define TEXT(t) "data: {\"choices\":[{\"delta\":{\"content\":\"" t "\"}}]}\n\n"
#define STOP \
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define DONE "data: [DONE]\n\n"

static void asks_and_reads(void)
{
    CALL("openai:gpt-4.1-mini",
         "started text:a text:b text=ab completed:ab/stop ok",
         { .status = 200, .body = TEXT("a") TEXT("b") STOP DONE });
    CHECK_TEXT(s.asked,
               "POST https://api.openai.com/v1/chat/completions|"
               "authorization: Bearer sk-secret-42|"
               "{\"model\":\"gpt-4.1-mini\",\"messages\":[{\"role\":\"user\","
               "\"content\":\"hi\"}],\"stream\":true,\"stream_options\":"
               "{\"include_usage\":true}}");
}

/* Nothing waits for a socket that stays open behind the end. */
static void the_end_is_the_end(void)
{
    CALL("groq:m", "started text:a text=a completed:a/stop ok",
         { .status = 200, .body = TEXT("a") STOP DONE, .ending = STAYS_OPEN });
    CHECK(clock.now_ns == 0);
}

/* A server that never says [DONE] and never hangs up. */
static void a_finish_word_settles_it(void)
{
    CALL("groq:m", "started text:a text=a completed:a/stop ok",
         { .status = 200, .body = TEXT("a") STOP, .ending = STAYS_OPEN });
    CHECK(clock.now_ns > 0 && clock.now_ns < 5000000000);
}

static void a_break_after_the_finish_word_is_well(void)
{
    CALL("groq:m", "started text:a text=a completed:a/stop ok",
         { .status = 200, .body = TEXT("a") STOP, .ending = BREAKS });
}

static void a_break_before_it_keeps_what_came(void)
{
    CALL("groq:m", "started text:a error:stream/truncated ok",
         { .status = 200, .body = TEXT("a"), .ending = BREAKS });
}

static void retries_when_requested(void)
{
    CALL("groq:m", "started text:a text=a completed:a/stop ok",
         { .status = 429,
           .body = "{\"error\":{\"message\":\"slow down\"}}",
           .header = { "retry-after", "3" } },
         { .status = 503, .body = "<html>" },
         { .status = 200, .body = TEXT("a") STOP DONE });
    CHECK_INT(s.opened, 3);
    CHECK(clock.now_ns >= 3000000000);
}

static void money_is_not_waited_for(void)
{
    CALL("groq:m", "adapter rate_limited",
         { .status = 429,
           .body = "{\"error\":{\"code\":\"insufficient_quota\"}}" },
         { .status = 200, .body = TEXT("a") STOP DONE });
    CHECK_INT(s.opened, 1);
}

static void documents_are_read_too(void)
{
    CALL("llamacpp:m", "started text:a text=a completed:a/length ok",
         { .status = 200,
           .body = "\n \n{\"choices\":[{\"message\":{\"content\":\"a\"},"
                   "\"finish_reason\":\"length\"}]}" });
}

static void pages_are_not(void)
{
    CALL("llamacpp:m", "error:adapter/malformed_response ok",
         { .status = 200, .body = " <!DOCTYPE html><p>Log in</p>" });
}

TESTS = {
    TEST(asks_and_reads),
    TEST(the_end_is_the_end),
    TEST(a_finish_word_settles_it),
    TEST(a_break_after_the_finish_word_is_well),
    TEST(a_break_before_it_keeps_what_came),
    TEST(retries_when_requested),
    TEST(money_is_not_waited_for),
    TEST(documents_are_read_too),
    TEST(pages_are_not),
    TESTS_END,
};
