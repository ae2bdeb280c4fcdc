/* answers.h - texts such as models write them, in Markdown */
#pragma once

#include <stddef.h>

enum { ANSWERS = 200, ANSWER_SIZE = 8192 };

/* Write answer n, always the same; returns its length.  Some end in the middle
 * of a block, as an answer does that was cancelled. */
size_t answer_write(size_t n, char text[ANSWER_SIZE]);
