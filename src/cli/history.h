/* history.h - lines that were written before, for the arrow keys */
#ifndef CLI_HISTORY_H
#define CLI_HISTORY_H

#include <stddef.h>

/* An empty line, one that is too long, or the same one again is left out. */
void history_add(const char *line);
/* The newest is 1; NULL: there are not so many.  Lent until one is added. */
const char *history_at(size_t back);

#endif
