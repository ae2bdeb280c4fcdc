/*
 * test_sqlite_files.c - files that are refused, damaged, read-only, in use
 *
 * Never a crash, never a silent repair.
 */
#include "harness/check.h"
#include "harness/stored.h"
#include "store/sqlite_lock.h"

#include <stdio.h>

#if ALLM_SQLITE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------ helpers --- */

static char *bytes;                 /* of a file that was read */
static size_t bytes_len;

static void read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    free(bytes);
    bytes = NULL;
    bytes_len = 0;
    if (!f)
        return;
    fseek(f, 0, SEEK_END);
    bytes_len = (size_t)ftell(f);
    rewind(f);
    bytes = malloc(bytes_len + 1);
    if (!bytes || fread(bytes, 1, bytes_len, f) != bytes_len)
        bytes_len = 0;
    fclose(f);
}

static void write_file(const char *path, const char *text, size_t len)
{
    FILE *f = fopen(path, "wb");
    if (!f)
        return;
    fwrite(text, 1, len, f);
    fclose(f);
}

static void run_sql(const char *sql)
{
    sqlite3 *db = NULL;
    char *why = NULL;
    CHECK_INT(sqlite3_open(stored_path(), &db), SQLITE_OK);
    sqlite3_exec(db, sql, NULL, NULL, &why);
    CHECK_TEXT(why, NULL);
    sqlite3_free(why);
    sqlite3_close(db);
}

static const char *path_of(const char *ending)
{
    static char path[128];
    snprintf(path, sizeof path, "%s%s", stored_path(), ending);
    return path;
}

static const char *uri(void)
{
    return stored_path() - strlen("sqlite:");
}

/* The reason why the store cannot be opened; NULL: it can. */
static const char *why_refused(uint32_t flags)
{
    static char reason[64];
    allm_store *s = allm_store_open(uri(), ALLM(store_opts, .flags = flags));
    const allm_error *error = allm_store_error(s);
    snprintf(reason, sizeof reason, "%s", error ? error->reason : "");
    if (error)
        CHECK(strlen(error->message) > 20);
    allm_store_free(s);
    return *reason ? reason : NULL;
}

/* Sessions a and b, each with a blob. */
static void make_store(void)
{
    static char message[6000];
    memset(message, 'm', sizeof message - 1);
    message[0] = message[sizeof message - 2] = '"';
    allm_store *s = stored_open(uri(), NULL);
    CHECK_TEXT(stored_make(s, "a", message), "");
    CHECK_TEXT(stored_make(s, "b", message), "");
    allm_store_free(s);
}

static char last_message[256];

/* The reason why a session cannot be read; last_message has the message. */
static const char *why_unreadable(const char *name)
{
    static char reason[64];
    struct arena a;
    struct store_loaded l;
    struct store_session *t = NULL;
    arena_init(&a, mem_default());
    allm_store *s = allm_store_open(uri(), NULL);
    const allm_error *error = allm_store_error(s);
    if (!error)
        error = store_session_open(s, &a, name, ALLM_SESSION_LOCK, &l, &t);
    snprintf(reason, sizeof reason, "%s", error ? error->reason : "");
    snprintf(last_message, sizeof last_message, "%s",
             error ? error->message : "");
    store_session_drop(t);
    allm_store_free(s);
    arena_release(&a);
    return *reason ? reason : NULL;
}

/* ------------------------------------------------------------ refused --- */

static void refuses_other_files(void)
{
    static const char text[] = "this is not a database, it is a long text with "
                               "more than a hundred bytes, so that no reader "
                               "takes it for the head of one, I hope";
    if (!stored_file())
        return;
    write_file(stored_path(), text, sizeof text);
    CHECK_TEXT(why_refused(0), "not_a_store");
    read_file(stored_path());
    CHECK(bytes_len == sizeof text && !memcmp(bytes, text, sizeof text));
    unlink(stored_path());
    run_sql("CREATE TABLE theirs (x)");
    read_file(stored_path());
    size_t before = bytes_len;
    CHECK_TEXT(why_refused(0), "not_a_store");
    read_file(stored_path());
    CHECK_INT(bytes_len, before);
    stored_remove();
}

