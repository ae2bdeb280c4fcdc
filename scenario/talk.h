/* talk.h - the conversation that a step, a chat or an agent begins with */
#ifndef SCENARIO_TALK_H
#define SCENARIO_TALK_H

#include "report.h"

struct talk {
    allm_json *plain;
    allm_codec *codec;
    const allm_thread *thread;  /* NULL: no struct can hold what is given */
    allm_thread *empty;         /* to begin with in its place */
};

/* Of `messages`, `thread` or `input`; false: refused. */
bool talk_init(struct talk *t, struct scenario *s, const allm_json *op);
void talk_release(struct talk *t);

/*
 * What to begin a call with.  Without a thread it is an empty one: then the
 * options are looked at, as in every call, and talk_error() says the rest.
 */
const allm_thread *talk_thread(const struct talk *t);

/* Why the conversation is none, unless the call was misused, which comes
 * first; NULL: it is one.  The caller frees *faults. */
const allm_error *talk_error(const struct talk *t, const allm_error *error,
                             allm_error **faults);

#endif
