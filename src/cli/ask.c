/* ask.c - allm [PROMPT...]: send a prompt, print the answer */
#include "cli/ask.h"

#include "cli/ask_user.h"
#include "cli/capture.h"
#include "cli/command.h"
#include "cli/cost.h"
#include "cli/decide.h"
#include "cli/exit.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/prompt.h"
#include "cli/registry.h"
#include "cli/schema_file.h"
#include "cli/settings.h"
#include "cli/show.h"
#include "cli/template_save.h"
#include "cli/timing.h"

#include <stddef.h>
#include <stdio.h>

#define AT(member) offsetof(struct ask, member)

const struct flag ask_flags[] = {
    { 'm', "--model", FLAG_TEXT, AT(model), "P:M", "provider:model to ask",
      FILL_MODEL, .setting = "model",
      .use = FLAG_MOST | FLAG_CHAT | FLAG_BATCH },
    { 's', "--system", FLAG_TEXT, AT(system), "TEXT",
      "the system prompt", .setting = "system",
      .use = FLAG_MOST | FLAG_CHAT | FLAG_BATCH },
    { 't', "--template", FLAG_TEXT, AT(template), "NAME",
      "use a template; with /: a file; none: no template",
      FILL_TEMPLATE, .setting = "template",
      .use = FLAG_MOST | FLAG_CHAT | FLAG_BATCH },
    { 'p', "--param", FLAG_PAIR, AT(params), "K V",
      "a parameter of the template; @FILE: from a file",
      .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--save", FLAG_TEXT, AT(save), "NAME",
      "save these flags as a template, send nothing", FILL_TEMPLATE },
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
      "a JSON Schema, 'name, age int', or @TEMPLATE", FILL_FILE,
      .use = FLAG_MOST | FLAG_CHAT | FLAG_BATCH },
    { 0, "--task", FLAG_TEXT, AT(task), "NAME",
      "use the models that routing.NAME lists", FILL_TASK,
      .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--key", FLAG_TEXT, AT(key), "NAME",
      "the name of a key in allm keys, not the key", FILL_KEY,
      .use = FLAG_CHAT | FLAG_BATCH | FLAG_EMBED },
    { 0, "--base-url", FLAG_TEXT, AT(base_url), "URL",
      "the address of the server", .use = FLAG_CHAT | FLAG_BATCH | FLAG_EMBED },
    { 0, "--proxy", FLAG_TEXT, AT(proxy), "URL", "use this proxy",
      .use = FLAG_CHAT | FLAG_BATCH | FLAG_EMBED },
    { 0, "--cacert", FLAG_TEXT, AT(cacert), "FILE",
      "trust the certificates in this file", FILL_FILE,
      .use = FLAG_CHAT | FLAG_BATCH | FLAG_EMBED },
    { 'H', "--header", FLAG_LIST, AT(headers), "'K: V'",
      "send this header; may be repeated",
      .use = FLAG_CHAT | FLAG_BATCH | FLAG_EMBED },
    { 0, "--config", FLAG_TEXT, AT(config), "FILE",
      "also read this file of settings", FILL_FILE, .variable = "ALLM_CONFIG",
      .use = FLAG_CHAT | FLAG_BATCH | FLAG_EMBED },
    { 'o', "--option", FLAG_PAIR, AT(options), "K V",
      "a provider option, such as temperature 0.2",
      .use = FLAG_CHAT | FLAG_BATCH | FLAG_EMBED },
    { 0, "--json", FLAG_SWITCH, AT(json), NULL, "print one JSON document" },
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
    { 0, "--copy", FLAG_SWITCH, AT(copy), NULL,
      "copy the answer to the clipboard of the terminal" },
    { 'x', "--extract", FLAG_SWITCH, AT(extract_first), NULL,
      "print only the first fenced code block", .use = FLAG_BATCH },
    { 0, "--xl", FLAG_SWITCH, AT(extract_last), NULL,
      "print only the last fenced code block", .use = FLAG_BATCH },
    { 0, "--xa", FLAG_SWITCH, AT(extract_all), NULL,
      "print only the fenced code blocks", .use = FLAG_BATCH },
    { 'u', "--usage", FLAG_SWITCH, AT(usage), NULL,
      "print tokens and cost on stderr", .setting = "usage",
      .use = FLAG_CHAT | FLAG_BATCH | FLAG_EMBED },
    { 0, "--ask", FLAG_SWITCH, AT(ask_user), NULL,
      "let the model ask a question (exit code 10)", .use = FLAG_CHAT },
    { 0, "--max-turns", FLAG_NUMBER, AT(max_turns), "N",
      "stop after N answers of the model", .setting = "max_turns",
      .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--timeout", FLAG_SECONDS, AT(timeout_ms), "T",
      "stop after this time: 90, 90s, 5m, 2h", .setting = "timeout",
      .use = FLAG_CHAT | FLAG_BATCH | FLAG_EMBED },
    { 0, "--max-tokens", FLAG_NUMBER, AT(max_tokens), "N",
      "at most N tokens for an answer", .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--max-cost", FLAG_COST, AT(max_cost), "USD",
      "stop before the call costs more", .setting = "max_cost",
      .use = FLAG_CHAT },
    { 0, "--reasoning", FLAG_TEXT, AT(reasoning), "LEVEL",
      "none, low, medium, high, or a number of tokens", FILL_WORDS,
      "none|low|medium|high", .setting = "reasoning",
      .use = FLAG_CHAT | FLAG_BATCH },
    { 0, "--retry", FLAG_NUMBER, AT(attempts), "N",
      "try a request at most N times (3)", .setting = "retry",
      .use = FLAG_CHAT },
    { 0, "--max-input", FLAG_NUMBER, AT(max_input), "N",
      "accept inputs of N bytes (64M)" },
    { 0, "--record", FLAG_TEXT, AT(taps.record), "FILE",
      "record the requests and answers, without keys", FILL_FILE,
      .use = FLAG_CHAT | FLAG_BATCH | FLAG_EMBED },
    { 0, "--replay", FLAG_TEXT, AT(taps.replay), "FILE",
      "answer from a recording, without a network", FILL_FILE,
      .use = FLAG_CHAT | FLAG_BATCH | FLAG_EMBED },
    { 0, "--trace", FLAG_TEXT, AT(taps.trace), "FILE",
      "append the trace of the call to a file", FILL_FILE,
      .use = FLAG_CHAT | FLAG_BATCH | FLAG_EMBED },
    { 'n', "--no-store", FLAG_SWITCH, AT(session.none), NULL,
      "do not store the session" },
    { 0, "--dry-run", FLAG_SWITCH, AT(dry_run), NULL,
      "show the request, send nothing" },
    { 'q', "--quiet", FLAG_SWITCH, AT(quiet), NULL, "no notes on stderr" },
    { 'v', "--verbose", FLAG_SWITCH, AT(verbose), NULL,
      "print the model and each call on stderr" },
    TOOLBOX_FLAGS(AT),
    TOOLBOX_DENY_FLAGS(AT),
    { .name = NULL },
};

