/*
 * bench_loop.c - long histories, tool loops and long arguments
 *
 * Each is measured beside a bare client of libcurl and yyjson that sends and
 * reads the same bytes, in turns within one run.  Counted is the CPU time of
 * the process, its workers included.
 *
 *   history    a request of 1,001 messages of 400 bytes beside one of 1: the
 *              cost of each message that was added.  The bare client builds
 *              the request with yyjson; we encode a message once.
 *   loop       two turns that call a tool and one that answers: the cost of
 *              a turn
 *   journal    the same loop as a session in memory:, beside one that is in
 *              no store
 *   arguments  arguments of a tool call in 100,000 pieces: the cost of a piece,
 *              and the memory that is touched beside the bytes of arguments
 *
 * The words choose what is measured; none: all.
 */
#include "allm.h"

#include "answers.h"
#include "measure.h"

#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yyjson.h>

enum { ADDED = 1000, TEXT = 400, RUNS = 151, PIECE_RUNS = 9, LOOP_RUNS = 301 };

static pid_t server;
static int port;

static void give_up(const char *why)
{
    printf("failed: %s\n", why);
    fflush(stdout);
    if (server > 0)
        kill(server, SIGKILL);
    _exit(1);
}

/* --------------------------------------------------------------- ours --- */

static char text[TEXT + 1];
static allm_message *messages[ADDED + 1];

static allm_engine *engine_for(const char *path, const allm_tool *tool)
{
    char opts[128];
    snprintf(opts, sizeof opts, "{\"base_url\": \"http://127.0.0.1:%d/%s/v1\"}",
             port, path);
    allm_json *json = allm_json_parse(opts, ALLM_NUL_ENDED, NULL);
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "openai_chat:m", .adapter_opts = json,
             .tool_count = tool ? 1 : 0, .tools = &tool,
             .net = ALLM(net_opts, .proxy = "")));
    allm_json_free(json);
    return e;
}

/* Read a stream to its end; how many deltas came. */
static size_t drain(allm_stream *s)
{
    size_t n = 0;
    const allm_event *event;
    while (allm_stream_next(s, &event) == ALLM_EVENT)
        n += event->type == ALLM_EV_TEXT_DELTA ||
             event->type == ALLM_EV_TOOL_CALL_DELTA;
    const allm_error *error = allm_stream_error(s);
    if (error)
        give_up(error->message);
    allm_stream_free(s);
    return n;
}

/* --------------------------------------------------------------- bare --- */

static char pool[64 * 1024];    /* yyjson's, for what it reads */

struct bare {
    CURL *easy;
    yyjson_mut_doc *doc;        /* the history */
    yyjson_mut_val *messages;
    size_t deltas;
    char line[4096];            /* the beginning of one that was cut */
    size_t len;
    char id[64], name[64];
    char *arguments;
    size_t arguments_len;
};

enum { ARGUMENTS = 4 * 1024 * 1024 };

static void copy_word(char *to, size_t room, yyjson_val *v)
{
    if (yyjson_is_str(v))
        snprintf(to, room, "%s", yyjson_get_str(v));
}

static void take_call(struct bare *b, yyjson_val *call)
{
    yyjson_val *function = yyjson_obj_get(call, "function");
    yyjson_val *piece = yyjson_obj_get(function, "arguments");
    size_t n = yyjson_get_len(piece);
    copy_word(b->id, sizeof b->id, yyjson_obj_get(call, "id"));
    copy_word(b->name, sizeof b->name, yyjson_obj_get(function, "name"));
    if (!n || b->arguments_len + n >= ARGUMENTS)
        return;
    memcpy(b->arguments + b->arguments_len, yyjson_get_str(piece), n);
    b->arguments_len += n;
    b->deltas++;
}

static void take_line(struct bare *b, const char *line, size_t len)
{
    yyjson_alc alc;
    if (len <= 7 || memcmp(line, "data: {", 7) != 0)
        return;
    yyjson_alc_pool_init(&alc, pool, sizeof pool);
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)line + 6, len - 6, 0,
                                       &alc, NULL);
    yyjson_val *choice =
        yyjson_arr_get(yyjson_obj_get(yyjson_doc_get_root(doc), "choices"), 0);
    yyjson_val *delta = yyjson_obj_get(choice, "delta");
    yyjson_val *content = yyjson_obj_get(delta, "content");
    yyjson_val *calls = yyjson_obj_get(delta, "tool_calls");
    b->deltas += yyjson_get_len(content) > 0;
    if (calls)
        take_call(b, yyjson_arr_get(calls, 0));
}

