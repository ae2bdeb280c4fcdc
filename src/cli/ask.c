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
#include "cli/reasoning.h"
#include "cli/registry.h"
#include "cli/schema_words.h"
#include "cli/settings.h"
#include "cli/show.h"
#include "cli/target.h"
#include "cli/timing.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
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
      "a text file, an image, an image's URL, or -", FILL_FILE,
      .use = FLAG_MOST | FLAG_CHAT },
    { 0, "--at", FLAG_PAIR, AT(typed_files), "FILE MIME",
      "a file of this type", FILL_FILE, .use = FLAG_CHAT },
    { 'f', "--file", FLAG_LIST, AT(texts), "FILE",
      "text before the prompt, as a fenced block", FILL_FILE,
      .use = FLAG_CHAT },
    { 0, "--schema", FLAG_TEXT, AT(schema), "FILE",
      "a JSON Schema for the answer, or 'name, age int'", FILL_FILE,
      .use = FLAG_MOST | FLAG_CHAT | FLAG_BATCH },
    { 0, "--task", FLAG_TEXT, AT(task), "NAME",
      "use the models that routing.NAME lists", FILL_TASK,
      .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--key", FLAG_TEXT, AT(key), "NAME",
      "the name of a key in allm keys, not the key", FILL_KEY,
      .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--base-url", FLAG_TEXT, AT(base_url), "URL",
      "the address of the server", .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--proxy", FLAG_TEXT, AT(proxy), "URL", "use this proxy",
      .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--cacert", FLAG_TEXT, AT(cacert), "FILE",
      "trust the certificates in this file", FILL_FILE,
      .use = FLAG_CHAT | FLAG_BATCH },
    { 'H', "--header", FLAG_LIST, AT(headers), "'K: V'",
      "send this header; may be repeated", .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--config", FLAG_TEXT, AT(config), "FILE",
      "also read this file of settings", FILL_FILE, .variable = "ALLM_CONFIG",
      .use = FLAG_CHAT | FLAG_BATCH },
    { 'o', "--option", FLAG_PAIR, AT(options), "K V",
      "a provider option, such as temperature 0.2",
      .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--json", FLAG_SWITCH, AT(json), NULL, "print one JSON document",
      .use = FLAG_MOST },
    { 0, "--events", FLAG_SWITCH, AT(events), NULL,
      "print the events as JSON, one per line" },
    { 'r', "--raw", FLAG_SWITCH, AT(look.raw), NULL,
      "print the answer as it is, also on a terminal" },
    { 0, "--markdown", FLAG_CHOICE, AT(look.markdown), "auto|on|off",
      "show Markdown; auto: on a terminal", FILL_WORDS, "auto|on|off",
      .setting = "output.markdown", .use = FLAG_CHAT },
    { 0, "--color", FLAG_CHOICE, AT(look.color), "auto|on|off",
      "use colours; auto: on a terminal", FILL_WORDS, "auto|on|off",
      .setting = "output.color", .use = FLAG_CHAT },
    { 0, "--width", FLAG_NUMBER, AT(look.width), "N",
      "columns of a line of Markdown", .setting = "output.width",
      .use = FLAG_CHAT },
    { 'R', "--hide-reasoning", FLAG_SWITCH, AT(look.hide_reasoning), NULL,
      "do not print the reasoning on stderr", .setting = "output.reasoning",
      .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--no-stream", FLAG_SWITCH, AT(no_stream), NULL,
      "print the answer once it is complete", .setting = "stream" },
    { 'x', "--extract", FLAG_SWITCH, AT(extract_first), NULL,
      "print only the first fenced code block", .use = FLAG_BATCH },
    { 0, "--xl", FLAG_SWITCH, AT(extract_last), NULL,
      "print only the last fenced code block", .use = FLAG_BATCH },
    { 0, "--xa", FLAG_SWITCH, AT(extract_all), NULL,
      "print only the fenced code blocks", .use = FLAG_BATCH },
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
    { 0, "--max-tokens", FLAG_NUMBER, AT(max_tokens), "N",
      "at most N tokens for an answer", .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--max-cost", FLAG_COST, AT(max_cost), "USD",
      "stop before the call costs more", .setting = "max_cost",
      .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--reasoning", FLAG_TEXT, AT(reasoning), "LEVEL",
      "none, low, medium, high, or a number of tokens",
      .setting = "reasoning", .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--retry", FLAG_NUMBER, AT(attempts), "N",
      "try a request at most N times (3)", .setting = "retry",
      .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--max-input", FLAG_NUMBER, AT(max_input), "N",
      "accept inputs of N bytes (64M)" },
    { 0, "--record", FLAG_TEXT, AT(taps.record), "FILE",
      "record the requests and answers, without keys", FILL_FILE,
      .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--replay", FLAG_TEXT, AT(taps.replay), "FILE",
      "answer from a recording, without a network", FILL_FILE,
      .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--trace", FLAG_TEXT, AT(taps.trace), "FILE",
      "append the trace of the call to a file", FILL_FILE,
      .use = FLAG_CHAT | FLAG_BATCH },
    { 'n', "--no-store", FLAG_SWITCH, AT(session.none), NULL,
      "do not store the session" },
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
    allm_budget *budget; /* of --max-cost, or NULL */
    struct taps taps;
    struct input system; /* of -s @FILE */
    bool started; /* content has arrived */
};

