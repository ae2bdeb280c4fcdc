/*
 * server.c - the replay server of the comparison with other clients
 *
 * usage: peers_server serve              print the port, serve until killed
 *        peers_server drain PORT NAME N  read N answers and discard them
 *
 * The first part of a path names the answer; what follows is the path of the
 * provider's API.  Every client of an API reads the same bytes:
 *
 *   /one/      one text event
 *   /many/     20,000 text events, sent as fast as the client reads
 *   /paced/    100 text events, one every 10 ms, each in a packet of its own
 *   /args/     the arguments of a tool call in 20,000 events
 *   /few/, /fewargs/   the same with 2,000 events, for very slow clients
 *   /tools/    two answers that call a tool, then one of text; the number of
 *              tool results in the request selects the answer
 *   /hold/     two text events; the answer does not end (a client that looks
 *              ahead by one event emits the first)
 *   /limited/  the same as /one/, 100 times in a second; then it refuses, and
 *              says when the next second begins
 *   /stat      the server's own CPU time and counters, as JSON
 *
 * A path that ends in /messages is answered in the format of Anthropic, every
 * other path in the format of OpenAI's chat completions.  Each event is an HTTP
 * chunk.  All bytes are built before the server listens, so a request costs one
 * scan of its bytes and the system calls that send the answer.  `drain` is the
 * cheapest possible reader: its rate is the server's highest rate.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    EVENTS = 20000, FEW = 2000, TICKS = 100, TICK_NS = 10000000,
    LIMIT = 100, MOST_FDS = 65536, MOST_REQUEST = 16 * 1024 * 1024, READY = 256
};

static void give_up(const char *why)
{
    fprintf(stderr, "peers_server: %s: %s\n", why, strerror(errno));
    exit(1);
}

/* ------------------------------------------------------------- bodies --- */

struct bytes {
    char *ptr;
    size_t len, cap;
};

__attribute__((format(printf, 2, 3))) static void
add(struct bytes *b, const char *format, ...)
{
    va_list args;
    if (b->cap - b->len < 4096) {
        b->cap = b->cap * 2 + 8192;
        b->ptr = realloc(b->ptr, b->cap);
        if (!b->ptr)
            give_up("memory");
    }
    va_start(args, format);
    b->len += (size_t)vsnprintf(b->ptr + b->len, 4096, format, args);
    va_end(args);
}

static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream"
                           "\r\nTransfer-Encoding: chunked\r\n\r\n";

/* Adds an event as an HTTP chunk. */
static void add_event(struct bytes *b, const char *name, const char *json)
{
    size_t n = strlen(json) + 8 + (name ? strlen(name) + 8 : 0);
    if (name)
        add(b, "%zx\r\nevent: %s\ndata: %s\n\n\r\n", n, name, json);
    else
        add(b, "%zx\r\ndata: %s\n\n\r\n", n, json);
}

/* ------------------------------------------------------------- OpenAI --- */

/* An event whose delta and finish reason are given as JSON.  The last member
 * has random letters, as OpenAI sends them to hide the length of a token. */
static void openai_event(struct bytes *b, int i, const char *delta,
                         const char *reason)
{
    char json[1024];
    snprintf(json, sizeof json,
             "{\"id\":\"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT\","
             "\"object\":\"chat.completion.chunk\",\"created\":1741569952,"
             "\"model\":\"gpt-4.1-2025-04-14\",\"service_tier\":\"default\","
             "\"system_fingerprint\":\"fp_44709d6fcb\",\"choices\":"
             "[{\"index\":0,\"delta\":{%s},\"logprobs\":null,"
             "\"finish_reason\":%s}],\"usage\":null,\"obfuscation\":\"%.*s\"}",
             delta, reason, 1 + i % 8, "kQ4zXr0L");
    add_event(b, NULL, json);
}

static void openai_text(struct bytes *b, int i)
{
    static const char *const words[] = { " and",    " so",      " on",  ",",
                                         " little", "\\n\\n", " the", " fox" };
    char delta[128];
    snprintf(delta, sizeof delta, "%s\"content\":\"%s\"",
             i ? "" : "\"role\":\"assistant\",", words[i * 7 % 8]);
    openai_event(b, i, delta, "null");
}

