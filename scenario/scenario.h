/* scenario.h - the state of running a scenario file */
#pragma once

#include "runs.h"

#include <stdatomic.h>
#include <stdio.h>

enum { MAX_TOOLS = 64, MOST_KEPT = 64, MOST_NAME = 128 };

struct scenario;

/* A clock that advances only when the library sleeps. */
struct test_clock {
    int64_t now_ns;
    struct scenario *scenario;
    allm_clock clock;
};

/* What a tool does: action.h. */
struct action {
    const allm_json *does;      /* NULL: the tool has no function */
    struct scenario *scenario;  /* counts its runs */
    uint64_t calls;             /* of this tool, in the whole file */
    struct action_call *sleeping; /* calls that sleep */
};

/* Tools decoded from their plain forms; each codec owns its tool. */
struct tool_list {
    size_t count;
    allm_codec *codec[MAX_TOOLS];
    allm_tool made[MAX_TOOLS];
    struct action action[MAX_TOOLS];
    const allm_tool *tool[MAX_TOOLS];
};

/* The store of the sessions: kept.h. */
struct kept {
    const char *uri;            /* NULL: sessions are not in a store */
    allm_store *store, *look;
    char name[MOST_NAME + 1];   /* of the current session; "": none yet */
    bool hidden;                /* this name was generated */
    char names[MOST_KEPT][MOST_NAME + 1];
    size_t name_count;
    atomic_ullong commits;      /* that were begun, in the whole file */
    atomic_ullong crash_at;     /* one of them; 0: none */
    bool crash_before;
    atomic_bool crashed;
    uint64_t first_commit;      /* before the operation */
    uint64_t settled;           /* commits that kept_settle() has seen */
};

struct scenario {
    const char *file;
    allm_json *document;
    struct test_clock clock;
    allm_engine *engine;
    struct tool_list tools;
    allm_toolbox *toolbox;      /* whose gate is used: gate.h; or NULL */
    const allm_json *answers;   /* of the person who is asked; or NULL */
    size_t asked[MAX_TOOLS];    /* questions about each tool */
    allm_session *session;      /* NULL: none yet */
    struct kept kept;
    struct runs runs;           /* in this operation */
    size_t op_count;            /* operations that have run */
    allm_json **outcome;        /* of each operation, for same_as */
    char fault[1024];           /* why the file is not valid */
    FILE *notes;                /* is printed after "not ok" */
};

/* Set s->fault, why the file is not valid.  Always false. */
__attribute__((format(printf, 2, 3)))
bool scenario_reject(struct scenario *s, const char *format, ...);

/* Check that every member of an object is one of these words, separated by
 * spaces; `where` names the object.  False: rejected. */
bool scenario_check_members(struct scenario *s, const allm_json *object,
                            const char *where, const char *words);
