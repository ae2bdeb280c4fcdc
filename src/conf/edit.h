/* edit.h - change one setting in a text, and keep every other byte */
#pragma once

#include "allm.h"
#include "term/bytes.h"

/*
 * Set the value at a path, given as JSON; the objects above it are added.  An
 * empty text becomes an object.  False: the text is not JSON, or something
 * above the path is no object.
 */
bool edit_set(struct bytes *text, const char *path, const char *json);
/* Remove it, with its comma and its line.  False: it is not there. */
bool edit_unset(struct bytes *text, const char *path);
