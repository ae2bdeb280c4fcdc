/* pointer.h - "/a/0/b": a place in a JSON value (RFC 6901) */
#ifndef JSON_POINTER_H
#define JSON_POINTER_H

#include "base/buf.h"

/* Append one step: "/key" with ~ and / escaped, "/7". */
void pointer_add_key(struct buf *out, struct slice key);
void pointer_add_index(struct buf *out, size_t index);

/* What the pointer leads to in v; NULL if it leads nowhere or is no pointer. */
const allm_json *pointer_find(const allm_json *json, struct slice pointer);

#endif
