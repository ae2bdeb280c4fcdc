/*
 * bench_session.c - what sessions in a store cost beside those without one
 *
 *   1  a tool turn in memory:, beside the turn without a journal (CPU)
 *   2  a session of 10,000 turns: opened, beside its document loaded
 *   3  10,000 sessions: listed, beside the bare query
 *   4  events of other streams of a hub while a commit takes a second
 *
 * Files are in the folder that an argument names, or in the current one.
 */
#include "allm.h"

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if ALLM_SQLITE
#include <sqlite3.h>
#include <unistd.h>

enum { RUNS = 15, TURNS = 20, LONG = 10000, SESSIONS = 10000 };

static char path[512], uri[540], file[540];

static void give_up(const char *what, const allm_error *error)
{
    printf("failed: %s: %s\n", what, error ? error->message : "");
    exit(1);
}

static void remove_files(void)
{
    static const char *const ends[] = { "", "-wal", "-shm", "-lock", ".json",
                                        ".json.lock" };
    char name[560];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

static allm_store *open_store(const char *where)
{
    allm_store *s = allm_store_open(where, NULL);
    if (allm_store_error(s))
        give_up("open", allm_store_error(s));
    return s;
}

static double ms(int64_t ns)
{
    return (double)ns / 1e6;
}

/* ---------------------------------------------------------------- turn --- */

static void answer(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    allm_tool_text(run, "fine", 4);
}

/* A model that calls a tool in each turn, then answers. */
static allm_engine *make_engine(void)
{
    static char text[TURNS * 128 + 128];
    size_t n = (size_t)snprintf(text, sizeof text, "{\"scripts\":[");
    for (int i = 0; i < TURNS; i++)
        n += (size_t)snprintf(
            text + n, sizeof text - n,
            "[[\"tool_call\",{\"id\":\"c%d\",\"name\":\"t\",\"arguments\":{}}],"
            "[\"finish\",\"tool_calls\"]],",
            i);
    snprintf(text + n, sizeof text - n,
             "[[\"text\",\"done\"],[\"finish\",\"stop\"]]]}");
    allm_json *opts = allm_json_parse(text, strlen(text), NULL);
    allm_tool *tool =
        allm_tool_new(ALLM(tool, .name = "t", .description = "a tool",
                           .schema_text = "{\"type\":\"object\"}",
                           .call = answer, .flags = ALLM_TOOL_INLINE));
    const allm_tool *tools[] = { tool };
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m",
                                          .adapter_opts = opts, .tools = tools,
                                          .tool_count = 1));
    allm_tool_free(tool);
    allm_json_free(opts);
    return e;
}

static int64_t run_turns(allm_session *s)
{
    allm_engine *e = make_engine();
    int64_t began = measure_process();
    allm_stream *stream =
        allm_session_reply(e, s, "hi", ALLM(call_opts, .max_turns = TURNS + 1));
    if (allm_stream_wait(stream) < 0)
        give_up("turn", allm_stream_error(stream));
    int64_t took = measure_process() - began;
    allm_stream_free(stream);
    allm_session_free(s);
    allm_engine_free(e);
    return took;
}

static void compare_turns(void)
{
    int64_t plain[RUNS], stored[RUNS];
    allm_store *store = open_store("memory:");
    for (int i = 0; i < RUNS; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        plain[i] = run_turns(allm_session_new(NULL));
        stored[i] =
            run_turns(allm_session_open(store, name, ALLM_SESSION_CREATE));
    }
    allm_store_free(store);
    int64_t a = measure_median(plain, RUNS), b = measure_median(stored, RUNS);
    printf("turn in memory   %7.1f us; without a journal %7.1f us: %.2f times, "
           "at most 2.00: %s\n",
           ms(b) * 1e3 / TURNS, ms(a) * 1e3 / TURNS, (double)b / (double)a,
           measure_verdict(b <= 2 * a));
}

/* ------------------------------------------------------------- loading --- */

static void fill_session(allm_store *store)
{
    static const char text[] =
        "Here is some text that is neither short nor long, because most texts "
        "of a conversation are like that; it goes on for a while.";
    allm_thread *t = allm_thread_new(NULL);
    for (int i = 0; i < 2 * LONG; i++)
        allm_thread_append(t, ALLM(message,
                                   .role = i % 2 ? ALLM_ROLE_ASSISTANT
                                                 : ALLM_ROLE_USER,
                                   .text = text));
    allm_session *s = allm_session_open(store, "long", ALLM_SESSION_CREATE);
    if (allm_session_replace(s, ALLM(session_record, .thread = t)) < 0 ||
        allm_session_save(s, file) < 0)
        give_up("fill", allm_session_error(s));
    allm_session_free(s);
    allm_thread_free(t);
}

