/* canned.c - a transport that plays canned replies, for calls through a
 * dialect */
#include "harness/canned.h"

#include "harness/play.h"

#include <stdio.h>
#include <string.h>

static allm_exchange *canned_open(void *self, const allm_http_view *v,
                                  allm_waker *waker, const allm_error **error)
{
    struct canned *s = self;
    (void)waker;
    (void)error;
    if (s->opened == s->count)
        return NULL;
    snprintf(s->asked, sizeof s->asked, "%s %s|%s: %s|%.*s", v->method, v->url,
             v->secret_name ? v->secret_name : "",
             v->secret_value ? v->secret_value : "", (int)v->body_len, v->body);
    if (!s->opened)
        snprintf(s->first, sizeof s->first, "%.*s", (int)sizeof s->first - 1,
                 s->asked);
    s->opened++;
    s->at = 0;
    return self;
}

static allm_status canned_read(void *self, allm_exchange *x, allm_chunk *chunk)
{
    static const allm_error reset = { .size = sizeof reset,
                                      .kind = ALLM_ERR_ADAPTER,
                                      .reason = "network_error",
                                      .message = "connection reset" };
    struct canned *s = self;
    (void)x;
    const struct canned_reply *r = &s->reply[s->opened - 1];
    size_t left = (r->len ? r->len : strlen(r->body)) - s->at;
    if (left) {
        chunk->bytes = r->body + s->at;
        size_t step = s->step ? s->step : 7;
        chunk->len = left < step ? left : step;
        s->at += chunk->len;
        return ALLM_EVENT;
    }
    chunk->error = &reset;
    return r->ending == SERVER_ENDS         ? ALLM_OK
           : r->ending == SERVER_STAYS_OPEN ? ALLM_AGAIN
                                            : ALLM_ERR_ADAPTER;
}

static const allm_http_head *canned_head(void *self, allm_exchange *x)
{
    struct canned *s = self;
    (void)x;
    const struct canned_reply *r = &s->reply[s->opened - 1];
    size_t n = 0;
    while (n < 2 && r->header[2 * n])
        n++;
    s->head = (allm_http_head){ .size = sizeof s->head,
                                .status = r->status,
                                .header_count = n,
                                .header = r->header };
    return &s->head;
}

static void canned_close(void *self, allm_exchange *x)
{
    (void)self;
    (void)x;
}

allm_transport canned_transport(struct canned *s)
{
    return (allm_transport){ .size = sizeof(allm_transport),
                             .self = s,
                             .open = canned_open,
                             .read = canned_read,
                             .head = canned_head,
                             .close = canned_close };
}

allm_engine *canned_engine(struct canned *s, const char *model,
                           struct clock_manual *clock)
{
    const allm_transport t = canned_transport(s);
    allm_clock c = play_clock(clock);
    allm_json *opts = s->adapter_opts ? allm_json_parse(s->adapter_opts,
                                                        ALLM_NUL_ENDED, NULL)
                                      : NULL;
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = model,
                                          .adapter_opts = opts, .transport = &t,
                                          .clock = &c, .keys = s->keys));
    allm_json_free(opts);
    return e;
}

const char *canned_call(struct canned *s, const char *model,
                        struct clock_manual *clock)
{
    static char told[8192], id[256], metadata[4096];
    allm_engine *e = canned_engine(s, model, clock);
    const char *key = s->no_key ? NULL : "sk-secret-42";
    allm_stream *stream = play_call_with(e, ALLM(call_opts, .api_key = key));
    snprintf(told, sizeof told, "%s", play_all(stream));
    const allm_error *error = allm_stream_error(stream);
    s->error_id = NULL;
    if (error && error->request_id) {
        snprintf(id, sizeof id, "%s", error->request_id);
        s->error_id = id;
    }
    const allm_response *r = allm_stream_response(stream);
    allm_text *said = r ? allm_json_write(r->metadata, 0) : NULL;
    const char *bytes = allm_text_bytes(said, NULL);
    snprintf(metadata, sizeof metadata, "%s", bytes ? bytes : "");
    s->metadata = metadata;
    allm_text_free(said);
    allm_stream_free(stream);
    allm_engine_free(e);
    return told;
}