/* NOLINTNEXTLINE(readability-non-const-parameter): libcurl's type */
static size_t on_bytes(char *bytes, size_t one, size_t n, void *ud)
{
    struct bare *b = ud;
    size_t left = n;
    const char *at = bytes, *end;
    (void)one;
    while ((end = memchr(at, '\n', left))) {
        size_t len = (size_t)(end - at);
        if (b->len) {
            memcpy(b->line + b->len, at, len);
            take_line(b, b->line, b->len + len);
            b->len = 0;
        } else {
            take_line(b, at, len);
        }
        left -= len + 1;
        at = end + 1;
    }
    memcpy(b->line + b->len, at, left);
    b->len += left;
    return n;
}

static struct curl_slist *headers;

static struct bare *bare_new(const char *path)
{
    char url[128];
    struct bare *b = calloc(1, sizeof *b);
    b->arguments = malloc(ARGUMENTS);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/%s/v1/chat/completions",
             port, path);
    b->easy = curl_easy_init();
    curl_easy_setopt(b->easy, CURLOPT_URL, url);
    curl_easy_setopt(b->easy, CURLOPT_PROXY, "");
    curl_easy_setopt(b->easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(b->easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(b->easy, CURLOPT_WRITEDATA, b);
    return b;
}

static void bare_free(struct bare *b)
{
    curl_easy_cleanup(b->easy);
    free(b->arguments);
    free(b);
}

/* A request without messages; they are added by bare_add. */
static void bare_begin(struct bare *b)
{
    b->doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(b->doc);
    yyjson_mut_doc_set_root(b->doc, root);
    yyjson_mut_obj_add_str(b->doc, root, "model", "m");
    b->messages = yyjson_mut_obj_add_arr(b->doc, root, "messages");
    yyjson_mut_obj_add_bool(b->doc, root, "stream", true);
}

static yyjson_mut_val *bare_add(struct bare *b, const char *role,
                                const char *content)
{
    yyjson_mut_val *m = yyjson_mut_arr_add_obj(b->doc, b->messages);
    yyjson_mut_obj_add_str(b->doc, m, "role", role);
    yyjson_mut_obj_add_str(b->doc, m, "content", content);
    return m;
}

/* Send the request and read the answer. */
static void bare_send(struct bare *b)
{
    size_t len = 0;
    char *json = yyjson_mut_write(b->doc, 0, &len);
    b->len = b->deltas = b->arguments_len = 0;
    curl_easy_setopt(b->easy, CURLOPT_POSTFIELDS, json);
    curl_easy_setopt(b->easy, CURLOPT_POSTFIELDSIZE, (long)len);
    if (!json || curl_easy_perform(b->easy) != CURLE_OK)
        give_up("the bare client");
    free(json);
}

/* ------------------------------------------------------------ history --- */

struct history_bench {
    allm_engine *engine;
    allm_thread *thread;
    struct bare *bare;
    size_t count;
    char *json;                 /* the whole request, encoded once */
    size_t json_len;
};

/* A chat program has the thread, and makes the request for each turn. */
static int64_t history_ours(struct history_bench *h)
{
    int64_t began = measure_process();
    allm_request *r = allm_request_from_thread(h->thread, NULL);
    if (drain(allm_generate(h->engine, r, NULL)) != 1)
        give_up("no answer");
    allm_request_free(r);
    return measure_process() - began;
}

static int64_t history_bare(struct history_bench *h)
{
    int64_t began = measure_process();
    bare_begin(h->bare);
    for (size_t i = 0; i < h->count; i++)
        bare_add(h->bare, "user", text);
    bare_send(h->bare);
    if (!h->json)
        h->json = yyjson_mut_write(h->bare->doc, 0, &h->json_len);
    yyjson_mut_doc_free(h->bare->doc);
    if (h->bare->deltas != 1)
        give_up("no answer for the bare client");
    return measure_process() - began;
}

/* Only send bytes that are encoded already. */
static int64_t history_sent(struct history_bench *h)
{
    int64_t began = measure_process();
    curl_easy_setopt(h->bare->easy, CURLOPT_POSTFIELDS, h->json);
    curl_easy_setopt(h->bare->easy, CURLOPT_POSTFIELDSIZE, (long)h->json_len);
    if (curl_easy_perform(h->bare->easy) != CURLE_OK)
        give_up("the bare client");
    return measure_process() - began;
}

/* Nanoseconds of a request with so many messages: ours, bare, only sent. */
static void measure_history(size_t count, int64_t *medians)
{
    int64_t times[3][RUNS];
    struct history_bench h = { engine_for("one", NULL), allm_thread_new(NULL),
                               bare_new("one"), count, NULL, 0 };
    for (size_t i = 0; i < count; i++)
        allm_thread_append(h.thread, messages[i]);
    history_ours(&h);           /* connects, and encodes the messages */
    history_bare(&h);
    for (int i = 0; i < RUNS; i++) {
        times[0][i] = history_ours(&h);
        times[1][i] = history_bare(&h);
        times[2][i] = history_sent(&h);
    }
    for (int k = 0; k < 3; k++)
        medians[k] = measure_median(times[k], RUNS);
    free(h.json);
    bare_free(h.bare);
    allm_thread_free(h.thread);
    allm_engine_free(h.engine);
}

/* A text as people write it: some characters must be escaped. */
static void fill_text(void)
{
    static const char said[] = "He said \"no\",\nand the caf\303\251 on the "
                               "corner was open again; nothing else happened "
                               "on that long day. ";
    for (size_t i = 0; i < TEXT; i++)
        text[i] = said[i % (sizeof said - 1)];
}

static void bench_history(void)
{
    int64_t one[3], all[3];
    double us[3];
    fill_text();
    for (int i = 0; i <= ADDED; i++)
        messages[i] = allm_message_new(
            ALLM(message, .role = ALLM_ROLE_USER, .text = text));
    measure_history(1, one);
    measure_history(ADDED + 1, all);
    for (int k = 0; k < 3; k++)
        us[k] = (double)(all[k] - one[k]) / ADDED / 1000;
    printf("history: %.3f us for each message of 400 bytes, bare %.3f us: "
           "%.2f times (at most 0.55): %s; sending alone %.3f us\n",
           us[0], us[1], us[0] / us[1], measure_verdict(us[0] <= .55 * us[1]),
           us[2]);
    for (int i = 0; i <= ADDED; i++)
        allm_message_free(messages[i]);
}

/* --------------------------------------------------------------- loop --- */

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},"
    "\"days\":{\"type\":\"integer\"}},\"required\":[\"city\",\"days\"]}";