static void compare_loading(void)
{
    int64_t loaded[RUNS], opened[RUNS];
    allm_store *store = open_store(uri);
    fill_session(store);
    for (int i = 0; i < RUNS; i++) {
        int64_t began = measure_process();
        allm_session *s = allm_session_load(file, 0);
        loaded[i] = measure_process() - began;
        if (allm_session_error(s))
            give_up("load", allm_session_error(s));
        allm_session_free(s);
        began = measure_process();
        s = allm_session_open(store, "long", 0);
        opened[i] = measure_process() - began;
        if (allm_session_error(s))
            give_up("open", allm_session_error(s));
        allm_session_free(s);
    }
    allm_store_free(store);
    int64_t a = measure_median(loaded, RUNS), b = measure_median(opened, RUNS);
    printf("10,000 turns     %7.1f ms; as a document     %7.1f ms: %.2f times, "
           "at most 4.00: %s\n",
           ms(b), ms(a), (double)b / (double)a, measure_verdict(b <= 4 * a));
}

/* ------------------------------------------------------------- listing --- */

static void fill_list(sqlite3 *db)
{
    char text[600];
    snprintf(text, sizeof text,
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
             "WHERE i < %d) INSERT INTO allm_session (name, uid, head, title, "
             "model, messages, state, created, changed) SELECT 's' || i, "
             "'0123456789abcdef0123456789abcdef', 1, 'A title of a session', "
             "'fake:m', 2, '{\"status\":\"idle\"}', 1700000000000 + i, "
             "1700000000000 + i FROM n",
             SESSIONS);
    if (sqlite3_exec(db, text, NULL, NULL, NULL))
        give_up(sqlite3_errmsg(db), NULL);
}

/* The same columns, copied into nothing. */
static int64_t list_bare(sqlite3 *db)
{
    static const char text[] =
        "SELECT name, uid, status, waits, open, holder, model, messages, "
        "created, changed, title, state FROM allm_session WHERE head > 0 "
        "ORDER BY changed DESC, id DESC LIMIT 10000";
    sqlite3_stmt *stmt = NULL;
    int64_t began = measure_process(), bytes = 0;
    if (sqlite3_prepare_v2(db, text, -1, &stmt, NULL))
        give_up(sqlite3_errmsg(db), NULL);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        for (int i = 0; i < 12; i++) {
            sqlite3_column_text(stmt, i);
            bytes += sqlite3_column_bytes(stmt, i);
        }
    sqlite3_finalize(stmt);
    return bytes ? measure_process() - began : 0;
}

static void compare_lists(void)
{
    int64_t bare[RUNS], ours[RUNS];
    sqlite3 *db = NULL;
    allm_store *store = open_store(uri);
    if (sqlite3_open(path, &db))
        give_up("bare", NULL);
    fill_list(db);
    for (int i = 0; i < RUNS; i++) {
        bare[i] = list_bare(db);
        int64_t began = measure_process();
        allm_json *v = allm_store_list(store,
                                       ALLM(store_query, .limit = SESSIONS));
        ours[i] = measure_process() - began;
        if (allm_json_count(allm_json_get(v, "sessions")) != SESSIONS)
            give_up("list", allm_store_error(store));
        allm_json_free(v);
    }
    sqlite3_close(db);
    allm_store_free(store);
    int64_t a = measure_median(bare, RUNS), b = measure_median(ours, RUNS);
    printf("10,000 sessions  %7.1f ms; the bare query    %7.1f ms: %.2f times, "
           "at most 2.00: %s\n",
           ms(b), ms(a), (double)b / (double)a, measure_verdict(b <= 2 * a));
}

/* ------------------------------------------------------- a slow commit --- */

enum { STREAMS = 8, BEATS = 300, BEAT_MS = 5, SLOW_MS = 1000 };

static allm_status commit_slowly(void *ud, uint64_t count, bool durable)
{
    (void)ud;
    (void)count;
    if (!durable)
        nanosleep(&(struct timespec){ .tv_sec = SLOW_MS / 1000 }, NULL);
    return ALLM_OK;
}

