/*
 * session_name.h - what -S, -c and --keep name: a file, or a stored session
 *
 * Functions that return an int return END_DONE, or print an error and return an
 * exit code.
 */
#pragma once

#include "allm.h"

/* Which conversation: the flags of ask and chat. */
struct session_choice {
    const char *word;  /* -S */
    const char *store; /* --store; NULL: see session_store.h */
    bool latest;       /* -c: the session that changed last */
    bool keep;         /* --keep: a new session with a new name */
    bool none;         /* -n: do not store it */
    bool may_keep;     /* the setting `keep` counts */
};

/* A word with a slash or a dot is a file. */
bool session_name_is_file(const char *word);

/* Does only the setting `keep` ask for a session? */
bool session_name_is_spare(const struct session_choice *c);

/* The word of the choice, or the name that -c or --keep stands for; NULL:
 * none.  At most one name of -c or --keep is valid at a time. */
int session_name_choose(const struct session_choice *c, const char **word);

/* Reject a file that is a store. */
int session_name_check_file(const char *path);

/* Reject a name that is no session of the store, but a file in this folder. */
int session_name_check(const char *name, const char *uri);
