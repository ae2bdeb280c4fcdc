/* result.h - the result of a tool, as a chat uses it */
#pragma once

#include "json/json.h"

struct mcp_result {
    bool failed;                /* the tool says so; `text` says why */
    struct slice text;          /* all of it that is text, with a line for each
                                   part that is not */
    const allm_json *value;     /* what the tool returns: its structured value,
                                   or else the text */
    const allm_json *images;    /* [{"data", "mimeType"}], base64; or NULL */
};

/*
 * Read the result of tools/call into the arena; parts are borrowed from it.  A
 * structured value that does not fit the schema (NULL: there is none) becomes
 * {"result": value, "schema_errors": [...]}.  False: out of memory.
 */
bool mcp_result_make(struct arena *a, const allm_json *result,
                     const allm_json_schema *output, struct mcp_result *out);
