/* action.h - the action of a scenario's tool: its member "does" */
#pragma once

#include "scenario.h"

/* Check the form of "does"; `where` names the tool.  False: rejected. */
bool action_check(struct scenario *s, const allm_json *does, const char *where);

/* The function of a tool whose ud is its struct action. */
void action_run(allm_tool_run *run, const allm_json *arguments, void *ud);

/* Free the calls that sleep. */
void action_release(struct action *d);
