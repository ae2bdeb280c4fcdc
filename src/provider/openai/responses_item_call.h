/* responses_item_call.h - build a tool call from an item of a response */
#pragma once

#include "provider/openai/responses_item_list.h"

/* Start the call if its item has a name. */
void openai_item_call_open(struct responses_items *all,
                           struct responses_item *i, const allm_json *item);
void openai_item_call_start(struct responses_items *all,
                            struct responses_item *i, struct slice id,
                            struct slice name);
void openai_item_call_append(struct responses_items *all,
                             struct responses_item *i, struct slice text);

/* Set the complete arguments: they replace those of the deltas. */
void openai_item_call_settle(struct responses_items *all,
                             struct responses_item *i, struct slice text);

/* The arguments in an item, as JSON or as the input of a custom tool. */
struct slice openai_item_call_arguments(struct responses_items *all,
                                        const allm_json *item);
