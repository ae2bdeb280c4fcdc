/*
 * answers.h - a server in a child process that answers /chat/completions
 *
 *   /one/     an answer of one event
 *   /texts/   20,000 events
 *   /few/     the arguments of a tool call in 1,000 pieces
 *   /lots/    ...in 100,000
 *   /tick/    an event every 10 ms for a second
 *   /hold/    the beginning of an answer, and no more
 *   /loop/    a tool call; after two results, an answer of one event
 *
 * Each event is sent as a separate HTTP chunk.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    TEXTS = 20000,
    FEW = 1000, LOTS = 100000,
    TICKS = 100, TICK_NS = 10000000,
    BACKLOG = 1000,
    ROOM = 64 * 1024 * 1024
};

/* ------------------------------------------------------------- bodies --- */

#define CHUNK "data: {\"id\":\"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT\"," \
              "\"object\":\"chat.completion.chunk\",\"created\":1741569952," \
              "\"model\":\"gpt-4.1-2025-04-14\",\"service_tier\":\"default\"," \
              "\"system_fingerprint\":\"fp_44709d6fcb\",\"choices\":" \
              "[{\"index\":0,\"delta\":{"
#define AFTER "},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null," \
              "\"obfuscation\":\"%.*s\"}\n\n"
#define LAST  "},\"logprobs\":null,\"finish_reason\":\"%s\"}],\"usage\":null}" \
              "\n\n"

static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream"
                           "\r\nTransfer-Encoding: chunked\r\n\r\n";

static struct arena bodies;     /* of the server */

/* An event as an HTTP chunk. */
static void add_event(struct buf *b, const char *event)
{
    buf_format(b, "%zx\r\n%s\r\n", strlen(event), event);
}

/* An event whose delta is `before`, a piece and `after`; then random letters,
 * as OpenAI sends them to hide the length. */
static void add_delta(struct buf *b, int i, const char *before,
                      const char *piece, const char *after)
{
    char event[1024];
    snprintf(event, sizeof event, CHUNK "%s%s%s" AFTER, before, piece, after,
             1 + i % 8, "kQ4zXr0L");
    add_event(b, event);
}

static void add_text(struct buf *b, int i)
{
    static const char *const words[] = { " and",    " so",      " on",  ",",
                                         " little", "\\n\\n", " the", " fox" };
    add_delta(b, i, "\"content\":\"", words[i * 7 % 8], "\"");
}

static void add_arguments(struct buf *b, int i, const char *piece)
{
    add_delta(b, i,
              "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"",
              piece, "\"}}]");
}

static void add_end(struct buf *b, const char *reason)
{
    char last[512];
    snprintf(last, sizeof last, CHUNK LAST, reason);
    add_event(b, last);
    add_event(b, "data: [DONE]\n\n");
    buf_text(b, "0\r\n\r\n");
}

static void begin(struct buf *b)
{
    buf_init(b, &bodies, ROOM);
    buf_text(b, head);
}

static struct buf texts(int n)
{
    struct buf b;
    begin(&b);
    for (int i = 0; i < n; i++)
        add_text(&b, i);
    add_end(&b, "stop");
    return b;
}

static struct buf pieces(int n)
{
    struct buf b;
    begin(&b);
    add_delta(&b, 0,
              "\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"type\":"
              "\"function\",\"function\":{\"name\":\"note\",\"arguments\":",
              "\"\"", "}}]");
    add_arguments(&b, 1, "{\\\"text\\\":\\\"");
    for (int i = 2; i < n; i++)
        add_arguments(&b, i, "and so on and so on ");
    add_arguments(&b, n, "\\\"}");
    add_end(&b, "tool_calls");
    return b;
}

/* A call of the tool "weather", as it comes from a model. */
static struct buf tool_call(void)
{
    static const char *const parts[] = { "{\\\"city\\\":", "\\\"Ulm\\\",",
                                         "\\\"days\\\":3}" };
    struct buf b;
    begin(&b);
    add_delta(&b, 0,
              "\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"type\":"
              "\"function\",\"function\":{\"name\":\"weather\",\"arguments\":",
              "\"\"", "}}]");
    for (int i = 0; i < 3; i++)
        add_arguments(&b, i, parts[i]);
    add_end(&b, "tool_calls");
    return b;
}

static struct {
    const char *path;
    struct buf body;
} answers[6];

static void make_answers(void)
{
    arena_init(&bodies, mem_default());
    answers[0].path = "/one/", answers[0].body = texts(1);
    answers[1].path = "/texts/", answers[1].body = texts(TEXTS);
    answers[2].path = "/few/", answers[2].body = pieces(FEW);
    answers[3].path = "/lots/", answers[3].body = pieces(LOTS);
    answers[4].path = "/call/", answers[4].body = tool_call();
}

