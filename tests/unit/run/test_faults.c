/*
 * test_faults.c - what servers get wrong, over real sockets
 *
 * Each row of the two tables is one answer of a server, and what must become
 * of it by both doors (pulling events, waiting for the end), alone and in a
 * hub: how it ends, which text is kept, how many connections and bytes it took.
 *
 * tag: clock
 */
#include "harness/check.h"
#include "harness/front.h"
#include "harness/play.h"
#include "harness/server.h"
#include "harness/turns.h"

#include "allm_ext.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY "sk-fault-0123456789"
#define MIB (1024 * 1024)

/* How the body comes, and what follows it. */
enum manner {
    WHOLE,                      /* its length is told, and right */
    CLOSES,                     /* ends with the connection, no length told */
    RESETS,                     /* the same, rudely */
    STAYS,                      /* the connection stays, and is silent */
    SHORT,                      /* ten bytes fewer than told, then closed */
    LONG,                       /* ten bytes more than told */
    CUT_CHUNK,                  /* closed in the middle of a chunk */
    ONE_BYTE_CHUNKS,
    ZIPPED,                     /* by gzip */
    REPEATS,                    /* `again` follows for ever */
    FLOODS,                     /* 256 MiB without a line's end follow */
    MUTE,                       /* no answer, the connection stays */
    GONE                        /* no answer, the connection is reset */
};

struct fault {
    const char *why;
    enum manner manner;
    const char *body, *again;
    const char *told;           /* "ok", or the error's kind/reason */
    const char *text;           /* what is kept; NULL: it never began */
    const char *status;         /* NULL: 200 OK */
    const char *headers;        /* NULL: Content-Type: text/event-stream */
    const char *(*made)(size_t *len);   /* in place of body and manner */
    const char *retry;          /* of the engine; NULL: none */
    const char *opts;           /* of the call, such as deadlines; or NULL */
    size_t connections;         /* 0: one */
    size_t most_sent;           /* bytes that the server may get rid of */
    const char *says;           /* words of the error's message; or NULL */
    int64_t after_ms;           /* what the error says of waiting */
};

enum { NOT_TOLD = 0, AT_ONCE = -1, OVER_AN_HOUR = -2 };     /* after_ms */

#define FIRST   "{'first_ms': 50}"
#define SILENCE "{'silence_ms': 50}"
#define TWICE   "{'max_attempts': 2, 'base_delay_ms': 0, 'jitter_ms': 0}"
#define SECONDS "{'max_attempts': 5, 'base_delay_ms': 60000}"

/* ------------------------------------------------------------- the server --- */

/* What one row is played from. */
struct stage {
    char *bytes;
    size_t len, cap;
    struct server_step steps[4];
};

static void add(struct stage *s, const char *bytes, size_t len)
{
    if (s->len + len > s->cap) {
        s->cap = (s->len + len) * 2;
        s->bytes = realloc(s->bytes, s->cap);
        if (!s->bytes)
            abort();
    }
    memcpy(s->bytes + s->len, bytes, len);
    s->len += len;
}

static void add_text(struct stage *s, const char *text)
{
    add(s, text, strlen(text));
}

static void add_chunks(struct stage *s, const char *body, size_t len,
                       size_t each)
{
    char size[32];
    for (size_t i = 0; i < len; i += each) {
        size_t n = len - i < each ? len - i : each;
        snprintf(size, sizeof size, "%zx\r\n", n);
        add_text(s, size);
        add(s, body + i, n);
        add_text(s, "\r\n");
    }
    add_text(s, "0\r\n\r\n");
}

static uint32_t crc_of(const char *bytes, size_t len)
{
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 0; i < len; i++) {
        crc ^= (unsigned char)bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return ~crc;
}

#define GZIP_HEAD "\x1f\x8b\x08\0\0\0\0\0\0\3"

static void add_low_first(struct stage *s, uint32_t n, int bytes)
{
    for (int i = 0; i < bytes; i++)
        add(s, &(char){ (char)(n >> 8 * i & 0xFF) }, 1);
}