static void refuses_other_versions(void)
{
    static const struct {
        const char *sql, *reason;
    } rows[] = {
        { "UPDATE allm_meta SET value = '2'", "store_too_new" },
        { "UPDATE allm_meta SET value = 'x'", "store_damaged" },
        { "DELETE FROM allm_meta", "store_damaged" },
        { "DROP TABLE allm_meta", "store_damaged" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!stored_file())
            return;
        check_row(rows[i].sql);
        make_store();
        run_sql(rows[i].sql);
        CHECK_TEXT(why_refused(0), rows[i].reason);
        CHECK_TEXT(why_refused(ALLM_STORE_READ), rows[i].reason);
        stored_remove();
    }
}

static const allm_error *find_again(struct backend *b, struct arena *a,
                                    void *found)
{
    struct backend_row row;
    const allm_error *error = b->ops->reopen(b, a);
    return error ? error : b->ops->find(b, a, "a", false, &row, found);
}

/* A name means nothing else to SQLite, and the file stays the same when the
 * current folder changes. */
static void takes_names_as_they_are(void)
{
    static const char *const names[] = { ":memory:", "file:x?mode=memory" };
    char old[256], folder[128], text[64];
    struct arena a;
    if (!stored_file() || !CHECK(getcwd(old, sizeof old) != NULL))
        return;
    snprintf(folder, sizeof folder, "%s", path_of(""));
    *strrchr(folder, '/') = '\0';
    arena_init(&a, mem_default());
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool found = false;
        check_row(names[i]);
        CHECK_INT(chdir(folder), 0);
        snprintf(text, sizeof text, "sqlite:%s", names[i]);
        allm_store *s = stored_open(text, NULL);
        CHECK_TEXT(stored_make(s, "a", "\"x\""), "");
        CHECK_INT(chdir(old), 0);
        CHECK(!store_call(s, find_again, &a, &found) && found);
        allm_store_free(s);
        snprintf(text, sizeof text, "%s-lock", names[i]);
        CHECK(!chdir(folder) && !unlink(names[i]) && !unlink(text));
    }
    CHECK_INT(chdir(old), 0);
    arena_release(&a);
    stored_remove();
}

/* ---------------------------------------------------------- truncated --- */

static void refuses_truncated_files(void)
{
    if (!stored_file())
        return;
    make_store();
    read_file(stored_path());
    size_t len = bytes_len;
    char *whole = malloc(len);
    if (!whole)
        return;
    memcpy(whole, bytes, len);
    CHECK(len > (size_t)10 * 4096);
    for (size_t cut = 0; cut < len; cut += 2048) {
        char row[32];
        snprintf(row, sizeof row, "%zu bytes", cut);
        check_row(row);
        write_file(stored_path(), whole, cut);
        const char *reason = why_refused(0);
        CHECK_TEXT(reason, cut == 2048 ? reason : "store_damaged");
        CHECK(reason != NULL);
        read_file(stored_path());
        CHECK(bytes_len == cut && !memcmp(bytes, whole, cut));
    }
    write_file(stored_path(), whole, len);
    CHECK_TEXT(why_unreadable("a"), NULL);
    free(whole);
    stored_remove();
}

static bool is_damage(const char *reason)
{
    return !reason || !strcmp(reason, "store_damaged") ||
           !strcmp(reason, "damaged_session") ||
           !strcmp(reason, "not_a_store") ||
           !strcmp(reason, "session_not_found");
}

