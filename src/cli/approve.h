/*
 * approve.h - ask the user whether a call may run
 *
 *      ? bash wants to change files in ~/project
 *        | {"command": "make"}
 *        [y]es once, [s]ession, [a]lways, [n]o, [e]xplain no, [d]etails
 *      > y
 */
#pragma once

#include "allm.h"
#include "term/bytes.h"

/* A call that waits for a decision. */
struct approve_call {
    const char *id, *name;
    const allm_json *arguments, *reach;
};

enum approve_decision {
    APPROVE_ONCE,
    APPROVE_SESSION,
    APPROVE_ALWAYS,
    APPROVE_NO,
    APPROVE_EXPLAIN, /* a no, and why */
    APPROVE_DETAILS  /* never a result */
};

/* A function of a toolbox: ask on the terminal. */
void approve_ask(void *ud, allm_approval *approval);

/* Let the user decide; `why` gets the explanation of a no.  few: without
 * session and always.  False: the user left. */
bool approve_choose(const struct approve_call *c, bool few,
                    enum approve_decision *decision, struct bytes *why);

/* Append "bash wants to change files in /x, use the network". */
void approve_title(struct bytes *out, const struct approve_call *c);
