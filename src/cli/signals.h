/*
 * signals.h - cancel a call on Ctrl-C, SIGTERM and SIGHUP
 *
 * Between signals_watch() and signals_unwatch(), the first signal cancels the
 * stream, which then ends normally; a second one ends the program at once.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include "allm.h"

void signals_watch(allm_stream *stream);
/* Returns the signal that arrived, or 0. */
int signals_unwatch(void);

#endif
