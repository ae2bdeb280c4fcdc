/* engine.h - the engine and the tools that a scenario describes */
#ifndef SCENARIO_ENGINE_H
#define SCENARIO_ENGINE_H

#include "scenario.h"

/* Make the engine of the file; false: s->fault says why. */
bool engine_make(struct scenario *s);
void engine_release(struct scenario *s);

/* Tools of a list of plain forms; false: one is no tool, and `error` holds why,
 * or what it does cannot be done, and s->fault does.  The list must stay where
 * it is. */
bool engine_tools(struct scenario *s, struct tool_list *out,
                  const allm_json *list, char *error, size_t size);
void engine_tools_release(struct tool_list *);

/* A plain or tagged form as a value of the type `as`, or of its own. */
allm_codec *engine_decode(const allm_json *v, const char *as);

/* The plain form of a thread: a list is that of its messages. */
allm_json *engine_thread(const allm_json *given);

#endif
