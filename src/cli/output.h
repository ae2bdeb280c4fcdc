/* output.h - bytes to a descriptor, all of them */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stddef.h>

/* Also where the descriptor does not block: a terminal or a pipe may be shared
 * with a program that has made it so.  0, or the errno of what went wrong. */
int output_write(int fd, const char *bytes, size_t len);

#endif
