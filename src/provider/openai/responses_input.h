/*
 * responses_input.h - write a conversation as the "input" of /responses
 *
 * A message becomes one or more items: each text, reasoning block and call is
 * an item.
 */
#pragma once

#include "allm.h"
#include "base/arena.h"
#include "json/emit.h"

/*
 * Write the list.  `stored`: the server stores its own items, so the id of a
 * reasoning item is enough.  False: out of memory.
 */
bool openai_responses_input_write(const allm_call *call, bool stored,
                                  struct emit *e, struct arena *a);
