/* messages.h - encode the conversation for /v1/messages */
#pragma once

#include "allm.h"
#include "json/emit.h"

/* Write the "system" member, unless it is empty.  False: out of memory. */
bool anthropic_messages_write_system(const allm_call *call, struct emit *e,
                                     struct arena *a);

/* Write the list of messages.  False: out of memory. */
bool anthropic_messages_write(const allm_call *call, struct emit *e,
                              struct arena *a);

/*
 * Is there an unfinished exchange of calls and results that did not start with
 * a thought of this model?  Then thinking cannot be enabled now.
 */
bool anthropic_messages_lack_thought(const allm_call *call);

/* Any call in the history; NULL if there is none. */
const allm_tool_call *anthropic_messages_call(const allm_request *r);
