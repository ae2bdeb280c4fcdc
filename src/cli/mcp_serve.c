/*
 * mcp_serve.c - allm mcp serve: offer a model and tools to an MCP client
 *
 * The server reads messages from standard input and writes messages to
 * standard output, and nothing else.  Its tool "ask" sends a prompt to a model;
 * the other tools are those of the flags.  Several calls run at once, in a hub.
 * The end of the input ends the program and all calls.
 *
 *      call --> stream --> text
 *        ^        | a rule says "ask"
 *        |        v
 *        '---- elicitation: the client's user decides, and the call comes again
 */
#include "cli/mcp_parts.h"

#include "cli/exit.h"
#include "cli/mcp_ask.h"
#include "cli/mcp_progress.h"
#include "cli/mcp_prompts.h"
#include "cli/mcp_sessions.h"
#include "cli/opts.h"
#include "cli/print.h"
#include "cli/reword.h"
#include "conf/member.h"
#include "term/bytes.h"
#include "term/mem.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A call that is under way. */
struct asking {
    struct asking *next;
    uint64_t id;
    allm_stream *stream;
    double pieces; /* of the answer, so far */
    struct mcp_ask ask;

    /* Of a tool of the toolbox: */
    allm_response *call;   /* an answer of a model that makes this call; NULL:
                              this is the tool "ask" */
    allm_thread *thread;   /* before that answer */
    const char *action;    /* what the client's user answered; or NULL */
    bool can_elicit;       /* the client can ask its user */
    struct bytes question; /* what to ask; empty: nothing */
    struct bytes result;
    allm_json *value;      /* of a tool with an outputSchema; or NULL */
    bool failed;
};

static struct serving {
    allm_mcp_server *server;
    allm_hub *hub;
    bool asks;           /* "ask" is offered */
    allm_engine *runner; /* of the other tools */
    const char *store;   /* --store */
    struct opts options;
    struct asking *askings;
} serving;

/* ---------------------------------------------------------------- tools --- */

/* The call as the answer of a model. */
static allm_response *make_response(const allm_mcp_request *r)
{
    char id[32];
    snprintf(id, sizeof id, "mcp%llu", (unsigned long long)r->id);
    const allm_tool_call call = { .size = sizeof call, .id = id,
                                  .name = r->name, .arguments = r->arguments };
    const allm_tool_call *const calls[] = { &call };
    return allm_response_new(ALLM(response, .tool_call_count = 1,
                                  .tool_calls = calls,
                                  .finish_reason = ALLM_FINISH_TOOL_CALLS));
}

static void start_tool(struct serving *s, struct asking *a,
                       const allm_mcp_request *r)
{
    a->thread = allm_thread_new(NULL);
    allm_thread_add(a->thread, ALLM_ROLE_USER, r->name);
    a->call = make_response(r);
    a->action = member_read(r->answer, "action");
    a->can_elicit = r->elicits;
    a->stream = allm_step(s->runner, a->thread,
                          ALLM(call_opts, .replay = ALLM(journal_replay,
                                                         .response = a->call)));
}

static struct asking *find_asking(const char *call_id)
{
    struct asking *a = serving.askings;
    while (a && (!a->call || strcmp(a->call->tool_calls[0]->id, call_id) != 0))
        a = a->next;
    return a;
}

static void take_approval(void *ud, allm_approval *approval)
{
    const allm_tool_call *call = allm_approval_call(approval);
    struct asking *a = find_asking(call->id);
    (void)ud;
    bool may = a && a->can_elicit;
    if (may && a->action && !strcmp(a->action, "accept")) {
        allm_approval_allow(approval, ALLM_APPROVAL_ONCE);
    } else if (may && !a->action) {
        const struct approve_call c = { call->id, call->name, call->arguments,
                                        allm_approval_reach(approval) };
        approve_title(&a->question, &c);
        bytes_text(&a->question, ".  Allow it?");
        allm_approval_leave(approval);
    } else {
        allm_approval_deny(approval, may ? NULL
                                         : "nobody can be asked here; the rule "
                                           "--approve TOOL=auto of allm mcp "
                                           "allows such calls");
    }
    allm_approval_free(approval);
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
    mcp_ask_end(&a->ask);
    allm_json_free(a->value);
    allm_response_free(a->call);
    allm_thread_free(a->thread);
    bytes_release(&a->question);
    bytes_release(&a->result);
    term_free(a);
}

