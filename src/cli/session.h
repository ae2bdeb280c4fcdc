/*
 * session.h - a conversation, in memory or kept in a file: -S FILE
 *
 * What goes wrong with the file is told, and the program ends with END_SESSION.
 */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "allm.h"

struct session {
    allm_session *session;
    const char *path; /* where it is saved; NULL: nowhere */
};

enum session_use {
    SESSION_CREATE = 1 << 0, /* there need not be such a file */
    SESSION_READ_ONLY = 1 << 1    /* it is not locked, and never saved */
};

/*
 * The conversation of a file, made ready for the user's next words; path NULL:
 * a new one, which is kept nowhere.  END_DONE; else told, and how to end.  The
 * path must live as long as the session.
 */
int session_open(struct session *s, const char *path, unsigned use);
void session_close(struct session *s);

/* After an answer: let the user go on, also if it failed.  END_DONE, or told
 * and how to end. */
int session_ready(struct session *s);

/* What the model is told first, in place of what it was told; NULL: as it
 * is.  END_DONE, or told and how to end. */
int session_set_system(struct session *s, const char *system);

/* The model that was talked to last; NULL: it is not known.  Lent until the
 * session changes. */
const char *session_model(const struct session *s);
int session_set_model(struct session *s, const char *model);

/* The question that waits for an answer; NULL: none. */
const char *session_question(const struct session *s);

/* To its file, or to another.  END_DONE, or told and how to end. */
int session_save(const struct session *s);
int session_save_to(const struct session *s, const char *path);

#endif
