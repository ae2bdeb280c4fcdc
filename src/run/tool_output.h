/* tool_output.h - results of tools that were cut, for those who want the rest */
#ifndef RUN_TOOL_OUTPUT_H
#define RUN_TOOL_OUTPUT_H

#include "base/home.h"

#define TOOL_OUTPUT_NAME "tool_output"

struct tool_output_text;

struct tool_output {
    struct allm_home *home;     /* borrowed: owns the texts */
    struct tool_output_text *texts;
    size_t max;                 /* bytes that are given at once */
};

/* The tool by which a model reads on, in the home; NULL: no memory. */
const allm_tool *tool_output_tool(struct tool_output *w);

/* Keep a text; for struct turn_terms. */
bool tool_output_keep(void *ud, const char *call_id, struct slice text);

/* NULL: it was not cut. */
const char *tool_output_find(const struct tool_output *w, const char *call_id,
                             size_t *len);

#endif
