/* call_target.h - the dialect, address and key of a call */
#pragma once

#include "run/call_plan_parts.h"

/* Each returns NULL, or the error. */
const allm_error *call_target_dialect(struct call_plan *p);
const allm_error *call_target_address(struct call_plan *p);
const allm_error *call_target_key(struct call_plan *p, const char *api_key);
