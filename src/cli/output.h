/* output.h - write all bytes to a descriptor, also a non-blocking one */
#pragma once

#include <stddef.h>

/* The descriptor may be non-blocking: another program may share the terminal or
 * pipe and set this mode.  Returns 0 or an errno. */
int output_write(int fd, const char *bytes, size_t len);
