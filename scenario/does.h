/* does.h - what the tools of a scenario do when they are called */
#ifndef SCENARIO_DOES_H
#define SCENARIO_DOES_H

#include "scenario.h"

/* Can it be done?  False: refused, `where` tells whose it is. */
bool does_check(struct scenario *s, const allm_json *does, const char *where);

/* The function of a tool whose ud is its struct deed. */
void does_run(allm_tool_run *run, const allm_json *arguments, void *ud);

/* What waits on the clock for its time. */
void does_release(struct deed *d);

#endif
