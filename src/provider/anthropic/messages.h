/* messages.h - a conversation as /v1/messages wants it */
#ifndef PROVIDER_ANTHROPIC_MESSAGES_H
#define PROVIDER_ANTHROPIC_MESSAGES_H

#include "allm.h"
#include "json/emit.h"

/* Write the "system" member, if there is anything to write; false: no
 * memory. */
bool anthropic_messages_write_system(const allm_call *call, struct emit *e,
                                     struct arena *a);

/* Write the list of messages; false: no memory. */
bool anthropic_messages_write(const allm_call *call, struct emit *e,
                              struct arena *a);

/*
 * Is an exchange of calls and results under way that did not begin with a
 * thought of this model?  Then a thought cannot be demanded now.
 */
bool anthropic_messages_lack_thought(const allm_call *call);

/* A call that the history speaks of; NULL: none. */
const allm_tool_call *anthropic_messages_call(const allm_request *r);

#endif
