/*
 * toolbox.h - the tools of a call, from flags and settings
 *
 * A command puts TOOLBOX_FLAGS into its table and struct toolbox_flags, as the
 * member `toolbox`, into the struct that the table fills.  Then it calls
 *
 *      toolbox_open()      once, before its engines
 *      toolbox_apply()     for the options of each engine
 *      toolbox_close()     after its engines and streams
 *
 * The process has one toolbox.
 */
#pragma once

#include "allm.h"
#include "cli/taps.h"
#include "cli/toolbox_flags.h"
#include "term/bytes.h"

enum toolbox_use {
    TOOLBOX_ALL = 1 << 0, /* if no flag names a tool: all that there are */
    TOOLBOX_ASKS = 1 << 1, /* ask the user about calls, if there is one */
    TOOLBOX_EMPTY = 1 << 2, /* only the rules, no tools */
    TOOLBOX_AUTO = 1 << 3 /* the user calls: only what is denied is refused */
};

/* What a command wants. */
struct toolbox_wish {
    const struct toolbox_flags *flags;
    const allm_json *names; /* of a template, below -T; or NULL */
    unsigned use;           /* toolbox_use */
    /* Decides about calls, instead of the terminal; or NULL. */
    void (*approve)(void *ud, allm_approval *approval);
    /* Gets the progress of servers, in another thread; or NULL. */
    void (*progress)(void *ud, const allm_tool_progress *progress);
    /* What servers log goes to its trace; outlives the toolbox; or NULL. */
    struct taps *taps;
};

/* Returns END_DONE, or an exit code after an error was printed. */
int toolbox_open(const struct toolbox_wish *wish);
void toolbox_close(void);

/* Add tools, with a new toolbox if there is none: names as those of -T.
 * Returns END_DONE, or an exit code after an error was printed; names before
 * the wrong one were added. */
int toolbox_add(const struct toolbox_wish *wish, const char *names);

/* Between two calls: take over what was added, and the changed lists of
 * servers.  True: engines must be made again. */
bool toolbox_renew(void);

/* The toolbox; NULL: no tools were requested. */
allm_toolbox *toolbox_box(void);
/* Its tools, by name; *count is 0 if there are none. */
const allm_tool *const *toolbox_tools(size_t *count);
/* The one with this name; NULL: it is not among them. */
const allm_tool *toolbox_tool(const char *name);
/* Let an engine, or a call, use them. */
void toolbox_apply(allm_engine_opts *opts);

/* Append the flags that name the tools, each after a blank. */
void toolbox_words(struct bytes *out);

/* The mode of a word: on, strict or off; NULL: on. */
allm_sandbox_mode toolbox_mode(const char *word);

/* Name the parts of the sandbox that are not in force, the member "missing" of
 * a report. */
void toolbox_note_missing(const allm_json *report);
