/* thread.h - a conversation that shares its messages */
#pragma once

#include "data/shape.h"

/* A thread as the codec sees it: plain members. */
typedef struct allm_thread_record {
    size_t size;
    struct allm_home *home;
    size_t message_count;
    const allm_message *const *messages;
    const allm_json *metadata;
    const allm_json *kept;
} allm_thread_record;

extern const struct shape thread_shape;

/* For fields of kind SHAPE_THREAD. */
extern const struct shape_own thread_own;

/* A thread with the metadata and the first messages of this one, which may be
 * NULL.  NULL: out of memory. */
allm_thread *thread_first(const allm_thread *t, size_t count);

/* A view of a thread, borrowed until the thread is appended to. */
allm_thread_record thread_record(const allm_thread *t);

/* Unknown members that the thread keeps, an object; or NULL.  False: out of
 * memory. */
bool thread_set_kept(allm_thread *t, const allm_json *kept);

/* An empty thread that lives in a home; NULL: out of memory. */
const allm_thread *thread_empty_in(struct allm_home *home);
