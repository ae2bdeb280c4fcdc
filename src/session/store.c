/*
 * store.c - functions of a store that read or leave messages, records, rows
 *
 * Each collects its arguments in a struct, runs one function in the store's
 * thread, and builds the result in the caller's.
 */
#include "allm_store.h"

#include "base/caller_struct.h"
#include "base/status.h"
#include "data/encode.h"
#include "data/message.h"
#include "run/refused.h"
#include "session/follow.h"
#include "session/search.h"
#include "session/verify.h"
#include "store/store.h"
#include "json/build.h"
#include "json/json.h"
#include "json/write.h"

enum { LIST_LIMIT = 50, SEARCH_PAGE = 200 };
#define MOST_AGE_MS (UINT64_C(1) << 50)

/* End a function that returns a value: NULL with the store's error, or a copy
 * of v.  Releases the arena. */
static allm_json *give_json(allm_store *s, struct arena *a, const allm_json *v,
                            const allm_error *error)
{
    if (!error && !v)
        error = status_nomem();
    allm_json *root = error ? NULL : json_root(store_mem(s), v);
    if (!error && !root)
        error = status_nomem();
    store_fail(s, error);
    arena_release(a);
    return root;
}

static allm_status give_status(allm_store *s, struct arena *a,
                               const allm_error *error)
{
    allm_status status = store_fail(s, error);
    arena_release(a);
    return status;
}

static const allm_error *not_found(struct arena *a, const char *name)
{
    return status_error(a, ALLM_ERR_SESSION, "session_not_found",
                        "there is no session \"%s\" in this store; "
                        "allm_store_list() lists them",
                        name);
}

static void build_time(struct build *b, const char *name, int64_t at_ms)
{
    char text[32];
    record_time(at_ms, text);
    build_text_copy_at(b, name, slice_of(text));
}

/* --------------------------------------------------------------- list --- */

struct listing {
    allm_store_query query;
    size_t limit, count;
    struct backend_row *rows;
};

static const allm_error *list_here(struct backend *b, struct arena *a, void *ud)
{
    struct listing *l = ud;
    return b->ops->list(b, a, &l->query, l->limit, &l->count, &l->rows);
}

static const allm_error *read_query(struct arena *a,
                                    const allm_store_query *given,
                                    allm_store_query *out)
{
    if (!caller_struct_take(out, sizeof *out, given))
        return status_error(a, ALLM_ERR_MISUSE, "invalid_options",
                            "the query is not filled in; use "
                            "ALLM(store_query, ...)");
    if (out->older_ms > MOST_AGE_MS)    /* backends subtract it from now */
        out->older_ms = MOST_AGE_MS;
    return NULL;
}

static void build_row(struct build *b, const struct backend_row *r)
{
    build_object(b);
    build_text_or_null_at(b, "name", r->name);
    build_text_or_null_at(b, "uid", r->uid);
    build_text_or_null_at(b, "status", r->status);
    build_text_or_null_at(b, "waits", r->waits);
    build_bool_at(b, "broken_off", r->open && !r->held);
    build_text_or_null_at(b, "holder", r->held ? r->holder : NULL);
    build_text_or_null_at(b, "model", r->model);
    build_uint_at(b, "messages", r->messages);
    build_time(b, "created", r->created);
    build_time(b, "changed", r->changed);
    build_text_or_null_at(b, "title", r->title);
    build_end(b);
}

static const allm_json *build_list(struct arena *a, const struct listing *l,
                                   size_t limit)
{
    struct build b = build_object_in(a);
    build_array_at(&b, "sessions");
    for (size_t i = 0; i < l->count && i < limit; i++)
        build_row(&b, &l->rows[i]);
    build_end(&b);
    build_bool_at(&b, "more", l->count > limit);
    return build_finish(&b);
}

/* Why a session could not be searched; NULL: it was, or it is damaged or has
 * gone meanwhile, which concerns nobody else. */
static const allm_error *why_unsearched(const allm_session *s)
{
    const allm_error *error = s ? allm_session_error(s) : status_nomem();
    return error && strcmp(error->reason, "damaged_session") != 0 &&
                   strcmp(error->reason, "session_not_found") != 0
               ? error
               : NULL;
}