/* Bytes are changed somewhere in each page. */
static void survives_damaged_pages(void)
{
    struct random r = check_random();
    if (!stored_file())
        return;
    make_store();
    read_file(stored_path());
    size_t len = bytes_len;
    char *whole = malloc(len);
    for (size_t page = 0; whole && page < len; page += 4096) {
        for (int i = 0; i < 4; i++) {
            char row[64];
            size_t at = page + (i ? (size_t)random_below(r, 4080) : 0);
            if (!page && !i)
                memcpy(whole, bytes, len);
            snprintf(row, sizeof row, "at %zu", at);
            check_row(row);
            char *damaged = malloc(len);
            if (!damaged)
                break;
            memcpy(damaged, whole, len);
            random_fill(r, damaged + at, 16);
            write_file(stored_path(), damaged, len);
            free(damaged);
            const char *reason = why_unreadable("a");
            CHECK_WHY(is_damage(reason), reason);
            reason = why_unreadable("b");
            CHECK_WHY(is_damage(reason), reason);
        }
    }
    free(whole);
    stored_remove();
}

/* A session that is damaged does not concern the others. */
static void reports_damaged_sessions(void)
{
    static const char *const rows[] = {
        "UPDATE allm_record SET body = replace(body, 'created', 'creates') %s",
        "UPDATE allm_record SET sum = replace(sum, substr(sum, 1, 1), 'x') %s",
        "UPDATE allm_record SET seq = 2 %s",
        "DELETE FROM allm_record %s",
        "UPDATE allm_message SET body = body || ' ' %s",
        "UPDATE allm_message SET hash = 'x' %s",
        "UPDATE allm_message SET n = 1 %s",
        "UPDATE allm_message SET until = 1 %s",
        "DELETE FROM allm_message %s",
        "UPDATE allm_blob SET bytes = 'x' %s",
        "INSERT INTO allm_record (session, seq, type, body, sum) "
        "SELECT session, 2, type, body, sum FROM allm_record %s",
        "UPDATE allm_session SET sum = 'x' WHERE name = 'a'",
        "UPDATE allm_session SET head = 2 WHERE name = 'a'",
        "UPDATE allm_session SET open = 9 WHERE name = 'a'",
    };
    static const char where[] = "WHERE session = (SELECT id FROM allm_session "
                                "WHERE name = 'a')";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char sql[512];
        if (!stored_file())
            return;
        check_row(rows[i]);
        make_store();
        const char *at = strstr(rows[i], "%s");
        snprintf(sql, sizeof sql, "%.*s%s",
                 (int)(at ? (size_t)(at - rows[i]) : strlen(rows[i])), rows[i],
                 at ? where : "");
        run_sql(sql);
        CHECK_TEXT(why_unreadable("a"), "damaged_session");
        if (strstr(rows[i], "allm_record") || strstr(rows[i], "hash"))
            CHECK_WHY(strstr(last_message, "record 1 ") ||
                          strstr(last_message, "record 2 "),
                      last_message);
        CHECK_TEXT(why_unreadable("b"), NULL);
        stored_remove();
    }
}

/* -------------------------------------------------------- permissions --- */

static void is_private(void)
{
    static const char *const ends[] = { "", "-wal", "-shm", "-lock" };
    if (!stored_file())
        return;
    mode_t before = umask(0);
    make_store();
    allm_store *s = stored_open(uri(), NULL);
    for (size_t i = 0; i < 4; i++) {
        struct stat file = { 0 };
        CHECK_INT(stat(path_of(ends[i]), &file), 0);
        CHECK_INT(file.st_mode & 0777, 0600);
    }
    allm_store_free(s);
    umask(before);
    stored_remove();
}

