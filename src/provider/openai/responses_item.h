/*
 * responses_item.h - the items of an answer, put together again
 *
 * An answer of /responses is a list of items: messages, reasoning, calls and
 * what the server did by itself.  Each is announced, grows by deltas and is
 * told once more as a whole.  What the model wants to see again is kept, with
 * the order of all of them.
 */
#ifndef PROVIDER_OPENAI_RESPONSES_ITEM_H
#define PROVIDER_OPENAI_RESPONSES_ITEM_H

#include "provider/answer.h"

struct responses_item;

struct responses_items {        /* zeroed at first */
    struct answer *answer;      /* where everything is told */
    struct responses_item *first, *last;
    size_t count;
};

/* Where an event belongs, as far as it says. */
struct responses_place {
    bool has_index;
    int64_t index;              /* of the item */
    struct slice id;            /* some make up a new one for every event */
    int64_t part;               /* of the item's content, or summary */
};

/* What a piece is of; a text may come by itself or as a whole again. */
enum responses_piece {
    RESPONSES_TEXT, RESPONSES_REFUSAL, RESPONSES_SUMMARY, RESPONSES_THOUGHT,
    RESPONSES_ARGUMENTS, RESPONSES_INPUT
};

/* output_item.added and output_item.done.  `chunk` is what is told of an item
 * that we know nothing of. */
void openai_responses_item_begin(struct responses_items *all,
                                 const struct responses_place *place,
                                 const allm_json *item, const allm_json *chunk);
void openai_responses_item_end(struct responses_items *all,
                               const struct responses_place *place,
                               const allm_json *item, const allm_json *chunk);

/* A delta; or, `whole`, all of a text, of which only that is told which no
 * delta told. */
void openai_responses_item_add(struct responses_items *all,
                               const struct responses_place *place,
                               enum responses_piece what, struct slice text,
                               bool whole);

/* The name of a call whose item did not come. */
void openai_responses_item_name(struct responses_items *all,
                                const struct responses_place *place,
                                struct slice name);

/* A source that a text names. */
void openai_responses_item_cite(struct responses_items *all,
                                const struct responses_place *place,
                                const allm_json *annotation);

/* The "output" of a whole response: what of it the stream did not tell. */
void openai_responses_item_output(struct responses_items *all,
                                  const allm_json *output);

/* There is no more: end what is still open. */
void openai_responses_item_end_all(struct responses_items *all);

/* What is to be sent back with the message: {"output": [...]}, in the memory
 * of events; NULL: nothing. */
const allm_json *openai_responses_item_state(const struct responses_items *all);

#endif