/* Take the rows of a page that have the words. */
static const allm_error *search_page(allm_store *s, struct arena *a,
                                     const struct listing *page,
                                     struct listing *found)
{
    for (size_t i = 0; i < page->count && found->count < found->limit; i++) {
        const struct backend_row *row = &page->rows[i];
        allm_session *one = allm_session_open(s, row->name, 0);
        const allm_error *error = why_unsearched(one);
        bool has = search_session(one, page->query.words);
        error = error ? status_retell(a, error) : NULL;
        allm_session_free(one);
        if (error)
            return error;
        if (!has)
            continue;
        struct backend_row *rows =
            arena_resize(a, found->rows, found->count * sizeof *rows,
                         (found->count + 1) * sizeof *rows);
        if (!rows)
            return status_nomem();
        rows[found->count++] = *row;
        found->rows = rows;
    }
    return NULL;
}

/* All pages, until there are enough. */
static const allm_error *list_words(allm_store *s, struct arena *a,
                                    struct listing *found)
{
    struct listing page = { .query = found->query, .limit = SEARCH_PAGE };
    const allm_error *error = NULL;
    do {
        error = store_call(s, list_here, a, &page);
        if (!error)
            error = search_page(s, a, &page, found);
        if (!error && page.count)
            page.query.after = page.rows[page.count - 1].name;
    } while (!error && page.count == page.limit && found->count < found->limit);
    return error;
}

allm_json *allm_store_list(allm_store *s, const allm_store_query *query)
{
    struct listing l = { .limit = 0 };
    if (!s)
        return NULL;
    struct arena a = arena_in(store_mem(s));
    const allm_error *error = read_query(&a, query, &l.query);
    size_t limit = l.query.limit ? l.query.limit : LIST_LIMIT;
    l.limit = limit + 1;
    if (!error)
        error = l.query.words && *l.query.words
                    ? list_words(s, &a, &l)
                    : store_call(s, list_here, &a, &l);
    return give_json(s, &a, error ? NULL : build_list(&a, &l, limit), error);
}

/* ------------------------------------------------------------ records --- */

struct reading {
    const char *name;
    uint64_t from;
    size_t limit, count;
    struct backend_record *records;
    bool found;
};

static const allm_error *read_here(struct backend *b, struct arena *a, void *ud)
{
    struct reading *r = ud;
    struct backend_row row;
    const allm_error *error = b->ops->find(b, a, r->name, false, &row,
                                           &r->found);
    if (error || !r->found)
        return error;
    return b->ops->records(b, a, row.id, r->from, r->limit, &r->count,
                           &r->records);
}

/* One record and its sum, as the last member. */
static const allm_error *build_record(struct build *b, struct arena *a,
                                      const struct backend_record *row)
{
    struct record r;
    const allm_error *error = record_read(a, row, &r);
    if (error)
        return error;
    build_object(b);
    for (const allm_json *k = NULL; (k = allm_json_next(r.json, k));)
        build_entry(b, k);
    build_text_at(b, "sum", slice_of(row->sum));
    build_end(b);
    return NULL;
}

static const allm_error *build_records(struct arena *a, const struct reading *r,
                                       const allm_json **out)
{
    const allm_error *error = NULL;
    struct build b = build_array_in(a);
    for (size_t i = 0; !error && i < r->count; i++)
        error = build_record(&b, a, &r->records[i]);
    *out = build_finish(&b);
    return error;
}

allm_json *allm_store_records(allm_store *s, const char *name, uint64_t from,
                              size_t limit)
{
    const allm_json *v = NULL;
    struct reading r = { .name = name, .from = from ? from : 1,
                         .limit = limit };
    if (!s)
        return NULL;
    struct arena a = arena_in(store_mem(s));
    const allm_error *error = store_check_name(&a, name);
    if (!error)
        error = store_call(s, read_here, &a, &r);
    if (!error && !r.found)
        error = not_found(&a, name);
    if (!error)
        error = build_records(&a, &r, &v);
    return give_json(s, &a, v, error);
}

allm_stream *allm_store_follow(allm_store *s, const char *name,
                               const char *cursor, uint32_t flags)
{
    return s ? follow_stream(s, name, cursor, flags)
             : refused_stream(NULL, status_nomem());
}

