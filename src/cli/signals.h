/*
 * signals.h - cancel a call on Ctrl-C, SIGTERM and SIGHUP
 *
 * Between signals_watch() and signals_unwatch(), the first signal cancels the
 * stream, which then ends normally; a second one ends the program at once.  A
 * signal that the program was started to ignore stays ignored.
 */
#pragma once

#include "allm.h"

void signals_watch(allm_stream *stream);
/* Returns the signal that arrived, or 0.  The handlers before the call are in
 * place again. */
int signals_unwatch(void);
/* Is a call cancelled on this signal now? */
bool signals_watched(int number);
