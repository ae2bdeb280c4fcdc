/*
 * reasoning.h - --reasoning LEVEL: how much a model thinks
 *
 * The library translates the level into each provider's own terms (the option
 * reasoning_effort); a number of tokens becomes the nearest level.
 */
#ifndef CLI_REASONING_H
#define CLI_REASONING_H

#include "cli/opts.h"

/* Set the option; false: an error was printed. */
bool reasoning_put(struct opts *o, const char *level);
/* The same for the setting `reasoning`, if there is one. */
bool reasoning_put_setting(struct opts *o);

#endif