/* The simplest gzip there is: one block, stored as it is. */
static void add_zipped(struct stage *s, const char *body, size_t len)
{
    add(s, GZIP_HEAD "\1", 11);
    add_low_first(s, (uint32_t)len, 2);
    add_low_first(s, ~(uint32_t)len, 2);
    add(s, body, len);
    add_low_first(s, crc_of(body, len), 4);
    add_low_first(s, (uint32_t)len, 4);
}

static void add_head(struct stage *s, const struct fault *f, const char *more)
{
    add_text(s, "HTTP/1.1 ");
    add_text(s, f->status ? f->status : "200 OK");
    add_text(s, "\r\n");
    add_text(s,
             f->headers ? f->headers : "Content-Type: text/event-stream\r\n");
    add_text(s, more);
    add_text(s, "\r\n");
}

static void add_body(struct stage *s, const struct fault *f)
{
    char length[64];
    size_t len = f->body ? strlen(f->body) : 0;
    size_t told = f->manner == SHORT  ? len + 10
                  : f->manner == LONG ? len - 10
                                      : len;
    snprintf(length, sizeof length, "Content-Length: %zu\r\n", told);
    switch (f->manner) {
    case MUTE:
    case GONE:
        return;
    case WHOLE:
    case SHORT:
    case LONG:
        add_head(s, f, length);
        add(s, f->body, len);
        return;
    case ONE_BYTE_CHUNKS:
        add_head(s, f, "Transfer-Encoding: chunked\r\n");
        add_chunks(s, f->body, len, 1);
        return;
    case CUT_CHUNK:
        add_head(s, f, "Transfer-Encoding: chunked\r\n");
        add_chunks(s, f->body, len, len);
        s->len -= 12;
        return;
    case ZIPPED:
        add_head(s, f, "Content-Encoding: gzip\r\nConnection: close\r\n");
        add_zipped(s, f->body, len);
        return;
    default:
        add_head(s, f, "Connection: close\r\n");
        add(s, f->body, len);
    }
}

static struct server_step last_of(enum manner manner)
{
    switch (manner) {
    case WHOLE:
    case ONE_BYTE_CHUNKS:
        return (struct server_step)SERVER_END;
    case STAYS:
    case MUTE:
        return (struct server_step)SERVER_PAUSE;
    case RESETS:
    case GONE:
        return (struct server_step)SERVER_RESET;
    case REPEATS:
        return (struct server_step)SERVER_BACK(1);
    default:
        return (struct server_step)SERVER_CLOSE;
    }
}

/* `stage` must outlive the server. */
static void play(struct server *server, struct stage *s, const struct fault *f)
{
    size_t made = 0;
    const char *own = f->made ? f->made(&made) : NULL;
    *s = (struct stage){ .bytes = NULL };
    if (!own)
        add_body(s, f);
    struct server_step *step = s->steps;
    *step++ = own ? (struct server_step)SERVER_SLICE(own, made)
                  : (struct server_step)SERVER_SLICE(s->bytes, s->len);
    if (f->manner == REPEATS)
        *step++ = (struct server_step)SERVER_SLICE(f->again, strlen(f->again));
    if (f->manner == FLOODS)
        *step++ = (struct server_step)SERVER_FLOOD(256 * (size_t)MIB);
    *step = last_of(own ? CLOSES : f->manner);
    server_play_always(server, s->steps);
}

/* -------------------------------------------------------------- the calls --- */

/* Where the calls go: to the server, or to whoever stands in front of it. */
struct place {
    struct server *server;
    struct front *front;        /* TLS and HTTP/2; or NULL */
};

static allm_engine *engine_for(struct place at, const char *model,
                               const char *retry)
{
    char opts[128];
    if (at.front)
        snprintf(opts, sizeof opts, "{'base_url': '%s/v1'}", at.front->url);
    else
        snprintf(opts, sizeof opts, "{'base_url': 'http://127.0.0.1:%d/v1'}",
                 server_port(at.server));
    allm_json *json = play_json(opts);
    allm_json *policy = play_json(retry ? retry : "false");
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = model, .adapter_opts = json, .retry = policy,
             .net = ALLM(net_opts, .proxy = "", .http2 = at.front != NULL,
                         .ca_file = at.front ? front_authority() : NULL)));
    allm_json_free(json);
    allm_json_free(policy);
    return e;
}