/* The state of one call. */
struct question {
    const struct ask *ask;
    struct target target;
    struct template_use template;
    struct flag_list files; /* of -a and of the template */
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
    bool only_decides; /* a decision was stored; others run the call */
    bool only_schema;  /* --dry-run without a prompt shows what it means */
};

/* Open the template; its files come before those of -a. */
static int read_template(struct question *q)
{
    const struct ask *a = q->ask;
    bool begins = a->save && !a->template;
    int code = template_use_open(&q->template, begins ? "none" : a->template,
                                 begins ? NULL : &a->params);
    if (code == END_DONE && begins)
        code = template_use_params(&q->template, &a->params);
    if (code != END_DONE ||
        (!a->save && !template_use_fill_system(&q->template)))
        return END_USAGE;
    const allm_json *attach = template_use_value(&q->template, "attach");
    for (const allm_json *f = NULL; (f = allm_json_next(attach, f));)
        if (q->files.count < FLAGS_MAX)
            q->files.word[q->files.count++] = allm_json_text(f, NULL);
    for (size_t i = 0; i < a->files.count && q->files.count < FLAGS_MAX; i++)
        q->files.word[q->files.count++] = a->files.word[i];
    return code;
}

static bool read_schema(struct question *q)
{
    return schema_file_choose(q->ask->schema,
                              template_use_value(&q->template, "schema"),
                              &q->format);
}

