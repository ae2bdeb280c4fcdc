/*
 * agent.c - a chat that can be killed at any commit, and continued
 *
 * usage: kill_agent STORE NAME FILE HOW [KILL]
 *
 *   STORE   the URI of the store
 *   NAME    of the session
 *   FILE    each write appends a line to it: its key, then its argument
 *   HOW     how unknown calls are settled: truth (look into FILE), happened,
 *           not, again
 *   KILL    cN- or cN+: SIGKILL before or after commit N; tN- or tN+: before
 *           or after the Nth write of this process; sN- or sN+: before or after
 *           the Nth sync of a file of the store; rN- or rN+: not this process,
 *           but the server crashes before or after commit N (see with_store.c)
 *
 * The chat: a write; three writes at once; a write; a question; a manual call;
 * an answer in two passes.  Each operation that ends prints its result, and the
 * end prints the session.
 */
#define _DEFAULT_SOURCE         /* syscall() */
#include <allm.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LEASE_MS = 100, PAUSE_MS = 5, MOST_PAUSES = 6000 };

#define CALL(id, name, arg) \
    "[\"tool_call\",{\"id\":\"" id "\",\"name\":\"" name \
    "\",\"arguments\":{\"x\":\"" arg "\"}}]"
#define USAGE "[\"usage\",{\"input_tokens\":3,\"output_tokens\":2}]"
#define ASK(calls) "[" USAGE "," calls ",[\"finish\",\"tool_calls\"]]"
#define SAY(text) "[" USAGE ",[\"text\",\"" text "\"],[\"finish\",\"stop\"]]"

static const char *const answers[] = {
    ASK(CALL("a", "note", "1")),
    ASK(CALL("b", "note", "2") "," CALL("c", "note", "3") "," CALL("d", "note",
                                                                   "4")),
    ASK(CALL("e", "note", "5")),
    ASK(CALL("f", "ask", "6")),
    ASK(CALL("g", "sign", "7")),
    ASK(CALL("h", "note", "8")),
    SAY("almost"),
    SAY("{\\\"ok\\\":true}"),
};
enum { ANSWERS = sizeof answers / sizeof *answers };

static const char *session_name, *path, *how;
static struct {
    char unit;                  /* c, t, s, r: see above; 0: never */
    unsigned long at;
    bool after;
    atomic_ulong writes, syncs;
} death;

static bool is_time(char unit, unsigned long n, bool after)
{
    return death.unit == unit && n == death.at && death.after == after;
}

static void die_at(char unit, unsigned long n, bool after)
{
    if (is_time(unit, n, after))
        raise(SIGKILL);
}

/* The parent crashes the server and starts it again. */
static void crash_server(void)
{
    const char *parent = getenv("WITH_STORE");
    if (parent)
        kill((pid_t)strtol(parent, NULL, 10), SIGUSR1);
}

static allm_status on_commit(void *ud, uint64_t count, bool durable)
{
    (void)ud;
    die_at('c', count, durable);
    if (is_time('r', count, durable))
        crash_server();
    return ALLM_OK;
}

/* These take the place of the functions of the C library: SQLite calls them. */
static int sync_file(long number, int fd)
{
    unsigned long n = atomic_fetch_add(&death.syncs, 1) + 1;
    die_at('s', n, false);
    int code = (int)syscall(number, fd);
    die_at('s', n, true);
    return code;
}

int fsync(int fd)
{
    return sync_file(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return sync_file(SYS_fdatasync, fd);
}

/* -------------------------------------------------------------- tools --- */

static void note(allm_tool_run *run, const allm_json *args, void *ud)
{
    char line[256];
    const char *x = allm_json_text(allm_json_get(args, "x"), NULL);
    (void)ud;
    unsigned long count = atomic_fetch_add(&death.writes, 1) + 1;
    die_at('t', count, false);
    int n = snprintf(line, sizeof line, "%s %s\n", allm_tool_run_key(run), x);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || write(fd, line, (size_t)n) != n || syscall(SYS_fsync, fd))
        exit(3);
    close(fd);
    die_at('t', count, true);
    allm_tool_text(run, x, strlen(x));
}

static void ask(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    allm_tool_ask(run, "Which colour?", NULL);
}

