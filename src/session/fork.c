/* fork.c - a session as of one of its records: to read, or as a new one */
#include "session/fork.h"

#include "base/status.h"
#include "session/commit.h"
#include "session/replay.h"
#include "json/json.h"

/* The records up to the one that is forked. */
struct fork {
    struct place *place;
    uint64_t seq;
    bool now;                   /* the last record that can be forked */
    bool reads;                 /* any record will do; no session is made */
    struct backend_row row;
    bool found, exists;
    uint64_t first;             /* record that was not pruned */
    const char *name;           /* of the new session */
    size_t count;
    struct backend_record *records;
    const struct backend_record *at, *state;    /* of these; or NULL */
    struct record_blobs blobs;
};

/* Of the first record that is left only the sum counts. */
static bool is_pruned(const struct fork *f)
{
    return f->first > 1 && f->seq <= f->first;
}

static const allm_error *pruned_error(struct arena *a, const struct fork *f)
{
    return status_error(a, ALLM_ERR_MISUSE, "wrong_seq",
                        "the journal of this session was pruned up to record "
                        "%llu; choose a later one",
                        (unsigned long long)f->first);
}

static bool has_state(const struct backend_record *r)
{
    return !strcmp(r->type, "created") || !strcmp(r->type, "change") ||
           !strcmp(r->type, "end");
}

static bool is_turn(const struct backend_record *r)
{
    return !strcmp(r->type, "turn");
}

/* The last record that can be forked, and the last one with a state. */
static void choose_records(struct fork *f)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct backend_record *r = &f->records[i];
        if (has_state(r))
            f->state = r;
        if (has_state(r) || is_turn(r))
            f->at = r;
    }
}

static const allm_error *read_back(struct backend *b, struct arena *a, void *ud)
{
    struct fork *f = ud;
    struct backend_row other = { 0 };
    const char *name = store_session_name(f->place->store);
    const allm_error *error = b->ops->find(b, a, name, false, &f->row,
                                           &f->found);
    if (!error && !f->reads)
        error = b->ops->find(b, a, f->name, true, &other, &f->exists);
    /* one without records and messages was left by a holder that was killed */
    f->exists = f->exists && (other.head || other.due);
    if (error || !f->found || f->exists)
        return error;
    error = b->ops->first(b, a, f->row.id, &f->first);
    if (error || is_pruned(f))
        return error;
    error = b->ops->records(b, a, f->row.id, f->first,
                            (size_t)(f->seq - f->first + 1), &f->count,
                            &f->records);
    if (error)
        return error;
    choose_records(f);
    f->blobs.arena = a;
    if (f->state)
        record_find_blobs(f->state->body, &f->blobs);
    return store_read_blobs(b, a, &(struct store_loaded){ .row = f->row },
                            &f->blobs);
}

static struct slice find_blob(void *ud, const char *hash)
{
    const struct fork *f = ud;
    for (size_t i = 0; i < f->blobs.count; i++)
        if (!strcmp(f->blobs.list[i].hash, hash))
            return f->blobs.list[i].bytes;
    return (struct slice){ NULL, 0 };
}

/* Why this record, the last one up to f->seq, does not do; NULL: it does. */
static const allm_error *check_record(struct arena *a, const struct fork *f,
                                      const struct backend_record *last)
{
    if (!last || last->seq != f->seq)
        return status_error(a, ALLM_ERR_MISUSE, "wrong_seq",
                            "the session \"%s\" has %llu records, and no "
                            "record %llu; allm_store_records() lists them",
                            store_session_name(f->place->store),
                            (unsigned long long)f->row.head,
                            (unsigned long long)f->seq);
    if (last == f->at || f->reads)
        return NULL;
    return status_error(a, ALLM_ERR_MISUSE, "wrong_seq",
                        "record %llu is of type %s, and a session can be "
                        "forked only at one of type created, change, turn or "
                        "end; allm_store_records() lists them",
                        (unsigned long long)f->seq, last->type);
}

/* The state as of the record; NULL: *error. */
static const allm_json *state_at(struct fork *f, struct arena *a,
                                 const allm_error **error)
{
    struct record r;
    const struct backend_record *last = f->count ? &f->records[f->count - 1]
                                                 : NULL;
    *error = NULL;
    if (f->now && f->at)
        f->seq = f->at->seq;
    else
        *error = check_record(a, f, last);
    if (!*error && f->state)
        *error = record_read(a, f->state, &r);
    if (*error)
        return NULL;
    const allm_json *state = f->state ? json_at(r.json, "state") : NULL;
    return record_unpack(a, state ? state : json_empty_object(), find_blob, f,
                         error);
}

