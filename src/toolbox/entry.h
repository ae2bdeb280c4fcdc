/* entry.h - one tool of a toolbox, of any kind */
#pragma once

#include "allm.h"
#include "base/arena.h"

/*
 * A tool and the code that runs it.  Each kind of tool (programs, built-in
 * tools, servers) has its own execute(), which must not block: it answers the
 * run or defers it.
 */
struct entry {
    const allm_tool *tool;
    void (*execute)(allm_toolbox *t, const struct entry *e, allm_tool_run *run,
                    const allm_json *args);
    const void *data;           /* of that kind */
    const char *kind;           /* "program" */
    const char *source;         /* where it comes from: a path */
    const allm_json *reach;     /* an array of words; or NULL */
    bool process;               /* each call is a process, which may read more
                                   than the reach says */
    bool confined;              /* of a server: it runs in a sandbox.  Calls
                                   whose reach names no "server" always are */
    size_t weight;              /* bytes of its description in a request; if
                                   those of all tools are many, they become
                                   compact; 0: it does not */
    /* The reach of a call with these arguments, in the arena; NULL: out of
     * memory.  If this is NULL, every call has the reach above.  The rules see
     * this list and nothing else of a tool: a server sets "server NAME TOOL" */
    const allm_json *(*call_reach)(allm_toolbox *t, const struct entry *e,
                                   const allm_json *args, struct arena *a);
};
