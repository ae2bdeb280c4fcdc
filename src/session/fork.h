/* fork.h - a session as of one of its records: to read, or as a new one */
#pragma once

#include "session/durable.h"

/* Implements allm_session_fork(); the error is that of the store. */
allm_status fork_session(const allm_session *s, uint64_t seq, const char *name);

/* Implements allm_session_at(). */
allm_session *fork_read(const allm_session *s, uint64_t seq);
