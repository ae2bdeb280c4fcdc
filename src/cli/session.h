/*
 * session.h - a conversation in memory, in a file or in the store
 *
 * -S WORD is a file if WORD has a slash or a dot, else the name of a session in
 * the store.  Functions that return an int return END_DONE, or print an error
 * and return an exit code.
 */
#pragma once

#include "cli/session_name.h"

struct session {
    allm_session *session;
    const char *path;  /* the file, or the name; NULL: it is not kept */
    allm_store *store; /* NULL: it is in a file, or in memory */
    bool is_new;       /* in the store, and without a message at first */
    char model[256];   /* the model to keep with the next answer, or "" */
};

enum session_use {
    SESSION_CREATE = 1 << 0,    /* it need not exist */
    SESSION_READ_ONLY = 1 << 1, /* it is not locked, and never saved */
    SESSION_BROKEN = 1 << 2,    /* leave a broken-off operation to the caller */
    SESSION_APPROVE = 1 << 3    /* calls may wait for approval */
};

/*
 * Load the conversation, and prepare it for the next prompt; no choice: a new
 * one in memory.  The word must stay valid as long as the session.  An
 * operation that broke off before an answer arrived is dropped with a note;
 * after an answer this is END_ASKED.
 */
int session_open(struct session *s, const struct session_choice *choice,
                 unsigned use);
void session_close(struct session *s);

/* Prepare it for the next prompt, also after an error. */
int session_ready(struct session *s);

/* Replace the system prompt; NULL: unchanged. */
int session_set_system(struct session *s, const char *system);

/* The last model of the conversation; NULL: unknown.  Valid until the session
 * changes. */
const char *session_model(const struct session *s);
int session_set_model(struct session *s, const char *model);

/* Do calls wait for approval, or to be run after it? */
bool session_approves(const struct session *s);

/* The model's question that waits for an answer; NULL: none. */
const char *session_question(const struct session *s);

/* Save to its own file, if it has one; to another file.  A session in the store
 * is recorded step by step; only its model is added. */
int session_save(const struct session *s);
int session_save_to(const struct session *s, const char *path);
