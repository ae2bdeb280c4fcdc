/*
 * memo.h - the encoded form of a message, kept with it
 *
 * A conversation is sent again with every turn.  What a message became on the
 * wire is kept with the message, so that a longer history costs sending and
 * not encoding.  Only bytes that follow from the message and the key alone may
 * be kept.
 */
#ifndef PROVIDER_MEMO_H
#define PROVIDER_MEMO_H

#include "allm.h"
#include "base/buf.h"
#include "base/home.h"

/*
 * The key of a dialect, named by an address of its own: `facts` are whatever
 * else changes the bytes.  A message with a provider_state has another key for
 * each model, since only its own may have that state back.
 */
struct home_key memo_key(const void *dialect, uint64_t facts,
                         const allm_call *call, const allm_message *m);

/* The bytes; ptr NULL: none were kept. */
struct slice memo_find(const allm_message *m, struct home_key key);

/* Keep a copy, unless the caller copied the message struct; never an error. */
void memo_keep(const allm_message *m, struct home_key key, struct slice bytes);

/* The same for what was written to `out` after `from`, if it is not empty and
 * at most 4 MiB long. */
void memo_keep_written(const allm_message *m, struct home_key key,
                       const struct buf *out, size_t from);

#endif
