/* ask.c - allm [PROMPT...]: send a prompt, print the answer */
#include "cli/ask.h"

#include "cli/ask_user.h"
#include "cli/capture.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/input.h"
#include "cli/opts.h"
#include "cli/print.h"
#include "cli/prompt.h"
#include "cli/registry.h"
#include "cli/show.h"
#include "cli/target.h"

#include <stddef.h>
#include <unistd.h>

#define AT(member) offsetof(struct ask, member)

const struct flag ask_flags[] = {
    { 'm', "--model", FLAG_TEXT, AT(model), "P:M", "provider:model to ask",
      FILL_MODEL, .setting = "model",
      .use = FLAG_MOST | FLAG_CHAT | FLAG_BATCH },
    { 's', "--system", FLAG_TEXT, AT(system), "TEXT",
      "the system prompt", .setting = "system",
      .use = FLAG_MOST | FLAG_CHAT | FLAG_BATCH },
    { 'S', "--session", FLAG_TEXT, AT(session.word), "NAME",
      "start or continue a session; with / or .: a file",
      FILL_SESSION, .use = FLAG_MOST | FLAG_CHAT },
    { 'c', "--continue", FLAG_SWITCH, AT(session.latest), NULL,
      "continue the session that changed last",
      .use = FLAG_MOST | FLAG_CHAT },
    { 0, "--keep", FLAG_SWITCH, AT(session.keep), NULL,
      "start a session with a new name", .setting = "keep",
      .use = FLAG_CHAT },
    { 0, "--store", FLAG_TEXT, AT(session.store), "URI",
      "the store of the sessions; else ALLM_STORE",
      .setting = "store", .use = FLAG_CHAT },
    { 'a', "--attach", FLAG_LIST, AT(files), "FILE",
      "a text file or an image; may be repeated", FILL_FILE,
      .use = FLAG_MOST | FLAG_CHAT },
    { 0, "--schema", FLAG_TEXT, AT(schema), "FILE",
      "the answer must fit this JSON Schema", FILL_FILE,
      .use = FLAG_MOST | FLAG_CHAT | FLAG_BATCH },
    { 'o', "--option", FLAG_PAIR, AT(options), "K V",
      "a provider option, such as temperature 0.2",
      .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--json", FLAG_SWITCH, AT(json), NULL, "print one JSON document",
      .use = FLAG_MOST },
    { 0, "--events", FLAG_SWITCH, AT(events), NULL,
      "print the events as JSON, one per line" },
    { 0, "--no-stream", FLAG_SWITCH, AT(no_stream), NULL,
      "print the answer once it is complete", .setting = "stream" },
    { 'u', "--usage", FLAG_SWITCH, AT(usage), NULL,
      "print tokens and cost on stderr", .setting = "usage",
      .use = FLAG_MOST | FLAG_CHAT | FLAG_BATCH },
    { 0, "--ask", FLAG_SWITCH, AT(ask_user), NULL,
      "let the model ask a question (exit code 10)", .use = FLAG_CHAT },
    { 0, "--max-turns", FLAG_NUMBER, AT(max_turns), "N",
      "stop after N answers of the model", .setting = "max_turns",
      .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--timeout", FLAG_SECONDS, AT(timeout_ms), "T",
      "stop after this time: 90, 90s, 5m, 2h", .setting = "timeout",
      .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--dry-run", FLAG_SWITCH, AT(dry_run), NULL,
      "show the request, send nothing" },
    { 'q', "--quiet", FLAG_SWITCH, AT(quiet), NULL, "no notes on stderr" },
    { 'v', "--verbose", FLAG_SWITCH, AT(verbose), NULL,
      "print the model and each call on stderr" },
    FLAGS_OF_TOOLS,
    { .name = NULL },
};

/* The state of one call. */
struct question {
    const struct ask *ask;
    struct target target;
    struct opts options;
    struct capture capture;
    allm_json *format; /* response_format, or NULL */
    allm_thread *prompt; /* one message */
    struct session session;
    allm_engine *engine;
};

static bool read_schema(struct question *q)
{
    if (!q->ask->schema)
        return true;
    allm_json *document = input_json(q->ask->schema);
    if (!document)
        return false;
    allm_json_schema *schema = allm_json_schema_new(document);
    const allm_error *error = allm_json_schema_error(schema);
    if (error)
        print_fault("%s is not a JSON Schema: %s", q->ask->schema,
                    error->message);
    else
        q->format = allm_request_json_schema("answer", document, true);
    allm_json_schema_free(schema);
    allm_json_free(document);
    return q->format != NULL;
}

/* There is no prompt: print help, or the question that is still open. */
static int report_no_prompt(const struct ask *a)
{
    struct session s = { 0 };
    const char *question = NULL;
    bool stored = a->session.word || a->session.latest;
    if (isatty(STDIN_FILENO) && !stored)
        help_overview(false);
    if (stored) {
        int code = session_open(&s, &a->session,
                                SESSION_CREATE | SESSION_READ_ONLY);
        if (code != END_DONE) {
            session_close(&s);
            return code;
        }
        question = session_question(&s);
    }
    print_fault("no prompt: pass one as arguments or on standard input%s%s",
                question ? "; the model waits for an answer to: " : "",
                question ? question : "");
    session_close(&s);
    return END_USAGE;
}

/* Build the user's message.  Returns END_DONE or an exit code. */
static int read_prompt(struct question *q, int argc, char **argv)
{
    q->prompt = allm_thread_new(NULL);
    allm_status status = prompt_add(q->prompt, argc, argv, &q->ask->files);
    return status == ALLM_OK      ? END_DONE
           : status == ALLM_AGAIN ? report_no_prompt(q->ask)
                                  : END_USAGE;
}

