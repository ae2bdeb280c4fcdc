/* history.h - earlier lines, for the arrow keys */
#ifndef CLI_HISTORY_H
#define CLI_HISTORY_H

#include <stddef.h>

/* Add a line, unless it is empty, too long, or the same as the last one. */
void history_add(const char *line);
/* The line so many back; the newest is 1.  NULL: there is none.  It is valid
 * until the next history_add(). */
const char *history_at(size_t back);

#endif
