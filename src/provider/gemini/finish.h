/* finish.h - the words by which Gemini says why it stopped */
#ifndef PROVIDER_GEMINI_FINISH_H
#define PROVIDER_GEMINI_FINISH_H

#include "base/arena.h"
#include "provider/finish.h"

#define GEMINI_FINISH_VAGUE    "FINISH_REASON_UNSPECIFIED"
#define GEMINI_FINISH_NO_BLOCK "BLOCK_REASON_UNSPECIFIED"

/* The word of a finishReason or blockReason, which may have come as its
 * number; in the value, static, or in the arena.  {NULL, 0}: none. */
struct slice gemini_finish_word(const allm_json *v, struct arena *a);
struct slice gemini_finish_block(const allm_json *v, struct arena *a);

/* What a word of the first kind stands for. */
allm_finish gemini_finish_of(struct slice word);

#endif