static void only_reads(void)
{
    struct arena a;
    struct store_loaded l;
    struct store_session *t = NULL;
    arena_init(&a, mem_default());
    if (!stored_file())
        return;
    CHECK_TEXT(why_refused(ALLM_STORE_READ), "store_unreachable");
    CHECK_TEXT(why_refused(ALLM_STORE_NO_CREATE), "store_unreachable");
    CHECK(access(stored_path(), F_OK) != 0);
    make_store();
    allm_store *writer = stored_open(uri(), NULL);
    struct store_session *held = stored_session(writer, &a, "a",
                                                ALLM_SESSION_LOCK, &l, NULL);
    allm_store *s = stored_open(uri(),
                                ALLM(store_opts, .flags = ALLM_STORE_READ));
    t = stored_session(s, &a, "a", 0, &l, NULL);
    CHECK(t && l.row.held);
    store_session_drop(t);
    t = stored_session(s, &a, "a", ALLM_SESSION_LOCK, &l, "store_read_only");
    store_session_drop(t);
    t = stored_session(s, &a, "c", ALLM_SESSION_CREATE, &l, "store_read_only");
    store_session_drop(t);
    allm_store_free(s);
    store_session_drop(held);
    allm_store_free(writer);
    arena_release(&a);
    stored_remove();
}

/* In a child that is not root, so that permissions count. */
static int read_as_nobody(void)
{
    struct arena a;
    struct store_loaded l;
    struct store_session *t = NULL;
    if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
        return 9;
    allm_store *s = allm_store_open(uri(), NULL);
    if (allm_store_error(s))
        return 1;
    arena_init(&a, mem_default());
    if (store_session_open(s, &a, "a", 0, &l, &t) || l.message_count != 1)
        return 2;
    const allm_error *error = store_session_open(s, &a, "a", ALLM_SESSION_LOCK,
                                                 &l, &t);
    return !error || strcmp(error->reason, "store_read_only") ? 3 : 0;
}

static void reads_where_nothing_can_be_written(void)
{
    char folder[128];
    int status = -1;
    if (!stored_file())
        return;
    make_store();
    snprintf(folder, sizeof folder, "%.*s",
             (int)(strlen(stored_path()) - strlen("/s.db")), stored_path());
    chmod(stored_path(), 0444);
    chmod(path_of("-lock"), 0444);
    chmod(folder, 0555);
    pid_t child = fork();
    if (!child)
        stored_leave(read_as_nobody());
    waitpid(child, &status, 0);
    CHECK_INT(WEXITSTATUS(status), 0);
    chmod(folder, 0700);
    stored_remove();
}

/* --------------------------------------------------------------- busy --- */

/* A process that opens a transaction when it is told to, and keeps it until it
 * is killed.  It must be forked while this process has no store, since SQLite
 * cannot be used in the child of a process whose threads use it. */
struct other {
    pid_t pid;
    int order, ready;           /* pipes to it and from it */
};

static void keep_transaction(int order, int ready, const char *sql)
{
    char byte;
    sqlite3 *db = NULL;
    if (read(order, &byte, 1) != 1)
        _exit(1);
    sqlite3_open(stored_path(), &db);
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    if (write(ready, code == SQLITE_OK ? "y" : "n", 1) == 1)
        for (;;)
            pause();
    _exit(1);
}

static struct other fork_other(const char *sql)
{
    int order[2], ready[2];
    if (pipe(order))
        return (struct other){ -1, -1, -1 };
    if (pipe(ready)) {
        close(order[0]);
        close(order[1]);
        return (struct other){ -1, -1, -1 };
    }
    pid_t pid = fork();
    if (!pid) {
        close(order[1]);
        close(ready[0]);
        keep_transaction(order[0], ready[1], sql);
    }
    close(order[0]);
    close(ready[1]);
    return (struct other){ pid, order[1], ready[0] };
}

static void begin_transaction(const struct other *o)
{
    char byte = 'n';
    CHECK(write(o->order, "b", 1) == 1 && read(o->ready, &byte, 1) == 1);
    CHECK_INT(byte, 'y');
}

static void end_other(const struct other *o)
{
    if (o->pid < 0)
        return;
    kill(o->pid, SIGKILL);
    waitpid(o->pid, NULL, 0);
    close(o->order);
    close(o->ready);
}

