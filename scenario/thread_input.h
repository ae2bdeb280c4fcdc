/* thread_input.h - the thread that a step, a chat or an agent begins with */
#pragma once

#include "report.h"

struct thread_input {
    allm_json *plain;
    allm_codec *codec;
    const allm_thread *thread;  /* NULL: the input is not a valid thread */
    allm_thread *empty;         /* used in its place */
};

/* Read `messages`, `thread` or `input`; false: rejected. */
bool thread_input_init(struct thread_input *t, struct scenario *s,
                       const allm_json *op);
void thread_input_release(struct thread_input *t);

/*
 * The thread to call with.  If the input is not valid, it is an empty one: the
 * call then checks the options, and thread_input_error() returns the faults.
 */
const allm_thread *thread_input_thread(const struct thread_input *t);

/* Why the input is not valid, unless the call was misused, which comes first;
 * NULL: it is valid.  The caller frees *faults. */
const allm_error *thread_input_error(const struct thread_input *t,
                                     const allm_error *error,
                                     allm_error **faults);