/* Was the write with this key made? */
static bool was_written(const char *key)
{
    char line[256];
    size_t len = strlen(key);
    bool found = false;
    FILE *f = fopen(path, "r");
    while (f && !found && fgets(line, sizeof line, f))
        found = !strncmp(line, key, len) && line[len] == ' ';
    if (f)
        fclose(f);
    return found;
}

static void fail(const char *what, const allm_error *e)
{
    fprintf(stderr, "%s: %s: %s\n", what, e ? e->reason : "?",
            e ? e->message : "");
    exit(3);
}

/* ------------------------------------------------------------- engine --- */

/* How many answers the log has: the model goes on after them. */
static size_t answers_so_far(allm_store *store)
{
    size_t n = 0;
    allm_json *all = allm_store_records(store, session_name, 0, 0);
    const allm_error *e = allm_store_error(store);
    if (!all && e && strcmp(e->reason, "session_not_found") != 0)
        fail("records", e);
    for (const allm_json *r = NULL; (r = allm_json_next(all, r));)
        n += !strcmp(allm_json_text(allm_json_get(r, "type"), NULL),
                     "response");
    allm_json_free(all);
    return n;
}

static allm_engine *make_engine(size_t done)
{
    char text[8192];
    size_t n = (size_t)snprintf(text, sizeof text, "{\"scripts\":[");
    for (size_t i = done; i < ANSWERS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s",
                              i > done ? "," : "", answers[i]);
    n += (size_t)snprintf(text + n, sizeof text - n, "]}");
    allm_json *opts = allm_json_parse(text, n, NULL);
    const char *schema_text =
        "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"string\"}}}";
    allm_json *schema = allm_json_parse(schema_text, strlen(schema_text), NULL);
    allm_tool *tools[] = {
        allm_tool_new(ALLM(tool, .name = "note", .description = "Note x",
                           .schema = schema, .call = note,
                           .effect = ALLM_EFFECT_WRITE)),
        allm_tool_new(ALLM(tool, .name = "ask", .description = "Ask",
                           .schema = schema, .call = ask,
                           .effect = ALLM_EFFECT_PURE)),
        allm_tool_new(ALLM(tool, .name = "sign", .description = "Sign",
                           .schema = schema, .manual = 1)),
    };
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .adapter = "fake", .model = "m", .adapter_opts = opts,
             .tool_count = 3, .tools = (const allm_tool *const *)tools));
    for (size_t i = 0; i < 3; i++)
        allm_tool_free(tools[i]);
    allm_json_free(schema);
    allm_json_free(opts);
    return e;
}

/* --------------------------------------------------------------- chat --- */

static void print_text(const char *word, allm_text *t)
{
    printf("%s %s\n", word, allm_text_bytes(t, NULL));
    fflush(stdout);
    allm_text_free(t);
}

static void run(const char *word, allm_stream *s)
{
    if (allm_stream_wait(s) != ALLM_OK)
        fail(word, allm_stream_error(s));
    print_text(word, allm_chat_result_json(allm_stream_chat_result(s),
                                           ALLM_FORM_TAGGED));
    allm_stream_free(s);
}

static void settle(allm_session *s, const allm_json *call)
{
    const char *id = allm_json_text(allm_json_get(call, "id"), NULL);
    const char *key = allm_json_text(allm_json_get(call, "key"), NULL);
    const allm_json *args = allm_json_get(call, "arguments");
    const allm_tool_answer answer = {
        .size = sizeof answer,
        .text = allm_json_text(allm_json_get(args, "x"), NULL),
    };
    bool truth = !strcmp(how, "truth");
    bool happened = truth ? was_written(key) : !strcmp(how, "happened");
    allm_settle as = happened              ? ALLM_SETTLE_HAPPENED
                     : !strcmp(how, "not") ? ALLM_SETTLE_NOT_HAPPENED
                                           : ALLM_SETTLE_AGAIN;
    printf("settled %s %s\n", id, happened ? "happened" : how);
    if (allm_session_settle(s, id, as, happened ? &answer : NULL) != ALLM_OK)
        fail("settle", allm_session_error(s));
}

static const allm_json *broken_off(const allm_session *s)
{
    return allm_json_get(allm_session_fields(s)->metadata, "broken_off");
}

