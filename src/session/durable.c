/*
 * durable.c - a session in a store, as it was loaded
 *
 * While an operation is open in the store, the session shows the messages of
 * its input and of its complete turns, the state from before, and, if nobody
 * runs it, metadata.broken_off.
 */
#include "session/durable.h"

#include "base/status.h"
#include "data/decode.h"
#include "data/encode.h"
#include "data/message.h"
#include "data/session_record.h"
#include "data/thread.h"
#include "json/build.h"
#include "json/json.h"
#include "json/parse.h"

/* -------------------------------------------------------------- parts --- */

/* Members of the state that are members of the thread: its metadata, and those
 * that this version does not know. */
#define THREAD_METADATA "thread_metadata"
#define THREAD_KEPT "thread_kept"

const allm_json *durable_state(struct arena *a,
                               const allm_session_record *record)
{
    static const char *const left_out[] = { "id", "thread", NULL };
    const allm_error *error = NULL;
    allm_session_record fields = *record;
    const allm_json *extra = allm_thread_metadata(record->thread);
    const allm_json *kept = record->thread ? thread_record(record->thread).kept
                                           : NULL;
    fields.thread = NULL;
    fields.id = NULL;
    const allm_json *v = encode_to_json(a, &session_record_shape, &fields,
                                        ALLM_FORM_TAGGED, &error);
    const allm_json *data = json_at(v, "data");
    if (!data)
        return NULL;
    struct build b = build_object_in(a);
    build_entries(&b, data, left_out);
    if (allm_json_count(extra))
        build_value_at(&b, THREAD_METADATA, extra);
    if (kept)
        build_value_at(&b, THREAD_KEPT, kept);
    return build_finish(&b);
}

/* The same thread with the members that the state has.  NULL: out of memory. */
static allm_thread *with_members(const allm_thread *thread,
                                 const allm_json *state)
{
    const allm_json *metadata = json_at(state, THREAD_METADATA);
    const allm_json *kept = json_at(state, THREAD_KEPT);
    allm_thread *t = allm_thread_copy(thread);
    bool ok = t &&
              (!metadata || allm_thread_set_metadata(t, metadata) == ALLM_OK) &&
              (!kept || thread_set_kept(t, kept));
    if (ok)
        return t;
    allm_thread_free(t);
    return NULL;
}

/* The state in the envelope of a session. */
static const allm_json *wrap_state(struct arena *a, const allm_json *state)
{
    static const char *const of_thread[] = { THREAD_METADATA, THREAD_KEPT,
                                             NULL };
    struct build b = build_object_in(a);
    build_text_at(&b, "__type__", SLICE("ALLM.Session"));
    build_object_at(&b, "data");
    build_entries(&b, state, of_thread);
    build_end(&b);
    return build_finish(&b);
}

const allm_error *durable_unreadable(struct arena *a, const char *name,
                                     const char *what)
{
    return status_error(a, ALLM_ERR_STORE, "damaged_session",
                        "%s of the session \"%s\" cannot be read; restore the "
                        "store from a backup, or remove the session",
                        what, name);
}

/* Decode a state into the home; NULL: *error. */
static const allm_session_record *read_state(struct arena *a,
                                             struct allm_home *home,
                                             const char *name,
                                             const allm_json *state,
                                             const allm_error **error)
{
    struct decoder d;
    const allm_json *v = wrap_state(a, state);
    decode_init(&d, home, a);
    const allm_session_record *r =
        v ? decode_value(&d, &session_record_shape, v) : NULL;
    *error = !v || a->broken ? status_nomem()
             : r             ? NULL
             : d.error == status_nomem()
                 ? d.error
                 : durable_unreadable(a, name, "the state");
    return *error ? NULL : r;
}

static allm_session_record *make_record(struct arena *a,
                                        const allm_session_record *fields,
                                        const allm_error **error)
{
    allm_session_record *out = allm_session_record_new(fields);
    *error = !out ? status_nomem() : shape_error(out);
    if (*error && out) {
        *error = status_retell(a, *error);
        allm_session_record_free(out);
        out = NULL;
    }
    return out;
}

