/* mcp_parts.h - what the files of "allm mcp" share */
#pragma once

#include "cli/approve.h"
#include "cli/sandbox.h"
#include "cli/toolbox.h"

struct mcp_flags {
    const char *model, *store;
    struct flag_list options, headers;
    struct sandbox_needs needs;
    struct toolbox_flags toolbox;
    bool json;
};

/* Each returns the exit code; argv begins after the name of the subcommand. */
int mcp_serve(const struct mcp_flags *f);
int mcp_list(const struct mcp_flags *f, int argc, char **argv);
int mcp_add(const struct mcp_flags *f, int argc, char **argv);
int mcp_rm(const struct mcp_flags *f, int argc, char **argv);
int mcp_tools(const struct mcp_flags *f, int argc, char **argv);
int mcp_call(const struct mcp_flags *f, int argc, char **argv);
int mcp_read(const struct mcp_flags *f, int argc, char **argv);
int mcp_prompt(const struct mcp_flags *f, int argc, char **argv);
