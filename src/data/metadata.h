/*
 * metadata.h - calls and errors in the metadata of a result
 *
 * A result has them twice: with types, for the library and for callers in C,
 * and as JSON in its metadata.  Only this file converts one into the other.
 */
#pragma once

#include "data/shape.h"

#define METADATA_APPROVALS "approvals"
#define METADATA_MANUAL "manual_tool_calls"
#define METADATA_UNKNOWN "unknown_tool_calls"
#define METADATA_UNRESOLVED "unresolved_tool_calls"

/* Tool calls in the order of the metadata. */
struct metadata_calls {
    size_t count;
    const allm_tool_call *const *calls;
};

/*
 * Read the list of tool calls, or the error, with this name into the home.  A
 * value of another type counts as absent.  False: out of memory.
 */
bool metadata_read_calls(struct allm_home *home, const allm_json *metadata,
                         const char *name, struct metadata_calls *out);
bool metadata_read_error(struct allm_home *home, const allm_json *metadata,
                         const char *name, const allm_error **out);

/* The list of calls as JSON, in the arena.  NULL: out of memory. */
const allm_json *metadata_calls_json(struct arena *a, size_t count,
                                     const allm_tool_call *const *calls);
