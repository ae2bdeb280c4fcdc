/* memory_parts.h - what the files of the memory backend share */
#pragma once

#include "store/backend.h"

#include <pthread.h>

struct memory_message {
    struct memory_message *next;
    struct backend_message row;
    uint64_t since, until;          /* until 0: it is part of the thread */
};

struct memory_record {
    struct memory_record *next;
    struct backend_record row;
};

struct memory_blob {
    struct memory_blob *next;
    struct backend_blob row;
};

struct memory_live {
    struct memory_live *next;
    struct backend_live row;
};

struct memory_sent {
    struct memory_sent *next;
    struct backend_sent row;
};

struct memory_session {
    struct memory_session *next;
    struct arena arena;
    struct arena columns[2], state[2];  /* the newest, and a spare one */
    unsigned columns_at, state_at;
    struct backend_row row;
    struct memory *owner;           /* who holds it; NULL: nobody */
    bool gone;                      /* its last holder did not release it */
    uint64_t first;                 /* record that was not pruned; 0: 1 */
    struct memory_record *records, **last_record;
    struct memory_message *messages, **last_message;
    struct memory_blob *blobs;
    struct arena live_arena;
    struct memory_live *live, *last_live;
    struct memory_sent *sent, **last_sent;
};

struct memory_db {
    struct memory_db *next;         /* of those that have a name */
    const char *name;
    struct mem mem;
    size_t holders;                 /* under the registry's lock */
    pthread_mutex_t lock;
    struct arena arena;
    struct memory *handles;
    struct memory_session *sessions;
    int64_t ids;
    uint64_t version;
};

/* An append that is prepared. */
struct staged {
    struct staged *next;
    struct memory_session *session;
    const struct backend_append *append;
    struct memory_record *records;
    struct memory_message *messages;
    struct memory_blob *blobs;
    struct memory_live *mark;       /* or NULL */
    struct backend_row row;
};

struct memory {
    struct backend backend;
    struct memory *next;            /* handle of the same database */
    struct memory_db *db;
    struct backend_opts opts;
    struct arena arena;             /* of what is staged */
    struct staged *staged;
};

static inline struct memory *memory_of(struct backend *b)
{
    return (struct memory *)b;
}

static inline int64_t memory_now(const struct memory *m)
{
    return clock_unix_ms(m->opts.clock);
}

/* memory.c, all under the lock of the database: find a session; add one; free
 * one; copy a row, or bytes, for a caller that does not hold the lock. */
struct memory_session *memory_by_name(struct memory_db *db, const char *name);
struct memory_session *memory_by_id(struct memory_db *db, int64_t id);
struct memory_session *memory_add(struct memory *m, const char *name,
                                  const char *uid);
void memory_forget(struct memory_db *db, struct memory_session *t);
const allm_error *memory_row(struct arena *a, const struct memory_session *t,
                             struct backend_row *out);
struct slice memory_copy(struct arena *a, struct slice s);

/* memory_tables.c: add events under the next number, or
 * under this one. */
void memory_link_live(struct memory_session *t, struct memory_live *mine,
                      uint64_t number);

/* memory_tables.c: the functions of the backend that read, list, remove and
 * pass messages. */
const allm_error *memory_messages(struct backend *b, struct arena *a,
                                  int64_t id, struct backend_range range,
                                  size_t *count, struct backend_message **out);
const allm_error *memory_records(struct backend *b, struct arena *a, int64_t id,
                                 uint64_t from, size_t limit, size_t *count,
                                 struct backend_record **out);
const allm_error *memory_blobs(struct backend *b, struct arena *a, int64_t id,
                               size_t count, struct backend_blob *blobs);
const allm_error *memory_list(struct backend *b, struct arena *a,
                              const allm_store_query *q, size_t limit,
                              size_t *count, struct backend_row **out);
const allm_error *memory_remove(struct backend *b, struct arena *a, int64_t id,
                                bool *held);
const allm_error *memory_prune(struct backend *b, struct arena *a, int64_t id,
                               bool looks, bool *removed);
const allm_error *memory_first(struct backend *b, struct arena *a, int64_t id,
                               uint64_t *seq);
const allm_error *memory_send(struct backend *b, struct arena *a,
                              const char *name, const char *uid,
                              struct slice body, const char *queue);
const allm_error *memory_inbox(struct backend *b, struct arena *a, int64_t id,
                               size_t *count, struct backend_sent **out);
const allm_error *memory_cancel(struct backend *b, struct arena *a,
                                const char *name, bool *found, bool *held);
const allm_error *memory_put_live(struct backend *b, struct arena *a,
                                  int64_t id, uint64_t epoch,
                                  const struct backend_live *live);
const allm_error *memory_live(struct backend *b, struct arena *a, int64_t id,
                              uint64_t op, uint64_t from, size_t *count,
                              struct backend_live **out);
const allm_error *memory_changed(struct backend *b, struct arena *a,
                                 uint64_t *version, bool *changed);
