/*
 * bench_http.c - what a call costs beside a bare loop of libcurl and yyjson
 *
 * A child process serves answers of /chat/completions on loopback, each event
 * in an HTTP chunk of its own.  Both clients ask it in turns within one run;
 * the bare one keeps its handle and its connection, and only finds the text.
 * Counted is the time that the client's thread was given.
 *
 *   stream  20,000 events: a stream with all its neutral events and the
 *           response collected
 *   one     an answer of one event on a connection that is reused
 *   calls   arguments of a tool call in 100,000 pieces beside 1,000
 *   hub     50 streams with an event every 10 ms for a second, in a hub;
 *           beside curl_multi_perform(), and beside epoll and
 *           curl_multi_socket_action(), which is the most that libcurl can do
 *   system  the system calls of the same three, and of a call of one event
 *   many    1,000 streams at rest in the middle of an answer, in a hub: our
 *           bytes for each
 *   held    1,000 and 10,000 of them: resident memory for each, beside bare
 *           transfers that are held open.  One is opened before, so that the
 *           pages of the libraries' code, which all share, do not count
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
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yyjson.h>

enum { RUNS = 15, FEW_RUNS = 40, ONES = 400, TALKERS = 50, MANY = 1000 };

static pid_t server;
static int port;

/* A number of something else than was meant is worse than none. */
static void give_up(const char *why)
{
    printf("failed: %s\n", why);
    fflush(stdout);
    if (server > 0)
        kill(server, SIGKILL);
    _exit(1);
}

static void expect(const char *what, size_t came, size_t meant)
{
    if (came == meant)
        return;
    printf("%zu %s instead of %zu\n", came, what, meant);
    give_up("the server or a client works wrongly");
}

/* --------------------------------------------------------------- ours --- */

static allm_request *request;

static allm_engine *engine_for(const char *path, const allm_allocator *a)
{
    char opts[128];
    snprintf(opts, sizeof opts, "{\"base_url\": \"http://127.0.0.1:%d/%s/v1\"}",
             port, path);
    allm_json *json = allm_json_parse(opts, ALLM_NUL_ENDED, NULL);
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "openai_chat:m",
                                          .adapter_opts = json, .allocator = a,
                                          .net = ALLM(net_opts, .proxy = "")));
    allm_json_free(json);
    return e;
}

static allm_stream *call_ours(const allm_engine *e)
{
    return allm_generate(e, request, ALLM(call_opts, .api_key = "key"));
}

/* How many deltas came, by a stream on its own. */
static size_t run_ours(const allm_engine *e)
{
    size_t n = 0;
    const allm_event *event;
    allm_stream *s = call_ours(e);
    while (allm_stream_next(s, &event) == ALLM_EVENT)
        n += event->type == ALLM_EV_TEXT_DELTA ||
             event->type == ALLM_EV_TOOL_CALL_DELTA;
    const allm_error *error = allm_stream_error(s);
    if (error || !allm_stream_response(s))
        give_up(error ? error->message : "no response");
    allm_stream_free(s);
    return n;
}

/* --------------------------------------------------------------- bare --- */

static char pool[64 * 1024];    /* yyjson's */

struct bare {
    CURL *easy;
    char line[4096];            /* the beginning of one that was cut */
    size_t len, deltas, text_len;
    char text[TEXTS * 16];
};

static void take_text(struct bare *b, const char *json, size_t len)
{
    yyjson_alc alc;
    yyjson_alc_pool_init(&alc, pool, sizeof pool);
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)json, len, 0, &alc,
                                       NULL);
    yyjson_val *v = yyjson_doc_get_root(doc);
    yyjson_val *choice = yyjson_arr_get(yyjson_obj_get(v, "choices"), 0);
    yyjson_val *delta = yyjson_obj_get(choice, "delta");
    yyjson_val *text = yyjson_obj_get(delta, "content");
    size_t n = yyjson_get_len(text);
    if (!n || b->text_len + n > sizeof b->text)
        return;
    memcpy(b->text + b->text_len, yyjson_get_str(text), n);
    b->text_len += n;
    b->deltas++;
}

