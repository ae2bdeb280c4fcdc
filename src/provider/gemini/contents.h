/* contents.h - a conversation as Gemini wants it */
#ifndef PROVIDER_GEMINI_CONTENTS_H
#define PROVIDER_GEMINI_CONTENTS_H

#include "allm.h"
#include "json/emit.h"

/* Write the "systemInstruction" member, if there is anything to write; false:
 * no memory. */
bool gemini_contents_write_system(const allm_call *call, struct emit *e,
                                  struct arena *a);

/* Write the list of contents; false: no memory. */
bool gemini_contents_write(const allm_call *call, struct emit *e,
                           struct arena *a);

/* Write a member {"parts": [{"text"}]}. */
void gemini_contents_write_text(struct emit *e, const char *name,
                                struct slice text);

/* May this picture be named by its address?  Others must be sent. */
bool gemini_contents_takes_url(const allm_image *image);

#endif
