/* scenario.h - one scenario file being run */
#ifndef SCENARIO_SCENARIO_H
#define SCENARIO_SCENARIO_H

#include "runs.h"

#include <stdio.h>

enum { MOST_TOOLS = 64 };

/* A clock that moves only when somebody waits. */
struct test_clock {
    int64_t now_ns;
    allm_clock clock;
};

/* What one tool does: does.h. */
struct deed {
    const allm_json *does;      /* NULL: it has no function */
    struct runs *runs_of;       /* who counts */
    uint64_t runs;              /* over the whole file */
    struct nap *naps;           /* what it sleeps over */
};

/* Tools made of their plain forms; each lives in its codec. */
struct tool_list {
    size_t count;
    allm_codec *codec[MOST_TOOLS];
    allm_tool made[MOST_TOOLS];
    struct deed deed[MOST_TOOLS];
    const allm_tool *tool[MOST_TOOLS];
};

struct scenario {
    const char *file;
    allm_json *document;
    struct test_clock clock;
    allm_engine *engine;
    struct tool_list tools;
    allm_session *session;      /* NULL: none was made yet */
    struct runs runs;           /* in this operation */
    size_t op_count;            /* operations that have run */
    allm_json **outcome;        /* of each, for same_as */
    char fault[1024];           /* why the file cannot be understood */
    FILE *notes;                /* what is printed behind "not ok" */
};

/* Note why the file cannot be understood; false. */
__attribute__((format(printf, 2, 3)))
bool scenario_refuse(struct scenario *s, const char *format, ...);

/* Every member of an object is one of these words, which are separated by
 * spaces; else refused: `where` has a member that nobody knows. */
bool scenario_knows(struct scenario *s, const allm_json *object,
                    const char *where, const char *words);

#endif
