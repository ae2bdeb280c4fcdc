/*
 * stop.h - Ctrl-C and SIGTERM end a call, not the program in its middle
 *
 * Between stop_watch() and stop_unwatch() the first signal cancels the stream,
 * which then ends as always; a second one ends the program at once.
 */
#ifndef CLI_STOP_H
#define CLI_STOP_H

#include "allm.h"

void stop_watch(allm_stream *stream);
/* The signal that came, or 0. */
int stop_unwatch(void);

#endif
