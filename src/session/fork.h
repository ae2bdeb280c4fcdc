/* fork.h - a new session with the messages and state of another one */
#ifndef SESSION_FORK_H
#define SESSION_FORK_H

#include "session/durable.h"

/* Implements allm_session_fork(); the error is that of the store. */
allm_status fork_session(const allm_session *s, uint64_t seq, const char *name);

#endif