allm_json *allm_store_verify(allm_store *s, const char *name)
{
    const allm_json *v = NULL;
    if (!s)
        return NULL;
    struct arena a = arena_in(store_mem(s));
    const allm_error *error = name ? store_check_name(&a, name) : NULL;
    if (!error)
        error = verify_store(s, &a, name, &v);
    return give_json(s, &a, v, error);
}

/* ---------------------------------------------------- send and cancel --- */

/* May the session with this name be changed? */
static const allm_error *check_change(const allm_store *s, struct arena *a,
                                      const char *name)
{
    const allm_error *error = store_writable(s, a);
    return error ? error : store_check_name(a, name);
}

struct sending {
    const char *name, *queue, *uid;
    struct slice body;
};

static const allm_error *send_here(struct backend *b, struct arena *a, void *ud)
{
    const struct sending *m = ud;
    return b->ops->send(b, a, m->name, m->uid, m->body, m->queue);
}

/* The text of a message of the user. */
static const allm_error *write_message(struct arena *a,
                                       const allm_message *given,
                                       struct slice *out)
{
    const allm_error *error = NULL;
    allm_message *m = allm_message_new(given);
    if (!m)
        return status_nomem();
    if (allm_message_error(m))
        error = status_retell(a, allm_message_error(m));
    else if (m->role != ALLM_ROLE_USER)
        error = status_error(a, ALLM_ERR_MISUSE, "wrong_role",
                             "only messages of the user can be sent to a "
                             "session; set the role to ALLM_ROLE_USER");
    const allm_json *v = error ? NULL
                               : encode_to_json(a, &message_shape, m,
                                                ALLM_FORM_TAGGED, &error);
    struct buf text = buf_in(a, SIZE_MAX / 2);
    if (!error && (!v || !json_write(&text, v, 0)))
        error = status_nomem();
    *out = buf_slice(&text);
    if (!error && out->len > RECORD_MOST_TEXT)
        error = status_error(a, ALLM_ERR_STORE, "record_too_large",
                             "the message has %zu bytes; at most 268435456 can "
                             "be sent",
                             out->len);
    allm_message_free(m);
    return error;
}

allm_status allm_store_send(allm_store *s, const char *name,
                            const allm_message *message, const char *queue)
{
    char uid[STORE_UID_LEN + 1];
    struct sending m = { .name = name, .queue = queue, .uid = uid };
    if (!s)
        return ALLM_ERR_NOMEM;
    if (!message)               /* there was no memory for it */
        return store_fail(s, status_nomem());
    struct arena a = arena_in(store_mem(s));
    const allm_error *error = check_change(s, &a, name);
    if (!error)
        error = write_message(&a, message, &m.body);
    store_make_uid(uid);
    if (!error)
        error = store_call(s, send_here, &a, &m);
    return give_status(s, &a, error);
}

struct cancelling {
    const char *name;
    bool found, held;
};

static const allm_error *cancel_here(struct backend *b, struct arena *a,
                                     void *ud)
{
    struct cancelling *c = ud;
    return b->ops->cancel(b, a, c->name, &c->found, &c->held);
}

/* Nobody runs it: end the operation here, if one is open. */
static const allm_error *abandon_free_session(allm_store *s, struct arena *a,
                                              const char *name)
{
    allm_session *t = allm_session_open(s, name, ALLM_SESSION_LOCK);
    const allm_error *error = allm_session_error(t);
    if (!error &&
        allm_json_get(allm_session_fields(t)->metadata, "broken_off") &&
        allm_session_abandon(t) < 0)
        error = allm_session_error(t);
    if (error)
        error = !strcmp(error->reason, "session_locked")
                    ? NULL      /* its new holder sees the mark */
                    : status_retell(a, error);
    allm_session_free(t);
    return error;
}

allm_status allm_store_cancel(allm_store *s, const char *name)
{
    struct cancelling c = { .name = name };
    if (!s)
        return ALLM_ERR_NOMEM;
    struct arena a = arena_in(store_mem(s));
    const allm_error *error = check_change(s, &a, name);
    if (!error)
        error = store_call(s, cancel_here, &a, &c);
    if (!error && !c.found)
        error = not_found(&a, name);
    if (!error && !c.held)
        error = abandon_free_session(s, &a, name);
    return give_status(s, &a, error);
}

