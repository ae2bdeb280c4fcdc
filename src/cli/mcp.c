/*
 * mcp.c - allm mcp: offer the models of the program to MCP clients
 *
 * The server reads messages from standard input and writes messages to
 * standard output, and nothing else.  Its tool "ask" sends a prompt to a model;
 * several calls run at once, in a hub.  The end of the input ends the program
 * and all calls.
 */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/opts.h"
#include "cli/print.h"
#include "cli/target.h"
#include "term/mem.h"

#include "allm.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static struct settings {
    const char *model;
    struct flag_list options;
} settings;

static const struct flag flags[] = {
    { 'm', "--model", FLAG_TEXT, offsetof(struct settings, model), "P:M",
      "provider:model to ask, unless a client names one", FILL_MODEL,
      .setting = "model" },
    { 'o', "--option", FLAG_PAIR, offsetof(struct settings, options), "K V",
      "a provider option, such as temperature 0.2", FILL_NONE },
    { .name = NULL },
};

static const char tools[] =
    "[{\"name\": \"ask\", \"description\": \"Sends a prompt to a language "
    "model and returns its answer.\", \"inputSchema\": {\"type\": \"object\", "
    "\"properties\": {"
    "\"prompt\": {\"type\": \"string\", \"description\": \"What to ask\"}, "
    "\"system\": {\"type\": \"string\", \"description\": \"How the model shall "
    "behave\"}, "
    "\"model\": {\"type\": \"string\", \"description\": \"PROVIDER:MODEL; "
    "without it the default\"}}, \"required\": [\"prompt\"]}}]";

extern const struct command mcp_command;

/* A call of "ask" that is under way. */
struct asking {
    struct asking *next;
    uint64_t id;
    allm_stream *stream;
    double pieces; /* of the answer, so far */
};

struct serving {
    allm_mcp_server *server;
    allm_hub *hub;
    allm_engine *engine;
    struct opts options;
    struct asking *askings;
};

/* ---------------------------------------------------------------- calls --- */

static const char *argument(const allm_mcp_request *r, const char *name)
{
    return allm_json_text(allm_json_get(r->arguments, name), NULL);
}

static allm_stream *start_stream(struct serving *s, const allm_mcp_request *r)
{
    allm_thread *thread = allm_thread_new(NULL);
    if (argument(r, "system"))
        allm_thread_add(thread, ALLM_ROLE_SYSTEM, argument(r, "system"));
    allm_thread_add(thread, ALLM_ROLE_USER, argument(r, "prompt"));
    allm_request *request = allm_request_from_thread(thread, NULL);
    allm_stream *stream = allm_generate(s->engine, request,
                                        ALLM(call_opts,
                                             .model = argument(r, "model"),
                                             .json = s->options.json));
    allm_request_free(request);
    allm_thread_free(thread);
    return stream;
}

static void end_asking(struct serving *s, uint64_t id)
{
    struct asking **at = &s->askings;
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    struct asking *a = *at;
    if (!a)
        return;
    *at = a->next;
    allm_stream_free(a->stream);
    term_free(a);
}

static void answer_asking(struct serving *s, struct asking *a)
{
    const allm_error *error = allm_stream_error(a->stream);
    size_t len = 0;
    const char *text = allm_response_text(allm_stream_response(a->stream),
                                          &len);
    if (error)
        allm_mcp_server_text(s->server, a->id, error->message, ALLM_NUL_ENDED,
                             true);
    else
        allm_mcp_server_text(s->server, a->id, text ? text : "", len, false);
    end_asking(s, a->id);
}

static void start_asking(struct serving *s, const allm_mcp_request *r)
{
    struct asking *a = term_alloc(sizeof *a);
    a->id = r->id;
    a->stream = start_stream(s, r);
    a->next = s->askings;
    s->askings = a;
    if (allm_stream_error(a->stream) ||
        allm_hub_add(s->hub, a->stream, a) != ALLM_OK)
        answer_asking(s, a);
}

/* Pull what has arrived; each piece of text is progress. */
static void pull_asking(struct serving *s, struct asking *a)
{
    const allm_event *event;
    allm_status status;
    while ((status = allm_stream_next(a->stream, &event)) == ALLM_EVENT)
        if (event->type == ALLM_EV_TEXT_DELTA)
            allm_mcp_server_notify(s->server, a->id, ++a->pieces, 0, NULL);
    if (status != ALLM_AGAIN)
        answer_asking(s, a);
}

/* ----------------------------------------------------------------- loop --- */

