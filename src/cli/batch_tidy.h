/* batch_tidy.h - allm batch tidy OUT: keep only the last row of each id */
#ifndef CLI_BATCH_TIDY_H
#define CLI_BATCH_TIDY_H

/* Replace the file.  Returns the exit code. */
int batch_tidy(const char *path);

#endif
