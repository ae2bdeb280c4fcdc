/*
 * reload.h - any bytes as answers of a server: save and load the session
 *
 *      bytes --> transport --> dialect --> tools --> session --> document
 *                                                                   |
 *                  the same next request  <-- session, loaded <-----+
 *
 * An input is: a byte that selects the dialect, one that selects how the body
 * is split and how the session is stored, then answers, separated by the byte
 * 1E.  The first byte of an answer selects its status.
 *
 * Whatever the server sends: every event, result and request is JSON that the
 * strict reader accepts; a saved session can be loaded, is the same when it is
 * saved again, and sends the same request as the original.
 *
 * The including file defines DEMAND(truth).
 */
#pragma once

#include "allm.h"
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RELOAD_END = 0x1E, RELOAD_ANSWERS = 6 };

static const char *const reload_models[] = {
    "openai:gpt-4o", "openai:gpt-5", "anthropic:claude-sonnet-4-5",
    "gemini:gemini-2.5-flash", "ollama:qwen3",
};

#define RELOAD_MODELS (sizeof reload_models / sizeof *reload_models)

struct reload_server {
    struct slice rest;          /* answers that were not requested yet */
    struct slice body;          /* the unread rest of the current answer */
    size_t cut;                 /* bytes per piece */
    size_t opened;
    allm_http_head head;
    const char *header[2];
    struct arena arena;
    struct buf asked;           /* the last request: address, headers, body */
    size_t body_at;             /* where its body begins */
};

static int32_t reload_status(char c)
{
    static const int32_t status[] = { 400, 429, 500, 529 };
    return c >= '4' && c <= '7' ? status[c - '4'] : 200;
}

static struct slice reload_next(struct reload_server *s)
{
    struct slice all = s->rest;
    const char *end = all.len ? memchr(all.ptr, RELOAD_END, all.len) : NULL;
    size_t n = end ? (size_t)(end - all.ptr) : all.len;
    s->rest = slice_skip(all, n + (end != NULL));
    return (struct slice){ all.ptr, n };
}

static void reload_note(struct reload_server *s, const allm_http_view *v)
{
    buf_clear(&s->asked);
    buf_format(&s->asked, "%s %s\n", v->method, v->url);
    for (size_t i = 0; i < 2 * v->header_count; i += 2)
        buf_format(&s->asked, "%s: %s\n", v->header[i], v->header[i + 1]);
    s->body_at = s->asked.len;
    buf_add(&s->asked, (struct slice){ v->body, v->body_len });
}

static allm_exchange *reload_open(void *self, const allm_http_view *v,
                                  allm_waker *waker, const allm_error **error)
{
    static const allm_error gone = { .size = sizeof gone,
                                     .kind = ALLM_ERR_ADAPTER,
                                     .reason = "invalid_request",
                                     .message = "there is no answer" };
    struct reload_server *s = self;
    (void)waker;
    reload_note(s, v);
    if (!s->rest.len || s->opened++ == RELOAD_ANSWERS) {
        *error = &gone;
        return NULL;
    }
    s->body = reload_next(s);
    int32_t status = s->body.len ? reload_status(*s->body.ptr) : 200;
    s->body = slice_skip(s->body, s->body.len > 0);
    s->head = (allm_http_head){ .size = sizeof s->head,
                                .status = status,
                                .header_count = 0,
                                .header = s->header };
    return self;
}

static allm_status reload_read(void *self, allm_exchange *x, allm_chunk *chunk)
{
    struct reload_server *s = self;
    (void)x;
    if (!s->body.len)
        return ALLM_OK;
    chunk->bytes = s->body.ptr;
    chunk->len = s->body.len < s->cut ? s->body.len : s->cut;
    s->body = slice_skip(s->body, chunk->len);
    return ALLM_EVENT;
}

static const allm_http_head *reload_head(void *self, allm_exchange *x)
{
    (void)x;
    return &((struct reload_server *)self)->head;
}

static void reload_close(void *self, allm_exchange *x)
{
    (void)self;
    (void)x;
}

static void reload_echo(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)ud;
    allm_tool_ok(run, args);
}

static void reload_fail(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    allm_tool_fail(run, "it did not work");
}

static void reload_ask(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)ud;
    allm_tool_ask(run, "which one?", args);
}

static void reload_halt(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)ud;
    allm_tool_halt(run, "enough", args);
}

#define RELOAD_TOOL(n, fn)                                            \
    ALLM(tool, .name = (n), .description = "d", .schema_text = "{}", \
         .call = (fn), .flags = ALLM_TOOL_INLINE)

static allm_engine *reload_engine(struct reload_server *s, const char *model)
{
    const allm_tool *tools[] = {
        RELOAD_TOOL("tide_at", reload_echo), RELOAD_TOOL("f", reload_echo),
        RELOAD_TOOL("t", reload_fail), RELOAD_TOOL("g", reload_ask),
        RELOAD_TOOL("now", reload_halt),
        ALLM(tool, .name = "x", .description = "d", .schema_text = "{}",
             .manual = 1),
    };
    const allm_transport t = { .size = sizeof t, .self = s,
                               .open = reload_open, .read = reload_read,
                               .head = reload_head, .close = reload_close };
    allm_json *retry = allm_json_parse("false", ALLM_NUL_ENDED, NULL);
    allm_engine *e =
        allm_engine_new(ALLM(engine_opts, .model = model, .tools = tools,
                             .tool_count = sizeof tools / sizeof *tools,
                             .retry = retry, .transport = &t));
    allm_json_free(retry);
    DEMAND(e && !allm_engine_error(e));
    return e;
}

