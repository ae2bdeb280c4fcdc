/* copy.h - copy a text to the clipboard of the terminal */
#ifndef CLI_COPY_H
#define CLI_COPY_H

#include <stddef.h>

/* Send it with OSC 52 if stderr is a terminal that is not dumb, and print what
 * was done, or why not. */
void copy_to_clipboard(const char *text, size_t len);

#endif
