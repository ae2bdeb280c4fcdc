/* exchange_log.c - one exchange while it is recorded, and its text */
#include "net/exchange_log.h"

#include "base/base64.h"
#include "base/status.h"
#include "base/utf8.h"
#include "json/build.h"
#include "json/json.h"
#include "json/write.h"

/* Where a chunk ends in the body, and when it arrived. */
struct exchange_log_cut {
    size_t end;
    int64_t at_ms;
};

/* -------------------------------------------------------------- keeping --- */

void exchange_log_init(struct exchange_log *t, struct mem mem)
{
    *t = (struct exchange_log){ .mem = mem,
                         .connect_ms = RECORDING_AT_ONCE,
                         .end = RECORDING_CLOSED };
    arena_init(&t->wiped, secret_mem(&t->mem));
    buf_init(&t->body, &t->wiped, RECORDING_LIMIT);
    buf_init(&t->cuts, &t->wiped, RECORDING_LIMIT);
}

void exchange_log_release(struct exchange_log *t)
{
    arena_release(&t->wiped);
}

void exchange_log_request(struct exchange_log *t, const allm_http_view *view)
{
    if (request_json_secret_of(&t->wiped, view, &t->secret))
        t->request = request_json_of(&t->wiped, &t->wiped, view, &t->secret);
    t->broken = t->broken || !t->request;
}

void exchange_log_head(struct exchange_log *t, const allm_http_head *head)
{
    struct build b = build_object_in(&t->wiped);
    build_int_at(&b, "status", head->status);
    if (head->reused)
        build_bool_at(&b, "reused", true);
    build_array_at(&b, "headers");
    for (size_t i = 0; i < head->header_count; i++) {
        struct slice line = request_json_header(&t->wiped, head->header[2 * i],
                                                head->header[2 * i + 1],
                                                &t->secret);
        t->broken = t->broken || !line.ptr;
        build_text(&b, line.ptr ? line : SLICE(""));
    }
    build_end(&b);
    build_end(&b);
    t->status = head->status;
    t->answer = build_done(&b);
    t->broken = t->broken || !t->answer;
}

void exchange_log_chunk(struct exchange_log *t, struct slice bytes,
                        int64_t at_ms)
{
    buf_add(&t->body, bytes);
    const struct exchange_log_cut cut = { t->body.len, at_ms };
    buf_add(&t->cuts, (struct slice){ (const char *)&cut, sizeof cut });
    t->broken = t->broken || t->body.broken || t->cuts.broken;
}

/* The parts of an error that a recording keeps, without keys. */
static const allm_error *clean_error(struct exchange_log *t,
                                     const allm_error *error,
                                     allm_status status)
{
    struct redact hidden = request_json_hidden(&t->secret, true);
    allm_error *mine = arena_alloc(&t->wiped, sizeof *mine);
    if (!mine) {
        t->broken = true;
        return NULL;
    }
    *mine = status_blank(status < 0 ? status : ALLM_ERR_ADAPTER);
    const char *reason = error && error->reason ? error->reason
                                                : "network_error";
    const char *message = error && error->message
                              ? error->message
                              : "the transport failed without saying why";
    struct slice clean = redact_slice(&t->wiped, slice_of(message), &hidden);
    mine->reason = arena_text(&t->wiped, reason);
    mine->message = arena_copy(&t->wiped, clean);
    if (error && error->kind < 0)
        mine->kind = error->kind;
    if (error && MEM_REACHES(error, retry_after_ms)) {
        mine->http_status = error->http_status;
        mine->retry_after_ms = error->retry_after_ms;
    }
    t->broken = t->broken || !mine->reason || !mine->message;
    return mine;
}

void exchange_log_refused(struct exchange_log *t, const allm_error *error)
{
    t->refused = clean_error(t, error, ALLM_ERR_ADAPTER);
}

void exchange_log_end(struct exchange_log *t, enum recording_kind kind,
                      int64_t at_ms, const allm_error *error,
                      allm_status status)
{
    t->end = kind;
    t->end_ms = at_ms;
    if (kind == RECORDING_ERROR)
        t->error = clean_error(t, error, status);
}

/* -------------------------------------------------------------- writing --- */

/* { name: value }, over several lines. */
static void write_object(struct buf *out, struct arena *scratch,
                         const char *name, const allm_json *value)
{
    const allm_json *v = build_one(scratch, name, value);
    if (!v || !json_write(out, v, ALLM_JSON_PRETTY))
        out->broken = true;
    buf_byte(out, '\n');
}

