/* sqlite_parts.h - what the files of the SQLite backend share */
#pragma once

#include "store/sql.h"
#include "store/sqlite_lock.h"

#include <sqlite3.h>
#include <sys/types.h>

enum { SQLITE_CACHED = 64, SQLITE_APPLICATION = 0x616c6c6d /* "allm" */ };

/* The byte of the lock file for writers that have waited long: no session has
 * this id. */
enum { SQLITE_FRONT = 0 };

struct sqlite_cached {          /* a prepared statement */
    const char *text;
    sqlite3_stmt *stmt;
};

struct sqlite {
    struct sql sql;
    struct arena arena;         /* of the paths */
    const char *path, *lock_path, *shm_path, *wal_path;
    dev_t device;
    ino_t inode;
    bool read_only, fixed_folder;
    bool had_wal;               /* before it was opened */
    pid_t pid;
    struct sqlite *next;        /* of the handles of this process */
    sqlite3 *db;                /* NULL after a failure: opened when needed */
    int lock_fd;                /* -1: a reader found no lock file */
    struct sqlite_cached cached[SQLITE_CACHED];
    size_t held_count, held_cap;
    int64_t *held;
    int64_t busy_since_ns;      /* of the busy handler; 0: not yet */
    bool begins;                /* it waits for a transaction */
    bool in_front;              /* and has waited long: has SQLITE_FRONT */
    int64_t busy_most_ns;       /* how long it waits */
    uint64_t generation;        /* counts connections */
    sqlite3_stmt *version;      /* PRAGMA data_version */
};

static inline struct sqlite *sqlite_of(struct backend *b)
{
    return (struct sqlite *)b;
}

/* sqlite_open.c: the file; its version, and whether it is one of ours. */
const allm_error *sqlite_open(struct arena *a, const char *rest,
                              const struct backend_opts *opts,
                              struct backend **out);
void sqlite_close(struct backend *b);
const allm_error *sqlite_reopen(struct backend *b, struct arena *a);
const allm_error *sqlite_connect(struct sqlite *q, struct arena *a);
void sqlite_die(struct backend *b);

/* sqlite_driver.c: statements, transactions, errors. */
extern const struct sql_driver sqlite_driver;
const allm_error *sqlite_error(struct sqlite *q, struct arena *a, int code);
int sqlite_wait(void *ud, int count);           /* the busy handler */
const allm_error *sqlite_exec(struct sqlite *q, struct arena *a,
                              const char *text);
void sqlite_forget(struct sqlite *q);           /* cached statements */
void sqlite_set_sync(struct sqlite *q, bool on);
/* End a transaction: commit it, or undo it after this error. */
const allm_error *sqlite_finish(struct sqlite *q, struct arena *a,
                                const allm_error *error);
/* Give free pages back and truncate the WAL. */
int sqlite_trim_wal(void *ud, sqlite3 *db, const char *name, int pages);
const allm_error *sqlite_shrink(struct sqlite *q, struct arena *a);
const allm_error *sqlite_changed(struct backend *b, struct arena *a,
                                 uint64_t *version, bool *changed);
const allm_error *sqlite_check(struct backend *b, struct arena *a,
                               size_t *count, const char ***faults);

/* sqlite.c */
bool sqlite_is_held(struct sql *s, const struct backend_row *row, int64_t now);
