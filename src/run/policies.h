/* policies.h - who is asked before and after a turn */
#ifndef RUN_POLICIES_H
#define RUN_POLICIES_H

#include "run/loop.h"

/* The policies of the front and the caller, with their states; false: no
 * memory. */
bool policies_gather(struct loop *l);
void policies_close(struct loop *l);

/* Before a call of the model. */
void policies_before(struct loop *l, allm_verdict *v);

/* After a turn, whose verdict this is so far. */
void policies_after(struct loop *l, const allm_context *c, allm_verdict *v);

#endif
