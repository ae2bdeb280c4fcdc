/* server_parts.h - the state of a server; for the files server*.c only */
#pragma once

#include "allm_mcp.h"
#include "base/buf.h"
#include "base/home.h"
#include "mcp/revision.h"
#include "mcp/rpc.h"
#include "wire/ndjson.h"

enum {
    SERVER_PAGE = 100,
    SERVER_REQUESTS = 1000,     /* under way at once */
    SERVER_UNSENT = 64 * 1024 * 1024
};

/* A tool and its compiled schemas. */
struct served_tool {
    const allm_json *tool;
    allm_json_schema *input, *output;   /* NULL: it has none */
};

/*
 * A request that the caller runs.  It is in the list until it is answered; a
 * legacy client may be asked about it in between (asked_id).
 */
struct serving {
    struct serving *next;
    struct allm_home *home;
    allm_mcp_request request;           /* what the caller sees */
    const allm_json *id;
    const allm_json *token;             /* for its progress, or NULL */
    const struct served_tool *tool;     /* that it calls, or NULL */
    bool modern;
    bool told;                          /* to the caller */
    uint64_t asked_id;                  /* 0: the user is not being asked */
};

struct allm_mcp_server {
    struct mem mem;
    struct allm_home *home;             /* of the options, tools, error */
    allm_mcp_server_opts opts;
    struct served_tool *tools;
    size_t tool_count;
    const allm_error *error;

    const struct revision *revision;    /* legacy; NULL: no initialize yet */
    bool elicits;                       /* the legacy client does */
    struct ndjson lines;
    struct arena out_arena;
    struct buf out;
    size_t sent;                        /* of out */
    struct serving *servings;           /* the oldest first */
    struct serving *cancelled;          /* is told, then freed */
    uint64_t last_id;
};

/* What a message says about its sender. */
struct sender {
    const struct revision *revision;
    bool elicits;
};

/* ---------------------------------------------------------- server_hear --- */

/* Take one message. */
void server_hear(allm_mcp_server *s, struct slice line);

/* --------------------------------------------------------- server_write --- */

/* Begin a result for this request, and end it.  A modern result says that it
 * is complete; one that may be cached says for how long. */
void server_begin_result(allm_mcp_server *s, struct emit *e,
                         const allm_json *id, bool modern);
void server_end_result(allm_mcp_server *s, struct emit *e, bool modern,
                       bool cacheable, bool has_meta);

/* A whole error. */
void server_write_error(allm_mcp_server *s, const allm_json *id, int code,
                        const char *message, const allm_json *data);

/* End a message that was written into s->out. */
void server_end_line(allm_mcp_server *s);

/* The connection cannot go on. */
void server_lose(allm_mcp_server *s, allm_status kind, const char *reason,
                 const char *message);

/* A tool's result: a text, and whether it says why the tool failed. */
void server_write_text(allm_mcp_server *s, const allm_json *id, bool modern,
                       struct slice text, bool failed);
