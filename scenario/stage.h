/* stage.h - the session that the operations of a scenario share */
#ifndef SCENARIO_STAGE_H
#define SCENARIO_STAGE_H

#include "report.h"

/* The session of the file; an empty one where none was made.  NULL: no
 * memory. */
allm_session *stage_session(struct scenario *s);

/* This one, which is given away, takes the place of the last. */
void stage_enter(struct scenario *s, allm_session *session);

/* The fields of a session, whose thread may be a list of messages; NULL: an
 * empty one.  The record is NULL if the codec has an error. */
allm_codec *stage_read_session(const allm_json *fields);
const allm_session_record *stage_record(const allm_codec *codec);

/* The result of a tool: a text, parts, or any other value.  What it holds is
 * its own or the file's.  Release it. */
struct answer {
    allm_tool_answer given;
    allm_codec *parts;
    allm_json *null;            /* the content that was left out */
};

void stage_answer(struct answer *a, const allm_json *id,
                  const allm_json *content);
void stage_answer_release(struct answer *a);

#endif
