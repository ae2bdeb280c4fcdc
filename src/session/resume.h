/* resume.h - broken-off operations: resume, settle, abandon, let go; fork */
#pragma once

#include "session/durable.h"

/* Implement the functions of allm_store.h with these names. */
allm_stream *resume_session(const allm_engine *e, allm_session *s,
                            const allm_call_opts *opts);
const allm_error *resume_settle(allm_session *s, const char *tool_call_id,
                                allm_settle how, struct slice content,
                                struct arena *a);
const allm_error *resume_abandon(allm_session *s, struct arena *a);
const allm_error *resume_let_go(allm_session *s, struct arena *a);

/* Can the session be changed, apart from a broken-off operation?  NULL, or an
 * error. */
const allm_error *resume_check(allm_session *s, struct arena *a);
