/* scripted.c - a transport that plays exchanges from a script */
#include "harness/scripted.h"

#include "base/file.h"
#include "base/status.h"
#include "harness/check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* A separate block that is overwritten before it is freed. */
struct lent {
    char *ptr;
    size_t size;
};

struct allm_exchange {
    struct scripted *script;
    const struct scripted_step *step;
    allm_waker *waker;
    int64_t opened_ns;
    int64_t until_ns;           /* end of the current delay; 0: none */
    size_t at;                  /* in the bytes of the step */
    struct arena files;
    struct slice file;
    bool has_file, connected, has_head, rung, threaded;
    pthread_t thread;
    allm_http_head head;
    struct lent piece, text;
    allm_error error;
};

static bool lend(struct lent *l, const char *bytes, size_t len)
{
    l->ptr = mem_alloc(mem_default(), len + 1);
    if (!l->ptr)
        return false;
    l->size = len + 1;
    if (len)
        memcpy(l->ptr, bytes, len);
    l->ptr[len] = '\0';
    return true;
}

static void take_back(struct lent *l)
{
    if (l->ptr)
        memset(l->ptr, '#', l->size);
    mem_free(mem_default(), l->ptr, l->size);
    *l = (struct lent){ NULL, 0 };
}

static int64_t now(const struct scripted *s)
{
    return clock_now_ns(s->clock ? clock_of_manual(s->clock) : clock_real());
}

static bool ends(enum scripted_kind kind)
{
    return kind >= SCRIPTED_END;
}

/* The first step of an exchange; SCRIPTED_DONE: no more. */
static const struct scripted_step *find(const struct scripted *s, size_t number)
{
    const struct scripted_step *step = s->steps;
    while (number && step->kind != SCRIPTED_DONE)
        number -= ends(step++->kind);
    return step;
}

static void note(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text ? text : "");
}

static void record(struct scripted *s, const allm_http_view *view)
{
    if (s->opens > SCRIPTED_REQUESTS)
        return;
    struct scripted_request *r = &s->request[s->opens - 1];
    *r = (struct scripted_request){ .at_ns = now(s) };
    note(r->method, sizeof r->method, view->method);
    note(r->url, sizeof r->url, view->url);
    note(r->secret_name, sizeof r->secret_name, view->secret_name);
    note(r->secret_value, sizeof r->secret_value, view->secret_value);
    snprintf(r->body, sizeof r->body, "%.*s", (int)view->body_len, view->body);
    for (size_t i = 0; i < view->header_count; i++) {
        size_t n = strlen(r->headers);
        snprintf(r->headers + n, sizeof r->headers - n, "%s: %s\n",
                 view->header[2 * i], view->header[2 * i + 1]);
    }
}

static const allm_error *refusal(const struct scripted_step *step)
{
    static allm_error e;
    bool over = step->kind == SCRIPTED_DONE;
    e = status_blank(over ? ALLM_ERR_ADAPTER : step->error);
    e.reason = over ? "unknown" : step->reason;
    e.message = over ? "the script has no further exchange" : step->bytes;
    return &e;
}

static allm_exchange *begin(void *self, const allm_http_view *view,
                            allm_waker *waker, const allm_error **error)
{
    struct scripted *s = self;
    const struct scripted_step *step = find(s, s->opens++);
    record(s, view);
    *error = refusal(step);
    if (step->kind == SCRIPTED_DONE || step->kind == SCRIPTED_REFUSE)
        return NULL;
    allm_exchange *x = mem_alloc(mem_default(), sizeof *x);
    *error = status_nomem();
    if (!x)
        return NULL;
    *x = (allm_exchange){ .script = s, .step = step, .waker = waker };
    x->opened_ns = now(s);
    x->connected = step->kind != SCRIPTED_CONNECT;
    arena_init(&x->files, mem_default());
    s->open_now++;
    return x;
}

static void next_step(allm_exchange *x)
{
    x->step++;
    x->at = 0;
    x->until_ns = 0;
    x->has_file = false;
}

/* OK: the delay is over. */
static allm_status pass_time(allm_exchange *x, allm_chunk *out)
{
    bool connecting = x->step->kind == SCRIPTED_CONNECT;
    if (connecting && x->step->ms < 0)
        return ALLM_AGAIN;
    if (!x->until_ns)
        x->until_ns = (connecting ? x->opened_ns : now(x->script)) +
                      x->step->ms * 1000000;
    if (now(x->script) < x->until_ns) {
        out->again_ns = x->until_ns;
        return ALLM_AGAIN;
    }
    x->connected = true;
    next_step(x);
    return ALLM_OK;
}

