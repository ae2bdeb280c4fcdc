/*
 * recorder.c - a transport that records the exchanges of another one
 *
 *      engine --view--> recorder --view--> the transport that is recorded
 *             <-bytes--    |     <-bytes--
 *                          '--> log --close--> text --flush--> file
 *
 * Invariants
 *   (1) Requests and responses pass unchanged, without delay.  If recording
 *       fails, only flush reports it, never the call.
 *   (2) `entries`, in the order in which exchanges were opened, and their
 *       contents are used only with the lock held.  An exchange and its log
 *       belong to the thread of the call until the exchange is closed.
 *   (3) No entry contains a secret: exchange_log_text() writes them all.
 */
#include "allm.h"

#include "base/buf.h"
#include "base/caller_struct.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "net/exchange_log.h"
#include "net/null_transport.h"
#include "net/transport.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>

/* An exchange in the recording; empty until it is closed. */
struct entry {
    struct entry *next;
    struct arena arena;
    struct slice text;
};

struct allm_recorder {
    struct mem mem;
    struct clock clock;
    struct arena own;           /* owns path, old, unfit */
    struct arena flush_arena;   /* owns the error of the last flush */
    const char *path;           /* NULL: no file is written */
    struct slice old;           /* the content of a file that is continued */
    const allm_error *unfit;    /* why it was rejected, or NULL */
    const allm_error *error;
    allm_transport inner, outer;
    bool has_inner;             /* else the HTTP client is recorded */

    pthread_mutex_t lock;
    struct entry *entries, **last;
    bool dirty;                 /* the file is not up to date */
    bool broken, over;          /* an exchange is missing; too long */
};

struct allm_exchange {
    allm_recorder *recorder;
    const allm_transport *transport;    /* of the inner exchange */
    allm_exchange *inner;
    struct entry *entry;
    struct exchange_log log;
    int64_t opened_ns;
    int64_t last_ms;
    bool unready, waiting, ended;
};

/* ------------------------------------------------------------ exchanges --- */

/* Milliseconds since it was opened; never less than at the last call, nor more
 * than the maximum of a recording. */
static int64_t since_ms(allm_exchange *x)
{
    int64_t ms = clock_between(x->opened_ns, clock_now_ns(x->recorder->clock)) /
                 1000000;
    if (ms > x->last_ms)
        x->last_ms = ms < RECORDING_LONGEST_MS ? ms : RECORDING_LONGEST_MS;
    return x->last_ms;
}

static struct entry *add_entry(allm_recorder *r)
{
    struct entry *e = mem_alloc(r->mem, sizeof *e);
    if (!e)
        return NULL;
    *e = (struct entry){ .next = NULL };
    arena_init(&e->arena, r->mem);
    pthread_mutex_lock(&r->lock);
    *r->last = e;
    r->last = &e->next;
    pthread_mutex_unlock(&r->lock);
    return e;
}

/* Write the log into the entry, and free the exchange. */
static void finish_entry(allm_exchange *x)
{
    allm_recorder *r = x->recorder;
    struct entry *e = x->entry;
    struct buf text = buf_in(&e->arena, RECORDING_LIMIT);
    bool whole = exchange_log_text(&x->log, &text);
    pthread_mutex_lock(&r->lock);
    if (whole)
        e->text = buf_slice(&text);
    r->broken = r->broken || !whole;
    r->over = r->over || text.over;
    r->dirty = true;
    pthread_mutex_unlock(&r->lock);
    exchange_log_release(&x->log);
    mem_free(r->mem, x, sizeof *x);
}

static const allm_error no_client = STATUS_ERROR(
    ALLM_ERR_ENGINE, "invalid_engine",
    "no transport to record: the HTTP client could not be started; "
    "set one in the options, or try again");

static allm_exchange *recorder_over(void *self, const allm_transport *http,
                                    const allm_http_view *view,
                                    allm_waker *waker, const allm_error **error)
{
    allm_recorder *r = self;
    *error = r->unfit;
    if (r->unfit)
        return NULL;
    allm_exchange *x = mem_alloc(r->mem, sizeof *x);
    struct entry *entry = x ? add_entry(r) : NULL;
    if (!entry) {
        mem_free(r->mem, x, sizeof *x);
        *error = status_nomem();
        return NULL;
    }
    *x = (allm_exchange){ .recorder = r, .entry = entry };
    exchange_log_init(&x->log, r->mem);
    exchange_log_request(&x->log, view);
    x->opened_ns = clock_now_ns(r->clock);
    x->transport = r->has_inner ? &r->inner : http;
    if (!http && transport_needs_http(x->transport))
        *error = &no_client;
    else
        x->inner = transport_open(x->transport, http, view, waker, error);
    if (x->inner)
        return x;
    exchange_log_refused(&x->log, *error);
    finish_entry(x);
    return NULL;
}

static allm_exchange *recorder_open(void *self, const allm_http_view *view,
                                    allm_waker *waker, const allm_error **error)
{
    return recorder_over(self, NULL, view, waker, error);
}

