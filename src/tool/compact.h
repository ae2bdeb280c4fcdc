/*
 * compact.h - tools announced by one line, and the tool that explains them
 *
 * A compact tool goes over the wire as a stub; the model asks "tool_help" for
 * the whole of it.  The list is a function of the tools and the choice alone,
 * the same at every step, so that prompt caches survive.
 */
#ifndef TOOL_COMPACT_H
#define TOOL_COMPACT_H

#include "base/arena.h"

bool compact_any(size_t count, const allm_tool *const *tools);

/*
 * What goes over the wire: stubs for compact tools, except for the one that
 * the choice forces, and tool_help at the end if there is a compact one.  In
 * the arena, pointing to the given tools; the stubs are no roots.  Without a
 * compact tool *out is `tools` itself.  False: no memory.
 */
bool compact_wire(struct arena *a, size_t count, const allm_tool *const *tools,
                  const char *choice, const allm_json *choice_map,
                  size_t *out_count, const allm_tool *const **out);

/* Does the name of a tool of the caller collide with tool_help? */
bool compact_collides(size_t count, const allm_tool *const *tools);

/* Is it our tool_help, by its mark? */
bool compact_is_help(const allm_tool *tool);

/* Is it, by its mark, the tool that reads on in a result that was cut?  It is
 * run by its own function, whoever runs the others. */
bool compact_is_reader(const allm_tool *tool);

/* Does this name mean our tool_help among these tools? */
bool compact_names_help(const char *name, size_t count,
                        const allm_tool *const *tools);

/* The answer of tool_help, in the arena; { NULL }: no memory. */
struct slice compact_help(struct arena *a, size_t count,
                          const allm_tool *const *tools,
                          const allm_json *arguments);

/* What to tell a model that called a compact tool without a required key;
 * empty: all are there.  False: no memory. */
bool compact_missing(struct arena *a, const allm_tool *tool,
                     const allm_json *arguments, struct slice *out);

#endif
