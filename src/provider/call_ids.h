/*
 * call_ids.h - make the ids of calls unique in a conversation
 *
 * Some servers number the calls of every response from zero: "call_0", again
 * and again.  For servers that reject such a history, the second one is sent as
 * "call_0_2".
 */
#pragma once

#include "provider/history.h"

struct call_ids_used {
    const char *id;             /* NULL: a free entry of the table */
    size_t number;              /* of the last id derived from it; or 0 */
};

struct call_ids {
    struct arena *arena;
    struct history_ids rules;
    struct call_ids_used *table;        /* a hash table */
    size_t cap, count;
    const allm_message *assistant;      /* the last message with that role */
    const char **turn;          /* the ids of its calls */
    size_t answered;            /* how many of them have a result */
    bool broken;                /* out of memory */
};

void call_ids_init(struct call_ids *c, struct history_ids rules,
                   struct arena *a);

/* The id to send for the next call; NULL: out of memory.  *plain: it depends on
 * the id of the call alone. */
const char *call_ids_next(struct call_ids *c, const char *id, bool *plain);

/* Begin an assistant's message: set `turn`, the ids of its calls.  True: each
 * depends on the call's id alone, so the encoded message may be kept. */
bool call_ids_ask(struct call_ids *c, const allm_message *m);

/* The id of the call that this result answers; history.h returns results in the
 * order of the calls.  *plain: as above.  NULL: out of memory. */
const char *call_ids_answer(struct call_ids *c, const allm_message *result,
                            bool *plain);
