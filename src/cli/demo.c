/*
 * demo.c - allm demo: an agent at work, without a key and without a network
 *
 * The model is scripted, all else is real: the stream, the loop, the tools,
 * which run side by side, the question to the user.  On a terminal it goes at
 * reading speed, elsewhere at once; it never takes longer than ten seconds.
 */
#include "cli/command.h"
#include "cli/demo_tools.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/stop.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct flag flags[] = { { .name = NULL } };

enum {
    WORD_MS = 35,    /* about 130 words take 4.5 seconds */
    ANSWER_MS = 4000 /* for the user; then the default counts */
};

/* ------------------------------------------------------------------- script --- */

static void put_entry(allm_json_build *b, const char *tag, const char *text,
                      size_t len)
{
    allm_json_build_array(b);
    allm_json_build_text(b, tag, ALLM_NUL_ENDED);
    allm_json_build_text(b, text, len);
    allm_json_build_end(b);
}

/* A text word by word, with the time to read it. */
static void put_words(allm_json_build *b, const char *text, bool slowly)
{
    while (*text) {
        size_t len = strcspn(text, " ") + 1;
        if (len > strlen(text))
            len = strlen(text);
        put_entry(b, "text", text, len);
        text += len;
        if (!slowly)
            continue;
        allm_json_build_array(b);
        allm_json_build_text(b, "delay", 5);
        allm_json_build_int(b, WORD_MS);
        allm_json_build_end(b);
    }
}

static void put_call(allm_json_build *b, const char *id, const char *tool)
{
    allm_json_build_array(b);
    allm_json_build_text(b, "tool_call", ALLM_NUL_ENDED);
    allm_json_build_object(b);
    allm_json_build_key(b, "id");
    allm_json_build_text(b, id, ALLM_NUL_ENDED);
    allm_json_build_key(b, "name");
    allm_json_build_text(b, tool, ALLM_NUL_ENDED);
    allm_json_build_key(b, "arguments");
    allm_json_build_object(b);
    allm_json_build_end(b);
    allm_json_build_end(b);
    allm_json_build_end(b);
}

/* One answer: its words, its calls, its end. */
static void put_answer(allm_json_build *b, bool slowly, const char *text,
                       const char *first, const char *second)
{
    allm_json_build_array(b);
    put_words(b, text, slowly);
    if (first)
        put_call(b, "call_0", first);
    if (second)
        put_call(b, "call_1", second);
    put_entry(b, "finish", first ? "tool_calls" : "stop", ALLM_NUL_ENDED);
    allm_json_build_end(b);
}

static allm_json *write_script(bool slowly)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    allm_json_build_key(b, "scripts");
    allm_json_build_array(b);
    put_answer(b, slowly,
               "To know where I am I need two tools, and both can run at the "
               "same time.\n",
               "clock", "folder");
    put_answer(b, slowly,
               "There they are: these results come from this machine, not from "
               "my script.  One thing only you can tell me.\n",
               "favourite", NULL);
    put_answer(b, slowly,
               "Thank you!  It is part of our conversation now, and a real "
               "model would go on from here: every word so far came as an "
               "event of a stream, every tool ran in a worker, and the loop "
               "stopped by itself to ask you.\n",
               NULL, NULL);
    allm_json_build_end(b);
    allm_json_build_end(b);
    return allm_json_build_done(b);
}

/* ------------------------------------------------------------------ showing --- */

static void show_result(const allm_event *event)
{
    allm_text *text = allm_json_write(allm_json_get(event->result, "ok")
                                          ? allm_json_get(event->result, "ok")
                                          : event->result,
                                      0);
    const char *bytes = allm_text_bytes(text, NULL);
    print_format("  %s gave %s\n", event->name, bytes ? bytes : "nothing");
    allm_text_free(text);
}

static void show_event(const allm_event *event)
{
    if (event->type == ALLM_EV_TEXT_DELTA)
        print_bytes(event->text, event->text_len);
    else if (event->type == ALLM_EV_TOOL_EXECUTION_STARTED)
        print_format("  %s runs ...\n", event->name);
    else if (event->type == ALLM_EV_TOOL_EXECUTION_COMPLETED &&
             !allm_json_get(event->result, "ask_user"))
        show_result(event);
    print_flush();
}

/* A line of the user's, or the default. */
static void read_answer(char *line, size_t size, const char *otherwise)
{
    struct pollfd wait = { .fd = STDIN_FILENO, .events = POLLIN };
    bool there = isatty(STDIN_FILENO) && print_is_terminal();
    ssize_t n = 0;
    print_text("> ");
    print_flush();
    if (there && poll(&wait, 1, ANSWER_MS) == 1)
        n = read(STDIN_FILENO, line, size - 1);
    while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
        n--;
    line[n > 0 ? n : 0] = 0;
    if (n > 0)
        return;
    snprintf(line, size, "%s", otherwise);
    print_format("%s\n", line);
}

/* One chat to its end; the conversation so far, a root. */
static allm_thread *converse(const allm_engine *engine,
                             const allm_thread *thread, bool *asked, int *code)
{
    const allm_event *event;
    allm_stream *stream = allm_chat(engine, thread,
                                    ALLM(call_opts, .live_tool_events = 1));
    stop_watch(stream);
    while (!print_broken() && allm_stream_next(stream, &event) == ALLM_EVENT)
        show_event(event);
    int signal = stop_unwatch();
    const allm_chat_result *result = allm_stream_chat_result(stream);
    const allm_error *error = allm_stream_error(stream);
    *asked = result && result->pending_question;
    *code = signal   ? END_SIGNAL + signal
            : *asked ? END_DONE
            : error  ? exit_of_error(error)
                     : exit_of_chat(result);
    if (error)
        print_fault("%s", error->message);
    if (*asked)
        print_format("\n%s\n", result->pending_question);
    allm_thread *more = allm_thread_copy(result ? result->thread : thread);
    allm_stream_free(stream);
    return more;
}

static int show_demo(const allm_engine *engine)
{
    char line[256];
    bool asked = false;
    int code;
    allm_thread *first = allm_thread_new(NULL);
    allm_thread_add(first, ALLM_ROLE_USER, "Where are you?");
    print_text("> Where are you?\n\n");
    allm_thread *thread = converse(engine, first, &asked, &code);
    if (asked && code == END_DONE) {
        read_answer(line, sizeof line, "blue");
        print_text("\n");
        allm_thread_add(thread, ALLM_ROLE_USER, line);
        allm_thread *last = converse(engine, thread, &asked, &code);
        allm_thread_free(last);
    }
    allm_thread_free(thread);
    allm_thread_free(first);
    return code;
}

static int run(int argc, char **argv)
{
    if (!flags_read(flags, NULL, &argc, argv))
        return END_USAGE;
    allm_json *script = write_script(print_is_terminal());
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = "fake:demo", .adapter_opts = script,
             .tool_count = 3, .tools = demo_tools()));
    int code = show_demo(engine);
    allm_engine_free(engine);
    allm_json_free(script);
    if (code != END_DONE)
        return code;
    print_text(
        "\nWith a real model:\n"
        "  export OPENAI_API_KEY=...    (or ANTHROPIC_API_KEY; allm keys "
        "lists them all)\n"
        "  allm \"Why is the sky blue?\"\n"
        "  allm -m ollama:llama3.2 \"...\"    a local Ollama, no "
        "key\n");
    return END_DONE;
}

const struct command demo_command = {
    .name = "demo",
    .usage = "",
    .summary = "see an agent at work: no key, no network",
    .flags = flags,
    .run = run,
};
