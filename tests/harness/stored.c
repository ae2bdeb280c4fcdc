/* stored.c - stores for tests: a fresh file, and the steps of a session */
#include "harness/stored.h"

#include "harness/check.h"
#include "harness/database.h"
#include "json/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64], uri[96];

bool stored_folder(char *out, size_t size)
{
    snprintf(out, size, "%s/allm-store-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    return mkdtemp(out) != NULL;
}

const char *stored_file(void)
{
    if (!ALLM_SQLITE) {
        check_skip("SQLite");
        return NULL;
    }
    if (!stored_folder(folder, sizeof folder))
        return NULL;
    snprintf(uri, sizeof uri, "sqlite:%s/s.db", folder);
    return uri;
}

const char *stored_path(void)
{
    return uri + strlen("sqlite:");
}

static const char *const ends[] = { "", "-wal", "-shm", "-lock", "-journal" };

void stored_remove(void)
{
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

static bool file_contains(const char *path, struct slice text)
{
    bool found = false;
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    fseek(file, 0, SEEK_END);
    size_t len = (size_t)ftell(file);
    char *bytes = malloc(len + 1);
    rewind(file);
    CHECK(bytes && fread(bytes, 1, len, file) == len);
    for (size_t i = 0; bytes && !found && i + text.len <= len; i++)
        found = !memcmp(bytes + i, text.ptr, text.len);
    free(bytes);
    fclose(file);
    return found;
}

/* Statements that fail if a row contains it: every column, blobs as text. */
static bool rows_contain(const char *text)
{
    char sql[1024];
    snprintf(sql, sizeof sql,
             "DO $$ DECLARE t text; n bigint; BEGIN FOR t IN SELECT "
             "unnest(ARRAY['session', 'record', 'message', 'live', 'inbox', "
             "'meta']) LOOP EXECUTE 'SELECT count(*) FROM allm_' || t || ' x "
             "WHERE row_to_json(x)::text LIKE $x$%%%s%%$x$' INTO n; IF n > 0 "
             "THEN RAISE EXCEPTION 'found'; END IF; END LOOP; IF EXISTS "
             "(SELECT 1 FROM allm_blob WHERE encode(bytes, 'escape') LIKE "
             "'%%%s%%') THEN RAISE EXCEPTION 'found'; END IF; END $$;",
             text, text);
    return !stored_sql(sql);
}

bool stored_contains(const char *where, const char *text)
{
    char path[128];
    bool found = false;
    if (!strncmp(where, "postgresql:", 11))
        return rows_contain(text);
    for (size_t i = 0; !found && i < sizeof ends / sizeof *ends; i++) {
        snprintf(path, sizeof path, "%s%s", stored_path(), ends[i]);
        found = file_contains(path, slice_of(text));
    }
    return found;
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
    struct buf body;
    uint64_t seq = 0;
    struct store_append *p = t ? store_append_new(t) : NULL;
    if (!p)
        return NULL;
    buf_init(&body, store_append_arena(p), SIZE_MAX / 2);
    buf_text(&body, step.message ? step.message : "");
    store_append_open(p, step.type, &seq);
    if (step.message)
        store_append_thread(p, false, step.keep, 1, &body);
    store_append_close(p);
    struct backend_append *c = store_append_columns(p);
    c->open = step.begins ? seq : step.ends ? 0 : c->open;
    c->due = step.due;
    c->waits = step.waits;
    c->status = step.status ? step.status : "completed";
    c->title = step.title;
    c->state = SLICE("{\"status\":\"completed\"}");
    c->inbox_upto = step.inbox_upto;
    c->live_op = step.drops_live ? seq : 0;
    store_append_submit(p);
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