static void openai_arguments(struct bytes *b, int i, const char *piece)
{
    char delta[256];
    snprintf(delta, sizeof delta,
             "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"%s\"}"
             "}]",
             piece);
    openai_event(b, i, delta, "null");
}

static void openai_end(struct bytes *b, const char *reason)
{
    openai_event(b, 0, "", reason);
    add_event(b, NULL, "[DONE]");
    add(b, "0\r\n\r\n");
}

static void openai_call(struct bytes *b, int number)
{
    char delta[256];
    snprintf(delta, sizeof delta,
             "\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{"
             "\"index\":0,\"id\":\"call_%d\",\"type\":\"function\","
             "\"function\":{\"name\":\"note\",\"arguments\":\"\"}}]",
             number);
    openai_event(b, 0, delta, "null");
}

static void openai_texts(struct bytes *b, int n)
{
    for (int i = 0; i < n; i++)
        openai_text(b, i);
    openai_end(b, "\"stop\"");
}

static void openai_pieces(struct bytes *b, int number, int n)
{
    openai_call(b, number);
    openai_arguments(b, 1, "{\\\"text\\\":\\\"");
    for (int i = 2; i < n; i++)
        openai_arguments(b, i, "and so on ");
    openai_arguments(b, n, "\\\"}");
    openai_end(b, "\"tool_calls\"");
}

/* ---------------------------------------------------------- Anthropic --- */

static void anthropic_begin(struct bytes *b, const char *block)
{
    char json[256];
    add_event(b, "message_start",
              "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_01\","
              "\"type\":\"message\",\"role\":\"assistant\",\"model\":"
              "\"claude-sonnet-4-5\",\"content\":[],\"stop_reason\":null,"
              "\"stop_sequence\":null,\"usage\":{\"input_tokens\":25,"
              "\"output_tokens\":1}}}");
    snprintf(json, sizeof json,
             "{\"type\":\"content_block_start\",\"index\":0,"
             "\"content_block\":{%s}}",
             block);
    add_event(b, "content_block_start", json);
}

static void anthropic_delta(struct bytes *b, const char *delta)
{
    char json[256];
    snprintf(json, sizeof json,
             "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{%s}}",
             delta);
    add_event(b, "content_block_delta", json);
}

static void anthropic_end(struct bytes *b, const char *reason)
{
    char json[256];
    add_event(b, "content_block_stop",
              "{\"type\":\"content_block_stop\",\"index\":0}");
    snprintf(json, sizeof json,
             "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"%s\","
             "\"stop_sequence\":null},\"usage\":{\"output_tokens\":15}}",
             reason);
    add_event(b, "message_delta", json);
    add_event(b, "message_stop", "{\"type\":\"message_stop\"}");
    add(b, "0\r\n\r\n");
}

static const char anthropic_word[] =
    "\"type\":\"text_delta\",\"text\":\" and\"";
static const char text_block[] = "\"type\":\"text\",\"text\":\"\"";

static void anthropic_texts(struct bytes *b, int n)
{
    anthropic_begin(b, text_block);
    for (int i = 0; i < n; i++)
        anthropic_delta(b, anthropic_word);
    anthropic_end(b, "end_turn");
}

static void anthropic_pieces(struct bytes *b, int number, int n)
{
    char block[128];
    snprintf(block, sizeof block,
             "\"type\":\"tool_use\",\"id\":\"call_%d\",\"name\":\"note\","
             "\"input\":{}",
             number);
    anthropic_begin(b, block);
    anthropic_delta(b, "\"type\":\"input_json_delta\",\"partial_json\":"
                       "\"{\\\"text\\\":\\\"\"");
    for (int i = 2; i < n; i++)
        anthropic_delta(b, "\"type\":\"input_json_delta\",\"partial_json\":"
                           "\"and so on \"");
    anthropic_delta(b, "\"type\":\"input_json_delta\",\"partial_json\":"
                       "\"\\\"}\"");
    anthropic_end(b, "tool_use");
}

/* ------------------------------------------------------------ answers --- */

/* The three parts of a paced answer. */
struct paced {
    struct bytes first, tick, last;
};

struct api {
    struct bytes one, many, few, args, fewargs, tools[3], hold;
    struct paced paced;
};

static struct api openai, anthropic;

static void begin(struct bytes *b)
{
    *b = (struct bytes){ 0 };
    add(b, "%s", head);
}

