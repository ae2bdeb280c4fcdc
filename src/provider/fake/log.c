/*
 * log.c - the record of scripted calls: position, counts, requests
 *
 * The log is attached to an engine's core, so all engines derived from it share
 * it.  Calls may run in several threads: counters are atomic, and a lock guards
 * the list of requests.
 */
#include "provider/fake/log.h"

#include "data/encode.h"
#include "data/request.h"
#include "json/build.h"
#include "json/json.h"

#include <pthread.h>
#include <stdatomic.h>

struct allm_fake_cursor {
    atomic_size_t count;
    struct mem mem;
    atomic_uint_fast64_t index;
};

struct logged_request {
    struct logged_request *next;
    allm_json *request;
};

struct fake_log {
    struct mem mem;
    pthread_mutex_t lock;
    struct allm_fake_cursor *cursor;    /* the engine's own, or the caller's */
    bool has_calls;
    atomic_uint_fast64_t calls, released, failed_in_a_row;
    struct logged_request *first, **last;
};

/* ------------------------------------------------------------ cursors --- */

struct allm_fake_cursor *fake_cursor_new(struct mem mem)
{
    struct allm_fake_cursor *c = mem_alloc(mem, sizeof *c);
    if (!c)
        return NULL;
    c->mem = mem;
    atomic_init(&c->count, 1);
    atomic_init(&c->index, 0);
    return c;
}

static struct allm_fake_cursor *keep_cursor(struct allm_fake_cursor *c)
{
    atomic_fetch_add_explicit(&c->count, 1, memory_order_relaxed);
    return c;
}

void fake_cursor_drop(struct allm_fake_cursor *c)
{
    if (c && atomic_fetch_sub_explicit(&c->count, 1, memory_order_acq_rel) == 1)
        mem_free(c->mem, c, sizeof *c);
}

uint64_t fake_cursor_index(const struct allm_fake_cursor *c)
{
    return atomic_load(&c->index);
}

/* ---------------------------------------------------------------- log --- */

static void *make_log(void *mem)
{
    struct fake_log *log = mem_alloc(*(struct mem *)mem, sizeof *log);
    if (!log)
        return NULL;
    *log = (struct fake_log){ .mem = *(struct mem *)mem };
    atomic_init(&log->calls, 0);
    atomic_init(&log->released, 0);
    atomic_init(&log->failed_in_a_row, 0);
    log->last = &log->first;
    log->cursor = fake_cursor_new(log->mem);
    if (log->cursor && pthread_mutex_init(&log->lock, NULL) == 0)
        return log;
    fake_cursor_drop(log->cursor);
    mem_free(log->mem, log, sizeof *log);
    return NULL;
}

static void drop_log(void *attachment)
{
    struct fake_log *log = attachment;
    while (log->first) {
        struct logged_request *one = log->first;
        log->first = one->next;
        allm_json_free(one->request);
        mem_free(log->mem, one, sizeof *one);
    }
    fake_cursor_drop(log->cursor);
    pthread_mutex_destroy(&log->lock);
    mem_free(log->mem, log, sizeof *log);
}

struct fake_log *fake_log_of(allm_attachments *a, struct mem mem)
{
    static const char key = 0;
    return allm_attachment_get(a, &key, make_log, drop_log, &mem);
}

bool fake_log_use(struct fake_log *log, struct allm_fake_cursor *cursor)
{
    pthread_mutex_lock(&log->lock);
    bool is_early = !log->has_calls;
    if (is_early) {
        fake_cursor_drop(log->cursor);
        log->cursor = keep_cursor(cursor);
    }
    pthread_mutex_unlock(&log->lock);
    return is_early;
}

uint64_t fake_log_calls(const struct fake_log *log)
{
    return atomic_load(&log->calls);
}

uint64_t fake_log_released(const struct fake_log *log)
{
    return atomic_load(&log->released);
}

void fake_log_call(struct fake_log *log)
{
    atomic_fetch_add(&log->calls, 1);
    pthread_mutex_lock(&log->lock);
    log->has_calls = true;
    pthread_mutex_unlock(&log->lock);
}

void fake_log_release(struct fake_log *log)
{
    atomic_fetch_add(&log->released, 1);
}

uint64_t fake_log_position(struct fake_log *log)
{
    pthread_mutex_lock(&log->lock);     /* the cursor may still change */
    uint64_t index = atomic_load(&log->cursor->index);
    pthread_mutex_unlock(&log->lock);
    return index;
}

uint64_t fake_log_next(struct fake_log *log)
{
    return atomic_fetch_add(&log->cursor->index, 1);
}

bool fake_log_transient(struct fake_log *log, int64_t until_call)
{
    uint64_t nth = atomic_fetch_add(&log->failed_in_a_row, 1) + 1;
    if (nth < (uint64_t)until_call)
        return true;
    atomic_store(&log->failed_in_a_row, 0);
    return false;
}

static allm_json *plain_request(struct fake_log *log, const allm_request *r)
{
    struct arena a = arena_in(log->mem);
    const allm_json *v = encode_to_json(&a, &request_shape, r, ALLM_FORM_PLAIN,
                                        NULL);
    allm_json *root = v ? json_root(log->mem, v) : NULL;
    arena_release(&a);
    return root;
}

bool fake_log_request(struct fake_log *log, const allm_request *r)
{
    struct logged_request *one = mem_alloc(log->mem, sizeof *one);
    allm_json *plain = one ? plain_request(log, r) : NULL;
    if (!plain) {
        mem_free(log->mem, one, sizeof *one);
        return false;
    }
    *one = (struct logged_request){ NULL, plain };
    pthread_mutex_lock(&log->lock);
    *log->last = one;
    log->last = &one->next;
    pthread_mutex_unlock(&log->lock);
    return true;
}

allm_json *fake_log_requests(struct fake_log *log)
{
    struct arena a = arena_in(log->mem);
    struct build b = build_in(&a);
    pthread_mutex_lock(&log->lock);
    build_array(&b);
    for (const struct logged_request *one = log->first; one; one = one->next)
        build_value(&b, one->request);
    const allm_json *all = build_finish(&b);
    allm_json *root = all ? json_root(log->mem, all) : NULL;
    pthread_mutex_unlock(&log->lock);
    arena_release(&a);
    return root;
}
