/*
 * worker.c - claims sessions of a queue and runs them, several at once
 *
 * usage: kill_worker STORE FILE send COUNT     leave a message for each session
 *        kill_worker STORE FILE work MS        run what is due, until killed;
 *                                              each write takes MS
 *        kill_worker STORE FILE look           say what is left, and verify
 *
 * Each session makes three writes, one in each turn, and ends.  A write appends
 * a line to FILE: "wrote", its key.  An unknown call is settled by what is in
 * FILE, and "settled" and its key are appended.
 */
#include <allm.h>

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AT_ONCE = 4, LEASE_MS = 2000, TURNS = 3, HUB_MS = 20,
       MOST_OPENS = 1500 };

static const char *path;
static int write_ms;

static void fail(const char *what, const allm_error *e)
{
    fprintf(stderr, "%s: %s: %s\n", what, e ? e->reason : "?",
            e ? e->message : "");
    exit(3);
}

static void append_line(const char *word, const char *key)
{
    char line[256];
    int n = snprintf(line, sizeof line, "%s %s\n", word, key);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || write(fd, line, (size_t)n) != n || fsync(fd))
        exit(3);
    close(fd);
}

static bool was_written(const char *key)
{
    char line[256], want[256];
    bool found = false;
    snprintf(want, sizeof want, "wrote %s\n", key);
    FILE *f = fopen(path, "r");
    while (f && !found && fgets(line, sizeof line, f))
        found = !strcmp(line, want);
    if (f)
        fclose(f);
    return found;
}

/* ------------------------------------------------------------- engine --- */

static void note(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    poll(NULL, 0, write_ms);
    append_line("wrote", allm_tool_run_key(run));
    allm_tool_text(run, "ok", 2);
}

/* How many answers the log has: the model goes on after them. */
static size_t answers_so_far(allm_store *store, const char *name)
{
    size_t n = 0;
    allm_json *all = allm_store_records(store, name, 0, 0);
    for (const allm_json *r = NULL; (r = allm_json_next(all, r));)
        n += !strcmp(allm_json_text(allm_json_get(r, "type"), NULL),
                     "response");
    allm_json_free(all);
    return n;
}

static allm_engine *make_engine(size_t done)
{
    char text[2048];
    size_t n = (size_t)snprintf(text, sizeof text, "{\"scripts\":[");
    for (size_t i = done; i < TURNS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "[[\"tool_call\",{\"id\":\"c%zu\",\"name\":"
                              "\"note\",\"arguments\":{}}],"
                              "[\"finish\",\"tool_calls\"]],",
                              i);
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "[[\"text\",\"done\"],[\"finish\",\"stop\"]]]}");
    allm_json *opts = allm_json_parse(text, n, NULL);
    allm_json *schema = allm_json_parse("{}", 2, NULL);
    allm_tool *tool = allm_tool_new(
        ALLM(tool, .name = "note", .description = "Note", .schema = schema,
             .call = note, .effect = ALLM_EFFECT_WRITE));
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .adapter = "fake", .model = "m", .adapter_opts = opts,
             .tool_count = 1, .tools = (const allm_tool *[]){ tool }));
    allm_tool_free(tool);
    allm_json_free(schema);
    allm_json_free(opts);
    return e;
}

/* --------------------------------------------------------------- work --- */

struct work {
    allm_session *session;      /* NULL: the place is free */
    allm_engine *engine;
    allm_stream *stream;
};

static void end_work(struct work *w)
{
    allm_stream_free(w->stream);
    allm_session_free(w->session);
    allm_engine_free(w->engine);
    *w = (struct work){ .session = NULL };
}

static const allm_json *unknown_call(const allm_session *s)
{
    const allm_json *off = allm_json_get(allm_session_fields(s)->metadata,
                                         "broken_off");
    return allm_json_at(allm_json_get(off, "unknown_tool_calls"), 0);
}

