/* chat_result.h - the result of a whole chat, and why it ended */
#pragma once

#include "data/shape.h"

extern const struct shape chat_result_shape;

/* The halted_reason of a chat that the library itself ends.  A tool that halts
 * a chat sets another reason, which is never one of these. */
#define HALTED_ASK_USER "ask_user"
#define HALTED_BUDGET "budget"
#define HALTED_CANCELLED "cancelled"
#define HALTED_COMPLETED "completed"
#define HALTED_ERROR "error"
#define HALTED_HALT_WHEN "halt_when"
#define HALTED_MANUAL "manual_tool_calls"
#define HALTED_MAX_TURNS "max_turns"
#define HALTED_TOOL_ERROR "tool_error"
