/*
 * test_faults.c - faulty answers of servers, over real sockets
 *
 * Each row of the two tables is one answer of a server, and what must become
 * of it by both doors (pulling events, waiting for the end), alone and in a
 * hub: how it ends, which text is kept, how many connections and bytes it took.
 *
 * tag: clock
 */
#include "harness/bomb.h"
#include "harness/check.h"
#include "harness/fault.h"
#include "harness/play.h"
#include "harness/turns.h"

#include "allm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST   "{'first_ms': 50}"
#define SILENCE "{'silence_ms': 50}"
#define TWICE   "{'max_attempts': 2, 'base_delay_ms': 0, 'jitter_ms': 0}"
#define SECONDS "{'max_attempts': 5, 'base_delay_ms': 60000}"

/* ---------------------------------------------------- answers too large --- */

#define LARGE_HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" \
                   "Connection: close\r\n"

static const char *deep_event(size_t *len)
{
    static char *kept;
    return fault_repeated(&kept, LARGE_HEAD "\r\ndata: {\"choices\":", "[",
                          200000, "\n\n", len);
}

static const char *deep_document(size_t *len)
{
    static char *kept;
    return fault_repeated(&kept,
                          LARGE_HEAD "\r\n{\"choices\":", "{\"a\":", 200000, "",
                          len);
}

static const char *long_head(size_t *len)
{
    static char *kept;
    return fault_repeated(&kept, "HTTP/1.1 200 OK\r\n",
                          "X-Filler: 0123456789\r\n", 4000, "\r\n", len);
}

#define ONE_CALL "{\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},"
#define CALLS(member) "{\"choices\":[{\"index\":0,\"" member "\":{" \
                      "\"tool_calls\":["
#define CALLS_END "null]},\"finish_reason\":\"tool_calls\"}]}\n\n"

static const char *calls_128(size_t *len)
{
    static char *kept;
    return fault_repeated(&kept, LARGE_HEAD "\r\ndata: " CALLS("delta"),
                          ONE_CALL, 128, CALLS_END "data: [DONE]\n\n", len);
}

static const char *calls_129(size_t *len)
{
    static char *kept;
    return fault_repeated(&kept, LARGE_HEAD "\r\ndata: " CALLS("delta"),
                          ONE_CALL, 129, CALLS_END "data: [DONE]\n\n", len);
}

static const char *document_129(size_t *len)
{
    static char *kept;
    return fault_repeated(&kept, LARGE_HEAD "\r\n" CALLS("message"), ONE_CALL,
                          129, CALLS_END, len);
}

static const char *bomb_of_a_line(size_t *len)
{
    static char *kept;
    static size_t kept_len;
    char first[259];
    memset(first, 'x', sizeof first);
    memcpy(first, "data: ", 6);
    if (!kept)
        bomb_once(&kept, LARGE_HEAD, first, &kept_len);
    *len = kept_len;
    return kept;
}

static const char *bomb_of_comments(size_t *len)
{
    static char *kept;
    static size_t kept_len;
    char first[259];
    memset(first, 'x', sizeof first);
    first[0] = ':';
    first[257] = '\n';
    if (!kept)
        bomb_once(&kept, LARGE_HEAD, first, &kept_len);
    *len = kept_len;
    return kept;
}

/* ---------------------------------------------------------- openai_chat --- */

#define CHOICE(inner) "data: {\"id\":\"1\",\"choices\":[{\"index\":0," inner \
                      "}]}\n\n"
#define HI      CHOICE("\"delta\":{\"content\":\"Hi\"},\"finish_reason\":null")
#define STOP    CHOICE("\"delta\":{},\"finish_reason\":\"stop\"")
#define CALL    CHOICE("\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\"," \
                       "\"function\":{\"name\":\"f\",\"arguments\":" \
                       "\"{\\\"path\\\":\\\"/\"}}]}")
