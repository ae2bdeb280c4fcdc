/* toolbox_flags.h - the flags that name tools, and say which calls may run */
#pragma once

#include "cli/flags.h"

struct toolbox_flags {
    struct flag_list names, programs, servers, server_files, approve, deny;
    const char *sandbox, *why;
    bool yes;
};

/* The rows of these flags; AT(member) is the offset of a member. */
#define TOOLBOX_FLAGS(AT)                                                      \
    { 'T', "--tools", FLAG_LIST, AT(toolbox.names), "NAMES",                   \
      "tools for the model: code, NAME,...; none", FILL_TOOL,                  \
      .setting = "tools.default",                                              \
      .use = FLAG_MOST | FLAG_CHAT | FLAG_BATCH },                             \
    { 0, "--tool", FLAG_LIST, AT(toolbox.programs), "PATH",                    \
      "a program, or a folder of them, as tools", FILL_FILE,                   \
      .use = FLAG_CHAT | FLAG_BATCH },                                         \
    { 0, "--mcp", FLAG_LIST, AT(toolbox.servers), "X",                         \
      "an MCP server: a name, 'COMMAND ...' or a URL", FILL_SERVER,            \
      .use = FLAG_CHAT | FLAG_BATCH },                                         \
    { 0, "--mcp-config", FLAG_LIST, AT(toolbox.server_files), "FILE",          \
      "all MCP servers of this file", FILL_FILE,                               \
      .setting = "mcp.config", .use = FLAG_CHAT | FLAG_BATCH },                \
    { 0, "--sandbox", FLAG_CHOICE, AT(toolbox.sandbox), "on|strict|off",       \
      "what must confine tools: most, all, nothing", FILL_WORDS,               \
      "on|strict|off", .setting = "sandbox",                                   \
      .use = FLAG_CHAT | FLAG_BATCH },                                         \
    { 0, "--approve", FLAG_LIST, AT(toolbox.approve), "X",                     \
      "TOOL=auto|ask|deny; or a call that waits, or all",                      \
      .use = FLAG_CHAT | FLAG_BATCH },                                         \
    { 0, "--yes", FLAG_SWITCH, AT(toolbox.yes), NULL,                          \
      "allow whatever the sandbox confines",                                   \
      .use = FLAG_CHAT | FLAG_BATCH }

/* The rows of the flags that deny calls of a session. */
#define TOOLBOX_DENY_FLAGS(AT)                                                 \
    { 0, "--deny", FLAG_LIST, AT(toolbox.deny), "ID",                          \
      "a call that waits in the session, or all" },                            \
    { 0, "--why", FLAG_TEXT, AT(toolbox.why), "TEXT",                          \
      "tell the model why a call is denied" }
