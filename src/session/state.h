/* state.h - a session object: its record, its error, what its status allows */
#pragma once

#include "base/arena.h"
#include "base/lock.h"
#include "base/mem.h"

struct place;
struct operation;

struct allm_session {
    struct mem mem;
    size_t holders;             /* references: the caller, an open stream */
    bool open;                  /* a stream is open and will set a record */
    allm_session_record *record;
    allm_session_record *replaced;  /* by the last reload; or NULL */
    struct arena scratch;       /* holds the error; reset by each change */
    const allm_error *error;
    bool invalid;               /* it could not be created */
    struct lock lock;           /* on a file, until the session is freed */
    struct place *place;        /* its place in a store; or NULL */
    struct operation *operation;    /* of the open stream; or NULL */
};

enum session_op {
    SESSION_START,
    SESSION_REPLY,              /* continue with a message of the user */
    SESSION_CONTINUE_WITH,      /* continue with a message of another role */
    SESSION_CONTINUE,           /* continue without a message */
    SESSION_STEP,
    SESSION_SUBMIT
};

/* Without a record.  NULL: out of memory. */
allm_session *state_new(void);

/* A session that could not be created; `error` is copied.  NULL: out of
 * memory. */
allm_session *state_invalid(const allm_error *error);

void state_keep(allm_session *s);
void state_drop(allm_session *s);

/*
 * May the session be changed at all?  Does its status allow this operation?
 * Returns NULL, or an error in the arena, which names the right call.
 */
const allm_error *state_busy(const allm_session *s, struct arena *a);
const allm_error *state_forbids(const allm_session *s, enum session_op op,
                                struct arena *a);

/* Record the error of a refused change (NULL: out of memory); returns its
 * kind. */
allm_status state_refuse(allm_session *s, const allm_error *error);

/* A copy of the thread with one more message; a root.  NULL: *error, in the
 * arena, says why. */
allm_thread *state_thread_with(const allm_session *s,
                               const allm_message *message, struct arena *a,
                               const allm_error **error);

/* Set a new record, which the session owns from now on, and clear the error.
 * Returns the old record, which the caller frees. */
allm_session_record *state_replace(allm_session *s,
                                   allm_session_record *record);
