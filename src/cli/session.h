/*
 * session.h - a conversation, in memory or in a file: -S FILE
 *
 * Functions that return an int return END_DONE, or print an error and return an
 * exit code; for an unusable file that is END_SESSION.
 */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "allm.h"

struct session {
    allm_session *session;
    const char *path; /* where it is saved; NULL: it is not saved */
};

enum session_use {
    SESSION_CREATE = 1 << 0,   /* the file need not exist */
    SESSION_READ_ONLY = 1 << 1 /* the file is not locked, and never saved */
};

/*
 * Load the conversation of a file, and prepare it for the next prompt; path
 * NULL: a new one in memory.  The path must stay valid as long as the session.
 */
int session_open(struct session *s, const char *path, unsigned use);
void session_close(struct session *s);

/* Prepare it for the next prompt, also after an error. */
int session_ready(struct session *s);

/* Replace the system prompt; NULL: unchanged. */
int session_set_system(struct session *s, const char *system);

/* The last model of the conversation; NULL: unknown.  Valid until the session
 * changes. */
const char *session_model(const struct session *s);
int session_set_model(struct session *s, const char *model);

/* The model's question that waits for an answer; NULL: none. */
const char *session_question(const struct session *s);

/* Save to its own file, if it has one; to another file. */
int session_save(const struct session *s);
int session_save_to(const struct session *s, const char *path);

#endif
