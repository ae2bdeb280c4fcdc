/*
 * thread.c - a conversation that shares its messages
 *
 *      thread A {spine, 3} ----.
 *                              v
 *      thread B {spine, 5} --> spine [m0 m1 m2 m3 m4 .  .  . ]
 *                                                    ^fill   ^cap
 *
 * A thread is a reference to a counted spine, and a length.  Appending writes
 * in place if the thread's length equals the spine's fill, that is, if the
 * spine has not been extended from this point before.  Otherwise, and if the
 * spine is full, the pointers are copied to a new spine of twice the size.  So
 * n copies of a growing thread share one spine, or a geometric series of them.
 *
 * Invariants
 *   (1) Slots below fill never change.
 *   (2) The slot at fill is written by the thread that advanced fill from
 *       there, by compare and swap.
 *   (3) A spine owns one reference to every message below its fill.
 *   (4) A thread reads only below its own length.
 */
#include "data/thread.h"

#include "base/status.h"
#include "data/decode.h"
#include "data/encode.h"
#include "data/message.h"
#include "json/json.h"

#include <stdatomic.h>
#include <stdint.h>

enum { FIRST_CAP = 8 };

struct spine {
    atomic_size_t count;
    atomic_size_t fill;
    size_t cap;
    struct mem mem;
    const allm_message *slot[];
};

struct allm_thread {
    struct mem mem;
    struct spine *spine;            /* NULL while empty */
    size_t length;
    struct allm_home *attic;        /* owns the following; NULL: nothing */
    const allm_json *metadata, *kept;
    const allm_error *error;        /* of construction: nothing else is set */
};

/* ---------------------------------------------------------------- spine --- */

static size_t spine_size(size_t cap)
{
    return sizeof(struct spine) + cap * sizeof(const allm_message *);
}

static struct spine *spine_new(struct mem mem, size_t cap)
{
    if (cap > (SIZE_MAX - sizeof(struct spine)) / sizeof(void *))
        return NULL;
    struct spine *s = mem_alloc(mem, spine_size(cap));
    if (!s)
        return NULL;
    atomic_init(&s->count, 1);
    atomic_init(&s->fill, 0);
    s->cap = cap;
    s->mem = mem;
    return s;
}

static void spine_drop(struct spine *s)
{
    if (!s ||
        atomic_fetch_sub_explicit(&s->count, 1, memory_order_acq_rel) != 1)
        return;
    size_t fill = atomic_load_explicit(&s->fill, memory_order_acquire);
    for (size_t i = 0; i < fill; i++)
        home_drop(s->slot[i]->home);
    mem_free(s->mem, s, spine_size(s->cap));
}

static struct spine *spine_keep(struct spine *s)
{
    if (s)
        atomic_fetch_add_explicit(&s->count, 1, memory_order_relaxed);
    return s;
}

/* Make room for n more messages, in place or in a new spine. */
static bool reserve_messages(allm_thread *t, size_t n)
{
    struct spine *old = t->spine;
    size_t mine = t->length, need = t->length + n;
    if (need < n)
        return false;
    if (old && need <= old->cap &&
        atomic_compare_exchange_strong_explicit(&old->fill, &mine, need,
                                                memory_order_acq_rel,
                                                memory_order_acquire))
        return true;            /* keeps (2) */

    size_t cap = FIRST_CAP;
    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    struct spine *s = spine_new(t->mem, cap);
    if (!s)
        return false;
    for (size_t i = 0; i < t->length; i++) {
        s->slot[i] = old->slot[i];
        home_keep(s->slot[i]->home);
    }
    atomic_store_explicit(&s->fill, need, memory_order_release);
    spine_drop(old);
    t->spine = s;
    return true;
}

/* ----------------------------------------------------------------- life --- */

static void release_thread(allm_thread *t)
{
    spine_drop(t->spine);
    home_drop(t->attic);
}

static allm_thread *thread_alloc(struct mem mem)
{
    allm_thread *t = mem_alloc(mem, sizeof *t);
    if (t)
        *t = (allm_thread){ .mem = mem };
    return t;
}

/* New metadata (and kept members) in a home of their own. */
static bool put_attic(allm_thread *t, const allm_json *metadata,
                      const allm_json *kept)
{
    struct allm_home *attic = NULL;
    const allm_json *m = NULL, *k = NULL;
    if (metadata || kept) {
        attic = home_new(t->mem, json_size(metadata) + json_size(kept));
        if (!attic)
            return false;
        m = json_copy(home_arena(attic), metadata);
        k = json_copy(home_arena(attic), kept);
        if (home_arena(attic)->broken) {
            home_drop(attic);
            return false;
        }
    }
    home_drop(t->attic);
    t->attic = attic;
    t->metadata = m;
    t->kept = k;
    return true;
}

