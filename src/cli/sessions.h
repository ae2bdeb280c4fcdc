/*
 * sessions.h - allm sessions: the sessions of the store, one verb per function
 *
 * A verb gets the open store, the flags, and its arguments, whose number was
 * checked, then NULL.  It returns the exit code.
 */
#pragma once

#include "cli/flags.h"
#include "cli/session.h"
#include "cli/toolbox_flags.h"

/* The flags of all verbs. */
struct sessions {
    const char *uri, *status, *happened, *from, *older, *model;
    struct flag_list options;
    uint32_t limit, at;
    bool json, journal, markdown, events, forever, dry_run, ask_user, quiet;
    bool did_not_happen, again;
    struct toolbox_flags toolbox;
    allm_store *store;
};

/* sessions_list.c */
int sessions_list(struct sessions *s, char **argv);

/* sessions_show.c */
int sessions_show(struct sessions *s, char **argv);
int sessions_export(struct sessions *s, char **argv);

/* sessions_run.c */
int sessions_resume(struct sessions *s, char **argv);
int sessions_abandon(struct sessions *s, char **argv);
int sessions_cancel(struct sessions *s, char **argv);
int sessions_settle(struct sessions *s, char **argv);
int sessions_follow(struct sessions *s, char **argv);

/* sessions_keep.c */
int sessions_fork(struct sessions *s, char **argv);
int sessions_import(struct sessions *s, char **argv);
int sessions_rm(struct sessions *s, char **argv);
int sessions_prune(struct sessions *s, char **argv);
int sessions_verify(struct sessions *s, char **argv);