/* Ask the client's user; the request ends, and comes again. */
static void elicit_approval(struct serving *s, struct asking *a)
{
    static const char form[] = "{\"type\": \"object\", \"properties\": {}}";
    allm_json *schema = allm_json_parse(form, ALLM_NUL_ENDED, NULL);
    allm_mcp_server_elicit(s->server, a->id, bytes_string(&a->question),
                           schema);
    allm_json_free(schema);
}

/* The images of the result, which follow its text. */
static void put_images(allm_json_build *b, const struct asking *a)
{
    const allm_step_result *step = allm_stream_step_result(a->stream);
    const allm_message *m = step && step->tool_result_count
                                ? step->tool_results[0]
                                : NULL;
    for (size_t i = 0; m && i < m->part_count; i++) {
        const allm_image *image = m->parts[i]->image;
        if (!image || image->source != ALLM_IMAGE_BASE64)
            continue;
        allm_json_build_object(b);
        member_text(b, "type", "image");
        member_text_n(b, "data", image->data, image->data_len);
        member_text_or_null(b, "mimeType", image->mime_type);
        allm_json_build_end(b);
    }
}

/* {"content": [{"type": "text", "text"}, ...], "structuredContent",
 * "isError"} */
static void answer_result(struct serving *s, const struct asking *a)
{
    allm_json_build *b = member_new_object();
    member_array(b, "content");
    allm_json_build_object(b);
    member_text(b, "type", "text");
    member_text_n(b, "text", bytes_string(&a->result), a->result.len);
    allm_json_build_end(b);
    put_images(b, a);
    allm_json_build_end(b);
    if (a->value)
        member_value(b, "structuredContent", a->value);
    if (a->failed) {
        member_bool(b, "isError", true);
    }
    allm_json *result = member_done(b);
    allm_mcp_server_answer(s->server, a->id, result);
    allm_json_free(result);
}

static void answer_tool(struct serving *s, struct asking *a)
{
    if (a->question.len)
        elicit_approval(s, a);
    else
        answer_result(s, a);
}

/* Pass on what the tools have reported. */
static void pass_progress(struct serving *s)
{
    struct mcp_progress *p;
    while ((p = mcp_progress_next())) {
        const struct asking *a = find_asking(p->call_id);
        if (a)
            allm_mcp_server_notify(s->server, a->id, p->progress, p->total,
                                   p->message);
        mcp_progress_free(p);
    }
}

static void answer_asking(struct serving *s, struct asking *a)
{
    const allm_error *error = allm_stream_error(a->stream);
    allm_error *better = reword_error(error);
    size_t len = 0;
    const char *text =
        better  ? better->message
        : error ? error->message
                : allm_response_text(allm_stream_response(a->stream), &len);
    pass_progress(s); /* what came before the result */
    if (a->call && !error) {
        answer_tool(s, a);
    } else {
        mcp_ask_keep(&a->ask);
        allm_mcp_server_text(s->server, a->id, text ? text : "",
                             error ? ALLM_NUL_ENDED : len, error != NULL);
    }
    allm_error_free(better);
    end_asking(s, a->id);
}

static void start_asking(struct serving *s, const allm_mcp_request *r)
{
    struct asking *a = term_alloc(sizeof *a);
    a->id = r->id;
    if (s->asks && !strcmp(r->name, "ask"))
        a->stream = mcp_ask_start(&a->ask, r);
    else
        start_tool(s, a, r);
    a->next = s->askings;
    s->askings = a;
    if (!a->stream) {
        allm_mcp_server_text(s->server, a->id, a->ask.why, ALLM_NUL_ENDED,
                             true);
        end_asking(s, a->id);
    } else if (allm_stream_error(a->stream) ||
               allm_hub_add(s->hub, a->stream, a) != ALLM_OK) {
        answer_asking(s, a);
    }
}

