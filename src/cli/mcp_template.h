/* mcp_template.h - a prompt of an MCP server as a template: -t mcp:S/PROMPT */
#pragma once

#include "cli/flags.h"
#include "conf/template.h"

/* Get the prompt "SERVER/PROMPT" with these arguments, names and values.
 * Returns the exit code. */
int mcp_template_load(struct template_file *t, const char *word,
                      const struct flag_list *pairs);