/* ----------------------------------------------------------- removing --- */

struct removing {
    const char *name;
    bool found, held;
    struct backend_row row;
};

static const allm_error *remove_here(struct backend *b, struct arena *a,
                                     void *ud)
{
    struct removing *r = ud;
    const allm_error *error = b->ops->find(b, a, r->name, true, &r->row,
                                           &r->found);
    if (error || !r->found)
        return error;
    return b->ops->remove(b, a, r->row.id, &r->held);
}

allm_status allm_store_remove(allm_store *s, const char *name)
{
    struct removing r = { .name = name };
    if (!s)
        return ALLM_ERR_NOMEM;
    struct arena a = arena_in(store_mem(s));
    const allm_error *error = check_change(s, &a, name);
    if (!error)
        store_session_await(s, name);
    if (!error)
        error = store_call(s, remove_here, &a, &r);
    if (!error && !r.found)
        error = not_found(&a, name);
    if (!error && r.held)
        error = status_error(&a, ALLM_ERR_SESSION, "session_locked",
                             "the session \"%s\" is held by %s and was not "
                             "removed; wait until it is released",
                             name, r.row.holder ? r.row.holder : "somebody");
    return give_status(s, &a, error);
}

struct pruning {
    struct listing list;
    bool looks;                 /* change nothing */
    bool journal;               /* only old records go */
    size_t count;
    const char **names;
};

/* Never one that is held, broken off or waiting. */
static bool may_prune(const struct backend_row *r)
{
    return !r->held && !r->open && !r->waits && !r->due;
}

static const allm_error *prune_here(struct backend *b, struct arena *a,
                                    void *ud)
{
    struct pruning *p = ud;
    const allm_error *error = list_here(b, a, &p->list);
    p->names = arena_zero(a, (p->list.count + 1) * sizeof *p->names);
    if (!p->names)
        return status_nomem();
    for (size_t i = 0; !error && i < p->list.count; i++) {
        const struct backend_row *r = &p->list.rows[i];
        bool held = false;
        if (!may_prune(r))
            continue;
        bool done = true;
        if (p->journal)
            error = b->ops->prune(b, a, r->id, p->looks, &done);
        else if (!p->looks)
            error = b->ops->remove(b, a, r->id, &held);
        if (!error && !held && done)
            p->names[p->count++] = r->name;
    }
    return error;
}

static const allm_json *build_removed(struct arena *a, const struct pruning *p)
{
    struct build b = build_object_in(a);
    build_array_at(&b, "removed");
    for (size_t i = 0; i < p->count; i++)
        build_text(&b, slice_of(p->names[i]));
    build_end(&b);
    return build_finish(&b);
}

allm_json *allm_store_prune(allm_store *s, const allm_store_query *query,
                            uint32_t flags)
{
    const uint32_t known = ALLM_PRUNE_LOOK | ALLM_PRUNE_JOURNAL;
    struct pruning p = { .looks = flags & ALLM_PRUNE_LOOK,
                         .journal = flags & ALLM_PRUNE_JOURNAL };
    if (!s)
        return NULL;
    struct arena a = arena_in(store_mem(s));
    const allm_error *error = p.looks ? NULL : store_writable(s, &a);
    if (!error)
        error = read_query(&a, query, &p.list.query);
    if (!error && p.list.query.words && *p.list.query.words)
        error = status_error(&a, ALLM_ERR_MISUSE, "invalid_options",
                             "allm_store_prune: sessions cannot be pruned by "
                             "their words; leave out the member `words`");
    p.list.limit = p.list.query.limit ? p.list.query.limit : UINT32_MAX;
    if (!error && flags & ~known)
        error = status_error(&a, ALLM_ERR_MISUSE, "invalid_options",
                             "allm_store_prune: the flags are "
                             "ALLM_PRUNE_JOURNAL and ALLM_PRUNE_LOOK");
    if (!error)
        error = store_call(s, prune_here, &a, &p);
    return give_json(s, &a, error ? NULL : build_removed(&a, &p), error);
}
