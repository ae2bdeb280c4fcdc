/* lines.h - count lines, and cut long ones */
#pragma once

#include "base/buf.h"

/* The number of LFs. */
size_t lines_ends(struct slice text);

/* The number of lines; the last one may lack its LF. */
size_t lines_count(struct slice text);

/* Without the CR of a CRLF. */
struct slice lines_bare(struct slice line);

/* Add a line, but at most `most` characters of it, and say how many more there
 * are.  NULs are shown as U+FFFD. */
void lines_add(struct buf *out, struct slice line, size_t most);

/* Is it not text?  A NUL in the first 8000 bytes says so, as for git. */
bool lines_binary(struct slice start);
