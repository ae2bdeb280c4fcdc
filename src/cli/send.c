/* send.c - allm send: leave a message for a session that a worker runs */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/follow.h"
#include "cli/print.h"
#include "cli/prompt.h"
#include "cli/session_store.h"

#include <stddef.h>
#include <string.h>

static struct settings {
    const char *uri, *queue;
    struct flag_list files;
    bool wait, quiet;
} settings;

static const struct flag flags[] = {
    { 0, "--queue", FLAG_TEXT, offsetof(struct settings, queue), "Q",
      "let the workers of this queue run the session" },
    { 0, "--wait", FLAG_SWITCH, offsetof(struct settings, wait), NULL,
      "wait for the answer, and print it" },
    { 'a', "--attach", FLAG_LIST, offsetof(struct settings, files), "FILE",
      "a text file or an image; may be repeated", FILL_FILE },
    { 0, "--store", FLAG_TEXT, offsetof(struct settings, uri), "URI",
      "the store; else ALLM_STORE, else a file" },
    { 'q', "--quiet", FLAG_SWITCH, offsetof(struct settings, quiet), NULL,
      "no notes on stderr" },
    { .name = NULL },
};

/* Print the answer; what runs already is not the answer yet. */
static int await_answer(allm_store *store, struct follow *f, bool running)
{
    int code = END_DONE;
    f->silent = true;
    if (running)
        code = follow_session(store, f);
    f->silent = false;
    if (code == END_DONE)
        code = follow_session(store, f);
    return code == END_DONE ? follow_outcome(store, f) : code;
}

/* Without a queue, nobody may come to begin a session that does not exist. */
static void note_new_session(allm_store *store, const char *name)
{
    allm_session *s = allm_session_open(store, name, 0);
    const allm_error *error = allm_session_error(s);
    if (error && error->reason && !strcmp(error->reason, "session_not_found"))
        print_note("the message waits: the session %s does not exist yet; allm "
                   "sessions resume %s begins it (with --queue Q, allm work "
                   "does)",
                   name, name);
    allm_session_free(s);
}

static int send_message(const char *name, const allm_message *message)
{
    allm_store *store = NULL;
    struct follow f = { .name = name };
    int code = session_store_open(&store, settings.uri, 0, 0);
    bool running = code == END_DONE && settings.wait &&
                   follow_from_now(store, &f);
    if (code == END_DONE &&
        allm_store_send(store, name, message, settings.queue) < 0)
        code = session_store_fail(allm_store_error(store));
    if (code == END_DONE && !settings.queue)
        note_new_session(store, name);
    if (code == END_DONE && settings.wait)
        code = await_answer(store, &f, running);
    allm_store_free(store);
    return code;
}

static int run_send_command(int argc, char **argv)
{
    if (!flags_read(flags, &settings, &argc, argv))
        return END_USAGE;
    print_silence(settings.quiet);
    if (!argc)
        return print_misuse("usage: allm send NAME PROMPT");
    allm_thread *prompt = allm_thread_new(NULL);
    allm_status status = prompt_add(prompt, argc - 1, argv + 1,
                                    &settings.files);
    int code = END_USAGE;
    if (status == ALLM_AGAIN)
        print_fault("no prompt: pass one as arguments or on standard input");
    else if (status == ALLM_OK)
        code = send_message(argv[0], allm_thread_last(prompt));
    allm_thread_free(prompt);
    return code;
}

const struct command send_command = {
    .name = "send",
    .usage = "NAME [FLAG...] [PROMPT...]",
    .summary = "leave a message for a session that allm work runs",
    .more = "The session need not exist.  Its next holder takes the message: "
            "allm work, if\nthe session has a queue, or allm sessions resume "
            "NAME.\n",
    .examples = "allm send trip --queue travel \"Book the train\"\n",
    .args = { FILL_SESSION },
    .flags = flags,
    .group = GROUP_STATE,
    .run = run_send_command,
};
