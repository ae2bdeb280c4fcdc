/*
 * toolbox_rules.h - which calls may run: flags and settings as rules
 *
 *      --approve TOOL=auto|ask|deny    this call
 *      approve.TOOL of .allm.json      the project, if it is trusted
 *      approve.TOOL of other files     the user
 */
#pragma once

#include "allm.h"
#include "cli/toolbox_flags.h"

/* Is this word of --approve a rule, and not the id of a call? */
bool toolbox_rules_is(const char *word);

/* The rules for a toolbox, which the caller frees; NULL: a flag is wrong, and
 * an error was printed.  automatic: all calls run that no rule denies. */
allm_json *toolbox_rules_make(const struct toolbox_flags *f, bool automatic);
