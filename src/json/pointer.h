/* pointer.h - JSON Pointers such as "/a/0/b" (RFC 6901) */
#pragma once

#include "base/buf.h"

/* Append one step: "/key" with ~ and / escaped, or "/7". */
void pointer_add_key(struct buf *out, struct slice key);
void pointer_add_index(struct buf *out, size_t index);

/* The value that the pointer refers to; NULL if there is none, or if it is not
 * a valid pointer. */
const allm_json *pointer_find(const allm_json *json, struct slice pointer);