allm_session_record *durable_record(struct arena *a, const char *name,
                                    const allm_json *state,
                                    const allm_thread *thread,
                                    const allm_error **error)
{
    struct allm_home *home = home_new(mem_default(), 0);
    allm_thread *t = with_members(thread, state);
    allm_session_record fields = { .size = sizeof fields };
    allm_session_record *out = NULL;
    *error = home && t ? NULL : status_nomem();
    if (!*error && state) {
        const allm_session_record *r = read_state(a, home, name, state, error);
        if (r)
            fields = *r;
    }
    if (!*error) {
        fields.home = NULL;
        fields.id = name;
        fields.thread = t;
        out = make_record(a, &fields, error);
    }
    allm_thread_free(t);
    home_drop(home);
    return out;
}

static struct slice find_blob(void *ud, const char *hash)
{
    return store_loaded_blob(ud, hash);
}

const allm_json *durable_value(struct arena *a, const struct store_loaded *l,
                               const allm_json *packed,
                               const allm_error **error)
{
    return record_unpack(a, packed, find_blob, (void *)(uintptr_t)l, error);
}

const allm_json *durable_unpack(struct arena *a, const struct store_loaded *l,
                                struct slice text, const allm_error **error)
{
    const allm_json *v = json_parse_loose(a, text, error);
    return v ? durable_value(a, l, v, error) : NULL;
}

/* Append one message to the thread; false: it cannot be read, or *error. */
static bool add_message(struct arena *a, allm_thread *t, const allm_json *body,
                        const allm_error **error)
{
    struct decoder d;
    struct allm_home *home = home_new(mem_default(), 0);
    *error = status_nomem();
    if (!home)
        return false;
    decode_init(&d, home, a);
    const allm_message *m = decode_value(&d, &message_shape, body);
    if (m)
        *error = allm_thread_append(t, m) == ALLM_OK ? NULL : status_nomem();
    else if (d.error != status_nomem())
        *error = NULL;
    home_drop(home);
    return m && !*error;
}

static allm_thread *read_thread(struct arena *a, const struct store_loaded *l,
                                size_t count,
                                const struct backend_message *rows, bool packed,
                                const allm_error **error)
{
    allm_thread *t = allm_thread_new(NULL);
    *error = t ? NULL : status_nomem();
    for (size_t i = 0; !*error && i < count; i++) {
        const allm_json *body = packed
                                    ? durable_unpack(a, l, rows[i].body, error)
                                    : json_parse_loose(a, rows[i].body, error);
        if ((!body || !add_message(a, t, body, error)) && !*error)
            *error = durable_unreadable(a, l->row.name, "a message");
    }
    if (!*error)
        return t;
    allm_thread_free(t);
    return NULL;
}

allm_thread *durable_thread(struct arena *a, const struct store_loaded *l,
                            size_t count, const struct backend_message *rows,
                            const allm_error **error)
{
    return read_thread(a, l, count, rows, true, error);
}

allm_thread *durable_thread_plain(struct arena *a, const struct store_loaded *l,
                                  size_t count,
                                  const struct backend_message *rows,
                                  const allm_error **error)
{
    return read_thread(a, l, count, rows, false, error);
}

/* ------------------------------------------------------------ loading --- */

static const allm_error *fold_records(struct place *d)
{
    const struct store_loaded *l = &d->loaded;
    fold_init(&d->fold, &d->arena);
    for (size_t i = 0; i < l->record_count; i++) {
        struct record r;
        const allm_error *error = record_read(&d->arena, &l->records[i], &r);
        if (error)
            return error;
        const allm_json *v = durable_value(&d->arena, l, r.json, &error);
        if (!v)
            return error;
        if (!fold_add(&d->fold, v))
            return status_nomem();
    }
    return NULL;
}

/* The record that is shown while an operation is broken off. */
static allm_session_record *show_broken_off(struct place *d,
                                            const allm_session_record *plain,
                                            const allm_error **error)
{
    struct arena *a = &d->arena;
    const allm_json *note = fold_broken_off(&d->fold, a);
    allm_session_record fields = *plain;
    const allm_json *old = plain->metadata ? plain->metadata
                                           : json_empty_object();
    fields.metadata = note ? json_set(a, old, SLICE("broken_off"), note) : NULL;
    *error = status_nomem();
    fields.home = NULL;
    return fields.metadata ? make_record(a, &fields, error) : NULL;
}

/* The session with its first messages only. */
static allm_session_record *first_part(struct place *d, const allm_json *state,
                                       uint64_t count, const allm_error **error)
{
    allm_thread *first = thread_first(d->rows, (size_t)count);
    allm_session_record *r = durable_record(&d->arena,
                                            store_session_name(d->store), state,
                                            first, error);
    allm_thread_free(first);
    return r;
}