static void take_line(struct bare *b, const char *line, size_t len)
{
    if (len > 7 && !memcmp(line, "data: {", 7))
        take_text(b, line + 6, len - 6);
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

static const char asked[] =
    "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\","
    "\"content\":\"hi\"}]}";

static struct bare *bare_new(const char *path, struct curl_slist *headers)
{
    char url[128];
    struct bare *b = calloc(1, sizeof *b);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/%s/v1/chat/completions",
             port, path);
    b->easy = curl_easy_init();
    curl_easy_setopt(b->easy, CURLOPT_URL, url);
    curl_easy_setopt(b->easy, CURLOPT_PROXY, "");
    curl_easy_setopt(b->easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(b->easy, CURLOPT_POSTFIELDS, asked);
    curl_easy_setopt(b->easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(b->easy, CURLOPT_WRITEDATA, b);
    return b;
}

static size_t run_bare(struct bare *b)
{
    b->len = b->deltas = b->text_len = 0;
    if (curl_easy_perform(b->easy) != CURLE_OK)
        give_up("the bare loop");
    return b->deltas;
}

static void bare_free(struct bare *b)
{
    curl_easy_cleanup(b->easy);
    free(b);
}

static struct curl_slist *headers;

/* ------------------------------------------------------------- stream --- */

/* Medians of both, for one call. */
static void compare(const char *path, size_t runs, size_t deltas, int64_t *ours,
                    int64_t *bare)
{
    int64_t times[2][ONES];
    struct bare *b = bare_new(path, headers);
    allm_engine *e = engine_for(path, NULL);
    run_ours(e);                /* both have a connection then */
    run_bare(b);
    for (size_t i = 0; i < runs; i++) {
        int64_t began = measure_thread();
        size_t n = run_ours(e);
        int64_t middle = measure_thread();
        n += run_bare(b);
        times[0][i] = middle - began;
        times[1][i] = measure_thread() - middle;
        expect("deltas", n, 2 * deltas);
    }
    *ours = measure_median(times[0], runs);
    *bare = measure_median(times[1], runs);
    allm_engine_free(e);
    bare_free(b);
}

static void bench_stream(void)
{
    int64_t ours, bare;
    compare("texts", RUNS, TEXTS, &ours, &bare);
    double ratio = (double)ours / (double)bare;
    printf("stream: %.0f ns an event, bare %.0f ns: %.2f times (at most 1.3): "
           "%s\n",
           (double)ours / TEXTS, (double)bare / TEXTS, ratio,
           measure_verdict(ratio <= 1.3));
}

static void bench_one(void)
{
    int64_t ours, bare;
    compare("one", ONES, 1, &ours, &bare);
    printf("one: %.1f us a call, bare %.1f us: %.2f times\n",
           (double)ours / 1000, (double)bare / 1000,
           (double)ours / (double)bare);
}

/* -------------------------------------------------------------- calls --- */

/* Nanoseconds a piece. */
static double cost_of_pieces(const char *path, size_t runs, size_t n)
{
    int64_t times[FEW_RUNS];
    allm_engine *e = engine_for(path, NULL);
    run_ours(e);
    for (size_t i = 0; i < runs; i++) {
        int64_t began = measure_thread();
        size_t got = run_ours(e);
        times[i] = measure_thread() - began;
        expect("pieces", got, n);
    }
    allm_engine_free(e);
    return (double)measure_median(times, runs) / (double)n;
}

static void bench_calls(void)
{
    double few = cost_of_pieces("few", FEW_RUNS, FEW);
    double lots = cost_of_pieces("lots", 5, LOTS);
    printf("calls: %.0f ns a piece of %d, %.0f ns of %d: %.2f times (at most "
           "1.2): %s\n",
           lots, LOTS, few, FEW, lots / few,
           measure_verdict(lots / few <= 1.2));
}

/* ---------------------------------------------------------------- hub --- */

static int64_t hub_ours(size_t *events)
{
    const allm_event *event;
    allm_engine *e = engine_for("tick", NULL);
    allm_hub *hub = allm_hub_new(NULL);
    allm_stream *s, *all[TALKERS];
    int64_t began = measure_thread();
    for (int i = 0; i < TALKERS; i++) {
        all[i] = call_ours(e);
        allm_hub_add(hub, all[i], NULL);
    }
    while ((s = allm_hub_wait(hub, -1, NULL)))
        while (allm_stream_next(s, &event) == ALLM_EVENT)
            *events += event->type == ALLM_EV_TEXT_DELTA;
    for (int i = 0; i < TALKERS; i++)
        allm_stream_free(all[i]);
    int64_t took = measure_thread() - began;
    allm_hub_free(hub);
    allm_engine_free(e);
    return took;
}

/* The loop of the manual. */
static void perform(CURLM *multi)
{
    int running = 1;
    while (running) {
        curl_multi_perform(multi, &running);
        if (running)
            curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ud,
                     void *known)
{
    struct epoll_event e = { .data.fd = fd };
    CURLM *multi = ((void **)ud)[0];
    int set = *(int *)((void **)ud)[1];
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(set, EPOLL_CTL_DEL, fd, &e);
        return 0;
    }
    e.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) |
               (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    epoll_ctl(set, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e);
    curl_multi_assign(multi, fd, multi);
    return 0;
}

/* The loop of those who have many. */
static void act(CURLM *multi)
{
    struct epoll_event ready[TALKERS];
    int set = epoll_create1(0), running = 1;
    void *mine[] = { multi, &set };
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, mine);
    curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    while (running) {
        long ms = -1;
        curl_multi_timeout(multi, &ms);
        int n = epoll_wait(set, ready, TALKERS, (int)ms);
        if (n <= 0)
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        for (int i = 0; i < n; i++)
            curl_multi_socket_action(
                multi, ready[i].data.fd,
                (ready[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                    (ready[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0),
                &running);
    }
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, NULL);
    close(set);
}

static int64_t hub_bare(void (*loop)(CURLM *), size_t *events)
{
    struct bare *all[TALKERS];
    int64_t began = measure_thread();
    CURLM *multi = curl_multi_init();
    for (int i = 0; i < TALKERS; i++) {
        all[i] = bare_new("tick", headers);
        curl_multi_add_handle(multi, all[i]->easy);
    }
    loop(multi);
    for (int i = 0; i < TALKERS; i++) {
        *events += all[i]->deltas;
        curl_multi_remove_handle(multi, all[i]->easy);
        bare_free(all[i]);
    }
    curl_multi_cleanup(multi);
    return measure_thread() - began;
}

static void bench_hub(void)
{
    enum { TIMES = 3, ALL = TALKERS * TICKS };
    int64_t ours[TIMES], plain[TIMES], best[TIMES];
    for (int i = 0; i < TIMES; i++) {
        size_t n[3] = { 0, 0, 0 };
        ours[i] = hub_ours(&n[0]);
        plain[i] = hub_bare(perform, &n[1]);
        best[i] = hub_bare(act, &n[2]);
        for (int k = 0; k < 3; k++)
            expect("events", n[k], ALL);
    }
    double o = (double)measure_median(ours, TIMES) / ALL / 1000;
    double p = (double)measure_median(plain, TIMES) / ALL / 1000;
    double b = (double)measure_median(best, TIMES) / ALL / 1000;
    printf("hub: %.1f us an event, bare with epoll %.1f us: %.2f times "
           "(at most 1.15): %s; bare %.1f us: %.2f times\n",
           o, b, o / b, measure_verdict(o / b <= 1.15), p, o / p);
}

/* ------------------------------------------------------------- system --- */

static void ticks_ours(void)
{
    size_t n = 0;
    hub_ours(&n);
}

static void ticks_plain(void)
{
    size_t n = 0;
    hub_bare(perform, &n);
}

static void ticks_best(void)
{
    size_t n = 0;
    hub_bare(act, &n);
}

/* Let a traced process and its threads go on until all have ended; how often
 * one of them stopped at a system call, before it or behind it. */
static size_t count_stops(pid_t child)
{
    int status;
    size_t n = 0;
    const int trap = SIGTRAP | 0x80;
    ptrace(PTRACE_SYSCALL, child, NULL, NULL);
    for (pid_t who; (who = waitpid(-1, &status, __WALL)) > 0;) {
        if (who == child && !WIFSTOPPED(status))
            break;
        if (!WIFSTOPPED(status))
            continue;
        int sig = WSTOPSIG(status);
        n += sig == trap;
        bool ours = sig == trap || sig == SIGTRAP || sig == SIGSTOP;
        ptrace(PTRACE_SYSCALL, who, NULL, ours ? 0 : (long)sig);
    }
    return n;
}

/* System calls of a client in a process of its own; 0: ptrace() is not allowed
 * here. */
static double count_calls(void (*client)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            _exit(1);
        raise(SIGSTOP);
        client();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, child, NULL,
               (long)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
                      PTRACE_O_EXITKILL)))
        return 0;
    return (double)count_stops(child) / 2;
}

