/* project.h - derive the next session record from a result */
#pragma once

#include "allm.h"

struct tool_result;

/*
 * The record after a chat, after a step, and after an operation that was
 * cancelled before its first step was complete.  `input` is the user's message,
 * or NULL; `halt` is the tool result that halts the step, or NULL.  The result
 * is a root; NULL: out of memory.
 */
allm_session_record *project_chat(const allm_session_record *before,
                                  const allm_chat_result *result,
                                  const char *input);
allm_session_record *project_step(const allm_session_record *before,
                                  const allm_step_result *result,
                                  const struct tool_result *halt);
allm_session_record *project_cancelled(const allm_session_record *before,
                                       const char *input);

/* The record with one more member of its metadata.  A root; NULL: out of
 * memory. */
allm_session_record *project_note(const allm_session_record *record,
                                  const char *name, const allm_json *note);

/* The same with the calls that had begun: fold_interrupted().  NULL: none.
 * Frees the record. */
allm_session_record *project_interrupted(allm_session_record *record,
                                         const allm_json *note);