static void settle_all(allm_session *s)
{
    const allm_json *call;
    while ((call = allm_json_at(
                allm_json_get(broken_off(s), "unknown_tool_calls"), 0)))
        settle(s, call);
}

static void resume(const allm_engine *e, allm_session *s)
{
    char word[32];
    const char *op = allm_json_text(allm_json_get(broken_off(s), "op"), NULL);
    snprintf(word, sizeof word, "%s", op);
    settle_all(s);
    run(word, allm_session_resume(e, s, NULL));
}

static void submit(allm_session *s)
{
    size_t n = 0;
    const allm_tool_call *const *calls = allm_session_pending_tool_calls(s, &n);
    const allm_tool_answer answer = { .size = sizeof answer,
                                      .tool_call_id = calls[0]->id,
                                      .text = "signed" };
    if (allm_session_submit_tool_result(s, &answer) != ALLM_OK)
        fail("submit", allm_session_error(s));
}

static void last_operation(const allm_engine *e, allm_session *s)
{
    const char *text =
        "{\"structured_finalize\":true,\"response_format\":{\"type\":"
        "\"json_schema\",\"schema\":{\"type\":\"object\"}}}";
    allm_json *json = allm_json_parse(text, strlen(text), NULL);
    run("continue", allm_session_continue(e, s, NULL,
                                          ALLM(call_opts, .request_id = "3",
                                               .json = json)));
    allm_json_free(json);
}

/* The next step of the chat; false: it is over. */
static bool go_on(const allm_engine *e, allm_session *s)
{
    const allm_session_record *r = allm_session_fields(s);
    size_t n = 0;
    allm_session_messages(s, &n);
    if (broken_off(s))
        resume(e, s);
    else if (!n)
        run("reply",
            allm_session_reply(e, s, "go", ALLM(call_opts, .request_id = "1")));
    else if (r->status == ALLM_SESSION_AWAITING_USER)
        run("reply", allm_session_reply(e, s, "blue",
                                        ALLM(call_opts, .request_id = "2")));
    else if (r->pending_tool_call_count)
        submit(s);
    else if (r->status != ALLM_SESSION_COMPLETED)
        last_operation(e, s);
    else
        return false;
    return true;
}

static void read_death(const char *text)
{
    char *end = NULL;
    death.unit = *text;
    death.at = strtoul(text + 1, &end, 10);
    death.after = *end == '+';
}

/* Open it as soon as the lease of the process that was killed has ended. */
static allm_session *open_session(allm_store *store)
{
    allm_session *s = allm_session_open(store, session_name,
                                        ALLM_SESSION_CREATE);
    const allm_error *e;
    for (int i = 0; i < MOST_PAUSES && (e = allm_session_error(s)) &&
                    !strcmp(e->reason, "session_locked");
         i++) {
        poll(NULL, 0, PAUSE_MS);
        allm_session_free(s);
        s = allm_session_open(store, session_name, ALLM_SESSION_CREATE);
    }
    if (allm_session_error(s))
        fail("open", allm_session_error(s));
    return s;
}

static void print_end(allm_store *store, const allm_session *s)
{
    print_text("session", allm_session_record_json(allm_session_fields(s),
                                                   ALLM_FORM_TAGGED));
    allm_json *v = allm_store_verify(store, session_name);
    if (!v)
        fail("verify", allm_store_error(store));
    print_text("verify", allm_json_write(v, 0));
    allm_json_free(v);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    session_name = argv[2];
    path = argv[3];
    how = argv[4];
    if (argc > 5)
        read_death(argv[5]);
    allm_store *store =
        allm_store_open(argv[1], ALLM(store_opts, .on_commit = on_commit,
                                      .lease_ms = LEASE_MS, .holder = "agent"));
    if (allm_store_error(store))
        fail("store", allm_store_error(store));
    allm_session *s = open_session(store);
    allm_engine *e = make_engine(answers_so_far(store));
    while (go_on(e, s))
        ;
    print_end(store, s);
    allm_engine_free(e);
    allm_session_free(s);
    allm_store_free(store);
    printf("syncs %lu\n", atomic_load(&death.syncs));
    return 0;
}
