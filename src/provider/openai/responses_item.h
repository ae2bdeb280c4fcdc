/*
 * responses_item.h - assemble the items of a response from their events
 *
 * A response of /responses is a list of items: messages, reasoning, calls and
 * the work of the server's own tools.  Each item is announced, grows by deltas
 * and is sent once more when it is complete.  Items that the model must see
 * again are kept, in their order.
 */
#pragma once

#include "provider/openai/responses_item_list.h"

/* output_item.added and output_item.done.  `chunk` is emitted for an item of
 * an unknown kind. */
void openai_responses_item_begin(struct responses_items *all,
                                 const struct responses_place *place,
                                 const allm_json *item, const allm_json *chunk);
void openai_responses_item_end(struct responses_items *all,
                               const struct responses_place *place,
                               const allm_json *item, const allm_json *chunk);

/* A delta; or, if `whole`, the complete text, which is emitted only if no
 * delta arrived. */
void openai_responses_item_add(struct responses_items *all,
                               const struct responses_place *place,
                               enum responses_piece what, struct slice text,
                               bool whole);

/* The name of a call whose item has not arrived. */
void openai_responses_item_name(struct responses_items *all,
                                const struct responses_place *place,
                                struct slice name);

/* A source that a text cites. */
void openai_responses_item_cite(struct responses_items *all,
                                const struct responses_place *place,
                                const allm_json *annotation);

/* The "output" of a complete response: emit what the stream left out. */
void openai_responses_item_output(struct responses_items *all,
                                  const allm_json *output);

/* The stream has ended: end the items that are still open. */
void openai_responses_item_end_all(struct responses_items *all);
