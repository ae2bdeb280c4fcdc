/* chat_lines.h - read the user's lines of a chat */
#pragma once

#include <stdbool.h>

/* The next line without its line end, valid until the next call; NULL: no
 * more. */
const char *chat_lines_next(const char *prompt);
/* Did the user end the chat by pressing Ctrl-C twice? */
bool chat_lines_interrupted(void);
/* Was a line rejected, and an error printed? */
bool chat_lines_rejected(void);
/* Are standard input and stderr terminals, so a prompt is shown? */
bool chat_lines_interactive(void);
