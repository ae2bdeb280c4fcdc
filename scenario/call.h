/* call.h - read the options of a call from a scenario */
#pragma once

#include "scenario.h"

struct call {
    allm_call_opts opts;
    allm_json *json;
    struct tool_list tools;
    struct runs *runs;
    const allm_json *replacement;   /* on_tool_error: {"replace": this} */
    const char *callback;           /* or {"callback": this} */
    const allm_json *halt_when;
    uint64_t steps;                 /* calls of halt_when so far */
};

/*
 * Tools become structs, on_tool_error and halt_when become callbacks, and
 * everything else is passed as JSON.  An option of a wrong type is passed, too:
 * the library must reject it.  The struct must not be moved.
 */
void call_init(struct call *c, struct scenario *s, const allm_json *op);
void call_release(struct call *c);