/* Reject the thread with a message; NULL if out of memory. */
static allm_thread *refuse_thread(allm_thread *t, const char *reason,
                                  const char *sentence)
{
    t->attic = home_new(t->mem, 512);
    if (t->attic)
        t->error = status_error(home_arena(t->attic), ALLM_ERR_MISUSE, reason,
                                "allm_thread_new: %s", sentence);
    if (t->error)
        return t;
    allm_thread_free(t);
    return NULL;
}

static bool is_map(const allm_json *metadata)
{
    return !metadata || allm_json_type_of(metadata) == ALLM_JSON_OBJECT;
}

allm_thread *allm_thread_new(const allm_thread_opts *given)
{
    allm_thread_opts opts = { 0 };
    const char *fault =
        given ? shape_size_fault(given, sizeof opts.size, sizeof opts) : NULL;
    if (given && !fault)
        memcpy(&opts, given,
               given->size < sizeof opts ? given->size : sizeof opts);
    allm_thread *t = thread_alloc(mem_from(opts.allocator));
    if (!t)
        return NULL;
    if (fault)
        return refuse_thread(t, "struct_size", fault);
    if (!is_map(opts.metadata))
        return refuse_thread(t, "invalid_metadata",
                             "metadata must be a JSON object");
    if (put_attic(t, opts.metadata, NULL))
        return t;
    allm_thread_free(t);
    return NULL;
}

static void share_spine(const allm_thread *from, allm_thread *to)
{
    *to = *from;
    spine_keep(to->spine);
    home_keep(to->attic);
}

allm_thread *allm_thread_copy(const allm_thread *from)
{
    allm_thread *t = from ? thread_alloc(from->mem) : NULL;
    if (t)
        share_spine(from, t);
    return t;
}

void allm_thread_free(allm_thread *t)
{
    if (!t)
        return;
    release_thread(t);
    mem_free(t->mem, t, sizeof *t);
}

const allm_error *allm_thread_error(const allm_thread *t)
{
    return t ? t->error : status_nomem();
}

/* ------------------------------------------------------------ appending --- */

/* Can this thread be written to? */
static allm_status writable(const allm_thread *t)
{
    if (!t)
        return ALLM_ERR_NOMEM;
    return t->error ? t->error->kind : ALLM_OK;
}

/* Our own reference-counted message for the caller's. */
static allm_status own_message(allm_thread *t, const allm_message *given,
                               const allm_message **out)
{
    const allm_error *error = NULL;
    if (!given)
        return ALLM_ERR_NOMEM;
    struct arena errors = arena_in(t->mem);
    *out = shape_keep(&message_shape, given, t->mem, &errors, &error);
    allm_status status = *out ? ALLM_OK : error->kind;
    arena_release(&errors);
    return status;
}

static void drop_all(const allm_message **m, size_t n)
{
    while (n--)
        home_drop(m[n]->home);
}

allm_status allm_thread_append_all(allm_thread *t, size_t count,
                                   const allm_message *const *given)
{
    allm_status status = writable(t);
    if (status < 0 || count == 0)
        return status;
    if (!given)
        return ALLM_ERR_MISUSE;
    struct arena scratch = arena_in(t->mem);
    const allm_message **mine = count < SIZE_MAX / sizeof *mine
                                    ? arena_alloc(&scratch,
                                                  count * sizeof *mine)
                                    : NULL;
    size_t taken = 0;
    status = mine ? ALLM_OK : ALLM_ERR_NOMEM;
    for (; status == ALLM_OK && taken < count; taken += status == ALLM_OK)
        status = own_message(t, given[taken], &mine[taken]);
    if (status == ALLM_OK && !reserve_messages(t, count))
        status = ALLM_ERR_NOMEM;
    if (status == ALLM_OK) {
        memcpy(t->spine->slot + t->length, mine, count * sizeof *mine);
        t->length += count;
    } else if (mine) {
        drop_all(mine, taken);
    }
    arena_release(&scratch);
    return status;
}

allm_status allm_thread_append(allm_thread *t, const allm_message *given)
{
    const allm_message *mine = NULL;
    allm_status status = writable(t);
    if (status == ALLM_OK)
        status = own_message(t, given, &mine);
    if (!mine)
        return status;
    if (!reserve_messages(t, 1)) {
        home_drop(mine->home);
        return ALLM_ERR_NOMEM;
    }
    t->spine->slot[t->length++] = mine;
    return ALLM_OK;
}

allm_status allm_thread_add(allm_thread *t, allm_role role, const char *text)
{
    bool known = role >= ALLM_ROLE_SYSTEM && role <= ALLM_ROLE_TOOL;
    if (t && (!known || !text))
        return ALLM_ERR_MISUSE;
    return allm_thread_append(t, ALLM(message, .role = role, .text = text));
}

