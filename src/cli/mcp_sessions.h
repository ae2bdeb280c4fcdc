/* mcp_sessions.h - stored sessions as resources for MCP clients */
#pragma once

#include "allm.h"

/* The sessions of a store (uri NULL: see session_store.h) as a server lists
 * resources: allm://sessions/NAME.  Empty if there is no store. */
allm_json *mcp_sessions_list(const char *uri);
/* The template of their addresses; the caller frees both. */
allm_json *mcp_sessions_templates(void);

/* Read a session, and answer the request with its Markdown. */
void mcp_sessions_answer(allm_mcp_server *server, const allm_mcp_request *r,
                         const char *uri);
