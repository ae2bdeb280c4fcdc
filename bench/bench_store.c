/*
 * bench_store.c - what a journal costs: appends beside bare transactions
 *
 *   1  an append of a lone session, beside a bare transaction of SQLite that
 *      writes the same bytes and syncs them: wall time, and CPU time
 *   2  1,000 sessions that append at once: the cost per append beside that of a
 *      lone session (group commit)
 *   3  an append after 20,000 messages, beside an append after none
 *   4  the WAL while a reader looks again and again
 *   5  32 processes that append at once: the longest wait of one, beside a
 *      commit of a lone one
 *
 * Files are in the folder that an argument names, or in the current one: the
 * disk counts.
 */
#include "store/store.h"

#include "measure.h"

#include <stdio.h>
#include <string.h>

#if ALLM_SQLITE
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 300, SESSIONS = 1000, ROUNDS = 10, MESSAGES = 20000,
       APPENDS = 400, MIB = 1024 * 1024, WRITERS = 32, WRITES = 50 };

static char path[512], uri[540];

static void give_up(const char *what, const allm_error *error)
{
    printf("failed: %s: %s\n", what, error ? error->message : "");
    exit(1);
}

static void remove_files(void)
{
    static const char *const ends[] = { "", "-wal", "-shm", "-lock" };
    char name[540];
    for (size_t i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

static allm_store *open_store(void)
{
    allm_store *s = allm_store_open(uri, NULL);
    if (allm_store_error(s))
        give_up("open", allm_store_error(s));
    return s;
}

static struct store_session *open_session(allm_store *s, const char *name)
{
    struct arena a;
    struct store_loaded l;
    struct store_session *t = NULL;
    arena_init(&a, mem_default());
    const allm_error *error = store_session_open(s, &a, name,
                                                 ALLM_SESSION_CREATE, &l, &t);
    if (error)
        give_up("session", error);
    arena_release(&a);
    return t;
}

/* A message of about 300 bytes, as a short turn has it. */
static const char message[] =
    "{\"__type__\":\"ALLM.Message\",\"data\":{\"role\":\"assistant\","
    "\"content\":"
    "\"Here is the answer to your question, which is neither short nor long, "
    "because most answers are like that; it has some more words in order to be "
    "about as long as a usual sentence in a chat with a model.\",\"metadata\":"
    "{}}}";
static const char state[] = "{\"status\":\"idle\",\"metadata\":{}}";

/* One append with one record and `count` messages. */
static struct store_append *begin_append(struct store_session *t,
                                         const char *body, size_t count,
                                         uint64_t keep)
{
    static struct buf bodies[MESSAGES];
    struct store_append *p = store_append_new(t);
    for (size_t i = 0; i < count; i++) {
        buf_init(&bodies[i], store_append_arena(p), SIZE_MAX / 2);
        buf_text(&bodies[i], body);
    }
    store_append_open(p, "change", NULL);
    store_append_thread(p, false, keep, count, bodies);
    store_append_close(p);
    store_append_columns(p)->status = "idle";
    store_append_columns(p)->state = slice_of(state);
    store_append_submit(p);
    return p;
}

static void end_append(struct store_append *p)
{
    const allm_error *error = NULL;
    if (store_append_wait(p, &error))
        give_up("append", error);
    store_append_free(p);
}

static double us(int64_t ns)
{
    return (double)ns / 1e3;
}

struct cost {
    int64_t wall, cpu;              /* medians, in nanoseconds */
};

static struct cost medians(int64_t *wall, int64_t *cpu, size_t n)
{
    return (struct cost){ measure_median(wall, n), measure_median(cpu, n) };
}

/* ----------------------------------------------------- a lone session --- */

struct bare {
    sqlite3 *db;
    sqlite3_stmt *stmt[5];
    sqlite3_int64 n;
};

/* The same rows by SQLite alone: one updated, a record and a message. */
static void open_bare(struct bare *b, const char *file)
{
    static const char *const texts[] = {
        "BEGIN IMMEDIATE",
        "UPDATE s SET head = head + 1, sum = ?1, state = ?2 WHERE id = 1",
        "INSERT INTO r (session, seq, type, body, sum) VALUES (1, ?3, 'change',"
        " ?2, ?1)",
        "INSERT INTO m (session, n, since, body, hash) VALUES (1, ?3, ?3, ?2,"
        " ?1)",
        "COMMIT",
    };
    if (sqlite3_open(file, &b->db) ||
        sqlite3_exec(
            b->db,
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            "CREATE TABLE s (id integer PRIMARY KEY, head, sum, state);"
            "CREATE TABLE r (id integer PRIMARY KEY, session, seq,"
            " type, body, sum, UNIQUE (session, seq));"
            "CREATE TABLE m (id integer PRIMARY KEY, session, n, since,"
            " body, hash, UNIQUE (session, n, since));"
            "INSERT INTO s VALUES (1, 0, '', '')",
            NULL, NULL, NULL))
        give_up(sqlite3_errmsg(b->db), NULL);
    for (size_t i = 0; i < 5; i++)
        if (sqlite3_prepare_v2(b->db, texts[i], -1, &b->stmt[i], NULL))
            give_up(sqlite3_errmsg(b->db), NULL);
}

static void write_bare(struct bare *b)
{
    static const char sum[] = "0123456789abcdef0123456789abcdef"
                              "0123456789abcdef0123456789abcdef";
    static char record[181];
    memset(record, 'r', 180);
    b->n++;
    for (size_t k = 0; k < 5; k++) {
        const char *body = k == 1 ? state : k == 2 ? record : message;
        if (k % 4) {
            sqlite3_bind_text(b->stmt[k], 1, sum, k == 3 ? 64 : 32, NULL);
            sqlite3_bind_text(b->stmt[k], 2, body, -1, NULL);
        }
        if (k == 2 || k == 3)
            sqlite3_bind_int64(b->stmt[k], 3, b->n);
        if (sqlite3_step(b->stmt[k]) != SQLITE_DONE)
            give_up(sqlite3_errmsg(b->db), NULL);
        sqlite3_reset(b->stmt[k]);
    }
}

static void close_bare(struct bare *b)
{
    for (size_t i = 0; i < 5; i++)
        sqlite3_finalize(b->stmt[i]);
    sqlite3_close(b->db);
}

/* A session with so many messages; in turns with a bare transaction. */
struct lone {
    struct cost bare, ours;
};

static struct lone cost_of_one(const char *body, size_t before)
{
    static int64_t wall[2][RUNS], cpu[2][RUNS];
    char file[540];
    struct bare b = { .n = 0 };
    uint64_t n = before;
    allm_store *s = open_store();
    struct store_session *t = open_session(s, "bench");
    snprintf(file, sizeof file, "%s-bare", path);
    open_bare(&b, file);
    if (before)
        end_append(begin_append(t, body, before, 0));
    for (size_t i = 0; i < RUNS; i++) {
        int64_t began = measure_now(), worked = measure_process();
        write_bare(&b);
        wall[0][i] = measure_now() - began;
        cpu[0][i] = measure_process() - worked;
        began = measure_now();
        worked = measure_process();
        end_append(begin_append(t, body, 1, n++));
        wall[1][i] = measure_now() - began;
        cpu[1][i] = measure_process() - worked;
    }
    close_bare(&b);
    unlink(file);
    store_session_drop(t);
    allm_store_free(s);
    remove_files();
    return (struct lone){ medians(wall[0], cpu[0], RUNS),
                          medians(wall[1], cpu[1], RUNS) };
}

/* ------------------------------------------------------ many sessions --- */

static struct cost cost_of_many(const char *body)
{
    static struct store_session *t[SESSIONS];
    static struct store_append *p[SESSIONS];
    int64_t wall[ROUNDS], cpu[ROUNDS];
    allm_store *s = open_store();
    for (size_t i = 0; i < SESSIONS; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%zu", i);
        t[i] = open_session(s, name);
    }
    for (uint64_t r = 0; r < ROUNDS; r++) {
        int64_t began = measure_now(), worked = measure_process();
        for (size_t i = 0; i < SESSIONS; i++)
            p[i] = begin_append(t[i], body, 1, r);
        for (size_t i = 0; i < SESSIONS; i++)
            end_append(p[i]);
        wall[r] = (measure_now() - began) / SESSIONS;
        cpu[r] = (measure_process() - worked) / SESSIONS;
    }
    for (size_t i = 0; i < SESSIONS; i++)
        store_session_drop(t[i]);
    allm_store_free(s);
    remove_files();
    return medians(wall, cpu, ROUNDS);
}

/* ------------------------------------------------------------ the WAL --- */

static const allm_error *read_here(struct backend *b, struct arena *a, void *ud)
{
    struct backend_row row;
    bool found = false;
    size_t count = 0;
    struct backend_record *records = NULL;
    const allm_error *error = b->ops->find(b, a, ud, false, &row, &found);
    return error || !found
               ? error
               : b->ops->records(b, a, row.id, row.head, 0, &count, &records);
}

/* The largest WAL while messages of 1 MiB are written and read. */
static int64_t largest_wal(size_t mib)
{
    char wal[540], name[] = "big";
    int64_t largest = 0;
    char *text = malloc(MIB + 3);
    struct arena a;
    allm_store *s = open_store(), *reader = open_store();
    struct store_session *t = open_session(s, name);
    snprintf(wal, sizeof wal, "%s-wal", path);
    memset(text, 'x', MIB + 2);
    text[0] = text[MIB + 1] = '"';
    text[MIB + 2] = '\0';
    arena_init(&a, mem_default());
    for (size_t i = 0; i < mib; i++) {
        struct stat file;
        snprintf(text + 1, 16, "%zu", i);
        text[1 + strlen(text + 1)] = 'x';
        arena_reset(&a);
        end_append(begin_append(t, text, 1, 0));
        if (store_call(reader, read_here, &a, name))
            give_up("read", NULL);
        if (!stat(wal, &file) && file.st_size > largest)
            largest = file.st_size;
    }
    arena_release(&a);
    free(text);
    store_session_drop(t);
    allm_store_free(reader);
    allm_store_free(s);
    remove_files();
    return largest;
}

/* ------------------------------------------------------ many writers --- */

/* Append, and tell the longest wait.  Runs in a process of its own. */
static void write_and_tell(int number, int go, int tell)
{
    char name[16], byte;
    int64_t worst = 0;
    allm_store *s = open_store();
    snprintf(name, sizeof name, "w%d", number);
    struct store_session *t = open_session(s, name);
    if (read(go, &byte, 1) < 0)             /* until the pipe is closed */
        _exit(1);
    for (uint64_t i = 0; i < WRITES; i++) {
        int64_t began = measure_now();
        end_append(begin_append(t, message, 1, i));
        int64_t took = measure_now() - began;
        worst = took > worst ? took : worst;
    }
    store_session_drop(t);
    allm_store_free(s);
    _exit(write(tell, &worst, sizeof worst) != sizeof worst);
}

/* *told: how many of the writers did not fail. */
static int64_t longest_wait(int *told)
{
    int go[2], tell[2];
    int64_t worst = 0, one;
    allm_store_free(open_store());
    if (pipe(go) || pipe(tell))
        give_up("pipe", NULL);
    fflush(stdout);                         /* else the writers print it, too */
    for (int i = 0; i < WRITERS; i++)
        if (!fork()) {
            close(go[1]);
            write_and_tell(i, go[0], tell[1]);
        }
    close(go[0]);
    close(tell[1]);
    nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);     /* all are there */
    close(go[1]);
    for (*told = 0; read(tell[0], &one, sizeof one) == sizeof one; ++*told)
        worst = one > worst ? one : worst;
    close(tell[0]);
    while (wait(NULL) > 0)
        ;
    remove_files();
    return worst;
}

static void bench_writers(int64_t lone)
{
    int told;
    int64_t worst = longest_wait(&told), most = 20 * WRITERS * lone;
    printf("%d writers   ", WRITERS);
    if (told < WRITERS)
        printf("%d of them failed: missed\n", WRITERS - told);
    else
        printf("%8.1f ms at worst for one of %d appends; at most %.1f, which "
               "is 20 times %d commits: %s\n",
               us(worst) / 1e3, WRITERS * WRITES, us(most) / 1e3, WRITERS,
               measure_verdict(worst <= most));
}

int main(int argc, char **argv)
{
    snprintf(path, sizeof path, "%s/bench-store.db", argc > 1 ? argv[1] : ".");
    snprintf(uri, sizeof uri, "sqlite:%s", path);
    remove_files();
    struct lone first = cost_of_one(message, 0);
    struct cost bare = first.bare, one = first.ours;
    printf("append       %8.1f us, CPU %6.1f us; bare %8.1f us, CPU %6.1f us\n",
           us(one.wall), us(one.cpu), us(bare.wall), us(bare.cpu));
    printf("             wall %.2f times, CPU %.2f times, at most 1.30: %s\n",
           us(one.wall) / us(bare.wall), us(one.cpu) / us(bare.cpu),
           measure_verdict(10 * one.cpu <= 13 * bare.cpu));
    struct cost many = cost_of_many(message);
    printf("1000 at once %8.1f us, CPU %6.1f us each; CPU %.3f of a lone one, "
           "at most 0.250: %s\n",
           us(many.wall), us(many.cpu), us(many.cpu) / us(one.cpu),
           measure_verdict(4 * many.cpu <= one.cpu));
    struct cost late = cost_of_one(message, MESSAGES).ours;
    printf("after %d  %8.1f us, CPU %6.1f us; CPU %.2f times, at most 1.10: "
           "%s\n",
           MESSAGES, us(late.wall), us(late.cpu), us(late.cpu) / us(one.cpu),
           measure_verdict(10 * late.cpu <= 11 * one.cpu));
    int64_t wal = largest_wal(APPENDS);
    printf("WAL          %8.1f MiB at most while %d MiB are written and read, "
           "under 128: %s\n",
           (double)wal / MIB, APPENDS, measure_verdict(wal < 128 * MIB));
    bench_writers(one.wall);
    return 0;
}
#else
int main(void)
{
    printf("skipped: SQLite\n");
    return 0;
}
#endif
