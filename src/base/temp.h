/* temp.h - temporary files next to the file that they will replace */
#pragma once

#include "base/buf.h"

#include <sys/types.h>

/*
 * Create a locked temporary file next to another; its name is in *name.  It
 * must be renamed before it is closed. -1: errno says why.
 */
int temp_open(struct arena *a, const char *path, mode_t mode,
              const char **name);

/* Remove the temporary files of that file whose writers are gone.  A file that
 * cannot be removed stays. */
void temp_sweep(struct arena *a, const char *path);