/* There is no prompt: say how to pass one, or what is still asked. */
static int report_no_prompt(const struct ask *a)
{
    struct session s = { 0 };
    const char *question = NULL;
    bool stored = a->session.word || a->session.latest;
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
    if (!stored) {
        print_fault("such as: allm \"Why is the sky blue?\", or: git diff | "
                    "allm \"Anything wrong?\"");
        print_fault("allm chat begins a conversation, allm help lists what "
                    "else there is");
    }
    session_close(&s);
    return END_USAGE;
}

/* --approve ID and --deny continue without a prompt. */
static int check_decision(const struct ask *a, int argc)
{
    if (argc)
        print_fault("--approve and --deny of a call take no prompt: decide "
                    "first, then continue the session");
    else if (!a->session.word && !a->session.latest)
        print_fault("--approve and --deny need the session whose call waits: "
                    "-S NAME");
    else
        return END_DONE;
    return END_USAGE;
}

/* Build the user's message.  Returns END_DONE or an exit code. */
static int read_prompt(struct question *q, int argc, char **argv)
{
    if (decide_has_flags(&q->ask->toolbox))
        return check_decision(q->ask, argc);
    q->prompt = allm_thread_new(NULL);
    const struct prompt_files files = { &q->files, &q->ask->typed_files,
                                        &q->ask->texts, &q->template };
    allm_status status = prompt_add_files(q->prompt, argc, argv, &files);
    q->only_schema = status == ALLM_AGAIN && q->ask->dry_run && q->format;
    if (q->only_schema)
        return END_DONE;
    return status == ALLM_OK      ? END_DONE
           : status == ALLM_AGAIN ? report_no_prompt(q->ask)
                                  : END_USAGE;
}

static struct wish make_wish(const struct question *q)
{
    return ask_parts_wish(q->ask, &q->template, &q->session,
                          q->system.ptr ? q->system.ptr : q->ask->system,
                          q->options.json);
}

static int choose_model(struct question *q)
{
    const struct ask *a = q->ask;
    struct wish wish = make_wish(q);
    int code = target_resolve(&q->target, &wish);
    if (code == END_DONE)
        code = session_set_system(&q->session,
                                  ask_parts_system(a, &q->template, &q->session,
                                                   q->target.system));
    if (code == END_DONE && q->session.path)
        code = session_set_model(&q->session, q->target.name);
    return code;
}

/* Open the session and choose the model. */
static int open_conversation(struct question *q)
{
    const struct ask *a = q->ask;
    bool decides = decide_has_flags(&a->toolbox);
    unsigned use = (decides ? SESSION_APPROVE : SESSION_CREATE) |
                   (a->dry_run ? (unsigned)SESSION_READ_ONLY : 0);
    int code = session_open(&q->session, &a->session, use);
    if (code == END_DONE && decides)
        code = decide_apply(&q->session, &a->toolbox);
    const char *lack = code == END_DONE && decides ? decide_lacks(&q->session)
                                                   : NULL;
    q->only_decides = lack;
    if (lack)
        print_note("the decision is stored; %.100s is not among the tools of "
                   "this call: this command runs it with -T; in a queue, allm "
                   "work does, too",
                   lack);
    return code == END_DONE && !q->only_decides ? choose_model(q) : code;
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
        .net = &q->target.net,
        .transport = a->dry_run ? &q->capture.transport : a->transport,
        .retry = a->dry_run ? once : NULL,
        .tool_count = a->ask_user ? 1 : 0,
        .tools = a->ask_user ? ask_user_tools() : NULL,
        .trace = a->verbose ? print_trace_event : NULL,
    };
    toolbox_apply(&opts);
    allm_json *retry = ask_parts_retry(a);
    if (retry && !a->dry_run)
        opts.retry = retry;
    if (!a->dry_run)
        taps_apply(&q->taps, &opts);
    q->engine = allm_engine_new(&opts);
    allm_json_free(retry);
    allm_json_free(once);
}

