/* finish.h - map a provider's finish reasons to ours */
#pragma once

#include "allm.h"
#include "base/slice.h"

/* A row of a dialect's table; a NULL word ends it. */
struct finish_word {
    const char *word;
    allm_finish is;
};

/* The finish reason for a word, ignoring case; OTHER if it is not in the
 * table. */
allm_finish finish_of(const struct finish_word *table, struct slice word);

/*
 * The final finish reason, once the calls are known.  STOP with calls becomes
 * TOOL_CALLS, and so does OTHER if no call was truncated.  TOOL_CALLS without
 * calls becomes STOP.
 */
allm_finish finish_settle(allm_finish reason, size_t calls, bool cut);
