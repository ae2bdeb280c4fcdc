/* temp.h - a new file beside another, and what killed writers left there */
#ifndef BASE_TEMP_H
#define BASE_TEMP_H

#include "base/buf.h"

#include <sys/types.h>

/*
 * A new, locked file beside another; its name in *name.  It is to be renamed
 * before it is closed.  -1: errno says why.
 */
int temp_open(struct arena *a, const char *path, mode_t mode,
              const char **name);

/* Remove the new files of that one whose writers are gone.  What cannot be
 * removed stays. */
void temp_sweep(struct arena *a, const char *path);

#endif
