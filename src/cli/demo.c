/*
 * demo.c - allm demo: an agent at work, without a key and without a network
 *
 * Only the model is scripted.  The stream, the loop, the parallel tools, the
 * question to the user, the session file and the kill -9 are real.  On a
 * terminal it runs at reading speed, elsewhere without delays; it takes at most
 * ten seconds.
 */
#include "cli/command.h"
#include "cli/demo_kill.h"
#include "cli/demo_script.h"
#include "cli/demo_tools.h"
#include "cli/exit.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/signals.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { ANSWER_MS = 4000 }; /* then the default answer is used */

static void show_result(const allm_event *event)
{
    allm_text *text = allm_json_write(allm_json_get(event->result, "ok")
                                          ? allm_json_get(event->result, "ok")
                                          : event->result,
                                      0);
    const char *bytes = allm_text_bytes(text, NULL);
    print_format("  %s returned %s\n", event->name, bytes ? bytes : "nothing");
    allm_text_free(text);
}

static void show_event(const allm_event *event)
{
    if (event->type == ALLM_EV_TEXT_DELTA)
        print_bytes(event->text, event->text_len);
    else if (event->type == ALLM_EV_TOOL_EXECUTION_STARTED)
        print_format("  %s is running ...\n", event->name);
    else if (event->type == ALLM_EV_TOOL_EXECUTION_COMPLETED &&
             !allm_json_get(event->result, "ask_user"))
        show_result(event);
    print_flush();
}

/* Run a stream and print its events.  Returns the exit code. */
static int print_stream(allm_stream *stream)
{
    const allm_event *event;
    signals_watch(stream);
    while (!print_broken() && allm_stream_next(stream, &event) == ALLM_EVENT)
        show_event(event);
    int signal = signals_unwatch();
    const allm_chat_result *result = allm_stream_chat_result(stream);
    const allm_error *error = allm_stream_error(stream);
    int code = error ? exit_of_error(error) : exit_of_chat(result);
    if (error)
        print_fault("%s", error->message);
    allm_stream_free(stream);
    return signal ? END_SIGNAL + signal : code;
}

/* Read a line from the user; use the default if there is none. */
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
    struct input in = { .ptr = line, .len = n > 0 ? (size_t)n : 0 };
    line[in.len] = 0;
    if (in.len && input_is_text(&in))
        return;
    if (there) /* the shell must not get a half-written line */
        tcflush(STDIN_FILENO, TCIFLUSH);
    snprintf(line, size, "%s", otherwise);
    print_format("%s\n", line);
}

/* Save the session and load it, as another process would. */
static allm_session *reload_from_file(allm_session *session, const char *path)
{
    allm_session *loaded = NULL;
    const allm_error *error = NULL;
    if (allm_session_save(session, path) == ALLM_OK) {
        loaded = allm_session_load(path, 0);
        unlink(path);
    }
    error = allm_session_error(loaded ? loaded : session);
    if (!loaded || error) {
        print_fault("%s", error ? error->message : "out of memory");
        allm_session_free(loaded);
        return session;
    }
    print_format("  (saved to %s and loaded again: %zu messages)\n", path,
                 allm_thread_count(allm_session_thread(loaded)));
    allm_session_free(session);
    return loaded;
}

/* Save and load the session in a temporary folder; on failure, return the same
 * session. */
static allm_session *reload_session(allm_session *session)
{
    const char *folder = getenv("TMPDIR");
    char path[1024];
    int n = snprintf(path, sizeof path - 32, "%s/allm-demo-XXXXXX",
                     folder && *folder ? folder : "/tmp");
    if (n <= 0 || (size_t)n >= sizeof path - 32 || !mkdtemp(path)) {
        print_fault("cannot save the session below %.200s: %s",
                    folder && *folder ? folder : "/tmp", strerror(errno));
        return session;
    }
    snprintf(path + n, sizeof path - (size_t)n, "/demo.session");
    session = reload_from_file(session, path);
    path[n] = 0;
    rmdir(path);
    return session;
}

/* Send a prompt to a model with this script, which is freed. */
static int send_prompt(allm_session *session, const char *words,
                       allm_json *script)
{
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = "fake:demo", .adapter_opts = script,
             .tool_count = 3, .tools = demo_tools()));
    int code = print_stream(allm_session_reply(
        engine, session, words, ALLM(call_opts, .live_tool_events = 1)));
    allm_engine_free(engine);
    allm_json_free(script);
    return code;
}

static int show_demo(void)
{
    bool slowly = print_is_terminal();
    char line[256];
    allm_session *session = allm_session_new(NULL);
    print_text("> Where are you?\n\n");
    int code = send_prompt(session, "Where are you?",
                           demo_script_first(slowly));
    if (code == END_ASKED) {
        print_format("\n%s\n", allm_session_fields(session)->pending_question);
        session = reload_session(session);
        read_answer(line, sizeof line, "blue");
        print_text("\n");
        code = send_prompt(session, line, demo_script_last(slowly, line));
    }
    allm_session_free(session);
    return code;
}

static int run_demo_command(int argc, char **argv)
{
    if (!flags_read_all("demo", NULL, NULL, argc, argv))
        return END_USAGE;
    struct demo_kill kill;
    demo_kill_start(&kill);
    int code = show_demo();
    if (code == END_DONE)
        code = demo_kill_show(&kill);
    demo_kill_end(&kill);
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
    .examples = "allm demo\n",
    .group = GROUP_WIRE,
    .run = run_demo_command,
};
