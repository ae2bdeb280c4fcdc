/*
 * bench_files.c - the built-in tools grep and read_file
 *
 *   1  grep for a plain string in 100 MB of text: at most 4 times the CPU time
 *      of `grep -F`
 *   2  grep for patterns: linear in the text, whatever the pattern; the ratio
 *      to `grep -E` is printed
 *   3  read_file at the end of 10 MB: at most 2 times the CPU time of `wc -l`
 *
 * CPU time, so that other load on the machine does not count.  The text is in a
 * folder below TMPDIR, and the programs run with LC_ALL=C.
 */
#define _GNU_SOURCE             /* wait4 */
#include "allm.h"

#include "measure.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MB = 1000 * 1000, RUNS = 3 };

static char folder[256];
static allm_engine *engine;
static allm_toolbox *box;

static const char *file_path(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Lines of words; every 10,000th has the string that is searched. */
static void write_text(const char *name, size_t bytes)
{
    static const char *const words[] = { "static", "struct", "the",  "return",
                                         "value",  "int",    "of",   "line",
                                         "buffer", "a",      "char", "length" };
    FILE *f = fopen(file_path(name), "w");
    uint32_t seed = 7;
    size_t done = 0;
    for (size_t line = 1; f && done < bytes; line++) {
        for (int i = 0; i < 8; i++) {
            seed = seed * 1664525 + 1013904223;
            done += (size_t)fprintf(f, "%s ", words[(seed >> 16) % 12]);
        }
        done += (size_t)fprintf(f, "%s\n", line % 10000 ? "" : "needle");
    }
    if (!f || fclose(f))
        exit(1);
}

static int64_t time_tool(const char *name, const char *args)
{
    const allm_executor *x = allm_toolbox_executor(box);
    allm_json *json = allm_json_parse(args, ALLM_NUL_ENDED, NULL);
    allm_tool_call *call = allm_tool_call_new(
        ALLM(tool_call, .id = "c0", .name = name, .arguments = json));
    size_t count = 0;
    const allm_tool *const *tools = x->tools(x->self, &count);
    int64_t begin = measure_process();
    allm_stream *s =
        allm_tool_calls(engine, 1, (const allm_tool_call *const *)&call,
                        ALLM(tool_calls_opts, .executor = x, .tools = tools,
                             .tool_count = count, .tool_timeout_ms = 600000));
    allm_stream_wait(s);
    int64_t used = measure_process() - begin;
    const allm_message *m = allm_stream_tool_message(s, 0);
    if (!m || !m->text || strstr(m->text, "\"error\"")) {
        fprintf(stderr, "%s: %s\n", name, m && m->text ? m->text : "nothing");
        exit(1);
    }
    allm_stream_free(s);
    allm_tool_call_free(call);
    allm_json_free(json);
    return used;
}

static int64_t nanoseconds(struct timeval t)
{
    return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000;
}

static int64_t time_program(const char *const *argv)
{
    static char *env[] = { "LC_ALL=C", "PATH=/usr/bin:/bin", NULL };
    posix_spawn_file_actions_t actions;
    struct rusage use = { 0 };
    pid_t pid;
    posix_spawn_file_actions_init(&actions);
    /* Not /dev/null: grep would stop at the first match. */
    posix_spawn_file_actions_addopen(&actions, 1, file_path("out"),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (posix_spawnp(&pid, argv[0], &actions, NULL,
                     (char *const *)(uintptr_t)argv, env) == 0)
        wait4(pid, NULL, 0, &use);
    posix_spawn_file_actions_destroy(&actions);
    return nanoseconds(use.ru_utime) + nanoseconds(use.ru_stime);
}

/* The medians of both, in turns. */
static void time_both(const char *tool, const char *args,
                      const char *const *argv, double ms[2])
{
    int64_t times[2][RUNS];
    for (int i = 0; i < RUNS; i++) {
        times[0][i] = time_tool(tool, args);
        times[1][i] = time_program(argv);
    }
    for (int i = 0; i < 2; i++)
        ms[i] = (double)measure_median(times[i], RUNS) / 1e6;
}

static void compare(const char *what, const char *tool, const char *args,
                    const char *const *argv, double most)
{
    double ms[2];
    time_both(tool, args, argv, ms);
    printf("%s: %.1f ms, %s %s %.1f ms (%.1f times, %s)\n", what, ms[0],
           argv[0], argv[1], ms[1], ms[0] / ms[1],
           measure_verdict(ms[0] <= most * ms[1]));
}

/* Twice the text takes twice the time. */
static void compare_pattern(const char *pattern)
{
    char args[256];
    char path[512];
    double half[2], whole[2];
    snprintf(path, sizeof path, "%s", file_path("10"));
    const char *command[] = { "grep", "-E", "--", pattern, path, NULL };
    snprintf(args, sizeof args, "{\"pattern\":\"%s\",\"path\":\"10\"}",
             pattern);
    time_both("grep", args, command, half);
    snprintf(path, sizeof path, "%s", file_path("20")); /* of `command` */
    snprintf(args, sizeof args, "{\"pattern\":\"%s\",\"path\":\"20\"}",
             pattern);
    time_both("grep", args, command, whole);
    printf("grep %-24s %6.1f ns a byte in 10 MB, %6.1f in 20 MB (linear: %s); "
           "%.1f times grep -E\n",
           pattern, half[0] / 10, whole[0] / 20,
           measure_verdict(whole[0] < 2.5 * half[0]), whole[0] / whole[1]);
}

static void measure_all(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s", file_path("100"));
    const char *fixed[] = { "grep", "-F", "needle", path, NULL };
    compare("grep needle in 100 MB", "grep",
            "{\"pattern\":\"needle\",\"path\":\"100\",\"limit\":1000}", fixed,
            4);
    static const char *const patterns[] = {
        "nee+dle$", "(static|struct) needle", "(a|aa)*[0-9]",
        "([a-z]+ *)*[0-9]$", "(s|t|r)+[0-9]+ ?x",
    };
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        compare_pattern(patterns[i]);
    snprintf(path, sizeof path, "%s", file_path("10"));
    const char *count[] = { "wc", "-l", path, NULL };
    compare("read_file in 10 MB", "read_file",
            "{\"path\":\"10\",\"offset\":200000,\"limit\":100}", count, 2);
}

int main(void)
{
    const char *temp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/allm-bench-XXXXXX",
             temp && *temp ? temp : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    engine = allm_engine_new(NULL);
    box = allm_toolbox_new(ALLM(toolbox_opts, .root = folder));
    allm_toolbox_add_builtin(box, "read");
    write_text("10", 10 * MB);
    write_text("20", 20 * MB);
    write_text("100", 100 * MB);
    measure_all();
    allm_engine_free(engine);
    allm_toolbox_free(box);
    static const char *const names[] = { "10", "20", "100", "out" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(file_path(names[i]));
    return rmdir(folder) != 0;
}
