/*
 * kept.c - the store that keeps the sessions of a scenario
 *
 *      store   runs the operations, and dies at crash_at
 *      look    reads records, verifies and removes; keeps memory: alive
 *
 * Invariants
 *   (1) Both are opened when the first session is.
 *   (2) The name of every session that was opened is in `names`.
 */
#include "kept.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* A lease of PostgreSQL outlives the handle that died; nobody else wants it, so
 * it may be short. */
enum { LEASE_MS = 200, PAUSE_MS = 5, MOST_PAUSES = 4000 };

bool kept_is_on(const struct scenario *s)
{
    return s->kept.uri != NULL;
}

/* --------------------------------------------------------------- open --- */

static allm_status on_commit(void *ud, uint64_t count, bool durable)
{
    struct kept *k = ud;
    (void)count;
    uint64_t n = durable ? atomic_load(&k->commits)
                         : atomic_fetch_add(&k->commits, 1) + 1;
    if (n != atomic_load(&k->crash_at) || durable == k->crash_before)
        return ALLM_OK;
    atomic_store(&k->crashed, true);
    return ALLM_ERR_STORE;
}

/* memory: is gone with its last handle, and both handles must see it. */
static const char *shared_uri(const struct kept *k)
{
    return strcmp(k->uri, "memory:") != 0 ? k->uri : "memory:scenario";
}

static bool reject_store(struct scenario *s, const allm_error *error)
{
    return scenario_reject(s, "the store %s: %s: %s", s->kept.uri,
                           error->reason, error->message);
}

static bool open_store(struct scenario *s)
{
    struct kept *k = &s->kept;
    if (k->store)
        return true;
    k->store = allm_store_open(shared_uri(k),
                               ALLM(store_opts, .lease_ms = LEASE_MS,
                                    .on_commit = on_commit, .on_commit_ud = k));
    const allm_error *error = allm_store_error(k->store);
    if (!error && !k->look) {
        k->look = allm_store_open(shared_uri(k), NULL);
        error = allm_store_error(k->look);
    }
    return !error || reject_store(s, error);
}

bool kept_note(struct scenario *s, const char *name)
{
    struct kept *k = &s->kept;
    if (k->name_count == MOST_KEPT)
        return scenario_reject(s, "more than %d sessions", MOST_KEPT);
    snprintf(k->names[k->name_count++], sizeof k->names[0], "%s", name);
    return true;
}

static bool is_noted(const struct kept *k, const char *name)
{
    size_t i = 0;
    while (i < k->name_count && strcmp(k->names[i], name) != 0)
        i++;
    return i < k->name_count;
}

static bool is_name(const char *id)
{
    size_t n = strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                          "0123456789_-:");
    return n && n <= MOST_NAME && !id[n];
}

static bool is_locked(const allm_error *error)
{
    return error && !strcmp(error->reason, "session_locked");
}

/* Open it as soon as the lease of a handle that has died ends. */
static allm_session *open_session(struct kept *k, uint32_t flags)
{
    allm_session *session = allm_session_open(k->store, k->name, flags);
    for (int i = 0; i < MOST_PAUSES && is_locked(allm_session_error(session));
         i++) {
        poll(NULL, 0, PAUSE_MS);
        allm_session_free(session);
        session = allm_session_open(k->store, k->name, flags);
    }
    return session;
}

static allm_status remove_session(struct kept *k, const char *name)
{
    allm_status status = allm_store_remove(k->look, name);
    for (int i = 0;
         i < MOST_PAUSES && status < 0 && is_locked(allm_store_error(k->look));
         i++) {
        poll(NULL, 0, PAUSE_MS);
        status = allm_store_remove(k->look, name);
    }
    return status;
}

/* The name of the next session.  A name of this file is free again: its
 * session was replaced. */
static bool choose_name(struct scenario *s, const allm_session_record *record)
{
    struct kept *k = &s->kept;
    k->hidden = !record || !record->id || !is_name(record->id);
    if (k->hidden)
        snprintf(k->name, sizeof k->name, "scenario-%zu", k->name_count + 1);
    else
        snprintf(k->name, sizeof k->name, "%s", record->id);
    if (is_noted(k, k->name)) {
        remove_session(k, k->name);
        return true;
    }
    allm_session *old = allm_session_open(k->look, k->name, 0);
    bool is_new = allm_session_error(old) != NULL;
    allm_session_free(old);
    if (!is_new)
        return scenario_reject(s,
                               "the store has a session \"%s\"; name an empty "
                               "store",
                               k->name);
    return kept_note(s, k->name);       /* keeps (2) */
}

