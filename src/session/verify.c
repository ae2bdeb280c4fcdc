/*
 * verify.c - check the log of a session against its rows
 *
 *      records --sums--> chain --fold--> hashes of messages, state, open
 *                                        operation
 *                                                   |
 *      rows of the session ---------- equal? -------'
 */
#include "session/verify.h"

#include "base/status.h"
#include "json/build.h"
#include "json/json.h"
#include "json/parse.h"

/* MOST_READS: of a session that its holder changes again and again. */
enum { PAGE = 256, MOST_READS = 20 };

/* The whole check, in the store's thread. */
struct verify {
    const char *name;           /* NULL: all */
    bool found;
    uint64_t sessions, records, faults;
    struct build faults_found;
    struct arena *arena;        /* of the result */
};

struct fault {
    struct fault *next;
    uint64_t seq;
    const char *what;
};

/* A message of the thread, and the record that added it. */
struct added {
    const char *hash;
    uint64_t since;
};

/* A log that is being folded. */
struct log {
    struct backend *backend;
    struct arena *arena;
    const struct backend_row *row;
    size_t count, cap;          /* of the thread */
    struct added *thread;
    const allm_json *state;
    struct slice state_text;    /* of the record that has it */
    uint64_t open;
    uint64_t first;             /* 1, unless older records were pruned */
    uint64_t records;
    struct fault *faults, **last;
};

static void add_fault(struct verify *v, const char *session, uint64_t seq,
                      const char *what)
{
    v->faults++;
    build_object(&v->faults_found);
    build_key(&v->faults_found, SLICE("session"));
    if (session)
        build_text_copy(&v->faults_found, slice_of(session));
    else
        build_null(&v->faults_found);
    build_uint_at(&v->faults_found, "seq", seq);
    build_text_copy_at(&v->faults_found, "what", slice_of(what));
    build_end(&v->faults_found);
}

/* If there is no memory for it, the arena says so. */
static void report_fault(struct log *l, uint64_t seq, const char *what)
{
    struct fault *f = arena_zero(l->arena, sizeof *f);
    if (!f)
        return;
    *f = (struct fault){ .seq = seq, .what = what };
    *l->last = f;
    l->last = &f->next;
}

/* -------------------------------------------------------------- blobs --- */

/* The bytes of a blob, if they have its hash. */
static struct slice find_blob(void *ud, const char *hash)
{
    const struct record_blobs *blobs = ud;
    char found[STORE_HASH_LEN + 1];
    for (size_t i = 0; i < blobs->count; i++) {
        const struct backend_blob *b = &blobs->list[i];
        if (strcmp(b->hash, hash) != 0 || !b->bytes.ptr)
            continue;
        record_hash(b->bytes, found);
        return strcmp(found, hash) ? (struct slice){ NULL, 0 } : b->bytes;
    }
    return (struct slice){ NULL, 0 };
}

/* The value of a text with its blobs, in the arena t.  NULL: *error; or, if
 * that is NULL, a blob is missing or damaged. */
static const allm_json *unpack(struct log *l, struct arena *t,
                               struct slice text, const allm_error **error)
{
    struct record_blobs blobs = { .arena = t };
    const allm_error *why = NULL;
    record_find_blobs(text, &blobs);
    *error = blobs.broken ? status_nomem() : NULL;
    if (!*error && blobs.count)
        *error = l->backend->ops->blobs(l->backend, t, l->row->id, blobs.count,
                                        blobs.list);
    if (*error)
        return NULL;
    const allm_json *v = json_parse_loose(t, text, &why);
    if (v)
        v = record_unpack(t, v, find_blob, &blobs, &why);
    if (t->broken || why == status_nomem())
        *error = status_nomem();
    return v;
}

static const allm_error *check_blobs(struct log *l, uint64_t seq,
                                     struct slice text, const char *what)
{
    struct arena t;
    const allm_error *error = NULL;
    struct record_blobs blobs = { .arena = &t };
    arena_init(&t, l->arena->mem);
    record_find_blobs(text, &blobs);
    bool any = blobs.count || blobs.broken;
    if (any && !unpack(l, &t, text, &error) && !error)
        report_fault(l, seq, what);
    if (error)
        error = status_retell(l->arena, error);
    arena_release(&t);
    return error;
}

