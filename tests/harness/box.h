/*
 * box.h - calls of the tools of a toolbox, in a folder of their own
 *
 *      struct box b;
 *      box_open(&b, "read");
 *      external_file("a.txt", "hello\n");
 *      CHECK_TEXT(box_call(&b, "read_file", "{'path': 'a.txt'}"), ...);
 *      box_close(&b);          checks that nothing is left
 */
#pragma once

#include "allm.h"
#include "harness/external.h"

struct box {
    struct external_count before;
    const char *root;
    allm_toolbox *box;
    allm_engine *engine;
    uint32_t timeout_ms;
};

/* A toolbox whose root is a new folder; with these built-in tools, or NULL. */
void box_open(struct box *b, const char *builtin);
/* Replace the toolbox by one with these options, whose root and rules are those
 * of box_open(): every call is allowed. */
void box_renew(struct box *b, const allm_toolbox_opts *opts);
void box_close(struct box *b);

/* Start one call; the arguments have ' for ".  NULL: out of memory. */
allm_stream *box_start(struct box *b, const char *name, const char *args);

/* Start up to 16 calls at once; names and arguments take turns. */
allm_stream *box_start_all(struct box *b, size_t count,
                           const char *const *words);

/* Call a tool; returns what the model sees, which is static. */
const char *box_call(struct box *b, const char *name, const char *args);

/* The same for arguments that are a value. */
const char *box_call_json(struct box *b, const char *name,
                          const allm_json *args);

/* The path of the server mcp_echo of this build, next to the test. */
const char *box_echo_path(void);

/* Add it with these words and further members of its entry (with ' for "). */
allm_status box_add_echo(struct box *b, const char *name, const char *words,
                         const char *members);

/* The whole of a file in the root, static; NULL: there is none. */
const char *box_file(const struct box *b, const char *name);