/* How the call is made, and what was seen of it. */
struct way {
    bool pull, in_hub;
    bool completed;             /* an event told the whole message */
};

static allm_status to_its_end(allm_stream *s, struct way *way)
{
    const allm_event *event;
    allm_status status;
    if (!way->pull)
        return allm_stream_wait(s);
    while ((status = allm_stream_next(s, &event)) == ALLM_EVENT)
        way->completed |= event->type == ALLM_EV_MESSAGE_COMPLETED;
    return status;
}

static allm_status run(allm_stream *s, struct way *way)
{
    allm_status status = ALLM_AGAIN;
    if (!way->in_hub)
        return to_its_end(s, way);
    allm_hub *hub = allm_hub_new(NULL);
    CHECK_INT(allm_hub_add(hub, s, NULL), ALLM_OK);
    while (status == ALLM_AGAIN && allm_hub_wait(hub, 20000, NULL) == s)
        status = to_its_end(s, way);
    allm_hub_free(hub);
    return status;
}

static const char *told(const allm_error *e)
{
    static char text[128];
    if (!e)
        return "ok";
    snprintf(text, sizeof text, "%s/%s",
             e->kind == ALLM_ERR_ADAPTER  ? "adapter"
             : e->kind == ALLM_ERR_STREAM ? "stream"
                                          : "other",
             e->reason);
    return text;
}

static void check_wait(const allm_error *e, int64_t want)
{
    allm_int ms = e ? e->retry_after_ms : (allm_int){ 0, false };
    CHECK_INT(ms.set, want != NOT_TOLD);
    if (want == OVER_AN_HOUR)
        CHECK(ms.value >= 3600000);
    else if (ms.set)
        CHECK_INT(ms.value, want == AT_ONCE ? 0 : want);
}

/* The text that is kept; of one that goes on for ever the beginning. */
static void check_text(const struct fault *f, const allm_response *r)
{
    CHECK_INT(r != NULL, f->text != NULL);
    if (!r || !f->text)
        return;
    if (f->manner == REPEATS)
        CHECK(!strncmp(r->output_text, f->text, strlen(f->text)));
    else
        CHECK_TEXT(r->output_text, f->text);
}

static void check_call(const struct fault *f, struct place at,
                       const char *model, struct way way)
{
    char row[256];
    snprintf(row, sizeof row, "%s: %s, %s, %s%s", model, f->why,
             way.pull ? "pulled" : "waited for",
             way.in_hub ? "in a hub" : "alone", at.front ? ", HTTP/2" : "");
    check_row(row);
    allm_engine *e = engine_for(at, model, f->retry);
    allm_json *opts = play_json(f->opts ? f->opts : "{}");
    allm_stream *s =
        play_call_with(e, ALLM(call_opts, .api_key = KEY, .json = opts));
    allm_status status = run(s, &way);
    const allm_error *error = allm_stream_error(s);
    CHECK_TEXT(told(error), f->told);
    CHECK_INT(status, f->text ? ALLM_OK : error ? error->kind : ALLM_OK);
    CHECK(!error || !strstr(error->message, KEY));
    CHECK(!error || !way.completed);
    CHECK(!f->says || (error && strstr(error->message, f->says)));
    check_wait(error, f->after_ms);
    check_text(f, allm_stream_response(s));
    allm_stream_free(s);
    allm_json_free(opts);
    allm_engine_free(e);
}

static void check_fault(const struct fault *f, const char *model,
                        struct way way)
{
    struct stage stage;
    struct server *server = server_new();
    if (!server)
        return;
    play(server, &stage, f);
    check_call(f, (struct place){ .server = server }, model, way);
    size_t want = f->connections ? f->connections : 1;
    struct server_seen seen = server_look_for(server, want);
    CHECK_INT(seen.connections, want);
    CHECK(!f->most_sent || seen.sent <= f->most_sent);
    server_free(server);
    free(stage.bytes);
}

