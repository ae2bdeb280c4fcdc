/* decide.h - decide about the calls of a session that wait for approval */
#pragma once

#include "cli/session.h"
#include "cli/toolbox.h"

/* Ask about these calls on the terminal, and store the answers.  END_DONE: all
 * of them are decided; END_ASKED: some are not. */
int decide_ask(struct session *s);

/* Do the flags --approve ID and --deny decide about such calls? */
bool decide_has_flags(const struct toolbox_flags *f);
/* Store what they decide.  END_DONE: all calls are decided; else an exit code,
 * and it was printed which are not. */
int decide_apply(struct session *s, const struct toolbox_flags *f);
/* The name of a tool that the calls need and this process does not have; NULL:
 * it has all of them. */
const char *decide_lacks(const struct session *s);
/* The calls are going to run: from now on a session file has no decision, so
 * what is killed does not run again without a new one. */
int decide_begin(struct session *s);
/* Decide about one call, or "all" that wait; false: an error was printed. */
bool decide_word(struct session *s, const char *word, bool allow,
                 const char *why);
