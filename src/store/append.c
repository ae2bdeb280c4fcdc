/*
 * append.c - one commit of one session: built, submitted, waited for
 *
 * The writer of a session knows its head and sum, with what is under way, so
 * numbers and sums of records are set when they are built.  If an append
 * fails, those that were built on it fail, too (queue.c).
 */
#include "store/store.h"
#include "store/store_parts.h"

#include "base/status.h"
#include "json/json.h"

/* What an append and a record usually need, so that they are not moved. */
enum { USUAL_SIZE = 6000, USUAL_RECORD = 900, MOST_KEPT = 8192 };
#define YEAR_10000_MS INT64_C(253402300800000)  /* records have no such time */

/* --------------------------------------------------------------- life --- */

/* The memory of the append before, or new memory. */
static struct store_append *take_spare(struct store_session *t)
{
    struct mem mem = t->store->mem;
    struct store_append *p = atomic_exchange(&t->spare, NULL);
    if (p)
        return p;
    p = mem_alloc(mem, sizeof *p);
    if (p)
        arena_init_sized(&p->arena, mem, USUAL_SIZE);
    return p;
}

void append_destroy(struct store_append *p)
{
    if (!p)
        return;
    struct mem mem = p->arena.mem;
    arena_release(&p->arena);
    mem_free(mem, p, sizeof *p);
}

/* Keep the memory of an append for the next one of its session. */
static void keep_spare(struct store_session *t, struct store_append *p)
{
    if (arena_held(&p->arena) <= MOST_KEPT) {
        arena_reset(&p->arena);
        p = atomic_exchange(&t->spare, p);
    }
    append_destroy(p);
}

struct store_append *store_append_new(struct store_session *t)
{
    struct store_append *p = take_spare(t);
    if (!p)
        return NULL;
    *p = (struct store_append){ .arena = p->arena, .holders = 1,
                                .columns = t->columns };
    p->session = t;
    lease_keep(t);
    p->blobs.arena = &p->arena;
    p->columns.id = t->id;
    p->columns.epoch = t->epoch;
    p->columns.head = p->head = t->head;
    memcpy(p->sum, t->sum, sizeof p->sum);
    return p;
}

void append_drop(struct store_append *p)
{
    struct store_session *t = p->session;
    if (atomic_fetch_sub_explicit(&p->holders, 1, memory_order_acq_rel) > 1 ||
        !store_is_ours(t->store))
        return;
    keep_spare(t, p);
    lease_drop(t);
}

void store_append_free(struct store_append *p)
{
    if (p)
        append_drop(p);
}

struct arena *store_append_arena(struct store_append *p)
{
    return &p->arena;
}

/* ----------------------------------------------------------- building --- */

static struct backend_change *newest_change(struct store_append *p)
{
    return &p->changes[p->columns.change_count - 1];
}

static bool reserve_change(struct store_append *p)
{
    return arena_grow(&p->arena, &p->changes, p->columns.change_count, &p->cap,
                      4, sizeof *p->changes);
}

/* The time of an append; most have that of the one before, but for the last
 * three digits. */
static void set_time(struct store_append *p)
{
    struct store_session *t = p->session;
    int64_t now = clock_unix_ms(t->store->opts.clock);
    if (!*t->at || now < 0 || now >= YEAR_10000_MS ||
        now / 1000 != t->at_second)
        record_time(now, t->at);
    else
        record_time_ms(now, t->at);
    t->at_second = now / 1000;
    memcpy(p->at, t->at, sizeof p->at);
}

struct emit *store_append_open(struct store_append *p, const char *type,
                               uint64_t *seq)
{
    if (!*p->at)
        set_time(p);
    p->broken = !reserve_change(p) || p->broken;
    buf_init(&p->body, &p->arena, SIZE_MAX / 2);
    buf_reserve(&p->body, USUAL_RECORD);
    p->head++;
    if (!p->broken)
        p->changes[p->columns.change_count++] = (struct backend_change){
            .record = { .seq = p->head, .type = type }
        };
    if (seq)
        *seq = p->head;
    record_open(&p->emit, &p->body, p->head, p->at, type);
    return &p->emit;
}

void store_append_close(struct store_append *p)
{
    record_close(&p->emit);
    p->broken = p->broken || p->body.broken;
    if (p->broken)
        return;
    struct backend_record *r = &newest_change(p)->record;
    r->body = buf_slice(&p->body);
    record_sum(*p->sum ? p->sum : p->session->uid, r->body, p->sum);
    r->sum = arena_text(&p->arena, p->sum);
    p->broken = !r->sum;
}

void store_append_value(struct store_append *p, const char *name,
                        const allm_json *v)
{
    emit_at(&p->emit, name);
    size_t from = p->body.len;
    if (json_size(v) > RECORD_BLOB_OVER) {
        record_pack(&p->emit, json_copy(&p->arena, v), &p->blobs);
        return;
    }
    emit_value(&p->emit, v ? v : json_null());
    store_append_pack(p, from);
}

void store_append_text(struct store_append *p, const char *name,
                       struct slice text)
{
    emit_at(&p->emit, name);
    record_pack_text(&p->emit, text, &p->blobs);
}

void store_append_pack(struct store_append *p, size_t from)
{
    record_pack_since(&p->emit, from, &p->blobs);
}

