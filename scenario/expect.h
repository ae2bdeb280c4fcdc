/* expect.h - compare the outcome of an operation with its expectations */
#ifndef SCENARIO_EXPECT_H
#define SCENARIO_EXPECT_H

#include "scenario.h"

/* Check all expectations of the operation that has just run; differences are
 * written to s->notes. */
bool expect_all(struct scenario *s, const allm_json *expected,
                const allm_json *outcome);

#endif