static void make_openai(struct api *a)
{
    begin(&a->one), openai_texts(&a->one, 1);
    begin(&a->many), openai_texts(&a->many, EVENTS);
    begin(&a->few), openai_texts(&a->few, FEW);
    begin(&a->args), openai_pieces(&a->args, 1, EVENTS);
    begin(&a->fewargs), openai_pieces(&a->fewargs, 1, FEW);
    begin(&a->tools[0]), openai_pieces(&a->tools[0], 1, 2);
    begin(&a->tools[1]), openai_pieces(&a->tools[1], 2, 2);
    begin(&a->tools[2]), openai_texts(&a->tools[2], 1);
    begin(&a->hold), openai_text(&a->hold, 0), openai_text(&a->hold, 1);
    begin(&a->paced.first);
    openai_text(&a->paced.tick, 1);
    openai_end(&a->paced.last, "\"stop\"");
}

static void make_anthropic(struct api *a)
{
    begin(&a->one), anthropic_texts(&a->one, 1);
    begin(&a->many), anthropic_texts(&a->many, EVENTS);
    begin(&a->few), anthropic_texts(&a->few, FEW);
    begin(&a->args), anthropic_pieces(&a->args, 1, EVENTS);
    begin(&a->fewargs), anthropic_pieces(&a->fewargs, 1, FEW);
    begin(&a->tools[0]), anthropic_pieces(&a->tools[0], 1, 2);
    begin(&a->tools[1]), anthropic_pieces(&a->tools[1], 2, 2);
    begin(&a->tools[2]), anthropic_texts(&a->tools[2], 1);
    begin(&a->hold), anthropic_begin(&a->hold, text_block);
    anthropic_delta(&a->hold, anthropic_word);
    anthropic_delta(&a->hold, anthropic_word);
    begin(&a->paced.first), anthropic_begin(&a->paced.first, text_block);
    anthropic_delta(&a->paced.tick, anthropic_word);
    anthropic_end(&a->paced.last, "end_turn");
}

/* -------------------------------------------------------- connections --- */

struct connection {
    char *in;                       /* the request so far, NUL-terminated */
    size_t in_len, in_cap;
    size_t need;                    /* its length; 0: not known yet */
    const char *out;                /* bytes that the socket did not accept */
    size_t out_len;
    const struct paced *paced;      /* NULL: not paced */
    int ticks;                      /* events that are still to be sent */
};

static struct connection *connections[MOST_FDS];
static int poll_set, paced_fds[MOST_FDS], paced_count;
static uint64_t requests_served, bytes_sent;

static void drop(int fd)
{
    free(connections[fd]->in);
    free(connections[fd]);
    connections[fd] = NULL;
    close(fd);
}

static void watch(int fd, uint32_t events, int how)
{
    struct epoll_event e = { .events = events, .data.fd = fd };
    epoll_ctl(poll_set, how, fd, &e);
}

/* Sends as much as the socket accepts; the rest follows when it is writable.
 * False: the client has gone. */
static bool flush(int fd)
{
    struct connection *c = connections[fd];
    while (c->out_len) {
        ssize_t n = send(fd, c->out, c->out_len, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            watch(fd, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
            return true;
        }
        if (n < 0)
            return false;
        c->out += n;
        c->out_len -= (size_t)n;
        bytes_sent += (uint64_t)n;
    }
    return true;
}

static bool put(int fd, const struct bytes *b)
{
    connections[fd]->out = b->ptr;
    connections[fd]->out_len = b->len;
    return flush(fd);
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        n++;
    return n;
}

static bool put_stat(int fd)
{
    static struct bytes answer;
    char json[256];
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    int n = snprintf(
        json, sizeof json, "{\"cpu_us\":%lld,\"requests\":%llu,\"bytes\":%llu}",
        (long long)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
            u.ru_utime.tv_usec + u.ru_stime.tv_usec,
        (unsigned long long)requests_served, (unsigned long long)bytes_sent);
    answer.len = 0;
    add(&answer,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        "Content-Length: %d\r\n\r\n%s",
        n, json);
    return put(fd, &answer);
}

/* Answer, or refuse if the quota of this second is used up. */
static bool put_limited(int fd, const struct api *a)
{
    static struct bytes answer;
    static time_t second;
    static int left;
    static const char ok[] = "HTTP/1.1 200 OK\r\n";
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec != second)
        left = LIMIT;
    second = now.tv_sec;
    int ms = 1002 - (int)(now.tv_nsec / 1000000);
    answer.len = 0;
    if (left) {
        add(&answer,
            "%sx-ratelimit-limit-requests: %d\r\n"
            "x-ratelimit-remaining-requests: %d\r\n"
            "x-ratelimit-reset-requests: %dms\r\n",
            ok, LIMIT, left - 1, ms);
        add(&answer, "%.*s", (int)(a->one.len - strlen(ok)),
            a->one.ptr + strlen(ok));
        left--;
    } else {
        add(&answer,
            "HTTP/1.1 429 Too Many Requests\r\nretry-after-ms: %d\r\n"
            "Content-Length: 2\r\n\r\n{}",
            ms);
    }
    return put(fd, &answer);
}

