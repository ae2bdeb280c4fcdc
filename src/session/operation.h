/* operation.h - run a chat or step of a session and store its result there */
#ifndef SESSION_OPERATION_H
#define SESSION_OPERATION_H

#include "session/state.h"

/* Begin a chat or a step, after appending `message` unless it is NULL.  If the
 * operation is refused, the stream has failed.  NULL: out of memory. */
allm_stream *operation_begin(const allm_engine *e, allm_session *s,
                             enum session_op op, const allm_message *message,
                             const allm_call_opts *opts);

#endif