static void note_connected(allm_exchange *x)
{
    if (x->unready)
        x->log.connect_ms = since_ms(x);
    x->unready = false;
}

static bool recorder_ready(void *self, allm_exchange *x)
{
    (void)self;
    const allm_transport *t = x->transport;
    bool ready = !t->ready || t->ready(t->self, x->inner);
    if (ready)
        note_connected(x);
    else
        x->unready = true;
    return ready;
}

static bool recorder_failed(void *self, allm_exchange *x)
{
    (void)self;
    const allm_transport *t = x->transport;
    return t->failed && t->failed(t->self, x->inner);
}

static const allm_http_head *recorder_head(void *self, allm_exchange *x)
{
    (void)self;
    return x->transport->head(x->transport->self, x->inner);
}

static void note_end(allm_exchange *x, enum recording_kind kind,
                     const allm_error *error, allm_status status)
{
    if (!x->ended)
        exchange_log_end(&x->log, kind, since_ms(x), error, status);
    x->ended = true;
}

static void note_answer(allm_exchange *x)
{
    note_connected(x);
    if (x->log.answer || x->log.broken)
        return;
    const allm_http_head *head = recorder_head(x->recorder, x);
    if (head)
        exchange_log_head(&x->log, head);
    else
        note_end(x, RECORDING_ERROR, NULL, ALLM_ERR_ADAPTER);
}

static allm_status recorder_read(void *self, allm_exchange *x, allm_chunk *out)
{
    (void)self;
    allm_status status = x->transport->read(x->transport->self, x->inner, out);
    x->waiting = status == ALLM_AGAIN;
    if (status == ALLM_EVENT || status == ALLM_OK)
        note_answer(x);
    if (status == ALLM_EVENT && !x->ended)
        exchange_log_chunk(&x->log, (struct slice){ out->bytes, out->len },
                           since_ms(x));
    if (status == ALLM_OK)
        note_end(x, RECORDING_COMPLETE, NULL, status);
    if (status < 0)
        note_end(x, RECORDING_ERROR, out->error, status);
    return status;
}

static void recorder_close(void *self, allm_exchange *x)
{
    (void)self;
    if (x->unready)
        x->log.connect_ms = RECORDING_NEVER;
    note_end(x, x->waiting ? RECORDING_SILENT : RECORDING_CLOSED, NULL,
             ALLM_OK);
    x->transport->close(x->transport->self, x->inner);
    finish_entry(x);
}

/* --------------------------------------------------------------- making --- */

/* The transport that is recorded.  NULL is the HTTP client. */
static const allm_error *take_inner(allm_recorder *r,
                                    const allm_transport *given)
{
    const allm_transport *t = &r->inner;
    bool taken = caller_struct_take(&r->inner, sizeof r->inner, given);
    r->has_inner = given != NULL;
    r->outer.open_over = !given || t->open_over ? recorder_over : NULL;
    if (!given ||
        (taken && (t->open || t->open_over) && t->read && t->head && t->close))
        return NULL;
    return status_error(
        &r->own, ALLM_ERR_MISUSE, "invalid_transport",
        "fill the transport with ALLM(transport, ...), with a header "
        "of this version, and set open, read, head and close");
}

/* Read the file that is continued, if it exists. */
static const allm_error *take_old(allm_recorder *r)
{
    struct recorded *first;
    int why = file_read(&r->own, r->path, RECORDING_LIMIT, &r->old);
    if (why == ENOENT)
        return NULL;
    if (why == ENOMEM)
        return status_nomem();
    if (why)
        return status_error(
            &r->own, ALLM_ERR_STORE, "unreadable_recording",
            "the recording \"%s\" cannot be read (%s), so it cannot be "
            "continued",
            r->path, file_error_words(why));
    struct arena scratch = arena_in(r->mem);
    const allm_error *error = recording_read(&scratch, r->old, r->path, &first);
    if (error)
        error = status_retell(&r->own, error);
    arena_release(&scratch);
    return error;
}

static const allm_error *take_opts(allm_recorder *r, const char *path,
                                   const allm_recorder_opts *o)
{
    r->path = arena_text(&r->own, path);
    if (path && !r->path)
        return status_nomem();
    if (o->flags & ~(uint32_t)ALLM_RECORDER_APPEND)
        return status_error(&r->own, ALLM_ERR_MISUSE, "invalid_options",
                            "flags has an unknown bit; use ALLM_RECORDER_*");
    const allm_error *error = take_inner(r, o->transport);
    if (!error && path && o->flags & ALLM_RECORDER_APPEND)
        error = take_old(r);
    return error;
}

