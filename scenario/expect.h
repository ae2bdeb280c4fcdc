/* expect.h - what an operation gave, compared with what must come out */
#ifndef SCENARIO_EXPECT_H
#define SCENARIO_EXPECT_H

#include "scenario.h"

/* Compare the outcome of the operation that has just run; what differs is
 * written to s->notes. */
bool expect_all(struct scenario *s, const allm_json *expected,
                const allm_json *outcome);

#endif
