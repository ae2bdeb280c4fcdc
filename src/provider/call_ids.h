/*
 * call_ids.h - ids of calls, each used once in a whole conversation
 *
 * Some servers count calls anew in every answer: "call_0", again and again.
 * Where that is refused, the second one is sent as "call_0_2".
 */
#ifndef PROVIDER_CALL_IDS_H
#define PROVIDER_CALL_IDS_H

#include "provider/history.h"

struct call_ids_used {
    const char *id;             /* NULL: a free place in the table */
    size_t number;              /* of the last that was made of it; or 0 */
};

struct call_ids {
    struct arena *arena;
    struct history_ids rules;
    struct call_ids_used *table;        /* of a hash */
    size_t cap, count;
    const allm_message *asked;  /* the last assistant */
    const char **turn;          /* the ids of its calls */
    size_t answered;            /* so many of them have their result */
    bool broken;                /* no memory */
};

void call_ids_init(struct call_ids *c, struct history_ids rules,
                   struct arena *a);

/* The id of the next call as it is to be sent; NULL: no memory.  *plain: it
 * follows from the id alone. */
const char *call_ids_next(struct call_ids *c, const char *id, bool *plain);

/* An assistant speaks: the ids of its calls are in turn.  True: each follows
 * from the call's id alone, so that what is written may be kept. */
bool call_ids_ask(struct call_ids *c, const allm_message *m);

/* The id of the call that this result answers; history gives results in the
 * order of the calls.  *plain: as above.  NULL: no memory. */
const char *call_ids_answer(struct call_ids *c, const allm_message *result,
                            bool *plain);

#endif
