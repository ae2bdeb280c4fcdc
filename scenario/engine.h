/* engine.h - create the engine and the tools that a scenario describes */
#pragma once

#include "scenario.h"

/* Create the engine of the file; false: s->fault has the reason. */
bool engine_make(struct scenario *s);
void engine_release(struct scenario *s);

/* Read a list of tools.  False: `error` says why one is not a tool, or s->fault
 * says why its action is not valid.  The list must not be moved. */
bool engine_tools(struct scenario *s, struct tool_list *out,
                  const allm_json *list, char *error, size_t size);
void engine_tools_release(struct tool_list *);

/* Decode a plain or tagged form as the type `as`; NULL: the type of its tag. */
allm_codec *engine_decode(const allm_json *v, const char *as);

/* The plain form of a thread; a list of messages is accepted, too. */
allm_json *engine_thread(const allm_json *form);
