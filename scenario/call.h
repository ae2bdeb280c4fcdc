/* call.h - the options of one call, as a scenario writes them */
#ifndef SCENARIO_CALL_H
#define SCENARIO_CALL_H

#include "scenario.h"

struct call {
    allm_call_opts opts;
    allm_json *json;
    struct tool_list tools;
    struct runs *runs;
    const allm_json *replacement;   /* on_tool_error: {"replace": this} */
    const char *callback;           /* or {"callback": this} */
    const allm_json *halt_when;
    uint64_t steps;                 /* that halt_when was asked about */
};

/*
 * Tools become structs, what stands for a function (on_tool_error, halt_when)
 * becomes one, everything else is data.  What has a wrong type goes to the
 * library, too: it is the one to refuse it.  The call must stay where it is.
 */
void call_init(struct call *c, struct scenario *s, const allm_json *op);
void call_release(struct call *c);

#endif
