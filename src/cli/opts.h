/* opts.h - options of a call as words: -o K V */
#ifndef CLI_OPTS_H
#define CLI_OPTS_H

#include "allm.h"
#include "cli/flags.h"

struct opts {
    allm_json *json; /* an object, or NULL: none are given */
};

/* V is JSON, or else a text.  False: refused, and told. */
bool opts_read(struct opts *o, const struct flag_list *pairs);
void opts_release(struct opts *o);

#endif
