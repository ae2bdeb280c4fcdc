/* timing.h - how long the first content, and the whole call, took */
#pragma once

#include "allm.h"

/* A call begins. */
void timing_begin(void);
/* An event of the call; a function for the option on_event. */
allm_status timing_note(const allm_event *event, void *ud);

/* Milliseconds since timing_begin(): of the first content (-1: there was none),
 * and until now. */
int64_t timing_first(void);
int64_t timing_total(void);

/* Milliseconds of a clock that nobody sets. */
int64_t timing_now(void);
