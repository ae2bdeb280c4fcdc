/*
 * compact.h - compact tools, and tool_help, which describes them in full
 *
 * A compact tool is sent to the provider as a stub of one line; the model calls
 * "tool_help" for its full description.  The list depends only on the tools and
 * the tool choice, so it is the same at every step and prompt caches stay
 * valid.
 */
#pragma once

#include "base/arena.h"

bool compact_any(size_t count, const allm_tool *const *tools);

/*
 * The list to send: stubs for compact tools, except for a tool that the choice
 * forces, and tool_help at the end if there is a compact tool.  The list is in
 * the arena and points to the caller's tools; the stubs are not roots.  Without
 * a compact tool *out is `tools` itself.  False: out of memory.
 */
bool compact_wire(struct arena *a, size_t count, const allm_tool *const *tools,
                  const char *choice, const allm_json *choice_map,
                  size_t *out_count, const allm_tool *const **out);

/* Has the caller a tool named tool_help, next to a compact tool? */
bool compact_collides(size_t count, const allm_tool *const *tools);

/* Is it our tool_help, by its metadata? */
bool compact_is_help(const allm_tool *tool);

/* Is it, by its metadata, our tool that reads the rest of a result that was
 * cut?  Its own function always runs it, never an executor. */
bool compact_is_reader(const allm_tool *tool);

/* Does a call with this name mean our tool_help? */
bool compact_names_help(const char *name, size_t count,
                        const allm_tool *const *tools);

/* The result of tool_help, in the arena; ptr NULL: out of memory. */
struct slice compact_help(struct arena *a, size_t count,
                          const allm_tool *const *tools,
                          const allm_json *arguments);

/* The message for a model that called a compact tool without a required
 * argument; empty if none is missing.  False: out of memory. */
bool compact_missing(struct arena *a, const allm_tool *tool,
                     const allm_json *arguments, struct slice *out);