static bool is_message(const struct backend_message *m, const struct added *t)
{
    char found[STORE_HASH_LEN + 1];
    record_hash(m->body, found);
    return m->since == t->since && !strcmp(found, m->hash) &&
           !strcmp(found, t->hash);
}

/* --------------------------------------------------------------- fold --- */

static bool push_message(struct log *l, const char *hash, uint64_t since)
{
    if (!arena_grow(l->arena, &l->thread, l->count, &l->cap, 64,
                    sizeof *l->thread))
        return false;
    l->thread[l->count++] = (struct added){ hash, since };
    return true;
}

/* The messages that a record removes stay in the store, as they were. */
static const allm_error *check_removed(struct log *l, uint64_t seq, size_t keep)
{
    struct backend_range range = { .at = seq - 1, .from = keep,
                                   .to = l->count };
    struct backend_message *rows = NULL;
    size_t n = 0;
    if (keep == l->count)
        return NULL;
    const allm_error *error = l->backend->ops->messages(l->backend, l->arena,
                                                        l->row->id, range, &n,
                                                        &rows);
    bool same = n == l->count - keep;
    for (size_t i = 0; !error && same && i < n; i++) {
        same = rows[i].n == keep + i &&
               is_message(&rows[i], &l->thread[keep + i]);
        if (same)
            error = check_blobs(l, seq, rows[i].body,
                                "a blob of a message that it removed is "
                                "missing or damaged");
    }
    if (!error && !same)
        report_fault(l, seq,
                     "the messages that it removed are not those of "
                     "the log");
    return error;
}

static const allm_error *fold_thread(struct log *l, const struct record *r)
{
    const allm_json *add = json_at(r->json, "add");
    int64_t keep = (int64_t)l->count;
    json_int64(json_at(r->json, "keep"), &keep);
    if (keep < 0 || (uint64_t)keep > l->count) {
        report_fault(l, r->seq, "keeps more messages than there are");
        keep = (int64_t)l->count;
    }
    const allm_error *error = check_removed(l, r->seq, (size_t)keep);
    l->count = (size_t)keep;
    for (const allm_json *h = NULL; !error && (h = allm_json_next(add, h));)
        if (!push_message(l, json_slice(h).ptr ? json_slice(h).ptr : "",
                          r->seq))
            error = status_nomem();
    return error;
}

static const allm_error *fold_record(struct log *l, const struct record *r,
                                     struct slice text)
{
    const allm_json *state = json_at(r->json, "state");
    if (!strcmp(r->type, "begin")) {
        if (l->open)
            report_fault(l, r->seq, "begins an operation inside another one");
        l->open = r->seq;
    } else if (!strcmp(r->type, "end") || !strcmp(r->type, "change") ||
               !strcmp(r->type, "created")) {
        l->open = 0;
        l->state = state;
        l->state_text = text;
    }
    return fold_thread(l, r);
}

/* ---------------------------------------------------------------- log --- */

static const allm_error *check_page(struct log *l, const char *before,
                                    uint64_t seq, size_t count,
                                    const struct backend_record *rows)
{
    const allm_error *error = record_check(l->arena, before, seq, count, rows);
    if (error == status_nomem())
        return error;
    if (error) {
        report_fault(l, seq, error->message);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        struct record r;
        error = record_read(l->arena, &rows[i], &r);
        if (error == status_nomem())
            return error;
        if (error) {
            report_fault(l, rows[i].seq, error->message);
            continue;
        }
        if (strcmp(r.type, rows[i].type) != 0)
            report_fault(l, r.seq, "has another type than its row");
        error = check_blobs(l, r.seq, rows[i].body,
                            "a blob of this record is missing or damaged");
        if (!error)
            error = fold_record(l, &r, rows[i].body);
        if (error)
            return error;
    }
    return NULL;
}

/* A log that was pruned: its first record is taken as it is, and the thread as
 * of it. */
