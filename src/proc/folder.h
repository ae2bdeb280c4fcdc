/* folder.h - a private folder for one process, removed afterwards */
#pragma once

#include "base/arena.h"

/* A new folder below TMPDIR or /tmp that only this user can read.  Its path, in
 * the arena; NULL: *error is the errno. */
const char *folder_new(struct arena *a, int *error);

/* Remove it with everything that it contains, however deep, without following
 * links.  What cannot be removed stays.  NULL is accepted. */
void folder_remove(const char *path);
