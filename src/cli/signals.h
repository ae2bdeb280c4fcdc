/*
 * stop.h - Ctrl-C and SIGTERM end a call, not the program in its middle
 *
 * Between signals_watch() and signals_unwatch() the first signal cancels the stream,
 * which then ends as always; a second one ends the program at once.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include "allm.h"

void signals_watch(allm_stream *stream);
/* The signal that came, or 0. */
int signals_unwatch(void);

#endif
