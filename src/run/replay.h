/* replay.h - the events of an answer that comes from a journal */
#pragma once

#include "turn/context.h"

/* Queue the completed events of the context's response.  If memory runs out,
 * the context is broken. */
void replay_answer(allm_context *c);
