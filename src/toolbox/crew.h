/* crew.h - the thread of a toolbox: starts processes, answers their runs */
#ifndef TOOLBOX_CREW_H
#define TOOLBOX_CREW_H

#include "base/mem.h"
#include "toolbox/program.h"

#include <pthread.h>

/*
 * The thread starts with the first call.  All functions may be called from any
 * thread; { 0 } is not valid.
 */
struct crew;

/* At most max_procs processes run at once; others wait in line.  NULL: out of
 * memory. */
struct crew *crew_new(struct mem mem, size_t max_procs);

/* Kill all processes, answer their runs, and join the thread. */
void crew_free(struct crew *c);

/*
 * Run this tool of a program.  The run is deferred and answered by the thread.
 * Program and tool must outlive the crew.
 */
void crew_call(struct crew *c, const struct program *p,
               const struct described *d, allm_tool_run *run,
               const allm_json *args);

#endif
