/*
 * mcp_peer.c - drive the MCP client against a real server over stdio
 *
 * usage: mcp_peer COMMAND... -- PROGRAM [ARG...]
 *
 *      list tools|resources|templates|prompts
 *      call NAME [JSON]    read URI    prompt NAME [JSON]
 *      form JSON           the answer to the forms that follow
 *      cancel              the next request is cancelled at its first progress
 *
 * Each command begins when the previous one is answered.  Prints a line for
 * every event, and at last how the server ended: by itself, or by which signal.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "mcp/client.h"
#include "mcp/result.h"
#include "mcp/tools.h"
#include "json/parse.h"
#include "json/write.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct peer {
    struct mcp_client *client;
    struct arena arena;
    char **commands;            /* those that are left, up to "--" */
    pid_t pid;
    int to, from;               /* pipes */
    size_t written;             /* of the oldest message */
    uint64_t number;            /* of the request under way; 0: none */
    enum mcp_method method;
    const allm_json *form;
    bool ready, cancels, over;
};

static void print_json(const char *what, const allm_json *v)
{
    struct arena a;
    struct buf b;
    arena_init(&a, mem_default());
    buf_init(&b, &a, SIZE_MAX - 1);
    if (v)
        json_write(&b, v, 0);
    printf("%s %s\n", what, buf_slice(&b).ptr);
    arena_release(&a);
}

/* ------------------------------------------------------------- commands --- */

static const struct {
    const char *word;
    enum mcp_method method;
} verbs[] = {
    { "list tools", MCP_TOOLS_LIST },
    { "list resources", MCP_RESOURCES_LIST },
    { "list templates", MCP_TEMPLATES_LIST },
    { "list prompts", MCP_PROMPTS_LIST },
    { "call ", MCP_TOOLS_CALL },
    { "read ", MCP_RESOURCES_READ },
    { "prompt ", MCP_PROMPTS_GET },
};

static const allm_json *parse(struct peer *p, const char *text)
{
    const allm_error *error;
    return text ? json_parse_loose(&p->arena, slice_of(text), &error) : NULL;
}

static void ask_server(struct peer *p, const char *command)
{
    struct mcp_ask ask = { .method = MCP_NOTHING };
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (!strncmp(command, verbs[i].word, strlen(verbs[i].word))) {
            ask.method = verbs[i].method;
            command += strlen(verbs[i].word);
        }
    char *name = arena_text(&p->arena, command);
    char *space = strchr(name, ' ');
    if (space)
        *space = '\0';
    ask.name = name;
    ask.arguments = parse(p, space ? space + 1 : NULL);
    p->method = ask.method;
    p->number = mcp_client_request(p->client, &ask, clock_now_ns(clock_real()));
}

static void next_command(struct peer *p)
{
    while (!p->number && strcmp(*p->commands, "--") != 0) {
        const char *command = *p->commands++;
        if (!strncmp(command, "form ", 5))
            p->form = parse(p, command + 5);
        else if (!strcmp(command, "cancel"))
            p->cancels = true;
        else
            ask_server(p, command);
    }
    p->over = !p->number;
}

/* --------------------------------------------------------------- events --- */

static void print_tools(struct peer *p, const allm_json *list)
{
    struct mcp_tools tools;
    struct mcp_tools_opts opts = { .server = "s" };
    if (!mcp_tools_make(&p->arena, list, &opts, &tools))
        return;
    printf("tools %zu\n", tools.count);
    for (size_t i = 0; i < tools.count; i++)
        printf("tool %s %s\n", tools.tools[i].shown, tools.tools[i].name);
}

static void print_answer(struct peer *p, const struct mcp_event *ev)
{
    struct mcp_result r;
    if (ev->error) {
        printf("error %s %s\n", ev->error->reason, ev->error->message);
    } else if (p->method == MCP_TOOLS_LIST) {
        print_tools(p, ev->value);
    } else if (p->method == MCP_TOOLS_CALL &&
               mcp_result_make(&p->arena, ev->value, NULL, &r)) {
        print_json(r.failed ? "failed" : "value", r.value);
        if (r.images)
            printf("images %zu\n", allm_json_count(r.images));
    } else {
        print_json("answer", ev->value);
    }
}