/* The body of a message as it is stored. */
static bool pack_message(struct store_append *p, struct buf *text,
                         struct backend_message *out)
{
    struct emit e;
    char hash[STORE_HASH_LEN + 1];
    emit_init(&e, text);
    record_pack_since(&e, 0, &p->blobs);
    if (text->broken)
        return false;
    out->body = buf_slice(text);
    record_hash(out->body, hash);
    out->hash = arena_text(&p->arena, hash);
    return out->hash != NULL;
}

void store_append_thread(struct store_append *p, bool all_so_far, uint64_t keep,
                         size_t count, struct buf *bodies)
{
    struct backend_message *add = arena_zero(&p->arena,
                                             (count + 1) * sizeof *add);
    if (all_so_far)
        keep = p->columns.messages;
    for (size_t i = 0; add && i < count; i++) {
        add[i].n = keep + i;
        p->broken = !pack_message(p, &bodies[i], &add[i]) || p->broken;
    }
    p->broken = p->broken || !add;
    if (p->broken)
        return;
    if (!all_so_far)
        emit_member_uint(&p->emit, "keep", keep);
    emit_member_open(&p->emit, "add", '[');
    for (size_t i = 0; i < count; i++)
        emit_word(&p->emit, add[i].hash);
    emit_close(&p->emit, ']');
    struct backend_change *c = newest_change(p);
    c->cuts = keep < p->columns.messages;
    c->keep = keep;
    c->add_count = count;
    c->add = add;
    p->columns.messages = keep + count;
}

struct backend_append *store_append_columns(struct store_append *p)
{
    return &p->columns;
}

/* --------------------------------------------------------- submitting --- */

/* The columns of the next append begin as this one's: a copy that outlives
 * it.  Two arenas take turns, since this append may have its strings in the
 * older one. */
static bool keep_columns(struct store_append *p)
{
    struct store_session *t = p->session;
    t->columns_at ^= 1;
    struct arena *a = &t->columns_arena[t->columns_at];
    arena_reset(a);
    a->broken = false;
    t->columns = p->columns;
    t->columns.change_count = t->columns.blob_count = 0;
    t->columns.changes = NULL;
    t->columns.blobs = NULL;
    t->columns.state = (struct slice){ NULL, 0 };
    t->columns.queued = p->columns.queued || p->columns.inbox_upto;
    t->columns.inbox_upto = 0;
    t->columns.live_op = 0;
    t->columns.marks_live = false;
    t->columns.waits = arena_text(a, p->columns.waits);
    t->columns.status = arena_text(a, p->columns.status);
    t->columns.title = arena_text(a, p->columns.title);
    t->columns.model = arena_text(a, p->columns.model);
    return !a->broken;
}

/* The append's own strings, which the thread reads later. */
static bool own_columns(struct store_append *p)
{
    struct backend_append *c = &p->columns;
    c->waits = arena_text(&p->arena, c->waits);
    c->status = arena_text(&p->arena, c->status);
    c->title = arena_text(&p->arena, c->title);
    c->model = arena_text(&p->arena, c->model);
    c->changes = p->changes;
    c->blobs = p->blobs.list;
    c->blob_count = p->blobs.count;
    return !p->arena.broken;
}

void append_end(struct store_append *p, const allm_error *error)
{
    struct store_session *t = p->session;
    if (error)
        p->error = status_retell(&p->arena, error);
    if (error && !t->failed) {
        arena_reset(&t->failed_arena);
        t->failed = status_retell(&t->failed_arena, error);
    }
    p->state = APPEND_DONE;
    p->job.done = true;
    lease_ring(t);
}

static const allm_error *why_not(struct store_append *p)
{
    struct store_session *t = p->session;
    const allm_error *error = store_session_gone(t, &p->arena);
    if (error)
        return error;
    if (p->broken || p->blobs.broken || !p->columns.change_count ||
        !own_columns(p) || !keep_columns(p))
        return status_nomem();
    if (!p->blobs.too_long)
        return NULL;
    return status_error(&p->arena, ALLM_ERR_STORE, "record_too_large",
                        "record %llu has a string of %zu bytes; the limit is "
                        "%zu bytes",
                        (unsigned long long)p->head, p->blobs.too_long,
                        RECORD_MOST_TEXT);
}

/* An append that cannot be written fails like one that the database
 * rejected. */
void store_append_submit(struct store_append *p)
{
    struct store_session *t = p->session;
    allm_store *s = t->store;
    const allm_error *error = why_not(p);
    store_lock(s);
    if (error)
        append_end(p, error);
    else {
        p->state = APPEND_QUEUED;
        p->holders++;           /* the queue's */
    }
    store_unlock(s);
    if (error)
        return;
    t->head = p->head;
    memcpy(t->sum, p->sum, sizeof t->sum);
    p->job.append = p;
    queue_put(s, &p->job);
}

allm_status store_append_status(struct store_append *p,
                                const allm_error **error)
{
    allm_store *s = p->session->store;
    enum append_state state = p->state;
    if (state != APPEND_DONE && store_is_ours(s))
        return ALLM_AGAIN;
    const allm_error *mine = state == APPEND_DONE ? p->error
                                                  : store_usable(s, &p->arena);
    if (error)
        *error = mine;
    return mine ? mine->kind : ALLM_OK;
}

allm_status store_append_wait(struct store_append *p, const allm_error **error)
{
    allm_store *s = p->session->store;
    if (p->job.append && store_is_ours(s))
        queue_wait(s, &p->job);
    return store_append_status(p, error);
}
