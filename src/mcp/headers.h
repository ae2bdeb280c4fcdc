/*
 * headers.h - the HTTP headers of an MCP request
 *
 * A modern request repeats its method, its name, and those arguments that the
 * tool's schema marks with "x-mcp-header", so that a proxy can route it without
 * reading the body.
 */
#pragma once

#include "mcp/client.h"

struct mcp_header {
    const char *name, *value;
};

struct mcp_headers {
    size_t count;
    struct mcp_header *list;
};

/* Can the marked arguments of this schema be sent as headers?  Otherwise the
 * tool must not be offered over HTTP. */
bool mcp_headers_valid(const allm_json *schema);

/*
 * The headers of a message; schema is that of the tool that it calls, or NULL.
 * They are in the arena.  False: out of memory.
 */
bool mcp_headers_make(struct arena *a, const struct mcp_message *m,
                      const allm_json *schema, struct mcp_headers *out);