/* A file, or the short form: a word that is no file and no path. */
static allm_json *load_schema(const char *word)
{
    bool file = !access(word, F_OK) || strpbrk(word, "/.") ||
                !strcmp(word, "-");
    return file ? input_json(word) : schema_words_read(word);
}

static bool read_schema(struct question *q)
{
    if (!q->ask->schema)
        return true;
    allm_json *document = load_schema(q->ask->schema);
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
    const struct prompt_files files = { &q->ask->files, &q->ask->typed_files,
                                        &q->ask->texts };
    allm_status status = prompt_add_files(q->prompt, argc, argv, &files);
    return status == ALLM_OK      ? END_DONE
           : status == ALLM_AGAIN ? report_no_prompt(q->ask)
                                  : END_USAGE;
}

/* -s TEXT, or -s @FILE. */
static bool read_system(struct question *q)
{
    const char *word = q->ask->system;
    if (!word || *word != '@')
        return true;
    if (!input_load(&q->system, word + 1))
        return false;
    while (q->system.len && q->system.ptr[q->system.len - 1] == '\n')
        q->system.ptr[--q->system.len] = 0;
    if (strlen(q->system.ptr) == q->system.len)
        return true;
    print_fault("%s is not UTF-8 text", word + 1);
    return false;
}

/* What the flags and the session ask for. */
static struct wish make_wish(const struct question *q)
{
    const struct ask *a = q->ask;
    return (struct wish){
        .model = a->model,
        .task = a->task,
        .session = session_model(&q->session),
        .system = q->system.ptr ? q->system.ptr : a->system,
        .options = q->options.json,
        .key = a->key,
        .base_url = a->base_url,
        .proxy = a->proxy,
        .cacert = a->cacert,
        .headers = &a->headers,
        .any_key = a->any_key || a->dry_run,
    };
}

/* The system prompt of -s; that of a setting only if there is none yet. */
static const char *choose_system(const struct question *q)
{
    const allm_message *first =
        allm_thread_at(allm_session_thread(q->session.session), 0);
    bool has_one = first && first->role == ALLM_ROLE_SYSTEM;
    return q->ask->system || !has_one ? q->target.system : NULL;
}

/* Open the session and choose the model. */
static int open_conversation(struct question *q)
{
    const struct ask *a = q->ask;
    unsigned use = SESSION_CREATE |
                   (a->dry_run ? (unsigned)SESSION_READ_ONLY : 0);
    int code = session_open(&q->session, &a->session, use);
    struct wish wish = code == END_DONE ? make_wish(q) : (struct wish){ 0 };
    if (code == END_DONE)
        code = target_resolve(&q->target, &wish);
    if (code == END_DONE)
        code = session_set_system(&q->session, choose_system(q));
    if (code == END_DONE && q->session.path)
        code = session_set_model(&q->session, q->target.name);
    return code;
}

/* The event may contain bytes from a server, so print_trace() escapes it. */
static void print_trace_event(const allm_trace_event *event, void *ud)
{
    (void)ud;
    print_trace(allm_trace_json(event, ALLM_TRACE_PLAIN));
}

/* The retry policy of --retry; NULL: the default. */
static allm_json *make_retry(uint32_t attempts)
{
    char text[64];
    int n = snprintf(text, sizeof text, "{\"max_attempts\": %u}", attempts);
    return attempts ? allm_json_parse(text, (size_t)n, NULL) : NULL;
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
        .net = &q->target.net,
        .transport = a->dry_run ? &q->capture.transport : a->transport,
        .retry = a->dry_run ? once : NULL,
        .tool_count = a->ask_user ? 1 : 0,
        .tools = a->ask_user ? ask_user_tools() : NULL,
        .trace = a->verbose ? print_trace_event : NULL,
    };
    allm_json *retry = make_retry(a->attempts);
    if (retry && !a->dry_run)
        opts.retry = retry;
    if (!a->dry_run)
        taps_apply(&q->taps, &opts);
    q->engine = allm_engine_new(&opts);
    allm_json_free(retry);
    allm_json_free(once);
}

