/* expand.h - ${VAR} and ${VAR:-default} in strings; $$ is a dollar sign */
#pragma once

#include "allm.h"
#include "term/bytes.h"

enum expand_result {
    EXPAND_DONE,
    EXPAND_UNSET,  /* a variable is not set, and has no default */
    EXPAND_SECRET, /* a variable holds a key, and the file may not see it */
    EXPAND_OPEN    /* "${" without "}", or without the name of a variable */
};

/* Append the text with its variables.  If it fails, `name` is the variable.
 * keys: variables that hold keys may be used. */
enum expand_result expand_text(struct bytes *out, const char *text, bool keys,
                               char name[64]);

/* Append a value as JSON, with the variables in its strings, not in keys. */
enum expand_result expand_json(struct bytes *out, const allm_json *value,
                               bool keys, char name[64]);

/* Has any of its strings a "${"? */
bool expand_wanted(const allm_json *value);
