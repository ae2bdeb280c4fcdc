/* describe.h - what programs say about the tools they are */
#pragma once

#include "base/home.h"

enum describe_output { DESCRIBE_TEXT, DESCRIBE_JSON, DESCRIBE_RESULT };

/* One tool of a program. */
struct described {
    allm_tool *tool;            /* a root; its timeout is its own */
    const allm_json *needs;     /* or NULL */
    enum describe_output output;
};

/* Free the tool with the home.  Its error, in the home, or NULL. */
const allm_error *describe_keep_tool(struct allm_home *home, allm_tool *tool);

/* The name of the document for messages, and what its needs refer to. */
struct describe_place {
    const char *where, *dir;
    const allm_json *grants;    /* see needs_check() */
};

/*
 * Read a description: an object, or an array of objects.  *list and what it
 * refers to are in the home's arena; the tools are freed with the home.
 * Returns NULL, or the error: what is wrong, and with which tool.
 */
const allm_error *describe_read(struct allm_home *home, struct slice text,
                                const struct describe_place *place,
                                struct described **list, size_t *count);
