/* toolbox_servers.h - the MCP servers of a toolbox: --mcp, --mcp-config */
#pragma once

#include "allm.h"
#include "cli/flags.h"

/* Each returns END_DONE, or an exit code after an error was printed. */

/* Add the words of --mcp: names of configured servers, addresses and command
 * lines; and all servers of the files. */
int toolbox_servers_add(allm_toolbox *box, const struct flag_list *words,
                        const struct flag_list *files);
/* Is this server configured?  Add it; add all that are. */
bool toolbox_servers_knows(const char *name);
int toolbox_servers_name(allm_toolbox *box, const char *name);
int toolbox_servers_all(allm_toolbox *box);

/* Wait until all have answered or failed; those that failed are printed. */
int toolbox_servers_wait(allm_toolbox *box);

/* The entry of a word of --mcp, and its name; NULL: an error was printed.  The
 * caller frees it. */
allm_json *toolbox_servers_entry(const char *word, char name[65]);
