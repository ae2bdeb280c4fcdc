/* batch_tidy.h - allm batch tidy OUT: keep only the last row of each id */
#pragma once

/* Replace the file.  Returns the exit code. */
int batch_tidy(const char *path);
