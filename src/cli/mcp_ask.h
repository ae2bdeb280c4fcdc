/* mcp_ask.h - the tool "ask" of "allm mcp": a prompt to a model */
#pragma once

#include "cli/mcp_parts.h"
#include "cli/session.h"

/* The tool as a server lists it. */
extern const char mcp_ask_tool[];

/* One call of it. */
struct mcp_ask {
    char *name; /* of the session; NULL: none */
    struct session session;
    char why[400]; /* it did not start, because */
};

/* Choose the model of calls that name none.  optional: that there is none is no
 * error, but the tool cannot be offered, and *found is false. */
int mcp_ask_open(const struct mcp_flags *f, const allm_json *options,
                 bool optional, bool *found);

/* Start a call; NULL: a->why says why not.  The caller frees the stream before
 * it calls mcp_ask_end(). */
allm_stream *mcp_ask_start(struct mcp_ask *a, const allm_mcp_request *r);
/* The answer is there: keep what the session does not have yet. */
void mcp_ask_keep(struct mcp_ask *a);
void mcp_ask_end(struct mcp_ask *a);