/* Open the session and choose the model. */
static int open_conversation(struct question *q)
{
    const struct ask *a = q->ask;
    unsigned use = SESSION_CREATE |
                   (a->dry_run ? (unsigned)SESSION_READ_ONLY : 0);
    int code = session_open(&q->session, &a->session, use);
    if (code == END_DONE)
        code = target_choose(&q->target,
                             a->model ? a->model : session_model(&q->session));
    if (code == END_DONE)
        code = session_set_system(&q->session, a->system);
    if (code == END_DONE && q->session.path)
        code = session_set_model(&q->session, q->target.model);
    return code;
}

/* The event may contain bytes from a server, so print_trace() escapes it. */
static void print_trace_event(const allm_trace_event *event, void *ud)
{
    (void)ud;
    print_trace(allm_trace_json(event, ALLM_TRACE_PLAIN));
}

static void make_engine(struct question *q)
{
    const struct ask *a = q->ask;
    allm_json *once = allm_json_parse("false", ALLM_NUL_ENDED, NULL);
    allm_engine_opts opts = {
        .size = sizeof opts,
        .model = q->target.model,
        .keys = q->target.keys,
        .catalog = q->target.catalog,
        .transport = a->dry_run ? &q->capture.transport : a->transport,
        .retry = a->dry_run ? once : NULL,
        .tool_count = a->ask_user ? 1 : 0,
        .tools = a->ask_user ? ask_user_tools() : NULL,
        .trace = a->verbose ? print_trace_event : NULL,
    };
    q->engine = allm_engine_new(&opts);
    allm_json_free(once);
}

static allm_call_opts call_opts(const struct question *q)
{
    const struct ask *a = q->ask;
    bool any_key = a->any_key || (a->dry_run && !q->target.keyless);
    return (allm_call_opts){
        .size = sizeof(allm_call_opts),
        .api_key = any_key ? "none" : NULL,
        .max_turns = a->max_turns,
        .total_ms = a->timeout_ms,
        .response_format = q->format,
        .validate_output = q->format != NULL,
        .json = q->options.json,
    };
}

static allm_stream *start_call(struct question *q)
{
    allm_call_opts opts = call_opts(q);
    return allm_session_continue(q->engine, q->session.session,
                                 allm_thread_last(q->prompt), &opts);
}

static int dry_run(struct question *q)
{
    allm_stream *stream = start_call(q);
    allm_stream_wait(stream);
    int code = capture_show(&q->capture, stream, false);
    allm_stream_free(stream);
    return code;
}

static enum show_form choose_form(const struct question *q)
{
    const struct ask *a = q->ask;
    return a->json                     ? SHOW_JSON
           : a->events                 ? SHOW_EVENTS
           : a->no_stream || q->format ? SHOW_WHOLE
                                       : SHOW_STREAM;
}

static int run_call(struct question *q)
{
    struct show how = { .form = choose_form(q), .usage = q->ask->usage,
                        .verbose = q->ask->verbose,
                        .value = q->format != NULL, .session = &q->session };
    allm_stream *stream = start_call(q);
    int code = show_chat(stream, &how);
    allm_stream_free(stream);
    return code;
}

static int prepare_question(struct question *q, int argc, char **argv)
{
    const struct ask *a = q->ask;
    print_silence(a->quiet);
    if (a->json && a->events) {
        print_fault("--json and --events exclude each other");
        return END_USAGE;
    }
    if (!opts_read(&q->options, &a->options) || !read_schema(q))
        return END_USAGE;
    int code = read_prompt(q, argc, argv);
    return code == END_DONE ? open_conversation(q) : code;
}

int ask_run(const struct ask *a, int argc, char **argv)
{
    struct question q = { .ask = a };
    capture_init(&q.capture);
    int code = prepare_question(&q, argc, argv);
    if (code == END_DONE) {
        if (a->verbose)
            print_note("using %s", q.target.model);
        if (q.format)
            registry_note_schema(q.target.model);
        make_engine(&q);
        code = a->dry_run ? dry_run(&q) : run_call(&q);
    }
    allm_engine_free(q.engine);
    session_close(&q.session);
    allm_thread_free(q.prompt);
    target_release(&q.target);
    capture_release(&q.capture);
    opts_release(&q.options);
    allm_json_free(q.format);
    return code;
}

static int run_ask_command(int argc, char **argv)
{
    static struct ask a;
    if (!flags_read(ask_flags, &a, &argc, argv))
        return END_USAGE;
    return ask_run(&a, argc, argv);
}

const struct command ask_command = {
    .name = "ask",
    .usage = "[FLAG...] [PROMPT...]",
    .summary = "send a prompt: standard input, then the arguments",
    .more = "Only the answer is printed on stdout.  Without -m, the model is "
            "that of the\nsession, else ALLM_MODEL, else the default model of "
            "the first provider that has\na key.  Put -- before a prompt that "
            "begins with the name of a command:\n  allm -- models are what?\n",
    .examples = "allm \"Why is the sky blue?\"\n"
                "git diff | allm -s \"You review code.\" \"Anything wrong?\"\n"
                "allm -m ollama:llama3.2 -a photo.png \"What is this?\"\n"
                "allm demo                     no key, no network\n",
    .args = { FILL_FILE, FILL_FILE, FILL_FILE },
    .flags = ask_flags,
    .run = run_ask_command,
};