static void take_event(struct peer *p, const struct mcp_event *ev)
{
    int64_t now = clock_now_ns(clock_real());
    if (ev->kind == MCP_READY) {
        print_json("ready", ev->value);
        p->ready = true;
    } else if (ev->kind == MCP_FAILED) {
        printf("lost %s\n", ev->error->message);
        p->over = true;
    } else if (ev->kind == MCP_ANSWER) {
        print_answer(p, ev);
        p->number = 0;
    } else if (ev->kind == MCP_PROGRESS) {
        print_json("progress", ev->value);
        if (p->cancels) {
            mcp_client_cancel(p->client, p->number, now);
            puts("cancelled");
            p->number = 0;
            p->cancels = false;
        }
    } else if (ev->kind == MCP_ELICIT) {
        print_json("elicit", ev->value);
        const allm_json *faults = mcp_client_answer(p->client, ev->question,
                                                    MCP_ACCEPT, p->form,
                                                    &p->arena, now);
        if (faults)
            print_json("faults", faults);
    }
}

/* ------------------------------------------------------------ transport --- */

static bool send_some(struct peer *p)
{
    const struct mcp_message *m = mcp_client_out(p->client);
    struct slice rest = slice_skip(m->json, p->written < m->json.len
                                                ? p->written
                                                : m->json.len);
    ssize_t n = rest.len ? write(p->to, rest.ptr, rest.len)
                         : write(p->to, "\n", 1);
    if (n <= 0)
        return false;
    if (!rest.len) {
        mcp_client_sent(p->client);
        p->written = 0;
    } else {
        p->written += (size_t)n;
    }
    return true;
}

static void run_peer(struct peer *p)
{
    struct mcp_event ev;
    char bytes[65536];
    while (!p->over) {
        while (mcp_client_next(p->client, &ev))
            take_event(p, &ev);
        if (p->ready && !p->number)
            next_command(p);
        while (mcp_client_out(p->client))
            if (!send_some(p))
                mcp_client_gone(p->client, "it does not read");
        if (p->over)
            break;
        int64_t now = clock_now_ns(clock_real());
        int64_t at = mcp_client_deadline(p->client);
        int64_t left = at == INT64_MAX ? 20000 : (at - now) / 1000000 + 1;
        struct pollfd fd = { .fd = p->from, .events = POLLIN };
        if (poll(&fd, 1, (int)(left < 0 ? 0 : left)) > 0) {
            ssize_t n = read(p->from, bytes, sizeof bytes);
            if (n <= 0)
                mcp_client_gone(p->client, "it ended");
            else
                mcp_client_feed(p->client, (struct slice){ bytes, (size_t)n },
                                clock_now_ns(clock_real()));
        }
        mcp_client_tick(p->client, clock_now_ns(clock_real()));
    }
}

static bool start_server(struct peer *p, char **argv)
{
    int in[2], out[2];
    posix_spawn_file_actions_t actions;
    if (pipe(in) || pipe(out))
        return false;
    fcntl(in[1], F_SETFD, FD_CLOEXEC);
    fcntl(out[0], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_addclose(&actions, in[0]);
    posix_spawn_file_actions_addclose(&actions, out[1]);
    bool ok = !posix_spawnp(&p->pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    p->to = in[1];
    p->from = out[0];
    return ok;
}

/* Wait for the end; false: it has not ended within two seconds. */
static bool has_ended(pid_t pid)
{
    for (int i = 0; i < 200; i++) {
        if (waitpid(pid, NULL, WNOHANG) == pid)
            return true;
        poll(NULL, 0, 10);
    }
    return false;
}

static void stop_server(struct peer *p)
{
    static const int signals[] = { 0, SIGTERM, SIGKILL };
    static const char *const how[] = { "by itself", "by TERM", "by KILL" };
    close(p->to);
    for (size_t i = 0; i < 3; i++) {
        if (signals[i])
            kill(p->pid, signals[i]);
        if (has_ended(p->pid)) {
            printf("ended %s\n", how[i]);
            break;
        }
    }
    close(p->from);
}

int main(int argc, char **argv)
{
    struct peer p = { .commands = argv + 1 };
    char **program = argv + 1;
    struct mcp_client_opts opts = { .elicits = true, .root = "/tmp",
                                    .start_ms = 30000 };
    while (*program && strcmp(*program, "--") != 0)
        program++;
    signal(SIGPIPE, SIG_IGN);
    if (argc < 3 || !*program || !start_server(&p, program + 1)) {
        fprintf(stderr, "usage: mcp_peer COMMAND... -- PROGRAM [ARG...]\n");
        return 2;
    }
    arena_init(&p.arena, mem_default());
    p.client = mcp_client_new(mem_default(), &opts);
    mcp_client_start(p.client, NULL, clock_now_ns(clock_real()));
    run_peer(&p);
    stop_server(&p);
    mcp_client_free(p.client);
    arena_release(&p.arena);
    return 0;
}