/* A model that says a word every few milliseconds. */
static allm_engine *make_ticker(void)
{
    static char text[BEATS * 48 + 64];
    size_t n = (size_t)snprintf(text, sizeof text, "{\"script\":[");
    for (int i = 0; i < BEATS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "[\"delay\",%d],[\"text\",\"w\"],", BEAT_MS);
    snprintf(text + n, sizeof text - n, "[\"finish\",\"stop\"]]}");
    allm_json *opts = allm_json_parse(text, strlen(text), NULL);
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts));
    allm_json_free(opts);
    return e;
}

struct ticker {
    allm_stream *stream;
    int64_t last;                   /* when its newest event came */
};

/* Pull what a stream has; how late its words are, in nanoseconds. */
static size_t pull_words(struct ticker *t, int64_t *late)
{
    const allm_event *event;
    size_t n = 0;
    while (allm_stream_next(t->stream, &event) == ALLM_EVENT) {
        int64_t now = measure_now();
        if (event->type != ALLM_EV_TEXT_DELTA)
            continue;
        if (t->last)
            late[n++] = now - t->last - BEAT_MS * INT64_C(1000000);
        t->last = now;
    }
    return n;
}

/* All streams, and one whose session is in a slow store. */
static size_t run_hub(allm_stream *slow, struct ticker *tickers, int64_t *late)
{
    allm_hub *hub = allm_hub_new(NULL);
    const allm_event *event;
    allm_stream *ready;
    size_t n = 0;
    void *tag = NULL;
    allm_hub_add(hub, slow, NULL);
    for (size_t i = 0; i < STREAMS; i++)
        allm_hub_add(hub, tickers[i].stream, &tickers[i]);
    while ((ready = allm_hub_wait(hub, 10000, &tag))) {
        if (tag)
            n += pull_words(tag, late + n);
        else
            while (allm_stream_next(ready, &event) == ALLM_EVENT)
                ;
    }
    allm_hub_free(hub);
    return n;
}

/* How late the words of other streams are: the 99th percentile. */
static int64_t measure_lateness(bool slowly)
{
    static int64_t late[STREAMS * BEATS];
    struct ticker tickers[STREAMS] = { { NULL, 0 } };
    const allm_message hi = { .size = sizeof hi, .role = ALLM_ROLE_USER,
                              .text = "hi" };
    const allm_message *const messages[] = { &hi };
    allm_request *request = allm_request_new(
        ALLM(request, .messages = messages, .message_count = 1));
    allm_store *store = allm_store_open(
        uri, ALLM(store_opts, .on_commit = slowly ? commit_slowly : NULL));
    allm_engine *e = make_engine(), *ticks = make_ticker();
    allm_session *s = allm_session_open(store, "slow", ALLM_SESSION_CREATE);
    allm_stream *slow = allm_session_reply(e, s, "hi",
                                           ALLM(call_opts, .max_turns = 1));
    for (size_t i = 0; i < STREAMS; i++)
        tickers[i].stream = allm_generate(ticks, request, NULL);
    size_t n = run_hub(slow, tickers, late);
    if (n < STREAMS || allm_stream_error(slow))
        give_up("hub", allm_stream_error(slow));
    for (size_t i = 0; i < STREAMS; i++)
        allm_stream_free(tickers[i].stream);
    allm_stream_free(slow);
    allm_session_free(s);
    allm_engine_free(ticks);
    allm_engine_free(e);
    allm_store_free(store);
    allm_request_free(request);
    remove_files();
    qsort(late, n, sizeof *late, measure_order);
    return late[n * 99 / 100];
}

static void compare_lateness(void)
{
    int64_t usual = measure_lateness(false), slow = measure_lateness(true);
    printf("commits of 1 s   %7.1f ms late (p99) are events of other streams, "
           "%.1f ms without: %.1f more, at most 10: %s\n",
           ms(slow), ms(usual), ms(slow - usual),
           measure_verdict(slow - usual <= 10000000));
}

int main(int argc, char **argv)
{
    snprintf(path, sizeof path, "%s/bench-session.db",
             argc > 1 ? argv[1] : ".");
    snprintf(uri, sizeof uri, "sqlite:%s", path);
    snprintf(file, sizeof file, "%s.json", path);
    remove_files();
    compare_turns();
    compare_loading();
    remove_files();
    compare_lists();
    remove_files();
    compare_lateness();
    return 0;
}
#else
int main(void)
{
    printf("skipped: SQLite\n");
    return 0;
}
#endif
