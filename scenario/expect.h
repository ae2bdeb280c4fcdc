/* expect.h - compare the outcome of an operation with its expectations */
#pragma once

#include "scenario.h"

/* Check all expectations of the operation that has just run; differences are
 * written to s->notes. */
bool expect_all(struct scenario *s, const allm_json *expected,
                const allm_json *outcome);