static void write_bytes(struct buf *out, struct slice bytes)
{
    if (utf8_valid(bytes, NULL)) {
        buf_text(out, "\"text\": ");
        json_write_text(out, bytes);
    } else {
        buf_text(out, "\"base64\": \"");
        base64_add(out, bytes);
        buf_byte(out, '"');
    }
}

/* A search for keys in the whole body, and the current match. */
struct hiding {
    struct slice body;
    struct redact what;
    size_t at, len;
};

static void find_next(struct hiding *h)
{
    h->at = redact_find(h->body, h->at + h->len, &h->what, &h->len);
}

/* A chunk without keys: the mark replaces the beginning of a key, and the rest
 * of the key, also in later chunks, is left out. */
static void clean_chunk(struct buf *out, struct hiding *h, size_t from,
                        size_t end)
{
    buf_clear(out);
    while (from < end) {
        size_t stop = h->len && h->at < end ? h->at : end;
        if (from < stop)
            buf_add(out, (struct slice){ h->body.ptr + from, stop - from });
        if (stop == end)
            return;
        if (h->at >= from)
            buf_text(out, REDACT_MARK);
        from = h->at + h->len;
        if (from >= end)
            return;             /* the rest is in the next chunk */
        find_next(h);
    }
}

static void write_chunks(struct exchange_log *t, struct buf *out)
{
    struct exchange_log_cut cut = { 0, 0 };
    bool failed = t->status < 200 || t->status > 299;
    struct hiding h = { .body = buf_slice(&t->body),
                        .what = request_json_hidden(&t->secret, failed) };
    size_t from = 0, count = t->cuts.len / sizeof cut;
    int64_t before = 0;
    struct buf piece = buf_in(&t->wiped, SIZE_MAX / 2);
    find_next(&h);
    for (size_t i = 0; i < count; i++) {
        memcpy(&cut, t->cuts.ptr + i * sizeof cut, sizeof cut);
        while (h.len && h.at + h.len <= from)
            find_next(&h);      /* it ended with the previous chunk */
        size_t start = h.len && h.at < from ? h.at + h.len : from;
        clean_chunk(&piece, &h, start < cut.end ? start : cut.end, cut.end);
        buf_format(out, "{\"ms\": %lld, ", (long long)(cut.at_ms - before));
        write_bytes(out, buf_slice(&piece));
        buf_text(out, "}\n");
        before = cut.at_ms;
        from = cut.end;
    }
    out->broken = out->broken || piece.broken;
    t->end_ms -= before;        /* since the last chunk, from now on */
}

static void write_error(struct buf *out, const allm_error *e)
{
    buf_text(out, "{\"kind\": ");
    json_write_text(out, slice_of(allm_status_name(e->kind)));
    buf_text(out, ", \"reason\": ");
    json_write_text(out, slice_of(e->reason));
    buf_text(out, ", \"message\": ");
    json_write_text(out, slice_of(e->message));
    if (e->http_status.set && e->http_status.value >= 0 &&
        e->http_status.value <= 999)
        buf_format(out, ", \"status\": %lld", (long long)e->http_status.value);
    if (e->retry_after_ms.set && e->retry_after_ms.value >= 0)
        buf_format(out, ", \"retry_after_ms\": %lld",
                   (long long)e->retry_after_ms.value);
    buf_byte(out, '}');
}

static void write_end(struct exchange_log *t, struct buf *out)
{
    static const char *const words[] = { [RECORDING_COMPLETE] = "complete",
                                         [RECORDING_CLOSED] = "closed",
                                         [RECORDING_SILENT] = "silent" };
    buf_format(out, "{\"ms\": %lld, ", (long long)t->end_ms);
    if (t->end == RECORDING_ERROR) {
        buf_text(out, "\"error\": ");
        write_error(out, t->error);
    } else {
        buf_format(out, "\"end\": \"%s\"", words[t->end]);
    }
    buf_text(out, "}\n");
}

bool exchange_log_text(struct exchange_log *t, struct buf *out)
{
    out->over = out->over || t->body.over || t->cuts.over;
    out->broken = out->broken || t->broken;
    if (out->broken)
        return false;
    write_object(out, &t->wiped, "request", t->request);
    if (t->connect_ms >= 0)
        buf_format(out, "{\"connect_ms\": %lld}\n", (long long)t->connect_ms);
    else if (t->connect_ms == RECORDING_NEVER)
        buf_text(out, "{\"connect_ms\": null}\n");
    if (t->refused) {
        buf_text(out, "{\"refused\": ");
        write_error(out, t->refused);
        buf_text(out, "}\n");
        return !out->broken;
    }
    if (t->answer) {
        write_object(out, &t->wiped, "answer", t->answer);
        write_chunks(t, out);
    }
    write_end(t, out);
    return !out->broken;
}