static const char sunny[] = "{\"sky\":\"clear\",\"celsius\":21}";

static void weather(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    allm_tool_text(run, sunny, sizeof sunny - 1);
}

static int64_t loop_ours(const allm_engine *e, const allm_thread *t)
{
    int64_t began = measure_process();
    if (drain(allm_chat(e, t, NULL)) != 7)
        give_up("the tool loop has another number of deltas");
    return measure_process() - began;
}

static void bare_tool(struct bare *b)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(b->doc);
    yyjson_mut_val *tools = yyjson_mut_obj_add_arr(b->doc, root, "tools");
    yyjson_mut_val *tool = yyjson_mut_arr_add_obj(b->doc, tools);
    yyjson_doc *parameters = yyjson_read(schema, sizeof schema - 1, 0);
    yyjson_mut_obj_add_str(b->doc, tool, "type", "function");
    yyjson_mut_val *f = yyjson_mut_obj_add_obj(b->doc, tool, "function");
    yyjson_mut_obj_add_str(b->doc, f, "name", "weather");
    yyjson_mut_obj_add_str(b->doc, f, "description", "The weather.");
    yyjson_mut_obj_add_val(b->doc, f, "parameters",
                           yyjson_val_mut_copy(b->doc, yyjson_doc_get_root(
                                                           parameters)));
    yyjson_doc_free(parameters);
}