/* The schema of a tool's results; NULL: it has none. */
static const allm_json *output_of(const allm_tool *tool)
{
    return allm_json_get(tool->metadata, "output_schema");
}

static bool has_schema(const char *name)
{
    const allm_tool *tool = toolbox_tool(name);
    return tool && output_of(tool);
}

static void note_result(struct asking *a, const allm_event *event)
{
    const allm_json *value = allm_json_get(event->result, "ok");
    a->failed = allm_json_get(event->result, "error") != NULL;
    if (a->call && value && has_schema(event->name))
        a->value = allm_json_copy(value);
}

/* What the client's model sees: of {"error": text} the text. */
static void note_text(struct asking *a, const allm_event *event)
{
    allm_json *failure =
        a->failed ? allm_json_parse(event->text, event->text_len, NULL) : NULL;
    const char *text = member_read(failure, "error");
    bytes_add(&a->result, text ? text : event->text,
              text ? strlen(text) : event->text_len);
    allm_json_free(failure);
}

/* The client's model can ask its user, and call the tool again. */
static void note_question(struct asking *a, const allm_event *event)
{
    a->failed = true;
    bytes_text(&a->result, "the tool asks: ");
    bytes_add(&a->result, event->text, event->text_len);
}

/* Each piece of text is progress; the result of a tool is the answer. */
static void note_event(struct serving *s, struct asking *a,
                       const allm_event *event)
{
    if (!a->call && event->type == ALLM_EV_TEXT_DELTA)
        allm_mcp_server_notify(s->server, a->id, ++a->pieces, 0, NULL);
    else if (event->type == ALLM_EV_TOOL_EXECUTION_COMPLETED)
        note_result(a, event);
    else if ((event->type == ALLM_EV_TOOL_RESULT_ENCODED ||
              event->type == ALLM_EV_TOOL_HALT) &&
             event->text)
        note_text(a, event);
    else if (event->type == ALLM_EV_ASK_USER_REQUESTED)
        note_question(a, event);
}

