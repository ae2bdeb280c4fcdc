/* call.h - the options of one call, as a scenario writes them */
#ifndef SCENARIO_CALL_H
#define SCENARIO_CALL_H

#include "scenario.h"

struct call {
    allm_call_opts opts;
    allm_json *json;
    struct tool_list tools;
};

/* Tools become structs, everything else is data.  What has a wrong type goes
 * to the library, too: it is the one to refuse it. */
void call_init(struct call *c, const allm_json *op);
void call_release(struct call *c);

#endif