/* The strict reader must accept it. */
static void reload_strict(struct slice text)
{
    allm_json *v = allm_json_parse(text.ptr, text.len,
                                   ALLM(json_opts, .max_depth = 1000));
    DEMAND(v && !allm_json_error(v));
    allm_json_free(v);
}

/* The same for a text, which is freed. */
static void reload_strict_text(allm_text *text)
{
    struct slice s = { NULL, 0 };
    s.ptr = allm_text_bytes(text, &s.len);
    DEMAND(s.ptr != NULL);
    if (s.ptr)
        reload_strict(s);
    allm_text_free(text);
}

/* Pull a stream to its end; every event can be written. */
static void reload_drain(allm_stream *s)
{
    const allm_event *event;
    while (allm_stream_next(s, &event) == ALLM_EVENT)
        reload_strict_text(allm_event_json(event));
    const allm_chat_result *result = allm_stream_chat_result(s);
    for (allm_form form = 0; result && form < 2; form++)
        reload_strict_text(allm_chat_result_json(result, form));
    allm_stream_free(s);
}

static const allm_call_opts *reload_opts(void)
{
    static const allm_call_opts opts = { .size = sizeof opts,
                                         .api_key = "sk-none",
                                         .request_id = "r",
                                         .max_turns = RELOAD_ANSWERS };
    return &opts;
}

/* Continue, whatever the session waits for; returns the request. */
static struct slice reload_go_on(const allm_engine *e, allm_session *session,
                                 struct reload_server *s)
{
    size_t n;
    const allm_tool_call *const *calls =
        allm_session_pending_tool_calls(session, &n);
    const char *id = n ? calls[n - 1]->id : NULL;
    if (id)
        allm_session_submit_tool_result(
            session, ALLM(tool_answer, .tool_call_id = id, .text = "done"));
    buf_clear(&s->asked);
    s->body_at = 0;
    reload_drain(n ? allm_session_continue(e, session, NULL, reload_opts())
                   : allm_session_reply(e, session, "more", reload_opts()));
    if (s->asked.len)
        reload_strict(slice_skip(buf_slice(&s->asked), s->body_at));
    return buf_slice(&s->asked);
}

/* Save to a file and load. */
static allm_session *reload_by_file(allm_session *session)
{
    char path[] = "/tmp/allm-reload-XXXXXX";
    int fd = mkstemp(path);
    DEMAND(fd >= 0);
    DEMAND(allm_session_save(session, path) == ALLM_OK);
    allm_session *again = allm_session_load(path, 0);
    close(fd);
    unlink(path);
    return again;
}

/* Write and read the document, which is the same when it is written again. */
static allm_session *reload_by_text(const allm_session *session, allm_form form)
{
    size_t len, again_len;
    allm_text *text = allm_session_record_json(allm_session_fields(session),
                                               form);
    const char *bytes = allm_text_bytes(text, &len);
    DEMAND(bytes != NULL);
    allm_codec *codec = allm_codec_decode(bytes, len, "Session", NULL);
    const allm_session_record *r = allm_codec_value(codec, ALLM_TYPE_SESSION);
    DEMAND(r && !allm_codec_error(codec));
    allm_text *again = allm_session_record_json(r, form);
    const char *bytes_again = allm_text_bytes(again, &again_len);
    DEMAND(bytes_again && slice_eq((struct slice){ bytes, len },
                                   (struct slice){ bytes_again, again_len }));
    allm_session *loaded = allm_session_from_record(r);
    allm_text_free(again);
    allm_codec_free(codec);
    allm_text_free(text);
    return loaded;
}

static void reload_check(const uint8_t *data, size_t size)
{
    if (size < 2)
        return;
    struct reload_server s = {
        .rest = { (const char *)data + 2, size - 2 },
        .cut = data[1] % 64 ? data[1] % 64 : size,
    };
    arena_init(&s.arena, mem_default());
    buf_init(&s.asked, &s.arena, SIZE_MAX / 2);
    allm_engine *e = reload_engine(&s, reload_models[data[0] % RELOAD_MODELS]);
    allm_session *session = allm_session_new(NULL);
    reload_drain(allm_session_reply(e, session, "hi", reload_opts()));

    allm_form form = data[1] & 0x40 ? ALLM_FORM_PLAIN : ALLM_FORM_TAGGED;
    allm_session *loaded = data[1] & 0x80 ? reload_by_file(session)
                                          : reload_by_text(session, form);
    DEMAND(loaded && !allm_session_error(loaded));
    s.rest = (struct slice){ NULL, 0 };
    struct slice first = reload_go_on(e, session, &s);
    const char *kept = arena_copy(&s.arena, first);
    struct slice second = reload_go_on(e, loaded, &s);
    DEMAND(kept && slice_eq((struct slice){ kept, first.len }, second));
    allm_session_free(loaded);
    allm_session_free(session);
    allm_engine_free(e);
    arena_release(&s.arena);
}