static allm_stream *start_call(struct question *q)
{
    allm_call_opts opts = ask_parts_call(q->ask, q->format, q->target.options,
                                         q->budget);
    opts.on_event = ask_parts_note;
    opts.on_event_ud = &q->started;
    if (q->ask->dry_run && !q->target.keyless)
        opts.api_key = "none";
    timing_begin();
    return allm_session_continue(q->engine, q->session.session,
                                 q->prompt ? allm_thread_last(q->prompt) : NULL,
                                 &opts);
}

static int dry_run(struct question *q)
{
    allm_stream *stream = start_call(q);
    allm_stream_wait(stream);
    int code = capture_show(&q->capture, stream, false);
    allm_stream_free(stream);
    return code;
}

static enum extract choose_extract(const struct question *q)
{
    return ask_parts_extract(q->ask, &q->template);
}

static enum show_form choose_form(const struct question *q)
{
    const struct ask *a = q->ask;
    return a->json                                          ? SHOW_JSON
           : a->events                                      ? SHOW_EVENTS
           : a->no_stream || q->format || choose_extract(q) ? SHOW_WHOLE
                                                            : SHOW_STREAM;
}

/* The call failed: try the next model of the task, if nothing has arrived. */
static bool try_next(void *ud, const allm_error *error)
{
    struct question *q = ud;
    if (q->started || !target_fall_back(&q->target, error) ||
        session_ready(&q->session) != END_DONE ||
        (q->session.path &&
         session_set_model(&q->session, q->target.name) != END_DONE))
        return false;
    allm_engine_free(q->engine);
    make_engine(q);
    return true;
}

static int run_call(struct question *q)
{
    struct show how = { .form = choose_form(q),
                        .usage = q->ask->usage,
                        .verbose = q->ask->verbose,
                        .extract = choose_extract(q),
                        .value = q->format != NULL,
                        .session = &q->session, .look = q->ask->look,
                        .try_next = try_next, .ud = q };
    how.look.quiet = q->ask->quiet;
    how.look.verbose = q->ask->verbose;
    if (q->format) /* JSON is not Markdown */
        how.look.markdown = "off";
    int code = decide_begin(&q->session) == END_DONE ? SHOW_AGAIN : END_SESSION;
    while (code == SHOW_AGAIN) {
        allm_stream *stream = start_call(q);
        code = show_chat(stream, &how);
        allm_stream_free(stream);
    }
    if (q->ask->copy && code == END_DONE)
        answer_copy();
    return code;
}

/* What it may cost is reserved first; the budget settles. */
static int run_paid(struct question *q)
{
    const struct ask *a = q->ask;
    int code = cost_check(&q->target, allm_session_thread(q->session.session),
                          q->prompt, a->taps.replay ? 0 : a->max_cost);
    return code == END_DONE ? run_call(q) : code;
}

static int open_tools(struct question *q)
{
    const struct toolbox_wish wish = {
        .flags = &q->ask->toolbox,
        .names = template_use_value(&q->template, "tools"),
        .use = q->ask->dry_run ? 0 : TOOLBOX_ASKS,
        .taps = &q->taps,
    };
    return toolbox_open(&wish);
}

