/* responses_item_state.h - keep the items that the model must see again */
#pragma once

#include "provider/openai/responses_item_list.h"

/* The item as it is sent back; it lives as long as the response. */
const allm_json *openai_item_raw(struct responses_items *all,
                                 const allm_json *item);

/* The provider state of a reasoning item; NULL: it has none. */
const allm_json *openai_item_mark(struct responses_items *all,
                                  const struct responses_item *i);

/* What must be sent back with the message: {"output": [...]}, in the arena of
 * the events; NULL: nothing. */
const allm_json *openai_responses_item_state(const struct responses_items *all);