static allm_status take_head(allm_exchange *x)
{
    size_t n = 0;
    while (x->step->header && x->step->header[2 * n])
        n++;
    x->head = (allm_http_head){ .size = sizeof x->head,
                                .status = x->step->status,
                                .header_count = n,
                                .header = x->step->header };
    x->has_head = true;
    next_step(x);
    return ALLM_OK;
}

static void *ring(void *ud)
{
    allm_waker_ring(ud);
    return NULL;
}

static void join(allm_exchange *x)
{
    if (x->threaded)
        pthread_join(x->thread, NULL);
    x->threaded = false;
}

/* A virtual clock would advance before the thread does: wait for it. */
static allm_status await_ring(allm_exchange *x)
{
    if (x->rung) {
        join(x);
        x->rung = false;
        next_step(x);
        return ALLM_OK;
    }
    x->rung = true;
    x->threaded = !pthread_create(&x->thread, NULL, ring, x->waker);
    CHECK(x->threaded);
    if (x->script->clock)
        join(x);
    return ALLM_AGAIN;
}

static bool load(allm_exchange *x)
{
    char path[1024];
    const char *source = getenv("SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/fixture/%s", source ? source : ".",
             x->step->bytes);
    x->has_file = !file_read(&x->files, path, 1 << 24, &x->file);
    CHECK_WHY(x->has_file, path);
    return x->has_file;
}

static size_t piece_end(const struct scripted_step *step, size_t at, size_t len)
{
    size_t end = step->cut ? at + step->cut : len;
    for (const size_t *p = step->places; p && *p; p++)
        if (*p > at && *p < end)
            end = *p;
    return end < len ? end : len;
}

static allm_status no_memory(allm_chunk *out)
{
    out->error = status_nomem();
    return ALLM_ERR_NOMEM;
}

static allm_status lend_piece(allm_exchange *x, allm_chunk *out)
{
    struct slice all = { x->step->bytes, x->step->len };
    if (x->step->kind == SCRIPTED_FILE) {
        if (!x->has_file && !load(x))
            return no_memory(out);
        all = x->file;
    }
    size_t end = piece_end(x->step, x->at, all.len);
    if (!lend(&x->piece, all.ptr + x->at, end - x->at))
        return no_memory(out);
    out->bytes = x->piece.ptr;
    out->len = end - x->at;
    x->script->bytes += out->len;
    x->at = end;
    if (end == all.len)
        next_step(x);
    return ALLM_EVENT;
}

static allm_status break_off(allm_exchange *x, allm_chunk *out)
{
    if (!x->text.ptr && !lend(&x->text, x->step->bytes, strlen(x->step->bytes)))
        return no_memory(out);
    x->error = status_blank(x->step->error);
    x->error.reason = x->step->reason;
    x->error.message = x->text.ptr;
    out->error = &x->error;
    return x->error.kind < 0 ? x->error.kind : ALLM_ERR_ADAPTER;
}

/* Run one step.  OK: continue with the next. */
static allm_status play(allm_exchange *x, allm_chunk *out)
{
    switch (x->step->kind) {
    case SCRIPTED_CONNECT:
    case SCRIPTED_DELAY: return pass_time(x, out);
    case SCRIPTED_HEAD:  return take_head(x);
    case SCRIPTED_BYTES:
    case SCRIPTED_FILE:  return lend_piece(x, out);
    case SCRIPTED_RING:  return await_ring(x);
    case SCRIPTED_ERROR: return break_off(x, out);
    default:             return ALLM_AGAIN;
    }
}

static allm_status give(void *self, allm_exchange *x, allm_chunk *out)
{
    struct scripted *s = self;
    allm_status status;
    s->reads++;
    take_back(&x->piece);
    do {
        if (x->step->kind == SCRIPTED_END)
            return ALLM_OK;
        status = play(x, out);
    } while (status == ALLM_OK);
    return status;
}

static bool is_ready(void *self, allm_exchange *x)
{
    (void)self;
    return x->connected;
}

static const allm_http_head *tell_head(void *self, allm_exchange *x)
{
    (void)self;
    CHECK_ALWAYS(x->has_head);
    return x->has_head ? &x->head : NULL;
}

static void hang_up(void *self, allm_exchange *x)
{
    struct scripted *s = self;
    s->closes++;
    s->open_now--;
    join(x);
    take_back(&x->piece);
    take_back(&x->text);
    arena_release(&x->files);
    memset(x, '#', sizeof *x);
    mem_free(mem_default(), x, sizeof *x);
}

allm_transport scripted_transport(struct scripted *s)
{
    return (allm_transport){ .size = sizeof(allm_transport),
                             .self = s,
                             .open = begin,
                             .read = give,
                             .ready = is_ready,
                             .head = tell_head,
                             .close = hang_up };
}