static const allm_error *begin_pruned(struct log *l, uint64_t first,
                                      const char **before)
{
    const struct backend_ops *ops = l->backend->ops;
    struct backend_range range = { .at = first };
    struct backend_record *rows = NULL;
    struct backend_message *messages = NULL;
    size_t n = 0;
    const allm_error *error = ops->records(l->backend, l->arena, l->row->id,
                                           first, 1, &n, &rows);
    if (error)
        return error;
    if (!n || rows[0].seq != first) {
        report_fault(l, first, "is missing");
        return NULL;
    }
    *before = rows[0].sum;
    l->records++;
    error = ops->messages(l->backend, l->arena, l->row->id, range, &n,
                          &messages);
    for (size_t i = 0; !error && i < n; i++)
        if (!push_message(l, messages[i].hash, messages[i].since))
            error = status_nomem();
    return error;
}

static const allm_error *check_log(struct log *l)
{
    const char *before = l->row->uid;
    const struct backend_ops *ops = l->backend->ops;
    uint64_t seq = 1;
    const allm_error *error = ops->first(l->backend, l->arena, l->row->id,
                                         &seq);
    l->first = seq;
    if (!error && seq > 1)
        error = begin_pruned(l, seq++, &before);
    for (size_t n = PAGE; !error && n == PAGE; seq += n) {
        struct backend_record *rows = NULL;
        error = ops->records(l->backend, l->arena, l->row->id, seq, PAGE, &n,
                             &rows);
        if (!error)
            error = check_page(l, before, seq, n, rows);
        if (error)
            return error;
        l->records += n;
        if (n)
            before = rows[n - 1].sum;
    }
    if (error)
        return error;
    if (seq != l->row->head + 1)
        report_fault(l, seq, "is missing, or follows the last record");
    else if (strcmp(before, l->row->sum ? l->row->sum : "") != 0)
        report_fault(l, l->row->head,
                     "is not the record that the session names");
    return NULL;
}

/* --------------------------------------------------------------- rows --- */

static const allm_error *check_message(struct log *l, size_t i,
                                       const struct backend_message *m)
{
    const struct added own = { m->hash, m->since };
    if (m->n == i && is_message(m, i < l->count ? &l->thread[i] : &own))
        return check_blobs(l, l->row->head, m->body,
                           "a blob of a message is missing or damaged");
    report_fault(l, l->row->head, "a message is not that of the log");
    return NULL;
}

static const allm_error *check_messages(struct log *l)
{
    size_t n = 0;
    struct backend_message *rows = NULL;
    const allm_error *error =
        l->backend->ops->messages(l->backend, l->arena, l->row->id,
                                  (struct backend_range){ 0 }, &n, &rows);
    if (error)
        return error;
    if (n != l->count || n != l->row->messages)
        report_fault(l, l->row->head, "the messages are not those of the log");
    for (size_t i = 0; !error && i < n; i++)
        error = check_message(l, i, &rows[i]);
    return error;
}

static const allm_error *check_state(struct log *l)
{
    const allm_error *error, *why = NULL;
    struct arena t = arena_in(l->arena->mem);
    const allm_json *mine = json_at(unpack(l, &t, l->state_text, &error),
                                    "state");
    const allm_json *row = json_parse_loose(&t, l->row->state, &why);
    const char *status = json_text_at(mine, "status").ptr;
    if (why == status_nomem())
        error = why;
    if (!error && !allm_json_equal(row, mine))
        report_fault(l, l->row->head, "the state is not that of the log");
    else if (!error && (!l->row->status || !status ||
                        strcmp(l->row->status, status) != 0))
        report_fault(l, l->row->head, "the status is not that of the log");
    if (error)
        error = status_retell(l->arena, error);
    arena_release(&t);
    return error;
}

static const allm_error *check_parts(struct log *l)
{
    const struct backend_row *row = l->row;
    const allm_error *error = check_log(l);
    if (!error)
        error = check_messages(l);
    if (!error && l->open != row->open)
        report_fault(l, row->head, "the open operation is not that of the log");
    if (!error && l->state)
        error = check_state(l);
    return !error && l->arena->broken ? status_nomem() : error;
}

