/* gatekeeper.h - applies the rules of a toolbox to its calls */
#pragma once

#include "base/clock.h"
#include "tool/approval.h"
#include "tool/run.h"
#include "toolbox/entry.h"

struct gatekeeper;

/*
 * Reads the rules of the options and the file of approvals.  NULL: out of
 * memory.  Rules that could not be read: see gatekeeper_error(); then every
 * call is denied.
 */
struct gatekeeper *gatekeeper_new(struct mem mem, const allm_toolbox_opts *opts,
                                  const char *root, struct clock clock);
void gatekeeper_free(struct gatekeeper *k);     /* accepts NULL */

/* Why the rules could not be read, or why the last answer "always" could not
 * be stored; NULL: neither. */
const allm_error *gatekeeper_error(struct gatekeeper *k);

/* Answer an approval by the rules, or pass it to approve().  `e` is NULL for a
 * function of the host.  Takes ownership. */
void gatekeeper_ask(struct gatekeeper *k, allm_toolbox *t,
                    const struct entry *e, allm_approval *a);

/*
 * May this run begin?  Yes, if it passed gatekeeper_ask(); else the rules are
 * applied, and nobody can be asked.  False: the run is answered.  Accepts no
 * gatekeeper, which admits nothing.
 */
bool gatekeeper_admits(struct gatekeeper *k, allm_toolbox *t,
                       const struct entry *e, allm_tool_run *run,
                       const allm_json *args);

/* The rules in force, as in allm_toolbox_rules(), in the arena.  NULL: out of
 * memory. */
const allm_json *gatekeeper_list(struct gatekeeper *k, struct arena *a);

/* Remove a rule of the file of approvals.  NULL, or the error in the arena. */
const allm_error *gatekeeper_forget(struct gatekeeper *k, uint32_t index,
                                    struct arena *a);