#define REST    CHOICE("\"delta\":{\"tool_calls\":[{\"index\":0," \
                       "\"function\":{\"arguments\":\"\\\"}\"}}]}")
#define CALLED  CHOICE("\"delta\":{},\"finish_reason\":\"tool_calls\"")
#define DONE    "data: [DONE]\n\n"
#define ALL     HI STOP DONE
#define JSON    "Content-Type: application/json\r\n"
#define HTML    "Content-Type: text/html\r\n"
#define PAGE    "<!DOCTYPE html><html><body><h1>Bad</h1></body></html>"
#define BUSY    "{\"error\":{\"message\":\"busy\",\"type\":\"server_error\"}}"
#define SLOWLY  "{\"error\":{\"message\":\"slow down\"}}"

#define BROKEN  "adapter/malformed_response"
#define CUT     "stream/truncated"
#define LATE    "adapter/timeout"
#define LIMITED "adapter/rate_limited"
#define REFUSED(line, reply, want) \
    .status = (line), .body = (reply), .told = (want)

static const struct fault chat[] = {
    { "nothing is wrong", WHOLE, ALL, .told = "ok", .text = "Hi" },
    { "one-byte chunks", ONE_BYTE_CHUNKS, ALL, .told = "ok", .text = "Hi" },
    { "gzip", ZIPPED, ALL, .told = "ok", .text = "Hi" },
    { "said to be JSON", WHOLE, ALL, .headers = JSON, .told = "ok",
      .text = "Hi" },
    { "said to be HTML", WHOLE, ALL, .headers = HTML, .told = "ok",
      .text = "Hi" },
    { "choices null", WHOLE, HI "data: {\"choices\":null}\n\n" STOP DONE,
      .told = "ok", .text = "Hi" },
    { "the last blank line is missing", WHOLE, HI STOP "data: [DONE]",
      .told = "ok", .text = "Hi" },
    { "the end of a good answer is reset", RESETS, ALL, .told = "ok",
      .text = "Hi" },
    { "it stays after a good answer", STAYS, ALL, .told = "ok", .text = "Hi" },

    { "no answer at all", MUTE, .told = LATE, .opts = FIRST },
    { "a head and nothing more", STAYS, "", .told = LATE, .opts = FIRST },
    { "silence in the middle", STAYS, HI, .told = LATE, .text = "Hi",
      .opts = SILENCE },
    { "comments for ever", REPEATS, "", ": wait\n\n", .told = LATE,
      .text = "", .opts = "{'first_ms': 300}" },
    { "comments for ever in the middle", REPEATS, HI, ": wait\n\n",
      .told = LATE, .text = "Hi", .opts = SILENCE },
    { "an endless answer", REPEATS, "", HI, .told = LATE, .text = "HiHi",
      .opts = "{'total_ms': 300}" },

    { "reset before the answer", GONE, .told = "adapter/network_error",
      .retry = TWICE, .connections = 2 },
    { "reset in the middle", RESETS, HI, .told = CUT, .text = "Hi" },
    { "closed in a chunk", CUT_CHUNK, HI STOP, .told = CUT, .text = "Hi" },
    { "shorter than told", SHORT, HI, .told = CUT, .text = "Hi" },
    { "longer than told", LONG, HI STOP, .told = CUT, .text = "Hi" },
    { "an empty answer", WHOLE, "", .told = CUT, .text = "" },
    { "a clean end in the middle", WHOLE, HI, .told = CUT, .text = "Hi" },
    { "a clean end in an event", WHOLE, HI "data: {\"choices\":[{\"del",
      .told = CUT, .text = "Hi" },
    { "a clean end in a call", WHOLE, CALL, .told = CUT, .text = "" },
    { "a finished call with half its arguments", WHOLE, CALL CALLED DONE,
      .told = "ok", .text = "" },
    { "a document cut in the middle", WHOLE, "{\"choices\":[{\"message\":{",
      .headers = JSON, .told = CUT, .text = "" },

    { "a document without choices", WHOLE, "{\"choices\":null}",
      .headers = JSON, .told = BROKEN, .text = "" },
    { "a page with status 200", WHOLE, PAGE, .headers = HTML, .told = BROKEN,
      .text = "" },
    { "no JSON in an event", WHOLE, HI "data: oops\n\n", .told = BROKEN,
      .text = "Hi" },
    { "an error first", WHOLE, "data: " BUSY "\n\n", .text = "",
      .told = "adapter/provider_unavailable" },
    { "an error in the middle", WHOLE, HI "data: " BUSY "\n\n" DONE,
      .text = "Hi", .told = "adapter/provider_unavailable" },

    { "429, seconds", REFUSED("429 No", SLOWLY, LIMITED), .after_ms = 7000,
      .headers = "Retry-After: 7\r\n" },
    { "429, parts of a second", REFUSED("429 No", SLOWLY, LIMITED),
      .after_ms = 1500, .headers = "retry-after: 1.5\r\n" },
    { "429, with units", REFUSED("429 No", SLOWLY, LIMITED),
      .after_ms = 361000, .headers = "Retry-After: 6m1s\r\n" },
    { "429, milliseconds", REFUSED("429 No", SLOWLY, LIMITED), .after_ms = 20,
      .headers = "Retry-After: 9\r\nRetry-After-Ms: 20\r\n" },
    { "429, a date that is past", REFUSED("429 No", SLOWLY, LIMITED),
      .after_ms = AT_ONCE,
      .headers = "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n" },
    { "429, a date to come", REFUSED("429 No", SLOWLY, LIMITED),
      .after_ms = OVER_AN_HOUR, .retry = SECONDS,
      .headers = "Retry-After: Fri, 31 Dec 2100 23:59:59 GMT\r\n" },
    { "429, an hour: told, not slept", REFUSED("429 No", SLOWLY, LIMITED),
      .after_ms = OVER_AN_HOUR, .retry = SECONDS,
      .headers = "Retry-After: 3600\r\n" },
    { "429, nonsense", REFUSED("429 No", SLOWLY, LIMITED),
      .headers = "Retry-After: soon\r\n" },
    { "500", REFUSED("500 Oh", BUSY, "adapter/provider_unavailable") },
    { "502, a page", .status = "502 Bad Gateway", .headers = HTML,
      .body = PAGE, .told = "adapter/provider_unavailable" },
    { "503", REFUSED("503 Oh", "", "adapter/provider_unavailable") },
    { "504, closed in its middle", SHORT, .status = "504 Oh",
      .headers = JSON, .body = BUSY, .told = "adapter/provider_unavailable" },
    { "529", REFUSED("529 Busy", BUSY, "adapter/provider_unavailable") },
    { "a refusal without an end", REPEATS, "", "busy ", .status = "400 No",
      .told = "adapter/invalid_request", .most_sent = 8 * MIB },

    { "a line of 256 MiB", FLOODS, "data: ", .told = BROKEN, .text = "",
      .most_sent = 32 * MIB, .says = "16 MiB" },
    { "a bomb that is one line", .made = bomb_of_a_line, .told = BROKEN,
      .text = "", .says = "16 MiB" },
    { "a bomb of comments", .made = bomb_of_comments, .told = BROKEN,
      .text = "", .says = "256 MiB" },
    { "an event 200,000 deep", .made = deep_event, .told = BROKEN, .text = "" },
    { "a document 200,000 deep", .made = deep_document, .told = BROKEN,
      .text = "" },
    { "128 calls", .made = calls_128, .told = "ok", .text = "" },
    { "129 calls", .made = calls_129, .told = BROKEN, .text = "",
      .says = "128" },
    { "129 calls in a document", .made = document_129, .told = BROKEN,
      .text = "", .says = "128" },
    { "headers of 90 KiB", .made = long_head, .told = BROKEN,
      .says = "64 KiB" },
};