static bool begin_paced(int fd, const struct paced *p)
{
    connections[fd]->paced = p;
    connections[fd]->ticks = TICKS;
    paced_fds[paced_count++] = fd;
    return put(fd, &p->first);
}

static bool reply(int fd)
{
    struct connection *c = connections[fd];
    char *body = strstr(c->in, "\r\n\r\n");
    const char *path = strchr(c->in, ' ');
    path = path ? path + 1 : "";
    const struct api *a = strstr(path, "/messages") &&
                                  strstr(path, "/messages") < body
                              ? &anthropic
                              : &openai;
    requests_served++;
    if (!strncmp(path, "/stat", 5))
        return put_stat(fd);
    if (!strncmp(path, "/limited/", 9))
        return put_limited(fd, a);
    if (!strncmp(path, "/many/", 6))
        return put(fd, &a->many);
    if (!strncmp(path, "/few/", 5))
        return put(fd, &a->few);
    if (!strncmp(path, "/args/", 6))
        return put(fd, &a->args);
    if (!strncmp(path, "/fewargs/", 9))
        return put(fd, &a->fewargs);
    if (!strncmp(path, "/hold/", 6))
        return put(fd, &a->hold);
    if (!strncmp(path, "/paced/", 7))
        return begin_paced(fd, &a->paced);
    if (strncmp(path, "/tools/", 7) != 0)
        return put(fd, &a->one);
    size_t n = count(body,
                     a == &openai ? "\"tool_call_id\"" : "\"tool_use_id\"");
    return put(fd, &a->tools[n < 2 ? n : 2]);
}

/* The length of the request, once its header is complete; 0: not yet. */
static size_t request_length(const struct connection *c)
{
    const char *end = strstr(c->in, "\r\n\r\n");
    if (!end)
        return 0;
    size_t length = (size_t)(end + 4 - c->in);
    for (const char *line = c->in; line < end; line = strchr(line, '\n') + 1)
        if (!strncasecmp(line, "content-length:", 15))
            return length + strtoul(line + 15, NULL, 10);
    return length;
}

static bool make_room(struct connection *c)
{
    if (c->in_cap - c->in_len > 65536)
        return true;
    c->in_cap = c->in_cap * 2 + 128 * 1024;
    char *more = realloc(c->in, c->in_cap);
    if (more)
        c->in = more;
    return more && c->in_cap <= MOST_REQUEST;
}

/* False: the connection has ended. */
static bool hear(int fd)
{
    struct connection *c = connections[fd];
    if (!make_room(c))
        return false;
    ssize_t n = recv(fd, c->in + c->in_len, c->in_cap - c->in_len - 1, 0);
    if (n < 0 && errno == EAGAIN)
        return true;
    if (n <= 0)
        return false;
    c->in_len += (size_t)n;
    c->in[c->in_len] = '\0';
    if (!c->need)
        c->need = request_length(c);
    if (!c->need || c->in_len < c->need)
        return true;
    bool ok = reply(fd);
    c->in_len = c->need = 0;
    if (c->in_cap > 65536 * 2) {    /* thousands of idle ones stay small */
        free(c->in);
        c->in = NULL;
        c->in_cap = 0;
    }
    return ok;
}