static allm_recorder *recorder_alloc(struct mem mem, const allm_clock *clock)
{
    allm_recorder *r = mem_alloc(mem, sizeof *r);
    if (!r)
        return NULL;
    *r = (allm_recorder){ .mem = mem,
                          .clock = clock_from(clock),
                          .dirty = true };
    r->last = &r->entries;
    r->outer = (allm_transport){ .size = sizeof r->outer,
                                 .self = r,
                                 .open = recorder_open,
                                 .read = recorder_read,
                                 .ready = recorder_ready,
                                 .head = recorder_head,
                                 .close = recorder_close,
                                 .failed = recorder_failed };
    arena_init(&r->own, mem);
    arena_init(&r->flush_arena, mem);
    if (pthread_mutex_init(&r->lock, NULL) == 0)
        return r;
    mem_free(mem, r, sizeof *r);
    return NULL;
}

allm_recorder *allm_recorder_new(const char *path,
                                 const allm_recorder_opts *given)
{
    allm_recorder_opts o;
    bool taken = caller_struct_take(&o, sizeof o, given);
    allm_recorder *r = recorder_alloc(mem_from(o.allocator), o.clock);
    if (!r)
        return NULL;
    r->unfit =
        taken ? take_opts(r, path, &o)
              : status_error(&r->own, ALLM_ERR_MISUSE, "struct_size",
                             "fill the options with ALLM(recorder_opts, ...)");
    r->error = r->unfit;
    if (r->unfit != status_nomem())
        return r;
    allm_recorder_free(r);
    return NULL;
}

const allm_error *allm_recorder_error(const allm_recorder *r)
{
    return r ? r->error : status_nomem();
}

const allm_transport *allm_recorder_transport(const allm_recorder *r)
{
    return r ? &r->outer : &null_transport;
}

/* -------------------------------------------------------------- writing --- */

/* Write the whole recording of closed exchanges.  Needs the lock. */
static void add_all(const allm_recorder *r, struct buf *out)
{
    if (r->old.len)
        buf_add(out, r->old);
    else
        buf_text(out, RECORDING_FIRST);
    if (out->len && out->ptr[out->len - 1] != '\n')
        buf_byte(out, '\n');
    for (const struct entry *e = r->entries; e; e = e->next)
        if (e->text.len)
            buf_add(out, e->text);
}

static const allm_error *incomplete_error(const allm_recorder *r,
                                          struct arena *a, bool over)
{
    if (!r->over && !over)
        return status_nomem();
    return status_error(a, ALLM_ERR_STORE, "recording_too_long",
                        "the recording would be longer than 256 MiB; record "
                        "less into one file");
}

static const allm_error *write_file(allm_recorder *r)
{
    const allm_error *error = NULL;
    struct arena scratch = arena_in(r->mem);
    struct buf all = buf_in(&scratch, RECORDING_LIMIT);
    add_all(r, &all);
    int why = all.broken ? 0 : file_write(&scratch, r->path, buf_slice(&all));
    if (r->broken || all.broken)
        error = incomplete_error(r, &r->flush_arena, all.over);
    else if (why)
        error = status_error(&r->flush_arena, ALLM_ERR_STORE,
                             "unwritable_recording",
                             "the recording \"%s\" cannot be written (%s); "
                             "check the folder and its permissions",
                             r->path, file_error_words(why));
    arena_release(&scratch);
    return error;
}

allm_status allm_recorder_flush(allm_recorder *r)
{
    if (!r)
        return ALLM_ERR_NOMEM;
    if (r->unfit)
        return r->unfit->kind;
    pthread_mutex_lock(&r->lock);
    r->error = NULL;
    arena_reset(&r->flush_arena);
    if (r->path && (r->dirty || r->broken))
        r->error = write_file(r);
    else if (r->broken)
        r->error = incomplete_error(r, &r->flush_arena, false);
    r->dirty = r->dirty && r->error;
    pthread_mutex_unlock(&r->lock);
    return r->error ? r->error->kind : ALLM_OK;
}

/* The lock changes, also that of a const recorder. */
static allm_recorder *as_mutable(const allm_recorder *r)
{
    return (allm_recorder *)(uintptr_t)r;
}

allm_text *allm_recorder_text(const allm_recorder *r)
{
    allm_text *t = r ? text_begin(r->mem, 4096) : NULL;
    if (!t)
        return NULL;
    if (r->unfit)
        return text_fail(t, status_retell(text_arena(t), r->unfit));
    struct buf all = buf_in(text_arena(t), RECORDING_LIMIT);
    pthread_mutex_lock(&as_mutable(r)->lock);
    add_all(r, &all);
    bool whole = !r->broken && !all.broken;
    const allm_error *error =
        whole ? NULL : incomplete_error(r, text_arena(t), all.over);
    pthread_mutex_unlock(&as_mutable(r)->lock);
    return error ? text_fail(t, error) : text_finish(t, buf_slice(&all));
}

void allm_recorder_free(allm_recorder *r)
{
    if (!r)
        return;
    if (!r->unfit && r->dirty)
        allm_recorder_flush(r);
    while (r->entries) {
        struct entry *e = r->entries;
        r->entries = e->next;
        arena_release(&e->arena);
        mem_free(r->mem, e, sizeof *e);
    }
    arena_release(&r->own);
    arena_release(&r->flush_arena);
    pthread_mutex_destroy(&r->lock);
    mem_free(r->mem, r, sizeof *r);
}
