/* text.h - results that are bytes: the public allm_text */
#pragma once

#include "base/buf.h"
#include "base/home.h"

/*
 * Make a result in three steps: text_begin() creates a home, in whose arena
 * the bytes and errors are allocated; then text_finish() takes bytes of that
 * arena, or text_fail() an error.  A text whose arena is broken fails, even if
 * it is finished.  The last two accept NULL.
 */
allm_text *text_begin(struct mem mem, size_t hint);
struct arena *text_arena(allm_text *t);
allm_text *text_finish(allm_text *t, struct slice bytes);
allm_text *text_fail(allm_text *t, const allm_error *error);
