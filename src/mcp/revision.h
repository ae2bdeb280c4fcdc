/* revision.h - the revisions of MCP that we speak, and how they differ */
#pragma once

#include "json/json.h"

/*
 * A modern revision has no handshake: every request says which revision it
 * uses.  A legacy one is negotiated with "initialize".
 */
struct revision {
    const char *name;           /* a date */
    bool modern;
    bool header;                /* HTTP requests carry MCP-Protocol-Version */
};

/* The newest one of each era. */
const struct revision *revision_modern(void);
const struct revision *revision_legacy(void);

/* By its name; NULL: we do not speak it. */
const struct revision *revision_find(struct slice name);

/* The newest one that an array of names contains, or NULL. */
const struct revision *revision_choose(const allm_json *names);

/* All of them by number, the newest first; NULL after the last one. */
const struct revision *revision_at(size_t index);
