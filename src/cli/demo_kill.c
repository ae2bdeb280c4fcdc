/*
 * demo_kill.c - the end of the demo: an agent is killed, and continues
 *
 * The tool writes a line to a file, then the process kills itself, as a power
 * failure would.  The library does not know whether the tool took effect; this
 * program looks into the file.
 */
#include "cli/demo_kill.h"

#include "cli/exit.h"
#include "cli/print.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL                                                                   \
    "[[\"text\",\"I book the train.\\n\"],[\"tool_call\",{\"id\":\"c0\","      \
    "\"name\":\"book\",\"arguments\":{\"to\":\"Ulm\"}}],"                      \
    "[\"finish\",\"tool_calls\"]]"
#define LAST                                                                   \
    "[[\"text\",\"Your train is booked, and only once.\\n\"],"                 \
    "[\"finish\",\"stop\"]]"

static const char *ledger; /* the file that the tool writes */

/* The tool takes effect, and the power fails. */
static void book_train(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)run;
    (void)args;
    (void)ud;
    int fd = open(ledger, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0 && write(fd, "booked\n", 7) == 7)
        fsync(fd);
    raise(SIGKILL);
}

static allm_engine *make_engine(const char *script)
{
    static const allm_tool tool = {
        .size = sizeof tool,
        .name = "book",
        .description = "Books a train",
        .schema_text = "{\"type\": \"object\"}",
        .call = book_train,
        .effect = ALLM_EFFECT_WRITE,
    };
    static const allm_tool *const tools[] = { &tool };
    char text[512];
    snprintf(text, sizeof text, "{\"scripts\":[%s]}", script);
    allm_json *opts = allm_json_parse(text, strlen(text), NULL);
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:demo",
                                          .adapter_opts = opts, .tool_count = 1,
                                          .tools = tools));
    allm_json_free(opts);
    return e;
}

static void print_stream(allm_stream *stream)
{
    const allm_event *event;
    while (allm_stream_next(stream, &event) == ALLM_EVENT) {
        if (event->type == ALLM_EV_TEXT_DELTA)
            print_bytes(event->text, event->text_len);
        print_flush();
    }
}

static allm_session *open_session(const struct demo_kill *k, allm_store **store)
{
    char uri[1100];
    snprintf(uri, sizeof uri, "sqlite:%s/demo.db", k->folder);
    *store = allm_store_open(uri, NULL);
    return allm_session_open(*store, "train", ALLM_SESSION_CREATE);
}

/* In the child: wait for a byte, begin a chat, and die in its tool. */
static void run_child(const struct demo_kill *k, int begin)
{
    char byte;
    allm_store *store;
    if (read(begin, &byte, 1) != 1)
        _exit(0);
    allm_session *s = open_session(k, &store);
    if (allm_session_error(s))
        _exit(1);
    print_stream(allm_session_reply(make_engine(CALL "," LAST), s,
                                    "Book a train to Ulm.", NULL));
    _exit(1);
}

void demo_kill_start(struct demo_kill *k)
{
    static char path[1100];
    const char *folder = getenv("TMPDIR");
    int fds[2];
    *k = (struct demo_kill){ .child = -1, .begin = -1 };
    snprintf(k->folder, sizeof k->folder - 32, "%s/allm-demo-XXXXXX",
             folder && *folder ? folder : "/tmp");
    if (!mkdtemp(k->folder)) {
        k->folder[0] = 0;
        return;
    }
    snprintf(path, sizeof path, "%s/ledger", k->folder);
    ledger = path;
    if (pipe(fds))
        return;
    k->child = fork();
    close(fds[k->child ? 0 : 1]);
    if (!k->child)
        run_child(k, fds[0]);
    k->begin = fds[1];
}

/* Let the child run; true: it was killed. */
static bool let_child_die(struct demo_kill *k)
{
    int how = 0;
    bool begun = write(k->begin, "x", 1) == 1;
    while (begun && waitpid(k->child, &how, 0) < 0 && errno == EINTR)
        ;
    k->child = begun ? -1 : k->child;
    return begun && WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL;
}

/* The train was booked if its line is in the ledger. */
static int continue_session(allm_session *s)
{
    allm_engine *e = make_engine(LAST);
    bool booked = !access(ledger, F_OK);
    print_format("  the tool began; is its line in the ledger? %s\n\n",
                 booked ? "yes" : "no");
    allm_status settled = allm_session_settle(
        s, "c0", booked ? ALLM_SETTLE_HAPPENED : ALLM_SETTLE_AGAIN,
        booked ? ALLM(tool_answer, .text = "booked") : NULL);
    allm_stream *stream = settled == ALLM_OK ? allm_session_resume(e, s, NULL)
                                             : NULL;
    print_stream(stream);
    const allm_error *error = stream ? allm_stream_error(stream)
                                     : allm_session_error(s);
    if (error)
        print_fault("%s", error->message);
    allm_stream_free(stream);
    allm_engine_free(e);
    return exit_of_error(error);
}

int demo_kill_show(struct demo_kill *k)
{
    allm_store *store;
    if (k->child < 0)
        return END_DONE;
    print_text("\n> Book a train to Ulm.\n\n");
    print_flush();
    if (!let_child_die(k)) {
        print_text("  (this build has no SQLite: the part with kill -9 is left "
                   "out)\n");
        return END_DONE;
    }
    print_text("  kill -9: the process that ran the agent is gone.\n"
               "  Another process opens the session:\n");
    allm_session *s = open_session(k, &store);
    int code = allm_session_error(s) ? exit_of_error(allm_session_error(s))
                                     : continue_session(s);
    allm_session_free(s);
    allm_store_free(store);
    return code;
}

void demo_kill_end(struct demo_kill *k)
{
    static const char *const names[] = { "demo.db", "demo.db-wal",
                                         "demo.db-shm", "demo.db-lock",
                                         "ledger" };
    char path[1100];
    if (k->begin >= 0)
        close(k->begin);
    if (k->child > 0)
        waitpid(k->child, NULL, 0);
    for (size_t i = 0; *k->folder && i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", k->folder, names[i]);
        unlink(path);
    }
    if (*k->folder)
        rmdir(k->folder);
}
