/* program.h - executables as tools */
#pragma once

#include "toolbox/describe.h"
#include "toolbox/jail.h"

/* One executable; lives in the toolbox's memory. */
struct program {
    const char *path;           /* absolute, without links */
    const char *dir;            /* the toolbox's root */
    const allm_json *grants;    /* of the toolbox, or NULL */
    enum orders_mode mode;
    struct described *list;
    size_t count;
};

/*
 * Read the description of the program at p->path: PATH.json, else the output of
 * PATH --allm-describe, which runs without any reach for at most 5 s.  The
 * result is in the home.  Returns NULL or the error.
 */
const allm_error *program_read(struct program *p, struct allm_home *home);

/*
 * Prepare a call of this tool: the jail with its instructions and variables, in
 * the arena.  j->program and the like are set here.  NULL, or the error.
 */
const allm_error *program_jail(const struct program *p,
                               const struct described *d,
                               const allm_tool_run *run, struct jail *j,
                               struct arena *a);

/* The regular files in a folder that are executable, sorted, in the arena.
 * Returns 0 or an errno. */
int program_list(struct arena *a, const char *folder, const char ***paths,
                 size_t *count);
