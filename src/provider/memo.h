/*
 * memo.h - the encoded form of a message, kept with it
 *
 * A conversation is sent again with every turn.  The encoded bytes of a message
 * are kept with the message, so they are encoded once.  Only bytes that depend
 * on nothing but the message and the key may be kept.
 */
#pragma once

#include "allm.h"
#include "base/buf.h"
#include "base/home.h"

/*
 * The key of a dialect, which an address identifies; `facts` is everything else
 * that changes the bytes.  A message with a provider_state has a different
 * key for each model, since only the model that made the state receives it.
 */
struct home_key memo_key(const void *dialect, uint64_t facts,
                         const allm_call *call, const allm_message *m);

/* The kept bytes; ptr NULL: there are none. */
struct slice memo_find(const allm_message *m, struct home_key key);

/* Keep a copy of the bytes, unless the caller copied the message struct.  If
 * memory is lacking, nothing is kept. */
void memo_keep(const allm_message *m, struct home_key key, struct slice bytes);

/* The same for the bytes of `out` after position `from`, if there are any, and
 * at most 4 MiB. */
void memo_keep_written(const allm_message *m, struct home_key key,
                       const struct buf *out, size_t from);
