/* gemini_model.h - what the name of a model tells */
#ifndef PROVIDER_GEMINI_MODEL_H
#define PROVIDER_GEMINI_MODEL_H

#include <stdbool.h>

/*
 * Version 3 or later?  It demands signatures and knows levels of thinking.  A
 * name without a number ("gemini-flash-latest") is one of the latest; a name
 * that is not Gemini's is none.
 */
bool gemini_model_is_new(const char *model);

/* Version 2.5 or later, or without a number?  It can be told how to think. */
bool gemini_model_thinks(const char *model);

/* One of the small and quick ones? */
bool gemini_model_is_flash(const char *model);

#endif
