/* chat_state.h - the state of a chat, for its loop and its commands */
#ifndef CLI_CHAT_STATE_H
#define CLI_CHAT_STATE_H

#include "cli/opts.h"
#include "cli/session.h"
#include "cli/show.h"
#include "cli/target.h"
#include "term/bytes.h"

struct chat {
    struct target target;
    struct flag_list pairs; /* of the options; from flags, or term_copy() */
    size_t own_pairs;       /* those from flags */
    struct opts options;
    allm_engine *engine;
    struct session session;
    const char *store;      /* of --store; or NULL */
    struct show how;
    uint32_t max_turns, timeout_ms;
    char path[2][4096];     /* of /load: the session's, and the next one */
    unsigned next;          /* the free element of path */
    struct flag_list files; /* attached to the next prompt; term_copy() */
    struct bytes before;    /* comes before the next prompt */
    char prompt[256];       /* of the next line */
    int64_t in, out;        /* tokens so far */
    double cost;
    int code;               /* exit code of the last answer */
    bool over;
};

/* chat.c: send a prompt and print the answer; print an open question. */
void chat_send(struct chat *c, const char *text);
void chat_send_message(struct chat *c, const allm_message *message);
/* Add the earlier prompts to the history, and print an open question. */
void chat_resume(const struct chat *c);

/* chat_commands.c: run "/name rest" or "!command". */
void chat_commands_run(struct chat *c, const char *line);
/* A hook of the editor: commands, models, and files. */
size_t chat_commands_complete(void *ud, const char *text, size_t at,
                              struct bytes *words);

#endif