static void faults_of_openai_chat(void)
{
    fault_check_all(chat, sizeof chat / sizeof *chat, "openai:m");
}

/* ------------------------------------------------------------ anthropic --- */

#define EVENT(name, more) "event: " name "\ndata: {\"type\":\"" name "\"" more \
                          "}\n\n"
#define BEGIN   EVENT("message_start", ",\"message\":{\"id\":\"1\"," \
                      "\"role\":\"assistant\",\"content\":[]}")
#define TEXT    EVENT("content_block_start", ",\"index\":0," \
                      "\"content_block\":{\"type\":\"text\",\"text\":\"\"}")
#define DELTA   EVENT("content_block_delta", ",\"index\":0,\"delta\":" \
                      "{\"type\":\"text_delta\",\"text\":\"Hi\"}")
#define CLOSE   EVENT("content_block_stop", ",\"index\":0")
#define REASON  EVENT("message_delta", ",\"delta\":" \
                      "{\"stop_reason\":\"end_turn\"}")
#define END     EVENT("message_stop", "")
#define TOOL    EVENT("content_block_start", ",\"index\":0," \
                      "\"content_block\":{\"type\":\"tool_use\"," \
                      "\"id\":\"c\",\"name\":\"f\",\"input\":{}}") \
                EVENT("content_block_delta", ",\"index\":0,\"delta\":" \
                      "{\"type\":\"input_json_delta\"," \
                      "\"partial_json\":\"{\\\"path\\\":\\\"/\"}")