/* The four ways. */
static struct way way_of(int i)
{
    return (struct way){ .pull = i & 1, .in_hub = i & 2 };
}

static void check_all(const struct fault *faults, size_t n, const char *model)
{
    for (size_t i = 0; i < n; i++)
        for (int way = 0; way < 4; way++)
            check_fault(&faults[i], model, way_of(way));
}

/* -------------------------------------------------------- answers too large --- */

#define LARGE_HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" \
                   "Connection: close\r\n"

/* Before, n times one piece, behind; made once, kept to the end. */
static const char *repeated(char **kept, const char *before, const char *piece,
                            size_t n, const char *behind, size_t *len)
{
    size_t first = strlen(before), each = strlen(piece), last = strlen(behind);
    *len = first + n * each + last;
    if (!*kept)
        *kept = malloc(*len);
    if (!*kept)
        abort();
    memcpy(*kept, before, first);
    for (size_t i = 0; i < n; i++)
        memcpy(*kept + first + i * each, piece, each);
    memcpy(*kept + first + n * each, behind, last);
    return *kept;
}

static const char *deep_event(size_t *len)
{
    static char *kept;
    return repeated(&kept, LARGE_HEAD "\r\ndata: {\"choices\":", "[", 200000,
                    "\n\n", len);
}

static const char *deep_document(size_t *len)
{
    static char *kept;
    return repeated(&kept, LARGE_HEAD "\r\n{\"choices\":", "{\"a\":", 200000,
                    "", len);
}

static const char *long_head(size_t *len)
{
    static char *kept;
    return repeated(&kept, "HTTP/1.1 200 OK\r\n", "X-Filler: 0123456789\r\n",
                    4000, "\r\n", len);
}

#define ONE_CALL "{\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},"
#define CALLS(member) "{\"choices\":[{\"index\":0,\"" member "\":{" \
                      "\"tool_calls\":["
#define CALLS_END "null]},\"finish_reason\":\"tool_calls\"}]}\n\n"

static const char *calls_128(size_t *len)
{
    static char *kept;
    return repeated(&kept, LARGE_HEAD "\r\ndata: " CALLS("delta"), ONE_CALL,
                    128, CALLS_END "data: [DONE]\n\n", len);
}

static const char *calls_129(size_t *len)
{
    static char *kept;
    return repeated(&kept, LARGE_HEAD "\r\ndata: " CALLS("delta"), ONE_CALL,
                    129, CALLS_END "data: [DONE]\n\n", len);
}

static const char *document_129(size_t *len)
{
    static char *kept;
    return repeated(&kept, LARGE_HEAD "\r\n" CALLS("message"), ONE_CALL, 129,
                    CALLS_END, len);
}

/* Bits of a deflate stream, the lowest first; codes the other way round. */
struct bits {
    unsigned char *to;
    size_t at;                  /* in bits */
};

static void put_bits(struct bits *b, unsigned n, int count)
{
    for (int i = 0; i < count; i++, b->at++)
        if (n >> i & 1)
            b->to[b->at / 8] |= (unsigned char)(1 << b->at % 8);
}

static void put_code(struct bits *b, unsigned code, int count)
{
    for (int i = count; i-- > 0;)
        put_bits(b, code >> i & 1, 1);
}

/* A bomb: `first`, 258 bytes, and then a thousand thousand copies of it and
 * more, in 20 bits each. */
static const char *bomb(char **kept, const char *first, size_t *len)
{
    enum { COPIES = 1100000, RUN = 258 };
    static const char head[] = LARGE_HEAD
        "Content-Encoding: gzip\r\n\r\n" GZIP_HEAD;
    size_t most = sizeof head + RUN * 2 + COPIES / 8 * 20 + 64;
    *len = most;
    if (*kept)
        return *kept;
    *kept = calloc(1, most);
    if (!*kept)
        abort();
    memcpy(*kept, head, sizeof head - 1);
    struct bits b = { (unsigned char *)*kept, (sizeof head - 1) * 8 };
    put_bits(&b, 3, 3);         /* one block, with the fixed codes */
    for (size_t i = 0; i < RUN; i++)
        put_code(&b, 0x30 + (unsigned char)first[i], 8);
    for (size_t i = 0; i < COPIES; i++) {
        put_code(&b, 0xC5, 8);  /* 258 bytes */
        put_code(&b, 16, 5);    /* from 257 back and */
        put_bits(&b, 1, 7);     /* one more */
    }
    return *kept;
}

