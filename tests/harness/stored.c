/* stored.c - stores for tests: a fresh file, and the steps of a session */
#include "harness/stored.h"

#include "harness/check.h"
#include "harness/database.h"
#include "json/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64], uri[96];

const char *stored_file(void)
{
    if (!ALLM_SQLITE) {
        check_skip("SQLite");
        return NULL;
    }
    /* in memory where possible: a sync of a disk takes milliseconds */
    snprintf(folder, sizeof folder, "%s/allm-store-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(folder))
        return NULL;
    snprintf(uri, sizeof uri, "sqlite:%s/s.db", folder);
    return uri;
}

const char *stored_path(void)
{
    return uri + strlen("sqlite:");
}

void stored_remove(void)
{
    static const char *const ends[] = { "", "-wal", "-shm", "-lock",
                                        "-journal" };
    char path[128];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(path, sizeof path, "%s%s", stored_path(), ends[i]);
        unlink(path);
    }
    rmdir(folder);
}

void stored_in_memory(void (*test)(const char *uri))
{
    allm_store *anchor = allm_store_open("memory:test", NULL);
    test("memory:test");
    allm_store_free(anchor);
}

void stored_in_file(void (*test)(const char *uri))
{
    if (!stored_file())
        return;
    test(uri);
    stored_remove();
}

static struct database server;
static pid_t server_owner;

static void stop_server(void)
{
    if (getpid() == server_owner)
        database_remove(&server);
}

/* One word that says what is missing; NULL: there is a new database. */
static const char *make_database(void)
{
    static const char *missing;
    if (!ALLM_POSTGRES)
        return "libpq";
    if (!server_owner) {
        server_owner = getpid();
        missing = database_start(&server);
        atexit(stop_server);
    }
    return missing ? missing : database_new(&server) ? NULL : "postgresql";
}

void stored_on_server(void (*test)(const char *uri), bool pooled)
{
    const char *missing = make_database();
    if (!missing && pooled && !*server.pooled)
        missing = "pgbouncer";
    if (missing)
        check_skip(missing);
    else
        test(pooled ? server.pooled : server.uri);
}

bool stored_sql(const char *sql)
{
    return database_sql(&server, sql);
}

bool stored_restart_server(void)
{
    database_stop(&server, "immediate");
    return database_restart(&server);
}

void stored_leave(int status)
{
    char command[32];
    snprintf(command, sizeof command, "exit %d", status);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

const char *stored_reason(const allm_error *error)
{
    return error ? error->reason : NULL;
}

allm_store *stored_open(const char *where, const allm_store_opts *opts)
{
    allm_store *s = allm_store_open(where, opts);
    const allm_error *error = allm_store_error(s);
    CHECK_TEXT(error ? error->message : NULL, NULL);
    if (!error)
        return s;
    allm_store_free(s);
    return NULL;
}

struct store_session *stored_session(allm_store *s, struct arena *a,
                                     const char *name, uint32_t flags,
                                     struct store_loaded *loaded,
                                     const char *reason)
{
    struct store_session *t = NULL;
    if (!s)
        return NULL;
    const allm_error *error = store_session_open(s, a, name, flags, loaded, &t);
    CHECK_TEXT(stored_reason(error), reason);
    CHECK_ALWAYS((error == NULL) == (t != NULL));
    return t;
}

struct store_append *stored_append(struct store_session *t,
                                   struct stored_step step)
{
    struct arena a;
    uint64_t seq = 0;
    const allm_error *error = NULL;
    struct store_append *p = t ? store_append_new(t) : NULL;
    if (!p)
        return NULL;
    arena_init(&a, mem_default());
    const allm_json *body =
        step.message ? json_parse_loose(&a, slice_of(step.message), &error)
                     : NULL;
    store_append_open(p, step.type, &seq);
    if (step.message)
        store_append_thread(p, false, step.keep, 1, &body);
    store_append_close(p);
    struct backend_append *c = store_append_columns(p);
    c->open = step.begins ? seq : step.ends ? 0 : c->open;
    c->due = step.due;
    c->status = step.status ? step.status : "completed";
    c->title = step.title;
    c->state = SLICE("{\"status\":\"completed\"}");
    c->inbox_upto = step.inbox_upto;
    c->live_op = step.drops_live ? seq : 0;
    store_append_submit(p);
    /* bytes of blobs are not copied: memory: is done, a thread is not */
    if (step.message && strlen(step.message) > RECORD_BLOB_OVER)
        store_append_wait(p, NULL);
    arena_release(&a);
    return p;
}

const char *stored_wait(struct store_append *p)
{
    static char reason[64];
    const allm_error *error = NULL;
    if (!p)
        return "out_of_memory";
    store_append_wait(p, &error);
    snprintf(reason, sizeof reason, "%s", error ? error->reason : "");
    store_append_free(p);
    return reason;
}

const char *stored_write(struct store_session *t, struct stored_step step)
{
    return stored_wait(stored_append(t, step));
}

const char *stored_make(allm_store *s, const char *name, const char *message)
{
    struct arena a;
    struct store_loaded l;
    const char *reason = "out_of_memory";
    arena_init(&a, mem_default());
    struct store_session *t = stored_session(s, &a, name, ALLM_SESSION_CREATE,
                                             &l, NULL);
    if (t)
        reason = stored_write(t, (struct stored_step){ .type = "created",
                                                       .message = message });
    store_session_drop(t);
    arena_release(&a);
    return reason;
}
