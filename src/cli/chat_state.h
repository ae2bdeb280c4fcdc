/* chat_state.h - the state of a chat, for its loop and its commands */
#pragma once

#include "cli/ask_parts.h"
#include "cli/input.h"
#include "cli/show.h"
#include "term/bytes.h"

struct chat {
    const struct ask *ask; /* the flags */
    struct target target;
    char model[256];        /* of /model; "": that of the flags */
    struct input system;    /* of -s @FILE */
    struct template_use template;
    allm_json *format;      /* of --schema or the template; or NULL */
    struct flag_list pairs; /* of the options; from flags, or term_copy() */
    struct opts options;
    struct taps taps;
    allm_engine *engine;
    struct session session;
    struct show how;
    char path[2][4096];     /* of /load: the session's, and the next one */
    unsigned next;          /* the free element of path */
    struct flag_list files; /* attached to the next prompt; term_copy() */
    struct flag_list typed; /* those of --at */
    struct bytes before;    /* comes before the next prompt */
    char prompt[256];       /* of the next line */
    int64_t in, out;        /* tokens so far */
    double cost;
    bool unpriced;          /* the cost of some of them is unknown */
    allm_budget *budget;    /* of --max-cost or /budget; or NULL */
    double max_cost;
    int code;               /* exit code of the last answer */
    bool started;           /* content of the answer has arrived */
    bool asked;             /* the model has asked a question */
    bool over;
    bool ended;             /* ... by a signal */
};

enum { CHAT_WORDS = 16 };

/* chat.c: send a prompt and print the answer. */
void chat_send_message(struct chat *c, const allm_message *message);
/* Limit what the rest of the chat may cost; 0: no limit. */
void chat_limit(struct chat *c, double max_cost);
/* Add the usage of a call. */
void chat_count(struct chat *c, const allm_stream *stream);
/* Add the earlier prompts to the history. */
void chat_resume(struct chat *c);

/*
 * chat_broken.c: if an operation of the session was broken off, ask the user
 * what to do, and do it.  END_DONE: the session can be used; else an error was
 * printed.
 */
int chat_broken_settle(struct chat *c, struct session *s, const char *model);

/* chat_question.c: show the model's question; true: the user has answered, and
 * the answer was appended. */
bool chat_question_ask(struct chat *c, struct bytes *text);

/* chat_commands.c: run "/name rest" or "!command"; the name of a command; NULL:
 * no more. */
void chat_commands_run(struct chat *c, const char *line);
const char *chat_commands_name(size_t index);
/* Split at blanks, in place; a word in double quotes may contain them.  Returns
 * how many words there are. */
int chat_commands_split(char *text, char *words[CHAT_WORDS]);
/* Attach a file to the next prompt; put a text before it.  False: an error was
 * printed. */
bool chat_commands_attach(struct chat *c, const char *path);
bool chat_commands_include(struct chat *c, const char *path);

/*
 * chat_model.c: choose the model, its options and its engine: that of `word`,
 * or NULL: that of /model or of the flags.  END_DONE, or an exit code after an
 * error was printed, and nothing has changed.
 */
int chat_model_choose(struct chat *c, const char *word);
/* Read the options again. */
bool chat_model_options(struct chat *c);
/* Start the call for a message, until a model answers.  Returns the exit
 * code. */
int chat_model_call(struct chat *c, const allm_message *message);
/* /model */
void chat_model_change(struct chat *c, const char *rest);

/* chat_template.c: use the template of a word; NULL: that of the setting.
 * Returns the exit code; after an error the last one stays. */
int chat_template_open(struct chat *c, const char *word,
                       const struct flag_list *pairs);
/* Append the prompt that the template makes of a line; false: an error was
 * printed. */
bool chat_template_fill(const struct chat *c, const char *line,
                        struct bytes *prompt);
/* /template */
void chat_template_change(struct chat *c, const char *rest);

/* chat_sessions.c: commands about other conversations. */
void chat_sessions_save(struct chat *c, const char *rest);
void chat_sessions_load(struct chat *c, const char *rest);
void chat_sessions_fork(struct chat *c, const char *rest);
void chat_sessions_list(struct chat *c, const char *rest);
void chat_sessions_search(struct chat *c, const char *rest);

/* chat_tools.c: commands about tools. */
void chat_tools_list(struct chat *c, const char *rest);
void chat_tools_approve(struct chat *c, const char *rest);
void chat_tools_servers(struct chat *c, const char *rest);
/* Print that a call waits for approval, if one does. */
void chat_tools_remind(const struct chat *c);

/* chat_complete.c: a hook of the editor; ud is the chat. */
size_t chat_complete(void *ud, const char *text, size_t at,
                     struct bytes *words);
