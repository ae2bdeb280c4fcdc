/* finish.h - map Gemini's finish reasons to ours */
#pragma once

#include "base/arena.h"
#include "provider/finish.h"

#define GEMINI_FINISH_VAGUE    "FINISH_REASON_UNSPECIFIED"
#define GEMINI_FINISH_NO_BLOCK "BLOCK_REASON_UNSPECIFIED"

/* The name of a finishReason or blockReason, which may be a number.  The result
 * is in the value, static, or in the arena; { NULL, 0 } if there is none. */
struct slice gemini_finish_word(const allm_json *v, struct arena *a);
struct slice gemini_finish_block(const allm_json *v, struct arena *a);

/* Our finish reason for theirs. */
allm_finish gemini_finish_of(struct slice name);