/* Pull what has arrived. */
static void pull_asking(struct serving *s, struct asking *a)
{
    const allm_event *event;
    allm_status status;
    while ((status = allm_stream_next(a->stream, &event)) == ALLM_EVENT)
        note_event(s, a, event);
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
        else if (r->kind == ALLM_MCP_REQUEST_PROMPT)
            mcp_prompts_answer(s->server, r);
        else if (r->kind == ALLM_MCP_REQUEST_READ)
            mcp_sessions_answer(s->server, r, s->store);
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

/* At the end: does the client still read?  It may be stuck. */
static bool is_read(void)
{
    enum { GRACE_MS = 2000 };
    struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
    return poll(&out, 1, GRACE_MS) > 0;
}

/* Wait for something, and do it; false: the client is gone. */
static bool serve_once(struct serving *s)
{
    struct pollfd fds[] = {
        { .fd = STDIN_FILENO, .events = POLLIN },
        { .fd = allm_hub_fd(s->hub), .events = POLLIN },
        { .fd = mcp_progress_fd(), .events = POLLIN },
        { .fd = STDOUT_FILENO, .events = POLLOUT },
    };
    void *tag;
    bool has_output = allm_mcp_server_out(s->server, NULL) != NULL;
    if (poll(fds, has_output ? 4 : 3, allm_hub_timeout(s->hub)) < 0)
        return errno == EINTR;
    pass_progress(s);
    while (allm_hub_wait(s->hub, 0, &tag))
        pull_asking(s, tag);
    if (fds[0].revents && !read_some(s))
        return false;
    take_requests(s);
    return !has_output || !fds[3].revents || write_some(s);
}

static int serve(struct serving *s)
{
    while (serve_once(s))
        ;
    const allm_error *error = allm_mcp_server_error(s->server);
    if (error)
        print_fault("%s", error->message);
    while (s->askings)
        end_asking(s, s->askings->id);
    while (allm_mcp_server_out(s->server, NULL) && is_read() && write_some(s))
        ;
    return error ? END_FAILED : END_DONE;
}

/* ---------------------------------------------------------------- start --- */

static void put_tool(allm_json_build *b, const allm_tool *tool)
{
    allm_json *parsed = tool->schema ? NULL
                                     : allm_json_parse(tool->schema_text
                                                           ? tool->schema_text
                                                           : "{\"type\": "
                                                             "\"object\"}",
                                                       ALLM_NUL_ENDED, NULL);
    allm_json_build_object(b);
    member_text(b, "name", tool->name);
    member_text(b, "description", tool->description ? tool->description : "");
    member_value(b, "inputSchema", tool->schema ? tool->schema : parsed);
    if (output_of(tool))
        member_value(b, "outputSchema", output_of(tool));
    allm_json_build_end(b);
    allm_json_free(parsed);
}

/* "ask", if there is a model, then the tools of the flags. */
static allm_json *list_offered(bool ask)
{
    size_t count;
    const allm_tool *const *tools = toolbox_tools(&count);
    allm_json *own = allm_json_parse(mcp_ask_tool, ALLM_NUL_ENDED, NULL);
    allm_json_build *b = member_new_array();
    if (ask)
        allm_json_build_value(b, own);
    for (size_t i = 0; i < count; i++)
        if (!ask || strcmp(tools[i]->name, "ask") != 0)
            put_tool(b, tools[i]);
    allm_json_free(own);
    return member_done(b);
}

static void make_server(struct serving *s)
{
    allm_json *tools = list_offered(s->asks);
    allm_json *prompts = mcp_prompts_list();
    allm_json *sessions = mcp_sessions_list(s->store);
    allm_json *templates = mcp_sessions_templates();
    s->server = allm_mcp_server_new(
        ALLM(mcp_server_opts, .name = "allm", .version = allm_version(),
             .tools = tools, .resources = sessions, .templates = templates,
             .prompts = allm_json_count(prompts) ? prompts : NULL));
    allm_json_free(tools);
    allm_json_free(prompts);
    allm_json_free(sessions);
    allm_json_free(templates);
}

static int prepare_serving(struct serving *s)
{
    allm_engine_opts opts = { .size = sizeof opts, .model = "fake:none" };
    toolbox_apply(&opts);
    s->runner = allm_engine_new(&opts);
    s->hub = allm_hub_new(NULL);
    make_server(s);
    const allm_error *error = allm_mcp_server_error(s->server);
    if (!error)
        error = allm_hub_error(s->hub);
    if (error)
        print_fault("%s", error->message);
    return exit_of_error(error);
}

/* Without -m, tools can be offered without a model, too. */
static int open_parts(struct serving *s, const struct mcp_flags *f)
{
    size_t count;
    mcp_progress_open();
    int code = opts_read(&s->options, &f->options)
                   ? toolbox_open(&(struct toolbox_wish){
                         .flags = &f->toolbox, .approve = take_approval,
                         .progress = mcp_progress_take })
                   : END_USAGE;
    toolbox_tools(&count);
    if (code == END_DONE)
        code = mcp_ask_open(f, s->options.json, count && !f->model, &s->asks);
    return code == END_DONE ? prepare_serving(s) : code;
}

int mcp_serve(const struct mcp_flags *f)
{
    struct serving *s = &serving;
    s->store = f->store;
    int code = open_parts(s, f);
    if (code == END_DONE)
        code = serve(s);
    allm_hub_free(s->hub);
    allm_engine_free(s->runner);
    allm_mcp_server_free(s->server);
    toolbox_close();
    mcp_progress_close();
    opts_release(&s->options);
    return code;
}
