/* offer.h - a tool as it is offered to models by OpenAI and those like it */
#ifndef PROVIDER_OFFER_H
#define PROVIDER_OFFER_H

#include "allm_ext.h"
#include "json/emit.h"

/* The members name, description and parameters of an object that is open. */
void offer_tool(struct emit *out, const allm_tool *tool);

/* Is this choice of a tool a word, and no tool's name? */
bool offer_is_word(const char *choice);

#endif