static size_t calls_made;

static void ones_ours(void)
{
    allm_engine *e = engine_for("one", NULL);
    for (size_t i = 0; i < calls_made; i++)
        run_ours(e);
    allm_engine_free(e);
}

static void ones_bare(void)
{
    struct bare *b = bare_new("one", headers);
    for (size_t i = 0; i < calls_made; i++)
        run_bare(b);
    bare_free(b);
}

/* For one call more; the connection and all else that is done once is not
 * counted. */
static double count_one(void (*client)(void))
{
    enum { FEWER = 100, MORE = 300 };
    calls_made = FEWER;
    double fewer = count_calls(client);
    calls_made = MORE;
    return (count_calls(client) - fewer) / (MORE - FEWER);
}

static void bench_system(void)
{
    enum { EVENTS = TALKERS * TICKS };
    double ours = count_calls(ticks_ours) / EVENTS;
    if (ours == 0) {
        printf("system: not measured, ptrace() is not allowed here\n");
        return;
    }
    printf("system: %.2f system calls an event in a hub, bare %.2f, bare with "
           "epoll %.2f\n",
           ours, count_calls(ticks_plain) / EVENTS,
           count_calls(ticks_best) / EVENTS);
    ours = count_one(ones_ours);
    printf("system: %.1f system calls a call of one event (at most 8): %s; "
           "bare %.1f\n",
           ours, measure_verdict(ours <= 8), count_one(ones_bare));
}

