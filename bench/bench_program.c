/*
 * bench_program.c - the cost of the program, compared with minimal ones
 *
 *   version  "allm version", compared with a program that prints a line and
 *            links the same libraries (this one)
 *   ask      one question to the Fake: CPU time and memory
 *   first    the time until the first word of an answer from a server on
 *            loopback, compared with the first byte that "curl -N" prints
 *
 * Both sides run in turns within one run.  For version and ask we measure CPU
 * time, for first the elapsed time.
 */
#define _DEFAULT_SOURCE /* wait4() */
#include "allm.h"

#include "measure.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 101, FIRSTS = 61 };

struct cost {
    int64_t ns; /* CPU time */
    long kib;   /* peak */
};

/* ----------------------------------------------------------- children --- */

/* Run a program with its output redirected to this descriptor. */
static pid_t start(const char **argv, int out)
{
    char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
    char *clean[] = { path, NULL };
    union {
        const char **given;
        char **taken; /* the type that execve() wants; it changes none */
    } words = { argv };
    pid_t child = fork();
    if (child)
        return child;
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDERR_FILENO);
    dup2(out < 0 ? null : out, STDOUT_FILENO);
    execve(argv[0], words.taken, clean);
    _exit(127);
}

static struct cost run(const char **argv)
{
    int status = 0;
    struct rusage use = { 0 };
    pid_t child = start(argv, -1);
    if (child < 0 || wait4(child, &status, 0, &use) != child || status) {
        printf("%s failed: %d\n", argv[0], status);
        exit(1);
    }
    int64_t us = (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000 +
                 use.ru_utime.tv_usec + use.ru_stime.tv_usec;
    return (struct cost){ us * 1000, use.ru_maxrss };
}

/* The time until the program prints something. */
static int64_t first_byte(const char **argv)
{
    int ends[2];
    char c;
    if (pipe(ends))
        exit(1);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    int64_t began = measure_now();
    pid_t child = start(argv, ends[1]);
    close(ends[1]);
    if (child < 0 || read(ends[0], &c, 1) != 1) {
        printf("%s printed nothing\n", argv[0]);
        exit(1);
    }
    int64_t took = measure_now() - began;
    close(ends[0]);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return took;
}

/* ------------------------------------------------------------ version --- */

static void bench_version(const char *allm, const char *self)
{
    int64_t ours[RUNS], bare[RUNS];
    for (int i = 0; i < RUNS; i++) {
        ours[i] = run((const char *[]){ allm, "version", NULL }).ns;
        bare[i] = run((const char *[]){ self, "line", NULL }).ns;
    }
    double o = (double)measure_median(ours, RUNS) / 1e6;
    double b = (double)measure_median(bare, RUNS) / 1e6;
    printf("version: %.2f ms, a bare program %.2f ms: %.2f times (at most 3): "
           "%s\n",
           o, b, o / b, measure_verdict(o / b <= 3));
}

/* ---------------------------------------------------------------- ask --- */

#define SCRIPT \
    "{\"script\": [[\"text\", \"The sea \"], [\"text\", \"is never " \
    "the same.\"], [\"finish\", \"stop\"]]}"

static void bench_ask(const char *allm)
{
    int64_t times[RUNS], kib[RUNS];
    for (int i = 0; i < RUNS; i++) {
        struct cost c = run((const char *[]){ allm, "-m", "fake:m", "-o",
                                        "adapter_opts", SCRIPT, "A line?",
                                        NULL });
        times[i] = c.ns;
        kib[i] = c.kib;
    }
    double ms = (double)measure_median(times, RUNS) / 1e6;
    double mib = (double)measure_median(kib, RUNS) / 1024;
    printf("ask: %.2f ms of CPU (at most 15): %s; %.1f MiB (under 16): %s\n",
           ms, measure_verdict(ms <= 15), mib, measure_verdict(mib < 16));
}

/* -------------------------------------------------------------- first --- */

static int port;

static const char answer[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,"
    "\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":"
    "\"assistant\",\"content\":\"The\"},\"finish_reason\":null}]}\n\n";

/* Read a request, send the first word, then wait until the client hangs up. */
static void serve(int listener)
{
    char request[8192];
    for (;;) {
        size_t len = 0;
        int fd = accept(listener, NULL, NULL);
        const char *body = NULL;
        while (!body && len < sizeof request - 1) {
            ssize_t n = recv(fd, request + len, sizeof request - 1 - len, 0);
            if (n <= 0)
                break;
            len += (size_t)n;
            request[len] = '\0';
            body = strstr(request, "\r\n\r\n");
        }
        if (body)
            send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL);
        while (body && recv(fd, request, sizeof request, 0) > 0)
            ;
        close(fd);
    }
}

static pid_t start_server(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) || listen(fd, 8) ||
        getsockname(fd, (struct sockaddr *)&at, &len))
        return -1;
    port = ntohs(at.sin_port);
    pid_t child = fork();
    if (child == 0) {
        alarm(300); /* it must not outlive us for long */
        serve(fd);
    }
    close(fd);
    return child;
}

static const char *find_curl(void)
{
    static const char *const places[] = { "/usr/bin/curl",
                                          "/usr/local/bin/curl",
                                          "/opt/homebrew/bin/curl" };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!access(places[i], X_OK))
            return places[i];
    return NULL;
}

static void bench_first(const char *allm, const char *curl)
{
    char base[64], url[96];
    int64_t ours[FIRSTS], theirs[FIRSTS];
    snprintf(base, sizeof base, "http://127.0.0.1:%d/v1", port);
    snprintf(url, sizeof url, "%s/chat/completions", base);
    const char *asks[] = { allm, "-m", "vllm:m", "-o", "base_url", base, "hi",
                     NULL };
    const char *gets[] = { curl, "-sN", "-d",
                     "{\"model\": \"m\", \"stream\": true, \"messages\": "
                     "[{\"role\": \"user\", \"content\": \"hi\"}]}",
                     "-H", "content-type: application/json", url, NULL };
    for (int i = 0; i < FIRSTS; i++) {
        ours[i] = first_byte(asks);
        theirs[i] = first_byte(gets);
    }
    double o = (double)measure_median(ours, FIRSTS) / 1e6;
    double t = (double)measure_median(theirs, FIRSTS) / 1e6;
    printf("first: %.2f ms, curl %.2f ms: %.2f times (at most 1.5): %s\n", o, t,
           o / t, measure_verdict(o / t <= 1.5));
}

/* --------------------------------------------------------------- main --- */

int main(int argc, char **argv)
{
    static char allm[4096];
    if (argc > 1 && !strcmp(argv[1], "line")) {
        printf("allm %s\n", allm_version());
        return 0;
    }
    const char *slash = strrchr(argv[0], '/');
    snprintf(allm, sizeof allm, "%.*s/../allm",
             slash ? (int)(slash - argv[0]) : 1, slash ? argv[0] : ".");
    if (access(allm, X_OK)) {
        printf("the program is not there: %s\n", allm);
        return 1;
    }
    bench_version(allm, argv[0]);
    bench_ask(allm);
    fflush(stdout); /* else the server would print it, too */
    const char *curl = find_curl();
    pid_t server = curl ? start_server() : -1;
    if (server > 0)
        bench_first(allm, curl);
    else
        printf("first: not measured, curl or loopback is missing\n");
    if (server > 0) {
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
    }
    return 0;
}
