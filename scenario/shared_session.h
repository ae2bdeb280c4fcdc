/* shared_session.h - the session that the operations of a scenario share */
#pragma once

#include "report.h"

/* The current session; an empty one if there is none yet.  NULL: rejected, or
 * out of memory. */
allm_session *shared_session_get(struct scenario *s);

/* Replace the current session; takes ownership. */
void shared_session_replace(struct scenario *s, allm_session *session);

/* Close the store and open it again with the session, as a new process would.
 */
void shared_session_reopen(struct scenario *s);

/* The same session in the store of the file, if it has one; takes ownership.
 * NULL: rejected. */
allm_session *shared_session_keep(struct scenario *s, allm_session *session);
/* Keep it, and make it the current one. */
void shared_session_import(struct scenario *s, allm_session *session);

/* Decode the fields of a session, whose thread may be a list of messages; NULL:
 * an empty one.  The record is NULL if the codec has an error. */
allm_codec *shared_session_decode(const allm_json *fields);
const allm_session_record *shared_session_record(const allm_codec *codec);

/* The result of a tool: a text, parts, or any other value.  The caller releases
 * it; the JSON must live as long. */
struct tool_answer {
    allm_tool_answer fields;
    allm_codec *parts;
    allm_json *null;            /* replaces missing content */
};

void tool_answer_init(struct tool_answer *a, const allm_json *id,
                      const allm_json *content);
void tool_answer_release(struct tool_answer *a);
