/* base64.h - base64 with padding (RFC 4648, section 4) and its URL alphabet */
#pragma once

#include "base/buf.h"

void base64_add(struct buf *out, struct slice bytes);

/* The URL-safe alphabet without padding, as in request ids. */
void base64_add_url(struct buf *out, struct slice bytes);

/* Strict: standard alphabet, correct padding, no white space, no stray bits.
 * False, with *out unchanged, for anything else (or if out broke). */
bool base64_take(struct buf *out, struct slice text);