/* Run the call that came: append it and its result. */
static void bare_run(struct bare *b)
{
    yyjson_doc *args = yyjson_read(b->arguments, b->arguments_len, 0);
    if (!yyjson_obj_get(yyjson_doc_get_root(args), "city"))
        give_up("no arguments for the bare client");
    yyjson_mut_val *m = bare_add(b, "assistant", "");
    yyjson_mut_val *calls = yyjson_mut_obj_add_arr(b->doc, m, "tool_calls");
    yyjson_mut_val *call = yyjson_mut_arr_add_obj(b->doc, calls);
    yyjson_mut_obj_add_strcpy(b->doc, call, "id", b->id);
    yyjson_mut_obj_add_str(b->doc, call, "type", "function");
    yyjson_mut_val *f = yyjson_mut_obj_add_obj(b->doc, call, "function");
    yyjson_mut_obj_add_strcpy(b->doc, f, "name", b->name);
    yyjson_mut_obj_add_strncpy(b->doc, f, "arguments", b->arguments,
                               b->arguments_len);
    m = bare_add(b, "tool", sunny);
    yyjson_mut_obj_add_strcpy(b->doc, m, "tool_call_id", b->id);
    yyjson_doc_free(args);
}

static int64_t loop_bare(struct bare *b)
{
    int64_t began = measure_process();
    bare_begin(b);
    bare_add(b, "user", "How is the weather in Ulm?");
    bare_tool(b);
    for (int turn = 0; turn < 3; turn++) {
        bare_send(b);
        if (b->arguments_len)
            bare_run(b);
    }
    yyjson_mut_doc_free(b->doc);
    return measure_process() - began;
}

static allm_tool *weather_tool(uint32_t flags)
{
    return allm_tool_new(
        ALLM(tool, .name = "weather", .description = "The weather.",
             .schema_text = schema, .call = weather, .flags = flags));
}

static void measure_loop(const char *name, uint32_t flags, double most)
{
    static int64_t times[2][LOOP_RUNS];
    allm_tool *tool = weather_tool(flags);
    allm_engine *e = engine_for("loop", tool);
    allm_thread *t = allm_thread_new(NULL);
    struct bare *b = bare_new("loop");
    allm_thread_add(t, ALLM_ROLE_USER, "How is the weather in Ulm?");
    loop_ours(e, t);
    loop_bare(b);
    for (int i = 0; i < LOOP_RUNS; i++) {
        times[0][i] = loop_ours(e, t);
        times[1][i] = loop_bare(b);
    }
    double o = (double)measure_median(times[0], LOOP_RUNS) / 3000;
    double m = (double)measure_median(times[1], LOOP_RUNS) / 3000;
    printf("loop: %.1f us a turn%s, bare %.1f us: %.2f times", o, name, m,
           o / m);
    if (most > 0)
        printf(" (at most %.1f): %s", most, measure_verdict(o / m <= most));
    printf("\n");
    bare_free(b);
    allm_thread_free(t);
    allm_engine_free(e);
    allm_tool_free(tool);
}

static void bench_loop(void)
{
    measure_loop("", ALLM_TOOL_INLINE, 1.8);
    measure_loop(" with a worker", 0, 0);
}

/* ------------------------------------------------------------ journal --- */

static int64_t loop_session(const allm_engine *e, allm_session *s)
{
    int64_t began = measure_process();
    if (drain(allm_session_reply(e, s, "How is the weather in Ulm?", NULL)) < 2)
        give_up("the session has another number of deltas");
    int64_t took = measure_process() - began;
    allm_session_free(s);
    return took;
}

static void bench_journal(void)
{
    static int64_t times[2][LOOP_RUNS];
    allm_tool *tool = weather_tool(ALLM_TOOL_INLINE);
    allm_engine *e = engine_for("loop", tool);
    allm_store *store = allm_store_open("memory:", NULL);
    loop_session(e, allm_session_new(NULL));
    for (int i = 0; i < LOOP_RUNS; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        times[0][i] = loop_session(e, allm_session_open(store, name,
                                                        ALLM_SESSION_CREATE));
        times[1][i] = loop_session(e, allm_session_new(NULL));
    }
    double with = (double)measure_median(times[0], LOOP_RUNS) / 3000;
    double without = (double)measure_median(times[1], LOOP_RUNS) / 3000;
    printf("journal: %.1f us a turn in memory:, %.1f us without: %.2f times "
           "(at most 2.0): %s\n",
           with, without, with / without, measure_verdict(with <= 2 * without));
    allm_store_free(store);
    allm_engine_free(e);
    allm_tool_free(tool);
}

