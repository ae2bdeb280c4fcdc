/*
 * bench_batch.c - the cost of allm batch, compared with what it needs at least
 *
 *   rows    CPU time of a row, compared with the same streams in a bare hub
 *           that reads and writes no file (this program)
 *   memory  with 256 requests in flight: the peak for ten times as many rows
 *   resume  a file with 1,000,000 rows that are done: CPU time, compared with
 *           parsing each of its lines with yyjson (this program), and memory
 *   again   the same if all their lines are in the input, too: each request is
 *           made, to compare its digest
 *   pace    a server that allows 100 requests in a second: how many are used,
 *           and how many are refused
 *
 * The answers come from peers_server on loopback; each has one word.  All sides
 * run in turns within one run.
 */
#define _DEFAULT_SOURCE /* wait4() */
#include "allm.h"

#include "child.h"
#include "measure.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yyjson.h>

enum {
    ROWS = 10000, TURNS = 5, JOBS = 16, DONE_ROWS = 1000000,
    LIMIT = 100,              /* of the server, in a second */
    LIMITED_ROWS = 12 * LIMIT
};

static char allm[4096], server[4096], base[128], limited[128];
static char folder[] = "/tmp/allm-XXXXXX";

/* ------------------------------------------------------------- set-up --- */

/* Start the server, and read its port. */
static pid_t start_server(void)
{
    int ends[2];
    char line[32] = "";
    if (access(server, X_OK) || pipe(ends))
        return -1;
    pid_t child = child_start((const char *[]){ server, "serve", NULL },
                              ends[1]);
    close(ends[1]);
    ssize_t n = read(ends[0], line, sizeof line - 1);
    close(ends[0]);
    snprintf(base, sizeof base, "http://127.0.0.1:%d/one/v1", atoi(line));
    snprintf(limited, sizeof limited, "http://127.0.0.1:%d/limited/v1",
             atoi(line));
    return n > 0 ? child : -1;
}

static const char *in_folder(const char *name)
{
    static char paths[4][64];
    static size_t next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_prompts(const char *name, int count)
{
    FILE *out = fopen(in_folder(name), "w");
    for (int i = 0; out && i < count; i++)
        fprintf(out, "{\"id\": \"r%d\", \"prompt\": \"word %d\"}\n", i, i);
    if (!out || fclose(out))
        exit(1);
}

/* --------------------------------------------------------------- bare --- */

static void add_stream(allm_hub *hub, const allm_engine *engine,
                       const allm_json *options, int number)
{
    char text[32];
    snprintf(text, sizeof text, "word %d", number);
    allm_thread *thread = allm_thread_new(NULL);
    allm_thread_add(thread, ALLM_ROLE_USER, text);
    const allm_message *message = allm_thread_last(thread);
    allm_stream *s =
        allm_generate(engine,
                      ALLM(request, .message_count = 1, .messages = &message),
                      ALLM(call_opts, .json = options, .hide_text_deltas = 1));
    allm_hub_add(hub, s, NULL);
    allm_thread_free(thread);
}

/* The same streams in a bare hub. */
static int run_hub(const char *url, int count)
{
    char text[160];
    int started = 0, ended = 0, failed = 0;
    snprintf(text, sizeof text, "{\"base_url\": \"%s\"}", url);
    allm_json *options = allm_json_parse(text, strlen(text), NULL);
    allm_engine *engine = allm_engine_new(ALLM(engine_opts, .model = "vllm:m"));
    allm_hub *hub = allm_hub_new(NULL);
    while (started < JOBS)
        add_stream(hub, engine, options, started++);
    while (ended < count) {
        const allm_event *event;
        allm_status status;
        allm_stream *s = allm_hub_wait(hub, -1, NULL);
        while ((status = allm_stream_next(s, &event)) == ALLM_EVENT)
            continue;
        if (status == ALLM_AGAIN)
            continue;
        failed += status != ALLM_OK;
        ended++;
        allm_stream_free(s);
        if (started < count)
            add_stream(hub, engine, options, started++);
    }
    allm_hub_free(hub);
    allm_engine_free(engine);
    allm_json_free(options);
    return failed != 0;
}

/* Parse each line with yyjson. */
static int run_parse(const char *path)
{
    static char line[65536];
    size_t ids = 0;
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in)) {
        yyjson_doc *doc = yyjson_read(line, strlen(line), 0);
        ids += yyjson_obj_get(yyjson_doc_get_root(doc), "id") != NULL;
        yyjson_doc_free(doc);
    }
    return !in || fclose(in) || ids != DONE_ROWS;
}

/* ---------------------------------------------------------------- rows --- */

static struct cost run_batch(const char *in, const char *jobs, const char *url)
{
    unlink(in_folder("out"));
    return child_run((const char *[]){ allm, "batch", "-q", "-m", "vllm:m",
                                       "--base-url", url, "-j", jobs,
                                       in_folder(in), "-O", in_folder("out"),
                                       NULL });
}

static double mib(struct cost c)
{
    return (double)c.kib / 1024;
}