allm_status allm_thread_set_metadata(allm_thread *t, const allm_json *metadata)
{
    allm_status status = writable(t);
    if (status < 0)
        return status;
    if (!is_map(metadata))
        return ALLM_ERR_MISUSE;
    return put_attic(t, metadata, t->kept) ? ALLM_OK : ALLM_ERR_NOMEM;
}

bool thread_set_kept(allm_thread *t, const allm_json *kept)
{
    return put_attic(t, t->metadata, kept);
}

/* -------------------------------------------------------------- reading --- */

size_t allm_thread_count(const allm_thread *t)
{
    return t ? t->length : 0;
}

const allm_message *allm_thread_at(const allm_thread *t, size_t index)
{
    return t && index < t->length ? t->spine->slot[index] : NULL;
}

const allm_message *allm_thread_last(const allm_thread *t)
{
    return t && t->length ? t->spine->slot[t->length - 1] : NULL;
}

const allm_message *const *allm_thread_messages(const allm_thread *t,
                                                size_t *count)
{
    static const allm_message *const none = NULL;
    if (count)
        *count = allm_thread_count(t);
    return t && t->length ? t->spine->slot : &none;
}

const allm_json *allm_thread_metadata(const allm_thread *t)
{
    return !t ? NULL : t->metadata ? t->metadata : json_empty_object();
}

/* ------------------------------------------------------------ JSON form --- */

static const struct shape_field fields[] = {
    FIELD_MANY(thread_record, messages, message_count, message_shape, 0),
    FIELD(thread_record, metadata, SHAPE_MAP),
    FIELD_END,
};

const struct shape thread_shape = {
    .tag = "ALLM.Thread",
    .noun = "thread",
    .size = sizeof(allm_thread_record),
    .kept = offsetof(allm_thread_record, kept),
    .fields = fields,
};

allm_thread_record thread_record(const allm_thread *t)
{
    allm_thread_record r = { .size = sizeof r, .metadata = t->metadata,
                             .kept = t->kept };
    r.messages = allm_thread_messages(t, &r.message_count);
    return r;
}

/* A thread of these members, the messages shared.  NULL: out of memory. */
static allm_thread *from_record(const allm_thread_record *record,
                                struct mem mem)
{
    allm_thread *t = thread_alloc(mem);
    if (t && put_attic(t, record->metadata, record->kept) &&
        allm_thread_append_all(t, record->message_count, record->messages) ==
            ALLM_OK)
        return t;
    allm_thread_free(t);
    return NULL;
}

allm_thread *thread_first(const allm_thread *t, size_t count)
{
    allm_thread_record r = { .size = sizeof r };
    if (t)
        r = thread_record(t);
    r.kept = NULL;
    if (r.message_count > count)
        r.message_count = count;
    return from_record(&r, mem_default());
}

static void release_shared(void *t)
{
    release_thread(t);
}

/* A copy of the thread that is freed with the home. */
static const allm_thread *share_in(struct allm_home *home,
                                   const allm_thread *from)
{
    allm_thread *t = arena_alloc(home_arena(home), sizeof *t);
    if (!t)
        return NULL;
    share_spine(from, t);
    return home_on_free(home, release_shared, t) ? t : NULL;
}

const allm_thread *thread_empty_in(struct allm_home *home)
{
    allm_thread none = { .mem = home_mem(home) };
    return share_in(home, &none);
}

static const allm_error *share_field(struct allm_home *home, const void *from,
                                     void *slot)
{
    const allm_thread *mine = NULL, *given = from;
    if (given && given->error)
        return given->error;
    if (given)
        mine = share_in(home, given);
    memcpy(slot, &mine, sizeof mine);
    return mine || !given ? NULL : status_nomem();
}

static const allm_thread *read_thread(struct decoder *d, const allm_json *v)
{
    const allm_thread_record *record = decode_value(d, &thread_shape, v);
    if (!record)
        return NULL;
    allm_thread *t = from_record(record, home_mem(d->home));
    const allm_thread *mine = t ? share_in(d->home, t) : NULL;
    allm_thread_free(t);
    if (!mine)
        decode_nomem(d);
    return mine;
}

static bool read_field(struct decoder *d, const allm_json *v, void *slot)
{
    bool null = allm_json_type_of(v) == ALLM_JSON_NULL;
    const allm_thread *t = null ? NULL : read_thread(d, v);
    memcpy(slot, &t, sizeof t);
    return t || null;
}

static void write_field(struct encoder *e, const void *t)
{
    if (!t) {
        emit_null(&e->emit);
        return;
    }
    allm_thread_record r = thread_record(t);
    encode_reserve(e, &thread_shape, &r);
    encode_value(e, &thread_shape, &r);
}

const struct shape_own thread_own = { write_field, read_field, share_field };

allm_text *allm_thread_json(const allm_thread *t, allm_form form)
{
    struct encoder e;
    if (!t || !encode_begin(&e, t->mem, form))
        return NULL;
    e.error = t->error;
    write_field(&e, t);
    return encode_finish(&e);
}
