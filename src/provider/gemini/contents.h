/* contents.h - encode the conversation for Gemini */
#pragma once

#include "allm.h"
#include "json/emit.h"

/* Write the member "systemInstruction", unless it is empty.  False: out of
 * memory. */
bool gemini_contents_write_system(const allm_call *call, struct emit *e,
                                  struct arena *a);

/* Write the list of contents.  False: out of memory. */
bool gemini_contents_write(const allm_call *call, struct emit *e,
                           struct arena *a);

/* Write a member {"parts": [{"text"}]}. */
void gemini_contents_write_text(struct emit *e, const char *name,
                                struct slice text);

/* Can the provider fetch this image by its URL?  Others must be sent as
 * bytes. */
bool gemini_contents_takes_url(const allm_image *image);
