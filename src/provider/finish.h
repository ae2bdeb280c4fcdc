/* finish.h - why a model stopped: a provider's word and ours */
#ifndef PROVIDER_FINISH_H
#define PROVIDER_FINISH_H

#include "allm.h"
#include "base/slice.h"

/* A row of a dialect's table; a NULL word ends it. */
struct finish_word {
    const char *word;
    allm_finish is;
};

/* What a word stands for, upper or lower case; OTHER if it is not in the
 * table. */
allm_finish finish_of(const struct finish_word *table, struct slice word);

/*
 * The word that counts, once the calls are known: "stop" with calls is a stop
 * for tools, and so is an unknown reason if no call was cut; a stop for tools
 * without any is none.
 */
allm_finish finish_settle(allm_finish said, size_t calls, bool cut);

#endif