allm_session *kept_open(struct scenario *s, const allm_session_record *record)
{
    if (!open_store(s) || !choose_name(s, record))
        return NULL;
    allm_session *session = open_session(&s->kept, ALLM_SESSION_CREATE);
    if (record && !allm_session_error(session))
        allm_session_replace(session, record);
    const allm_error *error = allm_session_error(session);
    if (!error)
        return session;
    reject_store(s, error);
    allm_session_free(session);
    return NULL;
}

allm_session *kept_reopen(struct scenario *s)
{
    struct kept *k = &s->kept;
    allm_store_free(k->store);
    k->store = NULL;
    atomic_store(&k->crashed, false);
    if (!open_store(s) || !*k->name)
        return NULL;
    return open_session(k, ALLM_SESSION_CREATE);
}

bool kept_is_hidden(const struct scenario *s, const char *id)
{
    return kept_is_on(s) && s->kept.hidden && id && !strcmp(id, s->kept.name);
}

/* -------------------------------------------------------------- crash --- */

/* n or "n-": before commit n. */
static bool read_crash(const allm_json *v, uint64_t *n, bool *before)
{
    char *end = NULL;
    const char *text = allm_json_text(v, NULL);
    *before = text != NULL;
    if (!text)
        return allm_json_uint64(v, n) && *n;
    *n = strtoull(text, &end, 10);
    return *n && !strcmp(end, "-");
}

bool kept_arm(struct scenario *s, const allm_json *op)
{
    uint64_t n = 0;
    struct kept *k = &s->kept;
    const allm_json *v = allm_json_get(op, "crash_at");
    if (!v)
        return true;
    if (!read_crash(v, &n, &k->crash_before))
        return scenario_reject(s, "\"crash_at\" must be n or \"n-\", the "
                                  "number of a commit");
    kept_settle(s);
    k->first_commit = atomic_load(&k->commits);
    atomic_store(&k->crash_at, k->first_commit + n);
    return true;
}

bool kept_is_dead(struct scenario *s)
{
    return atomic_load(&s->kept.crashed);
}

bool kept_disarm(struct scenario *s)
{
    struct kept *k = &s->kept;
    bool armed = kept_is_on(s) && atomic_load(&k->crash_at);
    if (!armed)
        return false;
    kept_settle(s);
    if (!atomic_load(&k->crashed))
        scenario_reject(s, "the operation made %llu commits and did not crash",
                        (unsigned long long)(atomic_load(&k->commits) -
                                             k->first_commit));
    atomic_store(&k->crash_at, 0);
    return true;
}

/* The calls of a store run in their order, so this one runs behind all. */
bool kept_settle(struct scenario *s)
{
    struct kept *k = &s->kept;
    if (!k->store || !*k->name)
        return false;
    allm_json_free(allm_store_records(k->store, k->name, UINT64_MAX, 1));
    uint64_t now = atomic_load(&k->commits);
    bool is_new = now != k->settled;
    k->settled = now;
    return is_new;
}

/* ------------------------------------------------------------ the end --- */

void kept_report_records(struct scenario *s, struct report *r,
                         const char *member, uint64_t from, size_t limit)
{
    struct kept *k = &s->kept;
    kept_settle(s);             /* a stream that was freed does not wait */
    allm_json *list = k->look && *k->name
                          ? allm_store_records(k->look, k->name, from, limit)
                          : NULL;
    report_json(r, member, list);
    allm_json_free(list);
}

/* Sums, hashes, and the rows against the records. */
static void verify_session(struct scenario *s, const char *name)
{
    allm_json *report = allm_store_verify(s->kept.look, name);
    const allm_error *error = allm_store_error(s->kept.look);
    if (report && allm_json_true(allm_json_get(report, "ok"))) {
        allm_json_free(report);
        return;
    }
    allm_text *text = allm_json_write(report, 0);
    if (report)
        scenario_reject(s, "the session \"%s\" is damaged: %.600s", name,
                        allm_text_bytes(text, NULL));
    else if (error && strcmp(error->reason, "session_not_found") != 0)
        reject_store(s, error);
    allm_text_free(text);
    allm_json_free(report);
}

bool kept_end(struct scenario *s)
{
    struct kept *k = &s->kept;
    allm_store_free(k->store);
    k->store = NULL;
    for (size_t i = 0; i < k->name_count; i++) {
        verify_session(s, k->names[i]);
        remove_session(k, k->names[i]);
    }
    allm_store_free(k->look);
    k->look = NULL;
    return !*s->fault;
}