/* One event for each paced connection; the last one ends the answer. */
static void tick(int timer)
{
    uint64_t times;
    int kept = 0;
    if (read(timer, &times, sizeof times) < 0)
        return;
    for (int i = 0; i < paced_count; i++) {
        int fd = paced_fds[i];
        struct connection *c = connections[fd];
        if (!c || !c->paced)
            continue;
        const struct paced *p = c->paced;
        bool more = c->ticks-- > 0;
        if (!more)
            c->paced = NULL;
        if (!put(fd, more ? &p->tick : &p->last))
            drop(fd);
        else if (more)
            paced_fds[kept++] = fd;
    }
    paced_count = kept;
}

static void greet(int listener)
{
    int fd, on = 1;
    while ((fd = accept(listener, NULL, NULL)) >= 0) {
        if (fd >= MOST_FDS) {
            close(fd);
            return;
        }
        fcntl(fd, F_SETFL, O_NONBLOCK);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        connections[fd] = calloc(1, sizeof **connections);
        if (!connections[fd])
            give_up("memory");
        watch(fd, EPOLLIN, EPOLL_CTL_ADD);
    }
}

static void work(int fd, uint32_t events)
{
    if (!connections[fd])
        return;
    bool ok = true;
    if (events & EPOLLOUT) {
        ok = flush(fd);
        if (ok && !connections[fd]->out_len)
            watch(fd, EPOLLIN, EPOLL_CTL_MOD);
    }
    if (ok && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        ok = hear(fd);
    if (!ok)
        drop(fd);
}

/* ----------------------------------------------------------- commands --- */

static int listen_anywhere(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) || listen(fd, 8192) ||
        getsockname(fd, (struct sockaddr *)&at, &len))
        give_up("listen");
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);
    return fd;
}

static int start_timer(void)
{
    struct timespec every = { .tv_nsec = TICK_NS };
    struct itimerspec spec = { .it_interval = every, .it_value = every };
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    if (fd < 0 || timerfd_settime(fd, 0, &spec, NULL))
        give_up("timer");
    return fd;
}

static void serve(void)
{
    struct epoll_event ready[READY];
    struct rlimit most = { MOST_FDS, MOST_FDS };
    setrlimit(RLIMIT_NOFILE, &most);
    make_openai(&openai);
    make_anthropic(&anthropic);
    poll_set = epoll_create1(0);
    int timer = start_timer(), listener = listen_anywhere();
    watch(listener, EPOLLIN, EPOLL_CTL_ADD);
    watch(timer, EPOLLIN, EPOLL_CTL_ADD);
    for (;;) {
        int n = epoll_wait(poll_set, ready, READY, -1);
        for (int i = 0; i < n; i++) {
            if (ready[i].data.fd == listener)
                greet(listener);
            else if (ready[i].data.fd == timer)
                tick(timer);
            else
                work(ready[i].data.fd, ready[i].events);
        }
    }
}

static int connect_to(int port)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at))
        give_up("connect");
    return fd;
}

/* Reads to the end of one chunked answer; its last bytes are "0 CRLF CRLF". */
static size_t drain_one(int fd)
{
    static char room[256 * 1024];
    size_t total = 0;
    for (;;) {
        ssize_t n = recv(fd, room, sizeof room, 0);
        if (n <= 0)
            give_up("the answer");
        total += (size_t)n;
        if (n >= 5 && !memcmp(room + n - 5, "0\r\n\r\n", 5))
            return total;
    }
}

static void drain(int port, const char *name, long n)
{
    char request[256];
    struct timespec began, ended;
    size_t total = 0;
    int fd = connect_to(port);
    int len = snprintf(request, sizeof request,
                       "POST /%s/v1/chat/completions HTTP/1.1\r\n"
                       "Content-Length: 2\r\n\r\n{}",
                       name);
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (long i = 0; i < n; i++) {
        if (send(fd, request, (size_t)len, MSG_NOSIGNAL) != len)
            give_up("send");
        total += drain_one(fd);
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("{\"answers\":%ld,\"bytes\":%zu,\"seconds\":%.6f}\n", n, total,
           (double)(ended.tv_sec - began.tv_sec) +
               (double)(ended.tv_nsec - began.tv_nsec) / 1e9);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    if (argc == 2 && !strcmp(argv[1], "serve"))
        serve();
    else if (argc == 5 && !strcmp(argv[1], "drain"))
        drain((int)strtol(argv[2], NULL, 10), argv[3],
              strtol(argv[4], NULL, 10));
    else
        fprintf(stderr, "usage: peers_server serve | drain PORT NAME N\n");
    return argc == 5 ? 0 : 2;
}
