/* chat_lines.h - lines that the user writes */
#ifndef CLI_CHAT_LINES_H
#define CLI_CHAT_LINES_H

#include <stdbool.h>

/* The next line without its end, lent until the next call; NULL: no more. */
const char *chat_lines_next(void);
/* Was a line refused, and told? */
bool chat_lines_rejected(void);
/* Is there a terminal, so that a prompt is shown? */
bool chat_lines_interactive(void);

#endif