static int prepare_question(struct question *q, int argc, char **argv)
{
    const struct ask *a = q->ask;
    print_silence(a->quiet);
    settings_use(a->config);
    if (a->json && a->events)
        return print_misuse("--json and --events exclude each other");
    if (a->copy && (a->json || a->events))
        return print_misuse("--copy and --json or --events exclude each other");
    if (a->events && (a->extract_first || a->extract_last || a->extract_all))
        return print_misuse("--events and -x, --xl or --xa exclude each other");
    if (a->max_input)
        input_set_limit(a->max_input);
    if (!ask_parts_options(a, &a->options, &q->options) ||
        !input_load_at(&q->system, a->system))
        return END_USAGE;
    if (a->max_cost > 0)
        q->budget = allm_budget_new(ALLM(budget_opts, .max_cost = a->max_cost));
    int code = read_template(q);
    if (code == END_DONE && a->save)
        return END_DONE;
    if (code == END_DONE && !read_schema(q))
        code = END_USAGE;
    if (code == END_DONE)
        code = taps_open(&q->taps);
    if (code == END_DONE)
        code = read_prompt(q, argc, argv);
    if (code == END_DONE && q->only_schema)
        return END_DONE;
    if (code == END_DONE)
        code = open_tools(q);
    if (code == END_DONE)
        code = open_conversation(q);
    if (code == END_DONE && q->prompt && !q->only_decides &&
        !prompt_fetch_images(&q->prompt, &q->target,
                             a->dry_run ? NULL : &q->taps))
        code = END_USAGE;
    return code;
}

/* --save NAME: the flags of this call over those of its template. */
static int save_question(struct question *q, int argc, char **argv)
{
    const struct ask *a = q->ask;
    static const char *const words[] = { NULL, "first", "last", "all" };
    const struct template_save save = {
        .name = a->save,
        .over = &q->template,
        .model = a->model,
        .system = q->system.ptr ? q->system.ptr : a->system,
        .schema = a->schema,
        .extract = words[choose_extract(q)],
        .options = q->options.json,
        .attach = &q->files,
        .tools = &a->toolbox.names,
    };
    return template_save_write(&save, argc, argv);
}

int ask_run(const struct ask *a, int argc, char **argv)
{
    struct question q = { .ask = a, .taps = a->taps };
    capture_init(&q.capture);
    int code = prepare_question(&q, argc, argv);
    if (code == END_DONE && a->save) {
        code = save_question(&q, argc, argv);
    } else if (code == END_DONE && q.only_schema) {
        print_json(allm_json_pointer(q.format, "/schema"), ALLM_JSON_PRETTY);
    } else if (code == END_DONE && !q.only_decides) {
        if (a->verbose)
            print_note("using %s", q.target.name);
        if (q.format)
            registry_note_schema(q.target.model);
        make_engine(&q);
        code = a->dry_run ? dry_run(&q) : run_paid(&q);
    }
    allm_engine_free(q.engine);
    toolbox_close();
    code = taps_close(&q.taps, code);
    allm_budget_free(q.budget);
    input_release(&q.system);
    session_close(&q.session);
    allm_thread_free(q.prompt);
    target_release(&q.target);
    capture_release(&q.capture);
    opts_release(&q.options);
    template_use_release(&q.template);
    allm_json_free(q.format);
    return code;
}

static int run_ask_command(int argc, char **argv)
{
    static struct ask a;
    if (!flags_read(ask_flags, &a, &argc, argv))
        return END_USAGE;
    a.session.may_keep = !a.dry_run;
    print_silence(a.quiet);
    ask_parts_fill(&a);
    return ask_run(&a, argc, argv);
}

const struct command ask_command = {
    .name = "ask",
    .usage = "[FLAG...] [PROMPT...]",
    .summary = "send a prompt: standard input, then the arguments",
    .more = "Only the answer is printed on stdout.  Without -m, the model is "
            "that of --task,\nof the session, of the template, of ALLM_MODEL, "
            "of the setting model, else the\nfirst whose provider has a key.  "
            "Put -- before a prompt that begins with the\nname of a command: "
            "allm -- models are what?\n",
    .examples = "allm \"Why is the sky blue?\"\n"
                "git diff | allm -s \"You review code.\" \"Anything wrong?\"\n"
                "allm demo                     no key, no network\n",
    .args = { FILL_FILE, FILL_FILE, FILL_FILE },
    .flags = ask_flags,
    .run = run_ask_command,
};