static const allm_error *read_state(struct fork *f, struct arena *a,
                                    const allm_json **state)
{
    const char *name = store_session_name(f->place->store);
    const allm_error *error = store_call(store_session_store(f->place->store),
                                         read_back, a, f);
    if (error)
        return error;
    if (f->exists)
        return status_error(a, ALLM_ERR_SESSION, "session_exists",
                            "there is a session \"%s\" already; choose another "
                            "name",
                            f->name);
    if (!f->found)
        return status_error(a, ALLM_ERR_SESSION, "session_not_found",
                            "the session \"%s\" has no records yet", name);
    if (is_pruned(f))
        return pruned_error(a, f);
    *state = state_at(f, a, &error);
    return error;
}

/* After a complete turn of an open operation nothing is pending. */
static allm_session_record *make_record(struct arena *a, const char *name,
                                        const allm_json *state,
                                        const allm_thread *thread, bool in_turn,
                                        const allm_error **error)
{
    allm_session_record *r = durable_record(a, name, state, thread, error);
    if (!r || !in_turn)
        return r;
    allm_session_record fields = *r;
    fields.home = NULL;
    fields.status = ALLM_SESSION_IDLE;
    fields.pending_tool_calls = NULL;
    fields.pending_tool_call_count = 0;
    fields.pending_question = NULL;
    fields.pending_tool_call_id = NULL;
    allm_session_record *out = allm_session_record_new(&fields);
    *error = out ? NULL : status_nomem();
    allm_session_record_free(r);
    return out;
}

/* The session as of the record, under its new name; a root, or NULL. */
static allm_session_record *record_at(struct fork *f, struct arena *a,
                                      const allm_error **error)
{
    const allm_json *state = NULL;
    *error = read_state(f, a, &state);
    allm_thread *t = *error ? NULL
                            : replay_thread_at(f->place, a, f->seq, error);
    bool in_turn = f->at && is_turn(f->at);
    allm_session_record *r =
        t ? make_record(a, f->name, state, t, in_turn, error) : NULL;
    allm_thread_free(t);
    return r;
}

static const allm_error *write_fork(struct fork *f, struct arena *a,
                                    const allm_session_record *r)
{
    allm_store *store = store_session_store(f->place->store);
    allm_session *s = allm_session_open(store, f->name, ALLM_SESSION_CREATE);
    const allm_error *error = allm_session_error(s);
    if (error)
        error = status_retell(a, error);
    struct store_append *p = error ? NULL : store_append_new(s->place->store);
    if (!error && !p)
        error = status_nomem();
    if (p)
        store_append_columns(p)->model = f->row.model;
    bool ok = p &&
              commit_created(s->place, p, store_session_name(f->place->store),
                             f->seq, r->thread, r);
    if (p && ok) {
        error = commit_finish(s->place, p, a);
    } else if (p) {
        store_append_free(p);
        error = status_nomem();
    }
    allm_session_free(s);
    return error;
}

static const allm_error *fork_at(struct fork *f, struct arena *a)
{
    const allm_error *error = NULL;
    allm_session_record *r = record_at(f, a, &error);
    if (r)
        error = write_fork(f, a, r);
    allm_session_record_free(r);
    return error;
}

allm_status fork_session(const allm_session *s, uint64_t seq, const char *name)
{
    struct fork f = { .place = s->place, .name = name, .seq = seq };
    if (s->invalid || !s->place)
        return ALLM_ERR_MISUSE;
    struct arena a = arena_in(s->mem);
    f.now = !seq;
    if (!seq)
        f.seq = store_session_head(s->place->store);
    const allm_error *error = store_check_name(&a, name);
    if (!error)
        error = fork_at(&f, &a);
    allm_status status = store_fail(store_session_store(s->place->store),
                                    error);
    arena_release(&a);
    return status;
}

allm_session *fork_read(const allm_session *s, uint64_t seq)
{
    struct fork f = { .place = s->place, .seq = seq, .reads = true };
    const allm_error *error = NULL;
    allm_session_record *r = NULL;
    if (s->invalid)
        return state_invalid(s->error);
    struct arena a = arena_in(s->mem);
    if (f.place) {
        f.name = store_session_name(f.place->store);
        f.seq = seq ? seq : store_session_head(f.place->store);
        r = record_at(&f, &a, &error);
    } else {
        error = status_error(&a, ALLM_ERR_MISUSE, "missing_store",
                             "this session is not in a store; open one with "
                             "allm_session_open()");
    }
    allm_session *out = r ? allm_session_from_record(r) : state_invalid(error);
    allm_session_record_free(r);
    arena_release(&a);
    return out;
}
