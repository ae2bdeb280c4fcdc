/* fault.c - faulty answers of a server, and how the call must end */
#include "harness/fault.h"

#include "engine/engine.h"

#include "harness/check.h"
#include "harness/play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *fault_repeated(char **kept, const char *before, const char *piece,
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
static void add(struct fault_stage *s, const char *bytes, size_t len)
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

static void add_text(struct fault_stage *s, const char *text)
{
    add(s, text, strlen(text));
}

static void add_chunks(struct fault_stage *s, const char *body, size_t len,
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

static void add_low_first(struct fault_stage *s, uint32_t n, int bytes)
{
    for (int i = 0; i < bytes; i++)
        add(s, &(char){ (char)(n >> 8 * i & 0xFF) }, 1);
}

/* The simplest gzip: one stored block. */
static void add_zipped(struct fault_stage *s, const char *body, size_t len)
{
    add(s, FAULT_GZIP_HEAD "\1", 11);
    add_low_first(s, (uint32_t)len, 2);
    add_low_first(s, ~(uint32_t)len, 2);
    add(s, body, len);
    add_low_first(s, crc_of(body, len), 4);
    add_low_first(s, (uint32_t)len, 4);
}

static void add_head(struct fault_stage *s, const struct fault *f,
                     const char *more)
{
    add_text(s, "HTTP/1.1 ");
    add_text(s, f->status ? f->status : "200 OK");
    add_text(s, "\r\n");
    add_text(s,
             f->headers ? f->headers : "Content-Type: text/event-stream\r\n");
    add_text(s, more);
    add_text(s, "\r\n");
}

static void add_body(struct fault_stage *s, const struct fault *f)
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

void fault_play(struct server *server, struct fault_stage *s,
                const struct fault *f)
{
    size_t made = 0;
    const char *own = f->made ? f->made(&made) : NULL;
    *s = (struct fault_stage){ .bytes = NULL };
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

allm_engine *fault_engine(struct fault_place at, const char *model,
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
    if (e && at.answer_limit)
        engine_limit_answers(e, at.answer_limit);
    return e;
}

static allm_status to_its_end(allm_stream *s, struct fault_way *way)
{
    const allm_event *event;
    allm_status status;
    if (!way->pull)
        return allm_stream_wait(s);
    while ((status = allm_stream_next(s, &event)) == ALLM_EVENT)
        way->completed |= event->type == ALLM_EV_MESSAGE_COMPLETED;
    return status;
}

allm_status fault_run(allm_stream *s, struct fault_way *way)
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

const char *fault_reported(const allm_error *e)
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

/* The text received; of an endless one, only the beginning. */
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

void fault_check_call(const struct fault *f, struct fault_place at,
                      const char *model, struct fault_way way)
{
    char row[256];
    snprintf(row, sizeof row, "%s: %s, %s, %s%s", model, f->why,
             way.pull ? "pulled" : "waited for",
             way.in_hub ? "in a hub" : "alone", at.front ? ", HTTP/2" : "");
    check_row(row);
    allm_engine *e = fault_engine(at, model, f->retry);
    allm_json *opts = play_json(f->opts ? f->opts : "{}");
    allm_stream *s =
        play_call_with(e, ALLM(call_opts, .api_key = FAULT_KEY, .json = opts));
    allm_status status = fault_run(s, &way);
    const allm_error *error = allm_stream_error(s);
    CHECK_TEXT(fault_reported(error), f->told);
    CHECK_INT(status, f->text ? ALLM_OK : error ? error->kind : ALLM_OK);
    CHECK(!error || !strstr(error->message, FAULT_KEY));
    CHECK(!error || !way.completed);
    CHECK(!f->says || (error && strstr(error->message, f->says)));
    check_wait(error, f->after_ms);
    check_text(f, allm_stream_response(s));
    allm_stream_free(s);
    allm_json_free(opts);
    allm_engine_free(e);
}

static void check_fault(const struct fault *f, const char *model,
                        struct fault_way way)
{
    struct fault_stage stage;
    struct server *server = server_new();
    if (!server)
        return;
    fault_play(server, &stage, f);
    fault_check_call(f, (struct fault_place){ .server = server }, model, way);
    size_t want = f->connections ? f->connections : 1;
    struct server_seen seen = server_look_for(server, want);
    CHECK_INT(seen.connections, want);
    CHECK(!f->most_sent || seen.sent <= f->most_sent);
    server_free(server);
    free(stage.bytes);
}

struct fault_way fault_way_of(int i)
{
    return (struct fault_way){ .pull = i & 1, .in_hub = i & 2 };
}

void fault_check_all(const struct fault *faults, size_t n, const char *model)
{
    for (size_t i = 0; i < n; i++)
        for (int way = 0; way < 4; way++)
            check_fault(&faults[i], model, fault_way_of(way));
}
