/*
 * history.h - a conversation as every provider accepts it
 *
 * Providers refuse histories that are perfectly sensible: a call that nobody
 * answered, a result that nobody asked for, an id in somebody else's alphabet.
 * Here the messages of a request are given out one by one, mended; the caller's
 * own are never changed.
 *
 *   - right behind an assistant's calls come their results, in the order of
 *     the calls; one that is missing is made up: "not executed"
 *   - a result without a call becomes a message of the user's
 *   - an assistant's message that says nothing to this model is left out: a
 *     thought alone is nothing to others
 *
 * The same conversation gives the same messages, and a longer one begins with
 * those of the shorter.
 */
#ifndef PROVIDER_HISTORY_H
#define PROVIDER_HISTORY_H

#include "allm.h"
#include "base/buf.h"
#include "json/emit.h"

struct history {
    const allm_call *reader;    /* whom it is told to */
    const allm_request *request;
    struct arena *arena;
    size_t at;                  /* the next message of the request */
    const allm_message *asked;  /* whose calls are being answered; or NULL */
    size_t call;                /* the next of them */
    size_t first, end;          /* where their results may stand */
    size_t hint;                /* where the next probably stands */
    unsigned char *used;        /* by index: this result was given out */
    bool broken;                /* no memory */
};

/* One message as it is to be sent. */
struct history_item {
    const allm_message *message;
    size_t index;               /* of the request's message that led to it */
    bool made;                  /* made here; it dies with the arena */
};

void history_init(struct history *h, const allm_call *call, struct arena *a);

/* False: that was all, or h->broken. */
bool history_next(struct history *h, struct history_item *out);

/* May this provider_state go back to the model of this call?  The state, or
 * NULL: somebody else made it. */
const allm_json *history_state(const allm_call *call, const allm_json *state);

/*
 * Ids of calls.  What a provider does not take is replaced by letters and
 * digits that follow from the id alone, so that call and result still agree.
 */
struct history_ids {
    size_t most;                /* characters; 0: any number */
    size_t exactly;             /* or just so many; 0: no such rule */
    bool dashes;                /* _ and - beside letters and digits */
    bool any;                   /* any character at all */
};

/* The id itself, or another one in the arena; NULL: no memory. */
const char *history_id(const struct history_ids *rules, const char *id,
                       struct arena *a);

/*
 * The name of a call.  Models make up names that are refused when they come
 * back: what is not a letter, a digit, _ or - becomes _, beyond 64 nothing is
 * sent, and no name is "unnamed".  NULL: no memory.
 */
const char *history_name(const allm_tool_call *call, struct arena *a);

/*
 * The arguments of a call as a JSON object: the provider's own text if it is
 * one, else what it was understood as.  ptr NULL: no memory.
 */
struct slice history_arguments(const allm_tool_call *call, struct arena *a);

/* All texts of a message, joined by a line feed.  ptr NULL: no memory. */
struct slice history_text(const allm_message *m, struct arena *a);

/* Write a member with one of these texts; no memory breaks the output. */
void history_write(struct emit *e, const char *name, struct slice text);
bool history_has_image(const allm_message *m);

#endif
