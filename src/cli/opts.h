/* opts.h - the options of a call from the command line: -o K V */
#ifndef CLI_OPTS_H
#define CLI_OPTS_H

#include "allm.h"
#include "cli/flags.h"

struct opts {
    allm_json *json; /* an object; NULL: no options */
};

/* V is JSON, or else a string.  False: an error was printed. */
bool opts_read(struct opts *o, const struct flag_list *pairs);
/* Set one option, which overrides that of -o; frees the value.  False: an error
 * was printed. */
bool opts_put(struct opts *o, const char *key, allm_json *value);
/* The same for a number. */
bool opts_put_number(struct opts *o, const char *key, int64_t n);
void opts_release(struct opts *o);

#endif
