/* server_entry.h - the entry of an MCP server, from words of a command line */
#pragma once

#include "allm.h"

enum { SERVER_NAME = 65, SERVER_WORDS = 128 };

/*
 * Split a command line at blanks.  Quotes ('...' and "...") keep blanks;
 * nothing else has a meaning.  The words are in `line`, which is changed.
 * Returns how many there are; 0: none, or a quote is not closed, or too many.
 */
size_t server_entry_split(char *line, const char *words[SERVER_WORDS]);

/* The entry of a command: {"command", "args"}.  The caller frees it. */
allm_json *server_entry_command(const char *const *words, size_t count);
/* The entry of an address: {"type": "http", "url", "headers"?}; headers are
 * "K: V".  NULL: one of them has no colon. */
allm_json *server_entry_url(const char *url, const char *const *headers,
                            size_t count);

/*
 * A name for the server: the base name of the program, or of its package (npx,
 * uvx, python -m and the like), or the first label of the host name.  What a
 * name cannot have becomes "_".
 */
void server_entry_name(const allm_json *entry, char name[SERVER_NAME]);
