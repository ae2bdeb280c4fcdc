/* stored.h - stores for tests: a fresh file, and the steps of a session */
#pragma once

#include "store/store.h"

/* Make a folder: in memory where possible, since a sync of a disk takes from a
 * millisecond to a second. */
bool stored_folder(char *out, size_t size);

/* A new SQLite store in a folder of its own, for one test at a time.  NULL, and
 * the test is skipped, if the library was built without SQLite. */
const char *stored_file(void);
const char *stored_path(void);      /* its path, without "sqlite:" */
void stored_remove(void);

/* One test per backend; the run with failing allocations is for memory. */
#define EACH(test)                                                            \
    static void memory_##test(void) { stored_in_memory(test); }               \
    static void sqlite_##test(void) { stored_in_file(test); }                 \
    static void server_##test(void) { stored_on_server(test, false); }        \
    static void pooler_##test(void) { stored_on_server(test, true); }
#define TEST_EACH(test)                                                       \
    TEST(memory_##test), TEST_ONCE(sqlite_##test), TEST_ONCE(server_##test),  \
        TEST_ONCE(pooler_##test)
/* The same without failing allocations. */
#define TEST_ALL(test)                                                        \
    TEST_ONCE(memory_##test), TEST_ONCE(sqlite_##test),                       \
        TEST_ONCE(server_##test), TEST_ONCE(pooler_##test)

/* Run a test on a store in memory, and on a new file. */
void stored_in_memory(void (*test)(const char *uri));
void stored_in_file(void (*test)(const char *uri));

/* Run a test on a new database of a real PostgreSQL server, which this process
 * starts and stops; `pooled`: through pgbouncer.  Skipped by name if one of
 * these, or libpq, is missing. */
void stored_on_server(void (*test)(const char *uri), bool pooled);

/* Run SQL statements in that database, as its owner. */
bool stored_sql(const char *sql);

/* Is this text in a file of the SQLite store, or in a row of the newest
 * database? */
bool stored_contains(const char *uri, const char *text);

/* Stop that server as a crash does, and start it again. */
bool stored_restart_server(void);

/* End a child of fork() with this exit status, by running another program:
 * valgrind would call what the parent owns a leak. */
void stored_leave(int status);

/* The reason of an error; NULL: none. */
const char *stored_reason(const allm_error *error);

/* Open a store; NULL, after a failed check, if it has an error. */
allm_store *stored_open(const char *uri, const allm_store_opts *opts);

/* Open a session.  `reason` is the expected one; NULL, and *loaded is unset, if
 * there is an error. */
struct store_session *stored_session(allm_store *s, struct arena *a,
                                     const char *name, uint32_t flags,
                                     struct store_loaded *loaded,
                                     const char *reason);

/* One commit with one record. */
struct stored_step {
    const char *type;
    uint64_t keep;
    const char *message;            /* JSON, added to the thread; or NULL */
    bool begins, ends;              /* an operation */
    bool due;
    const char *waits;
    const char *status, *title;
    int64_t inbox_upto;
    bool drops_live;
};

#define STORED(...) ((struct stored_step){ __VA_ARGS__ })

/* The same, submitted but not waited for; NULL: out of memory. */
struct store_append *stored_append(struct store_session *t,
                                   struct stored_step step);
/* Wait for it and free it; "" or the reason of its error (static). */
const char *stored_wait(struct store_append *p);
const char *stored_write(struct store_session *t, struct stored_step step);

/* Create a session with one record and one message, and let it go. */
const char *stored_make(allm_store *s, const char *name, const char *message);
