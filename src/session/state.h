/* state.h - a conversation and where it stands */
#ifndef SESSION_STATE_H
#define SESSION_STATE_H

#include "base/arena.h"
#include "base/lock.h"
#include "base/mem.h"

struct allm_session {
    struct mem mem;
    size_t holders;             /* the caller, and the stream that is open */
    bool open;                  /* a stream will bring a result */
    allm_session_record *record;
    struct arena told;          /* holds the error */
    const allm_error *error;
    bool unfit;                 /* it could not be made */
    struct lock lock;           /* on a file, until the session is freed */
};

enum session_op {
    SESSION_START,
    SESSION_SAY,                /* a message of the user */
    SESSION_SAY_OTHER,          /* a message of somebody else */
    SESSION_GO_ON,              /* no message */
    SESSION_STEP,
    SESSION_SUBMIT
};

/* With no record yet.  NULL: no memory. */
allm_session *state_new(void);

/* A session that could not be made; `error` is copied.  NULL: no memory. */
allm_session *state_unfit(const allm_error *error);

void state_keep(allm_session *s);
void state_drop(allm_session *s);

/*
 * May the session be changed at all; may this be done in its status?  NULL, or
 * the error, told in the arena, that names the right call.
 */
const allm_error *state_busy(const allm_session *s, struct arena *tell);
const allm_error *state_forbids(const allm_session *s, enum session_op op,
                                struct arena *tell);

/* Remember why a change was refused (NULL: no memory for it); its kind. */
allm_status state_refuse(allm_session *s, const allm_error *error);

/* A thread with a message more, a root.  NULL, and *error is set. */
allm_thread *state_thread_with(const allm_session *s,
                               const allm_message *message, struct arena *tell,
                               const allm_error **error);

/* A change has gone well: this record, which is given away, takes the place of
 * the old one, which is returned. */
allm_session_record *state_take(allm_session *s, allm_session_record *record);

#endif
