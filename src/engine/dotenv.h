/* dotenv.h - parse files with lines of the form NAME=value */
#pragma once

#include "base/slice.h"

/* Remove the next assignment from *rest, skipping other lines.  False: there
 * are no more. */
bool dotenv_next(struct slice *rest, struct slice *name, struct slice *value);

/* The value in the last assignment to a name; false if there is none. */
bool dotenv_find(struct slice text, struct slice name, struct slice *value);
