/*
 * responses_input.h - a conversation as the "input" of /responses
 *
 * A message becomes one item or several: texts, reasoning and calls stand side
 * by side there.
 */
#ifndef PROVIDER_OPENAI_RESPONSES_INPUT_H
#define PROVIDER_OPENAI_RESPONSES_INPUT_H

#include "allm.h"
#include "base/arena.h"
#include "json/emit.h"

/*
 * Write the list.  `stored`: the server remembers its own items, so that
 * reasoning may be named by its id alone.  False: no memory.
 */
bool openai_responses_input_write(const allm_call *call, bool stored,
                                  struct emit *e, struct arena *a);

#endif
