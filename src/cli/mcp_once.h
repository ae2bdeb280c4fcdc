/* mcp_once.h - one request to an MCP server */
#pragma once

#include "allm.h"
#include "term/bytes.h"

/*
 * Start the server of this entry, send one request, and end the server.  Its
 * forms are filled in on the terminal.  Returns the result, which the caller
 * frees; NULL: an error was printed.
 */
allm_json *mcp_once_request(const char *name, const allm_json *entry,
                            const char *method, const allm_json *params);
/* The same for a word, as of --mcp. */
allm_json *mcp_once_ask(const char *word, const char *method,
                        const allm_json *params);

/* Words, names and values by turns, as the arguments of a prompt. */
allm_json *mcp_once_pairs(const char *const *words, size_t count);
/* {"name": name, "arguments": arguments} */
allm_json *mcp_once_params(const char *name, const allm_json *arguments);

/* Append the texts of a result's content, of a message or of a resource: parts
 * that are no text are described. */
void mcp_once_text(const allm_json *part, struct bytes *out);
