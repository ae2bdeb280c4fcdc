/* project.h - the session that follows from a result */
#ifndef SESSION_PROJECT_H
#define SESSION_PROJECT_H

#include "allm.h"

struct tool_result;

/*
 * The session after a chat, after a step, and after a call that was cancelled
 * before its first step was complete.  `input` is the user's message, or NULL;
 * `halt` is the tool result that halts the step, or NULL.  Roots; NULL: no
 * memory.
 */
allm_session_record *project_chat(const allm_session_record *before,
                                  const allm_chat_result *result,
                                  const char *input);
allm_session_record *project_step(const allm_session_record *before,
                                  const allm_step_result *result,
                                  const struct tool_result *halt);
allm_session_record *project_cancelled(const allm_session_record *before,
                                       const char *input);

#endif