static void names_the_writer(void)
{
    struct arena a;
    struct store_loaded l;
    struct store_session *t = NULL;
    char number[24];
    if (!stored_file())
        return;
    arena_init(&a, mem_default());
    make_store();
    struct other writer = fork_other("BEGIN IMMEDIATE");
    begin_transaction(&writer);
    allm_store *s = stored_open(uri(), ALLM(store_opts, .busy_ms = 100));
    const allm_error *error =
        s ? store_session_open(s, &a, "a", ALLM_SESSION_LOCK, &l, &t) : NULL;
    CHECK_TEXT(stored_reason(error), "store_busy");
    snprintf(number, sizeof number, "process %d ", (int)writer.pid);
    CHECK_WHY(error && strstr(error->message, number),
              error ? error->message : "");
    end_other(&writer);
    t = stored_session(s, &a, "a", ALLM_SESSION_LOCK, &l, NULL);
    store_session_drop(t);
    allm_store_free(s);
    arena_release(&a);
    stored_remove();
}

/* Is there a writer that has waited long?  Waits until it is so, or not. */
static bool comes_to_the_front(int lock, bool wanted)
{
    for (int i = 0; i < 5000 && sqlite_lock_is_taken(lock, 0) != wanted; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    return sqlite_lock_is_taken(lock, 0) == wanted;
}

/* A writer that has waited long is seen by the others, until it has written;
 * one that never gets on, such as a stopped process, only delays them. */
static void puts_long_waits_first(void)
{
    struct arena a;
    struct store_loaded l;
    char path[600];
    if (!stored_file())
        return;
    arena_init(&a, mem_default());
    make_store();
    struct other writer = fork_other("BEGIN IMMEDIATE");
    allm_store *s = stored_open(uri(), NULL);
    struct store_session *t = stored_session(s, &a, "a", ALLM_SESSION_LOCK, &l,
                                             NULL);
    snprintf(path, sizeof path, "%s-lock", stored_path());
    int lock = sqlite_lock_open(path, false);
    begin_transaction(&writer);
    struct store_append *p = stored_append(t, STORED(.type = "change"));
    CHECK(comes_to_the_front(lock, true));
    end_other(&writer);
    CHECK_TEXT(stored_wait(p), "");
    CHECK(comes_to_the_front(lock, false));
    CHECK(sqlite_lock_share(lock, 0));
    CHECK_TEXT(stored_write(t, STORED(.type = "change")), "");
    close(lock);
    store_session_drop(t);
    allm_store_free(s);
    arena_release(&a);
    stored_remove();
}

/* ------------------------------------------------------------- clocks --- */

/* Times of a clock that was set back by an hour or by centuries, and of one
 * that will be. */
static void does_not_trust_the_clock(void)
{
    static const char *const rows[] = {
        "UPDATE allm_session SET queue = 'q', due = 9000000000000, "
        "changed = 9000000000000, taken = 9000000000000 WHERE name = 'a'",
        "UPDATE allm_session SET queue = 'q', due = 1, changed = 1, taken = 1 "
        "WHERE name = 'a'",
        "UPDATE allm_session SET queue = 'q', due = -9000000000000, "
        "changed = -1, taken = -1 WHERE name = 'a'",
        "UPDATE allm_session SET queue = 'q', due = changed + 3600000, "
        "changed = changed + 3600000, taken = taken + 3600000 "
        "WHERE name = 'a'",
        "UPDATE allm_session SET queue = 'q', due = changed - 3600000, "
        "changed = changed - 3600000, taken = taken - 3600000 "
        "WHERE name = 'a'",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct store_loaded l;
        struct store_session *t = NULL;
        if (!stored_file())
            return;
        check_row(rows[i]);
        arena_init(&a, mem_default());
        make_store();
        run_sql(rows[i]);
        allm_store *s = stored_open(uri(), NULL);
        if (s)
            CHECK_TEXT(stored_reason(
                           store_session_claim(s, &a, "q", 0, &l, &t)),
                       NULL);
        CHECK_TEXT(stored_write(t, STORED(.type = "change")), "");
        store_session_drop(t);
        allm_store_free(s);
        arena_release(&a);
        stored_remove();
    }
}

/* ------------------------------------------------------------ privacy --- */

static const allm_error *remove_here(struct backend *b, struct arena *a,
                                     void *ud)
{
    struct backend_row row;
    bool found = false, held = false;
    const allm_error *error = b->ops->find(b, a, ud, true, &row, &found);
    return error || !found ? error : b->ops->remove(b, a, row.id, &held);
}

/* Some sessions whose records, messages and blobs contain the word. */
static void make_secret(allm_store *s)
{
    static char message[9000];
    struct arena a;
    struct store_loaded l;
    arena_init(&a, mem_default());
    memset(message, 's', sizeof message - 1);
    memcpy(message, "\"topsecret", 10);
    memcpy(message + 8000, "topsecret", 9);
    message[sizeof message - 2] = '"';
    struct store_session *t = stored_session(s, &a, "secret",
                                             ALLM_SESSION_CREATE, &l, NULL);
    for (uint64_t i = 0; i < 20; i++) {
        CHECK_TEXT(stored_write(t, STORED(.type = "change", .keep = i / 2,
                                          .message = i % 3 ? "\"topsecret\""
                                                           : message,
                                          .title = "topsecret")),
                   "");
        CHECK_TEXT(stored_make(s, (char[2]){ (char)('a' + (char)i) }, "[1]"),
                   "");
    }
    store_session_drop(t);
    arena_release(&a);
}

static void leaves_no_byte(void)
{
    char name[] = "secret", number[32];
    struct arena a;
    if (!stored_file())
        return;
    arena_init(&a, mem_default());
    struct other reader = fork_other("BEGIN; SELECT * FROM allm_record");
    allm_store *s = stored_open(uri(), ALLM(store_opts, .busy_ms = 100));
    make_secret(s);
    CHECK(stored_contains(uri(), "topsecret"));
    CHECK_TEXT(stored_reason(store_call(s, remove_here, &a, name)), NULL);
    CHECK(!stored_contains(uri(), "topsecret"));
    make_secret(s);
    begin_transaction(&reader);
    const allm_error *error = store_call(s, remove_here, &a, name);
    CHECK_TEXT(stored_reason(error), "store_busy");
    snprintf(number, sizeof number, "process %d ", (int)reader.pid);
    CHECK_WHY(error && strstr(error->message, number),
              error ? error->message : "");
    end_other(&reader);
    char next[] = "a";
    CHECK_TEXT(stored_reason(store_call(s, remove_here, &a, next)), NULL);
    CHECK(!stored_contains(uri(), "topsecret"));
    allm_store_free(s);
    arena_release(&a);
    stored_remove();
    free(bytes);
    bytes = NULL;
}

TESTS = {
    TEST_ONCE(refuses_other_files),
    TEST_ONCE(refuses_other_versions),
    TEST_ONCE(takes_names_as_they_are),
    TEST_ONCE(refuses_truncated_files),
    TEST_ONCE(survives_damaged_pages),
    TEST_ONCE(reports_damaged_sessions),
    TEST_ONCE(is_private),
    TEST_ONCE(only_reads),
    TEST_ONCE(reads_where_nothing_can_be_written),
    TEST_ONCE(names_the_writer),
    TEST_ONCE(puts_long_waits_first),
    TEST_ONCE(does_not_trust_the_clock),
    TEST_ONCE(leaves_no_byte),
    TESTS_END
};
#else
static void needs_sqlite(void)
{
    check_skip("SQLite");
}

TESTS = { TEST_ONCE(needs_sqlite), TESTS_END };
#endif
