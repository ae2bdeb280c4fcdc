/* span.h - where in a text the value at a JSON Pointer is */
#pragma once

#include "allm_json.h"
#include "base/slice.h"

/*
 * Find the value in a document that `root` was read from, strictly: its keys
 * differ, and its comments are blank.  False: there is no such value.
 */
bool span_find(struct slice text, const allm_json *root, struct slice pointer,
               struct slice *out);
