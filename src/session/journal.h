/*
 * journal.h - the journal of an operation in a store: entries to records
 *
 *      entry --> record --> commit --> the store's thread --> durable
 *                 (entries with `more` share one)
 */
#pragma once

#include "session/durable.h"

/* What an operation begins with. */
struct journal_start {
    const char *op;             /* "start", "reply", "continue", "step" */
    const char *model;          /* or NULL */
    const allm_json *options;   /* those that a resume needs */
    const allm_thread *thread;  /* with its input */
    int64_t inbox_upto;         /* its input was sent: up to this row; or 0 */
    const struct fold *resumed; /* the operation that continues; or NULL */
    const allm_journal_replay *again;   /* an answer and its results so far,
                                           written after `begin`; or NULL */
};

struct op_journal {
    struct mem mem;
    struct arena arena;
    struct place *place;
    struct journal_start start; /* copied; the thread is its own */
    allm_thread *thread;
    allm_response *answer;      /* written after `begin`; or NULL */
    size_t result_count;        /* of it, whose texts the thread has */
    allm_journal_tool *results;
    const char *request_id;     /* of the call, which owns it */
    uint64_t begin;             /* the seq of its `begin` */
    const char *key_prefix;     /* of the keys of its calls */
    uint64_t end;               /* the seq of its `end`; 0: it has none yet */
    bool begun, ended;
    bool marked;                /* its first commit was built */
    struct fold calls;          /* those of the turn that runs */
    struct store_append *open;  /* being built; or NULL */
    struct store_append *waiting;   /* submitted, not yet durable; or NULL */
    const allm_error *error;    /* why the store rejected an entry */
    allm_session_record *after; /* as `end` has it; or NULL */
    /* The session after this result; a root.  NULL: out of memory. */
    allm_session_record *(*project)(void *ud, const allm_journal_entry *end);
    void *project_ud;
};

/* NULL: out of memory.  Nothing is written yet. */
struct op_journal *journal_open(struct place *d,
                                const struct journal_start *start);
void journal_free(struct op_journal *j);

/* The journal function of the call; `ud` is the journal. */
allm_status journal_take(const allm_journal_entry *entry, void *ud);

/* The operation ended without an END entry: write `end` with this record and
 * do not wait.  False: it could not be written. */
bool journal_close(struct op_journal *j, const char *halted,
                   const allm_session_record *record);

/* The newest record of the operation but its `end`. */
uint64_t journal_head(const struct op_journal *j);

/* Write what was built, and leave the operation open. */
void journal_leave(struct op_journal *j);