/* Have records, and what only these refer to, gone since the check began? */
static bool was_pruned(const struct log *l)
{
    uint64_t first = l->first;
    const allm_error *error = l->backend->ops->first(l->backend, l->arena,
                                                     l->row->id, &first);
    return !error && first != l->first;
}

/* Another process may write or prune between two reads: what does not fit
 * together is then read again.  *moved: it has, and nothing is reported. */
static const allm_error *check_once(struct verify *v, struct backend *b,
                                    const struct backend_row *row, bool *moved)
{
    struct arena a;
    struct log l = { .backend = b, .arena = &a, .row = row };
    l.last = &l.faults;
    arena_init(&a, v->arena->mem);
    const allm_error *error = check_parts(&l);
    *moved = !error && l.faults &&
             (store_row_has_moved(b, &a, row) || was_pruned(&l));
    for (const struct fault *f = l.faults; !error && !*moved && f; f = f->next)
        add_fault(v, row->name, f->seq, f->what);
    if (!*moved)
        v->records += l.records;
    if (error)
        error = status_retell(v->arena, error);
    arena_release(&a);
    return error;
}

static const allm_error *check_session(struct verify *v, struct backend *b,
                                       const struct backend_row *row)
{
    struct backend_row now = *row;
    bool moved = false, found = true;
    const allm_error *error = check_once(v, b, &now, &moved);
    for (int i = 0; !error && moved && i < MOST_READS; i++) {
        error = b->ops->find(b, v->arena, row->name, false, &now, &found);
        if (!error && !found)
            return NULL;        /* it was removed */
        if (!error)
            error = check_once(v, b, &now, &moved);
    }
    v->sessions++;
    return error;
}

/* ---------------------------------------------------------- the whole --- */

static const allm_error *verify_all(struct verify *v, struct backend *b,
                                    struct arena *a)
{
    allm_store_query query = { .size = sizeof query };
    const allm_error *error = NULL;
    for (size_t n = PAGE; !error && n == PAGE;) {
        struct backend_row *rows = NULL;
        error = b->ops->list(b, a, &query, PAGE, &n, &rows);
        for (size_t i = 0; !error && i < n; i++)
            error = check_session(v, b, &rows[i]);
        if (!error && n)
            query.after = rows[n - 1].name;
    }
    return error;
}

static const allm_error *check_database(struct verify *v, struct backend *b,
                                        struct arena *a)
{
    size_t n = 0;
    const char **found = NULL;
    const allm_error *error = b->ops->check ? b->ops->check(b, a, &n, &found)
                                            : NULL;
    for (size_t i = 0; !error && i < n; i++)
        add_fault(v, NULL, 0, found[i]);
    return error;
}

static const allm_error *verify_here(struct backend *b, struct arena *a,
                                     void *ud)
{
    struct verify *v = ud;
    struct backend_row row;
    if (!v->name) {
        const allm_error *error = verify_all(v, b, a);
        return error ? error : check_database(v, b, a);
    }
    const allm_error *error = b->ops->find(b, a, v->name, false, &row,
                                           &v->found);
    return error || !v->found ? error : check_session(v, b, &row);
}

const allm_error *verify_store(allm_store *s, struct arena *a, const char *name,
                               const allm_json **out)
{
    struct verify v = { .name = name, .arena = a };
    build_start_array(&v.faults_found, a);
    const allm_error *error = store_call(s, verify_here, a, &v);
    const allm_json *faults = build_finish(&v.faults_found);
    if (error)
        return error;
    if (name && !v.found)
        return status_error(a, ALLM_ERR_SESSION, "session_not_found",
                            "there is no session \"%s\" in this store", name);
    struct build b = build_object_in(a);
    build_bool_at(&b, "ok", v.faults == 0);
    build_uint_at(&b, "sessions", v.sessions);
    build_uint_at(&b, "records", v.records);
    build_value_at(&b, "faults", faults ? faults : json_null());
    *out = build_finish(&b);
    return faults && *out ? NULL : status_nomem();
}