/* ------------------------------------------------------------ serving --- */

static bool say(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* Read a whole request; false: there is none any more.  A body that does not
 * fit is read and dropped. */
static bool hear(int fd, char *request, size_t room)
{
    size_t len = 0, whole = 0;
    while (!whole || len < whole) {
        bool full = len >= room - 1;
        ssize_t n = full ? recv(fd, NULL, whole - len, MSG_TRUNC)
                         : recv(fd, request + len, room - 1 - len, 0);
        if (n <= 0)
            return false;
        len += (size_t)n;
        if (full)
            continue;
        request[len] = '\0';
        const char *body = strstr(request, "\r\n\r\n");
        const char *size = strstr(request, "Content-Length:");
        if (body && size)
            whole = (size_t)(body + 4 - request) + strtoul(size + 15, NULL, 10);
    }
    return true;
}

/* The answer within a tool loop of three turns. */
static bool loop(int fd, const char *request)
{
    const char *one = strstr(request, "\"role\":\"tool\"");
    bool over = one && strstr(one + 1, "\"role\":\"tool\"");
    const struct buf *b = &answers[over ? 0 : 4].body;
    return say(fd, b->ptr, b->len);
}

/* Send events at the speed of a model, to all connections in step. */
static bool tick(int fd)
{
    struct timespec at;
    bool ok = say(fd, head, sizeof head - 1);
    struct buf event;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&event, &a, 4096);
    add_text(&event, 0);
    clock_gettime(CLOCK_MONOTONIC, &at);
    for (int i = 0; ok && i < TICKS; i++) {
        at.tv_nsec = (at.tv_nsec + TICK_NS) % 1000000000;
        at.tv_sec += at.tv_nsec < TICK_NS;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
        ok = say(fd, event.ptr, event.len);
    }
    buf_clear(&event);
    add_end(&event, "stop");
    ok = ok && say(fd, event.ptr, event.len);
    arena_release(&a);
    return ok;
}

/* The beginning of an answer, and no more. */
static bool hold(int fd)
{
    char c;
    const struct buf *b = &answers[0].body;
    const char *first = strstr(b->ptr, "}\n\n\r\n");
    if (!say(fd, b->ptr, (size_t)(first + 5 - b->ptr)))
        return false;
    return recv(fd, &c, 1, 0) > 0;
}

static bool reply(int fd, const char *request)
{
    if (strstr(request, "POST /tick/"))
        return tick(fd);
    if (strstr(request, "POST /hold/"))
        return hold(fd);
    if (strstr(request, "POST /loop/"))
        return loop(fd, request);
    for (size_t i = 0; answers[i].path; i++)
        if (!strncmp(request + 5, answers[i].path, strlen(answers[i].path)))
            return say(fd, answers[i].body.ptr, answers[i].body.len);
    return false;
}

static void *serve_one(void *arg)
{
    int fd = (int)(intptr_t)arg, on = 1;
    char request[8192];
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    while (hear(fd, request, sizeof request) && reply(fd, request))
        ;
    close(fd);
    return NULL;
}

static void serve(int listener)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 * 1024);
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    make_answers();
    for (;;) {
        pthread_t thread;
        int fd = accept(listener, NULL, NULL);
        if (fd < 0 ||
            pthread_create(&thread, &small, serve_one, (void *)(intptr_t)fd))
            _exit(1);
    }
}

/* One thread sends the beginning of an answer on each connection and keeps all
 * of them open. */
static void serve_held(int listener)
{
    char request[8192];
    make_answers();
    const struct buf *b = &answers[0].body;
    const char *first = strstr(b->ptr, "}\n\n\r\n");
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            _exit(1);
        if (hear(fd, request, sizeof request))
            say(fd, b->ptr, (size_t)(first + 5 - b->ptr));
    }
}

/* Fork a child that serves with this function; -1: fork() failed. */
static pid_t answers_by(void (*function)(int), int *port)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) ||
        listen(fd, BACKLOG) || getsockname(fd, (struct sockaddr *)&at, &len))
        return -1;
    *port = ntohs(at.sin_port);
    pid_t child = fork();
    if (child == 0) {
        alarm(600);             /* it must not outlive us for long */
        function(fd);
    }
    close(fd);
    return child;
}

static pid_t answers_serve(int *port)
{
    return answers_by(serve, port);
}

/* ...all of which are as of /hold/. */
static pid_t answers_hold(int *port)
{
    return answers_by(serve_held, port);
}
