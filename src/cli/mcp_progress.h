/*
 * mcp_progress.h - progress of tools, on its way to an MCP client
 *
 * A toolbox reports progress in its own thread; the thread of the server waits
 * for the descriptor, and passes it on.
 */
#pragma once

#include "allm.h"

/* A report. */
struct mcp_progress {
    struct mcp_progress *next;
    char *call_id, *message; /* the message may be NULL */
    double progress, total;
};

/* Without descriptors, reports wait until something else happens. */
void mcp_progress_open(void);
void mcp_progress_close(void);

/* A function of a toolbox. */
void mcp_progress_take(void *ud, const allm_tool_progress *p);

/* Readable while reports wait; -1: it is not open. */
int mcp_progress_fd(void);
/* The next one, which the caller frees; NULL: none waits. */
struct mcp_progress *mcp_progress_next(void);
void mcp_progress_free(struct mcp_progress *p);
