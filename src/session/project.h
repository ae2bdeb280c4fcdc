/* project.h - what a result makes of a session */
#ifndef SESSION_PROJECT_H
#define SESSION_PROJECT_H

#include "allm.h"

/*
 * The session after a chat, after a step, after a call that was cancelled
 * before its first step was complete.  `input` is what the user had said; NULL:
 * nothing.  Roots; NULL: no memory.
 */
allm_session_record *project_chat(const allm_session_record *before,
                                  const allm_chat_result *result,
                                  const char *input);
allm_session_record *project_step(const allm_session_record *before,
                                  const allm_step_result *result);
allm_session_record *project_cancelled(const allm_session_record *before,
                                       const char *input);

#endif