static void bench_rows(const char *self)
{
    int64_t ours[TURNS], bare[TURNS];
    char count[16];
    snprintf(count, sizeof count, "%d", ROWS);
    write_prompts("some", ROWS);
    for (int i = 0; i < TURNS; i++) {
        ours[i] = run_batch("some", "16", base).ns;
        bare[i] =
            child_run((const char *[]){ self, "hub", base, count,
                                              NULL }).ns;
    }
    double o = (double)measure_median(ours, TURNS) / 1e3 / ROWS;
    double b = (double)measure_median(bare, TURNS) / 1e3 / ROWS;
    printf("rows: %.1f us of CPU for each, a bare hub %.1f us: %.2f times (at "
           "most 1.6): %s\n",
           o, b, o / b, measure_verdict(o / b <= 1.6));
}

static void bench_memory(void)
{
    write_prompts("few", ROWS / 5);
    write_prompts("many", ROWS * 2);
    double few = mib(run_batch("few", "256", base));
    double many = mib(run_batch("many", "256", base));
    printf("memory: 256 in flight, %d rows: %.1f MiB; %d rows: %.1f MiB: %s\n",
           ROWS / 5, few, ROWS * 2, many, measure_verdict(many < few + 4));
}

/* -------------------------------------------------------------- resume --- */

/* A file as a run of a million rows would have written it. */
static void write_done(const char *name)
{
    static char row[4096], line[4096];
    FILE *in = fopen(in_folder("out"), "r");
    if (!in || !fgets(row, sizeof row, in))
        exit(1);
    fclose(in);
    const char *id = strstr(row, "\",\"ok\""), *sum = strstr(row, "\"sum\":\"");
    FILE *out = fopen(in_folder(name), "w");
    for (int i = 0; out && i < DONE_ROWS; i++) {
        snprintf(line, sizeof line, "{\"id\":\"r%d%.*s\"sum\":\"%016x\"}\n", i,
                 (int)(sum - id), id, (unsigned)i);
        fputs(line, out);
    }
    if (!out || fclose(out))
        exit(1);
}

static void bench_resume(const char *self)
{
    write_prompts("none", 0);
    run_batch("few", "16", base);
    write_done("done");
    const char *parses[] = { self, "parse", in_folder("done"), NULL };
    double parse = (double)child_run(parses).ns / 1e6;
    struct cost c = child_run(
        (const char *[]){ allm, "batch", "-q", "-m",
                                                "vllm:m", in_folder("none"),
                                                "-O", in_folder("done"),
                                                NULL });
    double ms = (double)c.ns / 1e6;
    printf("resume: %d done rows: %.0f ms of CPU, yyjson %.0f ms: %.2f times "
           "(at most 2): %s; %.1f MiB (under 64): %s\n",
           DONE_ROWS, ms, parse, ms / parse, measure_verdict(ms <= 2 * parse),
           mib(c), measure_verdict(mib(c) < 64));
    write_prompts("all", DONE_ROWS);
    c = child_run((const char *[]){ allm, "batch", "-q", "--changed", "keep",
                                    "-m", "vllm:m", in_folder("all"), "-O",
                                    in_folder("done"), NULL });
    printf("again: with their lines %.0f ms of CPU, %.1f MiB (under 64): %s\n",
           (double)c.ns / 1e6, mib(c), measure_verdict(mib(c) < 64));
}

/* ---------------------------------------------------------------- pace --- */

/* The requests that the rows of the output needed. */
static int count_attempts(void)
{
    static char line[4096];
    int sum = 0;
    FILE *in = fopen(in_folder("out"), "r");
    while (in && fgets(line, sizeof line, in)) {
        const char *at = strstr(line, "\"attempts\":");
        sum += at ? atoi(at + strlen("\"attempts\":")) : 0;
    }
    if (!in || fclose(in))
        exit(1);
    return sum;
}

static void bench_pace(void)
{
    write_prompts("paced", LIMITED_ROWS);
    int64_t began = measure_now();
    run_batch("paced", "64", limited);
    double seconds = (double)(measure_now() - began) / 1e9;
    int sent = count_attempts();
    double used = (LIMITED_ROWS - LIMIT) / seconds; /* after the first burst */
    double refused = 100.0 * (sent - LIMITED_ROWS) / sent;
    printf("pace: %.0f of %d requests per second (at least 90 %%): %s; %.1f %% "
           "refused (fewer than 2 %%): %s\n",
           used, LIMIT, measure_verdict(used >= 0.9 * LIMIT), refused,
           measure_verdict(refused < 2));
}

/* ---------------------------------------------------------------- main --- */

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command)) /* NOLINT(cert-env33-c): our own */
        printf("%s is left\n", folder);
}

int main(int argc, char **argv)
{
    if (argc > 3 && !strcmp(argv[1], "hub"))
        return run_hub(argv[2], atoi(argv[3]));
    if (argc > 2 && !strcmp(argv[1], "parse"))
        return run_parse(argv[2]);
    const char *slash = strrchr(argv[0], '/');
    int len = slash ? (int)(slash - argv[0]) : 1;
    const char *dir = slash ? argv[0] : ".";
    snprintf(allm, sizeof allm, "%.*s/../allm", len, dir);
    snprintf(server, sizeof server, "%.*s/peers_server", len, dir);
    pid_t child = start_server();
    if (access(allm, X_OK) || child < 0 || !mkdtemp(folder)) {
        printf("not measured: %s and %s are needed, and loopback\n", allm,
               server);
        return 1;
    }
    bench_rows(argv[0]);
    bench_memory();
    bench_resume(argv[0]);
    bench_pace();
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    remove_folder();
    return 0;
}
