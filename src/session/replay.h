/* replay.h - what a resumed operation needs of its records */
#pragma once

#include "session/durable.h"

/* What a replay needs while the stream is made; the stream copies it. */
struct replay {
    struct arena *arena;
    struct allm_home *home;
    struct place *place;
    allm_journal_replay out;
    allm_thread **threads;      /* of the steps */
    size_t thread_count;
};

/* Fill in `out`; arena, home and place are set.  Returns NULL, or an error;
 * the caller releases it in either case. */
const allm_error *replay_make(struct replay *r);
void replay_release(struct replay *r);

/* The messages as of a record; a root.  NULL: *error. */
allm_thread *replay_thread_at(struct place *d, struct arena *a, uint64_t seq,
                              const allm_error **error);