static allm_status note_content(const allm_event *event, void *ud)
{
    struct question *q = ud;
    timing_note(event, NULL);
    q->started |= event->type != ALLM_EV_MESSAGE_STARTED &&
                  event->type != ALLM_EV_RAW_CHUNK &&
                  event->type != ALLM_EV_ERROR;
    return ALLM_OK;
}

static allm_call_opts call_opts(struct question *q)
{
    const struct ask *a = q->ask;
    bool any_key = a->any_key || a->taps.replay ||
                   (a->dry_run && !q->target.keyless);
    return (allm_call_opts){
        .size = sizeof(allm_call_opts),
        .api_key = any_key ? "none" : NULL,
        .max_turns = a->max_turns ? a->max_turns
                                  : settings_count("max_turns", 0),
        .total_ms = a->timeout_ms ? a->timeout_ms : settings_ms("timeout", 0),
        .on_event = note_content,
        .on_event_ud = q,
        .response_format = q->format,
        .validate_output = q->format != NULL,
        .json = q->target.options,
        .budget = q->budget,
    };
}

static allm_stream *start_call(struct question *q)
{
    allm_call_opts opts = call_opts(q);
    timing_begin();
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

static enum extract choose_extract(const struct ask *a)
{
    return a->extract_all     ? EXTRACT_ALL
           : a->extract_last  ? EXTRACT_LAST
           : a->extract_first ? EXTRACT_FIRST
                              : EXTRACT_NOTHING;
}

static enum show_form choose_form(const struct question *q)
{
    const struct ask *a = q->ask;
    return a->json     ? SHOW_JSON
           : a->events ? SHOW_EVENTS
           : a->no_stream || q->format || choose_extract(a) ||
                   !settings_true("stream", true)
               ? SHOW_WHOLE
               : SHOW_STREAM;
}

/* The call failed: try the next model of the task, if nothing has arrived. */
static bool try_next(void *ud, const allm_error *error)
{
    struct question *q = ud;
    if (q->started || !target_fall_back(&q->target, error) ||
        session_ready(&q->session) != END_DONE)
        return false;
    allm_engine_free(q->engine);
    make_engine(q);
    return true;
}

static int run_call(struct question *q)
{
    struct show how = { .form = choose_form(q),
                        .usage = q->ask->usage || settings_true("usage", false),
                        .verbose = q->ask->verbose,
                        .extract = choose_extract(q->ask),
                        .value = q->format != NULL,
                        .session = &q->session, .look = q->ask->look,
                        .try_next = try_next, .ud = q };
    how.look.quiet = q->ask->quiet;
    how.look.verbose = q->ask->verbose;
    if (q->format) /* JSON is not Markdown */
        how.look.markdown = "off";
    int code = SHOW_AGAIN;
    while (code == SHOW_AGAIN) {
        allm_stream *stream = start_call(q);
        code = show_chat(stream, &how);
        allm_stream_free(stream);
    }
    return code;
}

/* --max-tokens, --reasoning and --max-cost. */
static bool read_limits(struct question *q)
{
    const struct ask *a = q->ask;
    if (a->max_tokens) {
        allm_json_build *b = allm_json_build_new(NULL);
        allm_json_build_int(b, a->max_tokens);
        if (!opts_put(&q->options, "max_tokens", allm_json_build_done(b)))
            return false;
    }
    if (a->max_cost > 0)
        q->budget = allm_budget_new(ALLM(budget_opts, .max_cost = a->max_cost));
    return !a->reasoning || reasoning_put(&q->options, a->reasoning);
}

static int prepare_question(struct question *q, int argc, char **argv)
{
    const struct ask *a = q->ask;
    print_silence(a->quiet);
    settings_use(a->config);
    if (a->json && a->events) {
        print_fault("--json and --events exclude each other");
        return END_USAGE;
    }
    if (a->max_input)
        input_set_limit(a->max_input);
    if (!opts_read(&q->options, &a->options) || !read_limits(q) ||
        !read_schema(q) || !read_system(q))
        return END_USAGE;
    int code = taps_open(&q->taps);
    if (code == END_DONE)
        code = read_prompt(q, argc, argv);
    return code == END_DONE ? open_conversation(q) : code;
}

int ask_run(const struct ask *a, int argc, char **argv)
{
    struct question q = { .ask = a, .taps = a->taps };
    capture_init(&q.capture);
    int code = prepare_question(&q, argc, argv);
    if (code == END_DONE) {
        if (a->verbose)
            print_note("using %s", q.target.name);
        if (q.format)
            registry_note_schema(q.target.model);
        make_engine(&q);
        code = a->dry_run ? dry_run(&q) : run_call(&q);
    }
    allm_engine_free(q.engine);
    code = taps_close(&q.taps, code);
    allm_budget_free(q.budget);
    input_release(&q.system);
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
    a.session.may_keep = !a.dry_run;
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