static const allm_error *show_open(struct place *d, const allm_json *state,
                                   allm_session_record **out)
{
    const allm_error *error = NULL;
    bool runs = d->loaded.row.held && !store_session_is_held(d->store);
    *out = NULL;
    d->before = first_part(d, state, d->fold.keep, &error);
    allm_session_record *plain =
        error ? NULL : first_part(d, state, d->fold.complete, &error);
    if (error)
        return error;
    *out = runs ? plain : show_broken_off(d, plain, &error);
    if (!runs)
        allm_session_record_free(plain);
    return error;
}

/* The state of a row; NULL: it has none, or *error. */
static const allm_json *parse_state(struct arena *a,
                                    const struct store_loaded *l,
                                    const char *name, const allm_error **error)
{
    if (!l->row.state.ptr || !l->row.state.len)
        return NULL;
    const allm_json *state = json_parse_loose(a, l->row.state, error);
    if (*error != status_nomem() &&
        allm_json_type_of(state) != ALLM_JSON_OBJECT)
        *error = durable_unreadable(a, name, "the state");
    return *error ? NULL : state;
}

static const allm_error *show(struct place *d, allm_session_record **out)
{
    struct arena *a = &d->arena;
    const struct store_loaded *l = &d->loaded;
    const char *name = store_session_name(d->store);
    const allm_error *error = fold_records(d);
    const allm_json *state = error ? NULL : parse_state(a, l, name, &error);
    allm_thread_free(d->rows);
    d->rows = error
                  ? NULL
                  : durable_thread(a, l, l->message_count, l->messages, &error);
    if (!error && d->fold.begin)
        return show_open(d, state, out);
    *out = error ? NULL : durable_record(a, name, state, d->rows, &error);
    return error;
}

/* Show what was loaded. */
static const allm_error *take_loaded(struct place *d, allm_session_record **out)
{
    allm_session_record_free(d->before);
    d->before = NULL;
    *out = NULL;
    d->taken = d->new_holder && d->loaded.row.head == d->first_head;
    const allm_error *error = show(d, out);
    d->stale = error != NULL;
    return error;
}

const allm_error *durable_reload(allm_session *s, struct arena *a)
{
    struct place *d = s->place;
    allm_session_record *r = NULL;
    arena_reset(&d->arena);
    d->arena.broken = false;
    d->stale = true;
    const allm_error *error = store_session_reload(d->store, &d->arena,
                                                   &d->loaded);
    if (!error)
        error = take_loaded(d, &r);
    if (error)
        return status_retell(a, error);
    /* the caller of a change may have passed parts of the old record */
    allm_session_record_free(s->replaced);
    s->replaced = state_replace(s, r);
    return NULL;
}

const allm_error *durable_refresh(allm_session *s, struct arena *a)
{
    return s->place && s->place->stale && !s->open ? durable_reload(s, a)
                                                   : NULL;
}

/* ------------------------------------------------------------ opening --- */

/* A session of what was opened; or one with the error. */
static allm_session *make_session(allm_store *store, struct place *d,
                                  const allm_error *error)
{
    allm_session_record *r = NULL;
    allm_session *s = NULL;
    if (!error) {
        d->first_head = d->loaded.row.head;
        d->new_holder = store_session_is_held(d->store) && d->first_head > 0;
        error = take_loaded(d, &r);
    }
    store_fail(store, error);
    s = error ? state_invalid(error) : state_new();
    if (error || !s) {
        allm_session_record_free(r);
        place_free(d);
        return s;
    }
    s->record = r;
    s->place = d;
    return s;
}

allm_session *durable_open(allm_store *store, const char *name, uint32_t flags)
{
    struct place *d = place_new(store_mem(store));
    if (!d)
        return state_invalid(status_nomem());
    const allm_error *error = store_session_open(store, &d->arena, name, flags,
                                                 &d->loaded, &d->store);
    return make_session(store, d, error);
}

allm_session *durable_claim(allm_store *store, const char *queue,
                            uint32_t wait_ms)
{
    struct place *d = place_new(store_mem(store));
    if (!d)
        return state_invalid(status_nomem());
    const allm_error *error = store_session_claim(store, &d->arena, queue,
                                                  wait_ms, &d->loaded,
                                                  &d->store);
    return make_session(store, d, error);
}