#define TAIL    EVENT("content_block_delta", ",\"index\":0,\"delta\":" \
                      "{\"type\":\"input_json_delta\"," \
                      "\"partial_json\":\"\\\"}\"}")
#define PART    BEGIN TEXT DELTA
#define MESSAGE PART CLOSE REASON END
#define OVERLOADED EVENT("error", ",\"error\":{\"type\":" \
                         "\"overloaded_error\",\"message\":\"Overloaded\"}")

static const struct fault messages[] = {
    { "nothing is wrong", WHOLE, MESSAGE, .told = "ok", .text = "Hi" },
    { "one-byte chunks", ONE_BYTE_CHUNKS, MESSAGE, .told = "ok",
      .text = "Hi" },
    { "gzip", ZIPPED, MESSAGE, .told = "ok", .text = "Hi" },
    { "said to be HTML", WHOLE, MESSAGE, .headers = HTML, .told = "ok",
      .text = "Hi" },
    { "the last blank line is missing", WHOLE, PART CLOSE REASON
      "event: message_stop\ndata: {\"type\":\"message_stop\"}", .told = "ok",
      .text = "Hi" },
    { "it stays after a good answer", STAYS, MESSAGE, .told = "ok",
      .text = "Hi" },

    { "a head and nothing more", STAYS, "", .told = LATE, .opts = FIRST },
    { "silence in the middle", STAYS, PART, .told = LATE, .text = "Hi",
      .opts = SILENCE },
    { "comments for ever", REPEATS, PART, ": wait\n\n", .told = LATE,
      .text = "Hi", .opts = SILENCE },
    { "pings for ever", REPEATS, PART, EVENT("ping", ""), .told = LATE,
      .text = "Hi", .opts = SILENCE },
    { "an endless answer", REPEATS, PART, DELTA, .told = LATE,
      .text = "HiHi", .opts = "{'total_ms': 300}" },

    { "reset in the middle", RESETS, PART, .told = CUT, .text = "Hi" },
    { "closed in a chunk", CUT_CHUNK, PART CLOSE, .told = CUT, .text = "Hi" },
    { "shorter than told", SHORT, PART, .told = CUT, .text = "Hi" },
    { "longer than told", LONG, PART CLOSE, .told = CUT, .text = "Hi" },
    { "a clean end in the middle", WHOLE, PART, .told = CUT, .text = "Hi" },
    { "a clean end in a call", WHOLE, BEGIN TOOL, .told = CUT, .text = "" },
    { "an empty answer", WHOLE, "", .told = CUT, .text = "" },

    { "a page with status 200", WHOLE, PAGE, .headers = HTML, .told = BROKEN,
      .text = "" },
    { "an error first", WHOLE, OVERLOADED, .text = "",
      .told = "adapter/provider_unavailable" },
    { "an error in the middle", WHOLE, PART OVERLOADED, .text = "Hi",
      .told = "adapter/provider_unavailable" },
    { "529", WHOLE, .status = "529 Busy", .headers = JSON,
      .body = "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
              "\"message\":\"Overloaded\"}}",
      .told = "adapter/provider_unavailable", .retry = TWICE },
    { "a line of 256 MiB", FLOODS, PART "data: ", .told = BROKEN,
      .text = "Hi", .most_sent = 32 * MIB },
    { "an event 200,000 deep", .made = deep_event, .told = BROKEN, .text = "" },
};

