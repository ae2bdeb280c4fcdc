/* operation.h - ask the model, and put what comes of it into the session */
#ifndef SESSION_OPERATION_H
#define SESSION_OPERATION_H

#include "session/state.h"

/* Begin a chat or a step, with a message more or (NULL) without.  What is
 * refused is a stream that has failed; NULL: no memory. */
allm_stream *operation_begin(const allm_engine *e, allm_session *s,
                             enum session_op op, const allm_message *message,
                             const allm_call_opts *given);

#endif