static const char *bomb_of_a_line(size_t *len)
{
    static char *kept;
    char first[259];
    memset(first, 'x', sizeof first);
    memcpy(first, "data: ", 6);
    return bomb(&kept, first, len);
}

static const char *bomb_of_comments(size_t *len)
{
    static char *kept;
    char first[259];
    memset(first, 'x', sizeof first);
    first[0] = ':';
    first[257] = '\n';
    return bomb(&kept, first, len);
}

/* ------------------------------------------------------------- openai_chat --- */

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
    check_all(chat, sizeof chat / sizeof *chat, "openai:m");
}

/* --------------------------------------------------------------- anthropic --- */

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
    check_all(messages, sizeof messages / sizeof *messages, "anthropic:m");
}

/* ---------------------------------------------------------- TLS and HTTP/2 --- */

/* The server may still be at a row when its call has ended, so all of them are
 * kept until it is gone. */
static struct stage stages[4 * (sizeof chat / sizeof *chat +
                                sizeof messages / sizeof *messages + 1)];
static size_t stage_count;

static void play_kept(struct server *server, const struct fault *f)
{
    play(server, &stages[stage_count++], f);
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
static void check_reset_behind(struct place at, struct way way)
{
    static const struct fault cut = { .manner = CUT_CHUNK, .body = HI STOP };
    play_kept(at.server, &cut);
    check_row("a stream that is reset");
    allm_engine *e = engine_for(at, "openai:m", NULL);
    allm_stream *s = play_call_with(e, ALLM(call_opts, .api_key = KEY));
    run(s, &way);
    const char *how = told(allm_stream_error(s));
    CHECK_WHY(!strcmp(how, CUT) || !strcmp(how, "adapter/network_error"), how);
    allm_stream_free(s);
    allm_engine_free(e);
}

static void check_all_behind(struct place at, const struct fault *faults,
                             size_t n, const char *model)
{
    for (size_t i = 0; i < 4 * n; i++) {
        if (!passes(&faults[i / 4]))
            continue;
        play_kept(at.server, &faults[i / 4]);
        check_call(&faults[i / 4], at, model, way_of((int)(i % 4)));
    }
}

static void faults_behind_tls_and_http2(void)
{
    struct front front;
    struct server *server = server_new();
    struct place at = { server, &front };
    if (server && front_init(&front, server_port(server), FRONT_HERE)) {
        check_all_behind(at, chat, sizeof chat / sizeof *chat, "openai:m");
        check_all_behind(at, messages, sizeof messages / sizeof *messages,
                         "anthropic:m");
        for (int i = 0; i < 4; i++)
            check_reset_behind(at, way_of(i));
        front_release(&front);
    }
    server_free(server);
    release_stages();
}

/* ------------------------------------------------------------------- tools --- */

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
    struct stage stage;
    struct server *server = server_new();
    if (!server)
        return -1;
    play(server, &stage, &(struct fault){ .body = body });
    allm_engine *bare = engine_for((struct place){ .server = server }, model,
                                   NULL);
    allm_tool *tool = allm_tool_new(
        ALLM(tool, .name = "f", .description = "", .schema_text = "{}",
             .call = count_run, .ud = &runs, .flags = ALLM_TOOL_INLINE));
    allm_engine *e = allm_engine_put_tool(bare, tool);
    allm_thread *thread = turns_thread();
    allm_stream *s = allm_step(e, thread, ALLM(call_opts, .api_key = KEY));
    run(s, &(struct way){ .pull = true, .in_hub = true });
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

/* --------------------------------------------------------------- redirects --- */

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
        check_all(&f, 1, "openai:m");
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
