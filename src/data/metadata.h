/* metadata.h - typed values from the metadata of a result */
#ifndef DATA_METADATA_H
#define DATA_METADATA_H

#include "data/shape.h"

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

#endif