/* --------------------------------------------------------------- many --- */

/* Bytes that live, counted by an allocator of our own: libcurl has its own. */
static size_t live;

static void *counting(void *ud, void *p, size_t old, size_t size)
{
    (void)ud;
    live += size - (p ? old : 0);
    if (size)
        return realloc(p, size);
    free(p);
    return NULL;
}

static const allm_allocator counted = { sizeof counted, counting, NULL };

static void bench_many(void)
{
    static allm_stream *all[MANY];
    const allm_event *event;
    allm_stream *s;
    size_t events = 0;
    allm_engine *e = engine_for("hold", &counted);
    allm_hub *hub = allm_hub_new(ALLM(hub_opts, .allocator = &counted));
    size_t before = live;
    int64_t began = measure_thread();
    for (int i = 0; i < MANY; i++) {
        all[i] = call_ours(e);
        allm_hub_add(hub, all[i], NULL);
    }
    while (events < MANY && (s = allm_hub_wait(hub, 5000, NULL)))
        while (allm_stream_next(s, &event) == ALLM_EVENT)
            events += event->type == ALLM_EV_TEXT_DELTA;
    while ((s = allm_hub_wait(hub, 0, NULL)))
        allm_stream_next(s, &event);
    size_t bytes = (live - before) / MANY;
    printf("many: %zu bytes a stream (at most 8192): %s; opened and begun in "
           "%.0f us each\n",
           bytes, measure_verdict(bytes <= 8192),
           (double)(measure_thread() - began) / MANY / 1000);
    expect("streams", events, MANY);
    for (int i = 0; i < MANY; i++)
        allm_stream_free(all[i]);
    allm_hub_free(hub);
    allm_engine_free(e);
}

/* --------------------------------------------------------------- held --- */

enum { HELD = 10000, BATCH = 250 };

