/* mcp_prompts.h - templates as prompts for MCP clients */
#pragma once

#include "allm.h"

/* The templates of the user, as a server lists prompts; the caller frees it.
 * Their arguments are the parameters, and "input" if the text uses it. */
allm_json *mcp_prompts_list(void);

/* Fill in a template, and answer the request. */
void mcp_prompts_answer(allm_mcp_server *server, const allm_mcp_request *r);
