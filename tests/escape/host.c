/*
 * host.c - a program that runs process trees until it is killed, or ends them
 *
 * usage: host COUNT [cancel|timeout|free FOLDER]
 *
 * Prints a line when all have begun.  With a word, the trees are calls of the
 * tools in the folder: when a line can be read, their stream is cancelled or
 * their toolbox freed (timeout: they end by themselves).  Then it prints how
 * many milliseconds that took, and waits for another line.
 */
#include <allm.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TREES_MOST = 64 };

static void say(const char *line)
{
    puts(line);
    fflush(stdout);
}

static _Noreturn void give_up(const char *what, const allm_error *error)
{
    fprintf(stderr, "host: %s: %s\n", what, error ? error->message : "?");
    _exit(1);
}

/* --------------------------------------------------------- until killed --- */

/* A tree of processes; some trees end quickly, and begin again. */
static const char *const scripts[] = {
    "sleep 1000 & sleep 1000 & sleep 1000",
    "(sleep 1000 & (sleep 1000 & sleep 1000))",
    "trap '' TERM HUP; while :; do sleep 1; done",
    "sleep 0.0$((RANDOM % 9 + 1)); true",
    "sh -c 'sh -c \"sleep 1000\" & sleep 1000'",
};

static atomic_int begun;

static void *run_trees(void *arg)
{
    size_t which = (size_t)arg;
    allm_json *needs = allm_json_parse("{\"env\":[\"ALLM_ESCAPE_MARK\"]}",
                                       ALLM_NUL_ENDED, NULL);
    const char *argv[] = { "/bin/sh", "-c",
                           scripts[which % (sizeof scripts / sizeof *scripts)],
                           NULL };
    atomic_fetch_add(&begun, 1);
    for (;;) {
        allm_json *r = allm_sandbox_run(needs, ALLM_SANDBOX_ON, argv, 0, 0);
        if (allm_json_error(r))
            give_up("run", allm_json_error(r));
        allm_json_free(r);
    }
    return NULL;
}

/* It lives on, with copies of our descriptors, until there is no input; it has
 * no mark, because it is not one of the trees. */
static void leave_child(void)
{
    char byte, *mark = getenv("ALLM_ESCAPE_MARK");
    if (fork())
        return;
    if (mark)
        memset(mark, 0, strlen(mark));
    while (read(0, &byte, 1) > 0)
        ;
    _exit(0);
}

static int run_until_killed(int count)
{
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run_trees, (void *)(size_t)i))
            return 1;
    }
    while (atomic_load(&begun) < count)
        usleep(1000);
    usleep(100000);
    leave_child();
    say("begun");
    for (;;)
        pause();
}

/* ------------------------------------------------------- calls of tools --- */

/* A server that never answers, and has a child. */
static void add_server(allm_toolbox *box)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"command\":\"/bin/sh\",\"args\":[\"-c\",\"sleep 1000 & sleep "
             "1000\"],\"env\":{\"ALLM_ESCAPE_MARK\":\"%s\"}}",
             getenv("ALLM_ESCAPE_MARK"));
    allm_json *entry = allm_json_parse(text, ALLM_NUL_ENDED, NULL);
    if (allm_toolbox_add_server(box, "mute", entry) != ALLM_OK)
        give_up("server", allm_toolbox_error(box));
    allm_json_free(entry);
}

static allm_toolbox *make_box(const char *folder, bool server)
{
    allm_json *rules = allm_json_parse(
        "[{\"tool\":\"*\",\"verdict\":\"auto\"}]", ALLM_NUL_ENDED, NULL);
    allm_toolbox *box = allm_toolbox_new(
        ALLM(toolbox_opts, .max_procs = TREES_MOST, .rules = rules));
    allm_json_free(rules);
    if (allm_toolbox_add_program(box, folder) != ALLM_OK)
        give_up("tools", allm_toolbox_error(box));
    if (server)
        add_server(box);
    return box;
}

/* As many calls, of each tool in turn. */
static allm_stream *call_tools(allm_engine *engine, allm_toolbox *box,
                               size_t count)
{
    const allm_executor *x = allm_toolbox_executor(box);
    size_t tool_count;
    const allm_tool *const *tools = x->tools(x->self, &tool_count);
    allm_tool_call *calls[TREES_MOST];
    allm_json *none = allm_json_parse("{}", ALLM_NUL_ENDED, NULL);
    for (size_t i = 0; i < count; i++) {
        char id[32];
        snprintf(id, sizeof id, "c%zu", i);
        calls[i] = allm_tool_call_new(ALLM(tool_call, .id = id,
                                           .name = tools[i % tool_count]->name,
                                           .arguments = none));
    }
    allm_json_free(none);
    allm_stream *s = allm_tool_calls(
        engine, count, (const allm_tool_call *const *)calls,
        ALLM(tool_calls_opts, .executor = x, .tools = tools,
             .tool_count = tool_count, .max_concurrency = TREES_MOST));
    for (size_t i = 0; i < count; i++)
        allm_tool_call_free(calls[i]);
    return s;
}

static void *pull_calls(void *stream)
{
    allm_status status = allm_stream_wait(stream);
    if (status == ALLM_ERR_ENGINE || status == ALLM_ERR_MISUSE)
        give_up("calls", allm_stream_error(stream));
    return NULL;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void wait_for_line(void)
{
    char line[16];
    if (!fgets(line, sizeof line, stdin))
        _exit(0);
}

/* All calls have ended by themselves, or the named way ends them. */
static double end_calls(const char *word, allm_stream *s, pthread_t puller,
                        allm_toolbox **box)
{
    double begin = now_ms();
    if (!strcmp(word, "cancel"))
        allm_stream_cancel(s);
    if (!strcmp(word, "free")) {
        allm_toolbox_free(*box);
        *box = NULL;
    }
    double took = now_ms() - begin;
    pthread_join(puller, NULL);
    return took;
}

static int run_calls(size_t count, const char *word, const char *folder)
{
    allm_json *opts = allm_json_parse("{\"script\":[]}", ALLM_NUL_ENDED, NULL);
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts));
    allm_toolbox *box = make_box(folder, !strcmp(word, "free"));
    pthread_t puller;
    allm_stream *s = call_tools(engine, box, count);
    char line[32];
    if (pthread_create(&puller, NULL, pull_calls, s))
        return 1;
    say("begun");
    wait_for_line();
    snprintf(line, sizeof line, "%.0f", end_calls(word, s, puller, &box));
    say(line);
    wait_for_line();
    allm_stream_free(s);
    allm_toolbox_free(box);
    allm_engine_free(engine);
    allm_json_free(opts);
    return 0;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 20;
    if (count > TREES_MOST)
        count = TREES_MOST;
    return argc > 3 ? run_calls((size_t)count, argv[2], argv[3])
                    : run_until_killed(count);
}
