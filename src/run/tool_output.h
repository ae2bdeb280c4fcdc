/* tool_output.h - the full text of truncated tool results */
#pragma once

#include "base/home.h"

#define TOOL_OUTPUT_NAME "tool_output"

struct tool_output_text;

struct tool_output {
    struct allm_home *home;     /* borrowed: owns the texts */
    struct tool_output_text *texts;
    size_t max;                 /* bytes that the tool returns at once */
};

/* The tool with which a model reads the texts, in the home; NULL: out of
 * memory. */
const allm_tool *tool_output_tool(struct tool_output *w);

/* Store a text; a callback for struct batch_opts. */
bool tool_output_keep(void *ud, const char *call_id, struct slice text);

/* NULL: the result was not truncated. */
const char *tool_output_find(const struct tool_output *w, const char *call_id,
                             size_t *len);