/* ---------------------------------------------------------- arguments --- */

static int64_t arguments_ours(const allm_engine *e, const allm_request *r)
{
    int64_t began = measure_process();
    if (drain(allm_generate(e, r, NULL)) != LOTS)
        give_up("the arguments have another number of pieces");
    return measure_process() - began;
}

static int64_t arguments_bare(struct bare *b)
{
    int64_t began = measure_process();
    bare_begin(b);
    bare_add(b, "user", "hi");
    bare_send(b);
    yyjson_mut_doc_free(b->doc);
    yyjson_doc *args = yyjson_read(b->arguments, b->arguments_len, 0);
    if (!yyjson_obj_get(yyjson_doc_get_root(args), "text"))
        give_up("no arguments for the bare client");
    yyjson_doc_free(args);
    return measure_process() - began;
}

/* Bytes that the process has touched at most; a child measures it, since it
 * never becomes less. */
static size_t touched(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (size_t)u.ru_maxrss * 1024;
}

/* The bytes that `lots` touches beyond `few`, beside those of its arguments. */
static double arguments_memory(const allm_request *r)
{
    int ends[2];
    double times = 0;
    fflush(stdout);
    pid_t child = pipe(ends) ? -1 : fork();
    if (child == 0) {
        allm_engine *e = engine_for("few", NULL);
        drain(allm_generate(e, r, NULL));
        allm_engine_free(e);
        size_t before = touched();
        e = engine_for("lots", NULL);
        drain(allm_generate(e, r, NULL));
        times = (double)(touched() - before) / ((double)LOTS * 20);
        _exit(write(ends[1], &times, sizeof times) != sizeof times);
    }
    if (child < 0 || close(ends[1]) ||
        read(ends[0], &times, sizeof times) != sizeof times)
        give_up("the memory of long arguments");
    close(ends[0]);
    waitpid(child, NULL, 0);
    return times;
}

static void bench_arguments(void)
{
    int64_t times[2][PIECE_RUNS];
    const allm_message *hi = ALLM(message, .role = ALLM_ROLE_USER,
                                  .text = "hi");
    allm_request *r =
        allm_request_new(ALLM(request, .message_count = 1, .messages = &hi));
    double memory = arguments_memory(r);
    allm_engine *e = engine_for("lots", NULL);
    struct bare *b = bare_new("lots");
    arguments_ours(e, r);
    arguments_bare(b);
    for (int i = 0; i < PIECE_RUNS; i++) {
        times[0][i] = arguments_ours(e, r);
        times[1][i] = arguments_bare(b);
    }
    double o = (double)measure_median(times[0], PIECE_RUNS) / LOTS / 1000;
    double m = (double)measure_median(times[1], PIECE_RUNS) / LOTS / 1000;
    printf("arguments: %.3f us a piece, bare %.3f us: %.2f times (at most "
           "1.45): %s; %.1f times their bytes in memory (at most 3): %s\n",
           o, m, o / m, measure_verdict(o / m <= 1.45), memory,
           measure_verdict(memory <= 3));
    bare_free(b);
    allm_engine_free(e);
    allm_request_free(r);
}

/* --------------------------------------------------------------- main --- */

int main(int argc, char **argv)
{
    server = answers_serve(&port);
    if (server < 0)
        give_up("no server could be started");
    curl_global_init(CURL_GLOBAL_DEFAULT);
    headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Authorization: Bearer sk-bench");
    headers = curl_slist_append(headers, "Expect:");
    setenv("OPENAI_CHAT_API_KEY", "sk-bench", 1);
    if (measure_chosen("history", argc, argv))
        bench_history();
    if (measure_chosen("loop", argc, argv))
        bench_loop();
    if (measure_chosen("journal", argc, argv))
        bench_journal();
    if (measure_chosen("arguments", argc, argv))
        bench_arguments();
    fflush(stdout);
    curl_slist_free_all(headers);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    return 0;
}
