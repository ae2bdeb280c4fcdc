/* opts.h - the options of a call from the command line: -o K V */
#pragma once

#include "allm.h"
#include "cli/flags.h"

struct opts {
    allm_json *json; /* an object; NULL: no options */
};

/* V is JSON, or else a string.  False: an error was printed. */
bool opts_read(struct opts *o, const struct flag_list *pairs);
/* Set an option to a number, which overrides that of -o.  False: an error was
 * printed. */
bool opts_put_number(struct opts *o, const char *key, int64_t n);
/* --reasoning: none, low, medium, high or a number of tokens, which the library
 * translates into each provider's own terms (reasoning_effort). */
bool opts_put_reasoning(struct opts *o, const char *level);
/* The same for the setting `reasoning`, if there is one. */
bool opts_put_reasoning_setting(struct opts *o);
void opts_release(struct opts *o);