static void faults_of_anthropic(void)
{
    fault_check_all(messages, sizeof messages / sizeof *messages,
                    "anthropic:m");
}

/* ------------------------------------------------------- TLS and HTTP/2 --- */

/* The server may still be at a row when its call has ended, so all of them are
 * kept until it is gone. */
static struct fault_stage stages[4 * (sizeof chat / sizeof *chat +
                                      sizeof messages / sizeof *messages + 1)];
static size_t stage_count;

static void play_kept(struct server *server, const struct fault *f)
{
    fault_play(server, &stages[stage_count++], f);
}

static void release_stages(void)
{
    while (stage_count)
        free(stages[--stage_count].bytes);
}

/* What passes the one who stands in front as it is: he answers himself where a
 * server says nothing. */
static bool passes(const struct fault *f)
{
    return !f->made && (f->manner == WHOLE || f->manner == ZIPPED ||
                        f->manner == ONE_BYTE_CHUNKS || f->manner == STAYS ||
                        f->manner == REPEATS);
}

/* A stream that is reset: libcurl may drop what came of it just before, so the
 * text may be lost, but never the error. */
static void check_reset_behind(struct fault_place at, struct fault_way way)
{
    static const struct fault cut = { .manner = CUT_CHUNK, .body = HI STOP };
    play_kept(at.server, &cut);
    check_row("a stream that is reset");
    allm_engine *e = fault_engine(at, "openai:m", NULL);
    allm_stream *s = play_call_with(e, ALLM(call_opts, .api_key = FAULT_KEY));
    fault_run(s, &way);
    const char *how = fault_reported(allm_stream_error(s));
    CHECK_WHY(!strcmp(how, CUT) || !strcmp(how, "adapter/network_error"), how);
    allm_stream_free(s);
    allm_engine_free(e);
}

static void check_all_behind(struct fault_place at, const struct fault *faults,
                             size_t n, const char *model)
{
    for (size_t i = 0; i < 4 * n; i++) {
        if (!passes(&faults[i / 4]))
            continue;
        play_kept(at.server, &faults[i / 4]);
        fault_check_call(&faults[i / 4], at, model, fault_way_of((int)(i % 4)));
    }
}

static void faults_behind_tls_and_http2(void)
{
    struct front front;
    struct server *server = server_new();
    struct fault_place at = { .server = server, .front = &front };
    if (server && front_init(&front, server_port(server), FRONT_HERE)) {
        check_all_behind(at, chat, sizeof chat / sizeof *chat, "openai:m");
        check_all_behind(at, messages, sizeof messages / sizeof *messages,
                         "anthropic:m");
        for (int i = 0; i < 4; i++)
            check_reset_behind(at, fault_way_of(i));
        front_release(&front);
    }
    server_free(server);
    release_stages();
}

/* ---------------------------------------------------------------- tools --- */

