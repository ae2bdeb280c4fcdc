/* tools.h - the tools of a server, as models see them */
#pragma once

#include "json/json.h"

enum {
    MCP_TOOL_NAME = 64,         /* the longest name that a model sees */
    MCP_TOOLS_MOST = 4096       /* of one server; all of them are compared with
                                   each other in several places */
};

struct mcp_tool {
    const char *shown;          /* SERVER__TOOL, of letters, digits, _ and - */
    const char *name;           /* as the server knows it */
    const char *description;    /* "" if it has none */
    const allm_json *schema;    /* of its arguments: an object */
    const allm_json *output;    /* of its structured results, or NULL */
    const allm_json *annotations;       /* hints of the server, or NULL */
    bool read_only, idempotent;         /* two of these hints */
};

struct mcp_tools_opts {
    const char *server;         /* the first part of the names */
    const allm_json *filter;    /* ["read_*", "!delete_*"]; NULL: all */
    bool http;                  /* headers that cannot be sent matter */
};

struct mcp_tools {
    size_t count;
    struct mcp_tool *tools;     /* by name, in whatever order they came */
    size_t invalid;             /* were left out */
    struct slice why;           /* the first of them was */
};

/*
 * Make them from the array that tools/list returned.  Strings and schemas are
 * borrowed from the list.  A tool without a name or with a wrong schema is left
 * out, as are those above MCP_TOOLS_MOST; of equal names the first counts.
 * False: out of memory.
 */
bool mcp_tools_make(struct arena *a, const allm_json *list,
                    const struct mcp_tools_opts *opts, struct mcp_tools *out);
