/* dotenv.h - files with lines of NAME=value */
#ifndef ENGINE_DOTENV_H
#define ENGINE_DOTENV_H

#include "base/slice.h"

/* Take the next assignment off *rest, passing over lines that are none.
 * False: there is no further one. */
bool dotenv_next(struct slice *rest, struct slice *name, struct slice *value);

/* The value that the last assignment of a name gives it; false: none does. */
bool dotenv_find(struct slice text, struct slice name, struct slice *value);

#endif