static void take_requests(struct serving *s)
{
    const allm_mcp_request *r;
    while ((r = allm_mcp_server_next(s->server)))
        if (r->kind == ALLM_MCP_REQUEST_CALL)
            start_asking(s, r);
        else
            end_asking(s, r->id);
}

/* Read once; false: the input has ended. */
static bool read_some(struct serving *s)
{
    char bytes[16 * 1024];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    return n > 0 &&
           allm_mcp_server_feed(s->server, bytes, (size_t)n) == ALLM_OK;
}

/* Write once, no more than a pipe takes; false: nobody reads. */
static bool write_some(struct serving *s)
{
    enum { PIPE_TAKES = 4096 };
    size_t len;
    const char *bytes = allm_mcp_server_out(s->server, &len);
    if (!bytes)
        return true;
    ssize_t n = write(STDOUT_FILENO, bytes,
                      len < PIPE_TAKES ? len : PIPE_TAKES);
    if (n > 0)
        allm_mcp_server_sent(s->server, (size_t)n);
    return n > 0 || errno == EINTR || errno == EAGAIN;
}

/* Wait for something, and do it; false: the client is gone. */
static bool serve_once(struct serving *s)
{
    struct pollfd fds[] = {
        { .fd = STDIN_FILENO, .events = POLLIN },
        { .fd = allm_hub_fd(s->hub), .events = POLLIN },
        { .fd = STDOUT_FILENO, .events = POLLOUT },
    };
    void *tag;
    bool has_output = allm_mcp_server_out(s->server, NULL) != NULL;
    if (poll(fds, has_output ? 3 : 2, allm_hub_timeout(s->hub)) < 0)
        return errno == EINTR;
    while (allm_hub_wait(s->hub, 0, &tag))
        pull_asking(s, tag);
    if (fds[0].revents && !read_some(s))
        return false;
    take_requests(s);
    return !has_output || !fds[2].revents || write_some(s);
}

static int serve(struct serving *s)
{
    while (serve_once(s))
        ;
    const allm_error *error = allm_mcp_server_error(s->server);
    if (error)
        print_fault("%s", error->message);
    while (allm_mcp_server_out(s->server, NULL) && write_some(s))
        ;
    while (s->askings)
        end_asking(s, s->askings->id);
    return error ? END_FAILED : END_DONE;
}

/* -------------------------------------------------------------- command --- */

static int prepare_serving(struct serving *s, const struct target *t)
{
    allm_json *list = allm_json_parse(tools, ALLM_NUL_ENDED, NULL);
    s->server = allm_mcp_server_new(ALLM(mcp_server_opts, .name = "allm",
                                         .version = allm_version(),
                                         .tools = list));
    s->hub = allm_hub_new(NULL);
    s->engine = allm_engine_new(ALLM(engine_opts, .model = t->model,
                                     .keys = t->keys, .catalog = t->catalog));
    allm_json_free(list);
    const allm_error *error = allm_engine_error(s->engine);
    if (!error)
        error = allm_hub_error(s->hub);
    if (error)
        print_fault("%s", error->message);
    return exit_of_error(error);
}

static int run_serve(void)
{
    struct serving s = { .server = NULL };
    struct target target = { .keys = NULL };
    int code = opts_read(&s.options, &settings.options)
                   ? target_choose(&target, settings.model)
                   : END_USAGE;
    if (code == END_DONE)
        code = prepare_serving(&s, &target);
    if (code == END_DONE)
        code = serve(&s);
    allm_hub_free(s.hub);
    allm_engine_free(s.engine);
    allm_mcp_server_free(s.server);
    opts_release(&s.options);
    target_release(&target);
    return code;
}

static int run_mcp_command(int argc, char **argv)
{
    if (!flags_read(flags, &settings, &argc, argv))
        return END_USAGE;
    if (argc > 1 || (argc && strcmp(argv[0], "serve") != 0))
        return command_reject_sub(&mcp_command, argv[argc > 1 ? 1 : 0]);
    return run_serve();
}

const struct command mcp_command = {
    .name = "mcp",
    .usage = "[serve] [FLAG...]",
    .summary = "offer models to MCP clients, over standard input and output",
    .more = "An MCP client, such as an editor, starts this command and gets "
            "the tool \"ask\",\nwhich sends a prompt to a model.  The client's "
            "configuration names it:\n"
            "  {\"mcpServers\": {\"allm\": {\"command\": \"allm\", \"args\": "
            "[\"mcp\"]}}}\n",
    .examples = "allm mcp -m ollama:llama3.2\n",
    .subs = "serve",
    .flags = flags,
    .group = GROUP_TALK,
    .run = run_mcp_command,
};