/* False: the session was lost meanwhile. */
static bool settle_all(allm_session *s)
{
    const allm_json *call;
    while ((call = unknown_call(s))) {
        const char *key = allm_json_text(allm_json_get(call, "key"), NULL);
        const char *id = allm_json_text(allm_json_get(call, "id"), NULL);
        bool happened = was_written(key);
        append_line("settled", key);
        if (allm_session_settle(
                s, id, happened ? ALLM_SETTLE_HAPPENED : ALLM_SETTLE_AGAIN,
                happened ? ALLM(tool_answer, .text = "ok") : NULL) != ALLM_OK)
            return false;
    }
    return true;
}

/* Claim a session that is due; false: there is none now. */
static bool begin_work(struct work *w, allm_store *store, allm_hub *hub)
{
    w->session = allm_session_claim(store, "q", 0);
    if (allm_session_error(w->session) || !settle_all(w->session)) {
        end_work(w);
        return false;
    }
    const char *name = allm_session_fields(w->session)->id;
    w->engine = make_engine(answers_so_far(store, name));
    w->stream = allm_session_resume(w->engine, w->session, NULL);
    if (allm_hub_add(hub, w->stream, w) == ALLM_OK)
        return true;
    end_work(w);
    return false;
}

/* An operation that failed is left to the next holder. */
static void run_for_ever(allm_store *store)
{
    struct work works[AT_ONCE] = { { .session = NULL } };
    allm_hub *hub = allm_hub_new(NULL);
    for (;;) {
        const allm_event *event;
        allm_status status = ALLM_EVENT;
        struct work *w = NULL;
        bool some = true;
        for (int i = 0; some && i < AT_ONCE; i++)
            some = works[i].session || begin_work(&works[i], store, hub);
        if (!allm_hub_count(hub))
            poll(NULL, 0, HUB_MS);
        allm_stream *s = allm_hub_wait(hub, HUB_MS, (void **)&w);
        while (s && status == ALLM_EVENT)
            status = allm_stream_next(s, &event);
        if (s && status != ALLM_AGAIN)
            end_work(w);
    }
}

/* --------------------------------------------------------------- look --- */

static void send_all(allm_store *store, long count)
{
    for (long i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "s%ld", i);
        allm_message *m = allm_message_new(
            ALLM(message, .role = ALLM_ROLE_USER, .text = "go"));
        if (allm_store_send(store, name, m, "q") != ALLM_OK)
            fail("send", allm_store_error(store));
        allm_message_free(m);
    }
}

static void look(allm_store *store)
{
    size_t done = 0;
    allm_json *list = allm_store_list(store, ALLM(store_query, .limit = 100000,
                                                  .status = "completed"));
    if (!list)
        fail("list", allm_store_error(store));
    done = allm_json_count(allm_json_get(list, "sessions"));
    printf("completed %zu\n", done);
    allm_json *v = allm_store_verify(store, NULL);
    allm_text *text = allm_json_write(v, 0);
    printf("verify %s\n", allm_text_bytes(text, NULL));
    allm_text_free(text);
    allm_json_free(v);
    allm_json_free(list);
}

/* The server may be starting again at this moment. */
static allm_store *open_store(const char *uri)
{
    const allm_store_opts opts = { .size = sizeof opts, .lease_ms = LEASE_MS };
    allm_store *store = allm_store_open(uri, &opts);
    const allm_error *e;
    for (int i = 0; i < MOST_OPENS && (e = allm_store_error(store)) &&
                    !strcmp(e->reason, "store_unreachable");
         i++) {
        poll(NULL, 0, HUB_MS);
        allm_store_free(store);
        store = allm_store_open(uri, &opts);
    }
    if (allm_store_error(store))
        fail("store", allm_store_error(store));
    return store;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    path = argv[2];
    allm_store *store = open_store(argv[1]);
    if (!strcmp(argv[3], "send") && argc > 4)
        send_all(store, strtol(argv[4], NULL, 10));
    if (!strcmp(argv[3], "work") && argc > 4) {
        write_ms = (int)strtol(argv[4], NULL, 10);
        run_for_ever(store);
    }
    if (!strcmp(argv[3], "look"))
        look(store);
    allm_store_free(store);
    return 0;
}