static void count_run(allm_tool_run *tool, const allm_json *args, void *ud)
{
    (void)args;
    ++*(int *)ud;
    allm_tool_ok(tool, NULL);
}

/* How often a tool is run because of an answer. */
static int runs_of(const char *body, const char *model)
{
    int runs = 0;
    struct fault_stage stage;
    struct server *server = server_new();
    if (!server)
        return -1;
    fault_play(server, &stage, &(struct fault){ .body = body });
    allm_engine *bare = fault_engine((struct fault_place){ .server = server },
                                     model, NULL);
    allm_tool *tool = allm_tool_new(
        ALLM(tool, .name = "f", .description = "", .schema_text = "{}",
             .call = count_run, .ud = &runs, .flags = ALLM_TOOL_INLINE));
    allm_engine *e = allm_engine_put_tool(bare, tool);
    allm_thread *thread = turns_thread();
    allm_stream *s = allm_step(e, thread,
                               ALLM(call_opts, .api_key = FAULT_KEY));
    fault_run(s, &(struct fault_way){ .pull = true, .in_hub = true });
    CHECK_INT(server_look(server).requests, 1);
    allm_stream_free(s);
    allm_thread_free(thread);
    allm_engine_free(e);
    allm_engine_free(bare);
    allm_tool_free(tool);
    server_free(server);
    free(stage.bytes);
    return runs;
}

#define ASKS EVENT("message_delta", ",\"delta\":{\"stop_reason\":\"tool_use\"}")

static void no_tool_is_run_on_half_its_arguments(void)
{
    static const struct {
        const char *why, *model, *body;
        int runs;
    } rows[] = {
        { "the whole call", "openai:m", CALL REST CALLED DONE, 1 },
        { "a clean end in it", "openai:m", CALL, 0 },
        { "said to be whole", "openai:m", CALL CALLED DONE, 0 },
        { "cut by its length", "openai:m",
          CALL CHOICE("\"delta\":{},\"finish_reason\":\"length\"") DONE, 0 },
        { "an error behind it", "openai:m", CALL REST "data: " BUSY "\n\n", 0 },
        { "the whole call", "anthropic:m", BEGIN TOOL TAIL CLOSE ASKS END, 1 },
        { "a clean end in it", "anthropic:m", BEGIN TOOL, 0 },
        { "said to be whole", "anthropic:m", BEGIN TOOL CLOSE ASKS END, 0 },
        { "an error behind it", "anthropic:m", BEGIN TOOL TAIL CLOSE OVERLOADED,
          0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        CHECK_INT(runs_of(rows[i].body, rows[i].model), rows[i].runs);
    }
}

/* ------------------------------------------------------------ redirects --- */

/* Neither the prompt nor the key goes where a server points. */
static void a_redirect_leads_nowhere(void)
{
    struct server *other = server_new();
    char to[128];
    if (!other)
        return;
    snprintf(to, sizeof to, "Location: http://127.0.0.1:%d/v1/x\r\n",
             server_port(other));
    static const char *const status[] = { "301 Moved", "302 Found",
                                          "303 See", "307 Moved", "308 Moved" };
    for (size_t i = 0; i < sizeof status / sizeof *status; i++) {
        const struct fault f = { .why = status[i],
                                 .status = status[i],
                                 .headers = to,
                                 .body = "",
                                 .told = "adapter/unknown",
                                 .says = "base_url",
                                 .retry = TWICE };
        fault_check_all(&f, 1, "openai:m");
    }
    CHECK_INT(server_look(other).connections, 0);
    server_free(other);
}

TESTS = {
    TEST_ONCE(faults_of_openai_chat),
    TEST_ONCE(faults_of_anthropic),
    TEST_ONCE(faults_behind_tls_and_http2),
    TEST_ONCE(no_tool_is_run_on_half_its_arguments),
    TEST_ONCE(a_redirect_leads_nowhere),
    TESTS_END,
};
