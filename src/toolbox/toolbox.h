/* toolbox.h - all external tools as one object, for the files of this layer */
#ifndef TOOLBOX_TOOLBOX_H
#define TOOLBOX_TOOLBOX_H

#include "allm.h"
#include "base/home.h"
#include "toolbox/crew.h"

#include <stdatomic.h>

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
};

/* A published list is never changed; the next one has more entries. */
struct entry_list {
    size_t count;
    const struct entry *entries;
    const allm_tool *const *tools;
};

struct allm_toolbox {
    struct allm_home *home;     /* owns everything below; the count of it is
                                   that of the toolbox */
    const char *root;           /* absolute */
    enum orders_mode mode;
    struct crew *crew;
    allm_executor executor;
    pthread_mutex_t lock;       /* guards the home's arena and the next four */
    const allm_error *error;    /* the last one; or NULL */
    struct fault {
        const char *source;
        const allm_error *error;
        struct fault *next;
    } * faults, **faults_end;
    _Atomic(const struct entry_list *) list;
    int pid;                    /* of the process that made it */
};

/* Add entries; they and what they refer to are in the home.  The lock is held.
 * NULL, or the error: one has a name that is taken, or out of memory. */
const allm_error *toolbox_publish(allm_toolbox *t, size_t count,
                                  const struct entry *entries);

#endif
