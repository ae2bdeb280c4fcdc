/* comments.h - JSON with comments becomes JSON of the same length */
#pragma once

#include "base/arena.h"

/*
 * A copy of the text, in the arena, with spaces for comments and for a comma
 * before a closing bracket, so every offset stays what it is.  What is not a
 * comment, such as one that does not end, stays for the reader to reject.
 * ptr is NULL if out of memory.
 */
struct slice comments_blank(struct arena *a, struct slice text);
