/* ignore.h - which files .gitignore excludes */
#pragma once

#include "base/arena.h"

/* The rules of one file, and those of the folders above. */
struct ignore {
    const struct ignore *above;
    size_t dir;                 /* the length of its folder's path and slash */
    struct ignore_rule *rules;
    size_t count;
};

/*
 * Read the rules of a file in the folder whose path, with its slash, has `dir`
 * bytes (0: the topmost folder).  The result is in the arena; NULL: out of
 * memory.
 */
const struct ignore *ignore_new(struct arena *a, const struct ignore *above,
                                size_t dir, struct slice text);

/*
 * Is this path excluded?  It is relative to the topmost folder, and no folder
 * above it is excluded.  `rules` is NULL: nothing is.  The scratch is reset.
 */
bool ignore_excludes(const struct ignore *rules, struct slice path,
                     bool is_folder, struct arena *scratch);