static size_t resident(void)
{
    unsigned long all = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%lu %lu", &all, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Open streams until `count` have begun, in batches that a server's backlog
 * can take. */
static void hold_ours(size_t count)
{
    const allm_event *event;
    allm_engine *e = engine_for("hold", NULL);
    allm_hub *hub = allm_hub_new(NULL);
    size_t begun = 0;
    for (size_t i = 0; i < count; i++) {
        allm_stream *s = call_ours(e);
        allm_hub_add(hub, s, NULL);
        if ((i + 1) % BATCH && i + 1 < count)
            continue;
        while (begun < i + 1 && (s = allm_hub_wait(hub, 5000, NULL)))
            while (allm_stream_next(s, &event) == ALLM_EVENT)
                begun += event->type == ALLM_EV_TEXT_DELTA;
    }
    allm_hub_wait(hub, 0, NULL);
    expect("streams", begun, count);
}

static size_t begun_bare;

/* NOLINTNEXTLINE(readability-non-const-parameter): libcurl's type */
static size_t on_held(char *bytes, size_t one, size_t n, void *ud)
{
    (void)bytes, (void)one, (void)ud;
    begun_bare++;
    return n;
}

static void hold_bare(size_t count)
{
    CURLM *multi = curl_multi_init();
    int running;
    begun_bare = 0;
    for (size_t i = 0; i < count; i++) {
        struct bare *b = bare_new("hold", headers);
        curl_easy_setopt(b->easy, CURLOPT_WRITEFUNCTION, on_held);
        curl_multi_add_handle(multi, b->easy);
        free(b);
        bool full = (i + 1) % BATCH == 0 || i + 1 == count;
        while (full && begun_bare < i + 1) {
            curl_multi_perform(multi, &running);
            curl_multi_poll(multi, NULL, 0, 1000, NULL);
        }
    }
}

/* Bytes for each of `count`, in a process of its own. */
static double measure_held(void (*client)(size_t), size_t count)
{
    int ends[2], kept = port;
    double bytes = 0;
    pid_t holder = answers_hold(&port);
    if (holder < 0 || pipe(ends))
        give_up("no server or no pipe");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        client(1);
        size_t before = resident();
        client(count);
        bytes = (double)(resident() - before) / (double)count;
        _exit(write(ends[1], &bytes, sizeof bytes) != sizeof bytes);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &bytes, sizeof bytes) != sizeof bytes)
        give_up("streams that are held open");
    close(ends[0]);
    waitpid(child, NULL, 0);
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    port = kept;
    return bytes;
}

static void bench_held(void)
{
    struct rlimit r = { 0, 0 };
    getrlimit(RLIMIT_NOFILE, &r);
    for (size_t n = HELD / 10; n <= HELD && n + 64 < r.rlim_cur; n *= 10) {
        double ours = measure_held(hold_ours, n) / 1024;
        double bare = measure_held(hold_bare, n) / 1024;
        printf("held: %zu streams, %.1f KB resident each (at most 20): %s; "
               "bare %.1f KB\n",
               n, ours, measure_verdict(ours <= 20), bare);
    }
}

/* --------------------------------------------------------------- main --- */

/* A thousand sockets are more than some systems give without asking. */
static void raise_limit(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r))
        return;
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *word;
        void (*run)(void);
    } all[] = { { "held", bench_held },     /* before memory was used */
                { "stream", bench_stream }, { "one", bench_one },
                { "calls", bench_calls }, { "hub", bench_hub },
                { "system", bench_system }, { "many", bench_many } };
    const allm_message *hi = ALLM(message, .role = ALLM_ROLE_USER,
                                  .text = "hi");
    raise_limit();
    server = answers_serve(&port);
    if (server < 0)
        give_up("no server could be started");
    curl_global_init(CURL_GLOBAL_DEFAULT);
    headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Authorization: Bearer key");
    request =
        allm_request_new(ALLM(request, .message_count = 1, .messages = &hi));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (measure_chosen(all[i].word, argc, argv))
            all[i].run();
    fflush(stdout);
    allm_request_free(request);
    curl_slist_free_all(headers);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    return 0;
}
