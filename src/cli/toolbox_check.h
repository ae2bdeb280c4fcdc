/* toolbox_check.h - lines of allm doctor about tools and MCP servers */
#ifndef CLI_TOOLBOX_CHECK_H
#define CLI_TOOLBOX_CHECK_H

#include <stdbool.h>

/* Report the tools in the user's folders, and the servers in the settings.  No
 * server is started. */
void toolbox_check(void (*report)(bool good, const char *what,
                                  const char *detail));

#endif
