/* taps.h - files beside a call: --record, --replay and --trace */
#pragma once

#include "allm.h"

struct taps {
    const char *record, *replay, *trace; /* the flags; NULL: not given */
    allm_recorder *recorder;
    allm_player *player;
    int trace_fd; /* -1: none */
};

/* Open the files.  END_DONE, or an exit code after an error was printed. */
int taps_open(struct taps *t);
/* Set the transport and the trace function of an engine. */
void taps_apply(struct taps *t, allm_engine_opts *opts);
/* The trace function, or NULL; its ud is taps_trace_ud(). */
allm_trace_fn taps_trace(const struct taps *t);
void *taps_trace_ud(const struct taps *t);
/* Write and close the files, after the engine was freed.  Returns `code`, or
 * the exit code of a failure to write. */
int taps_close(struct taps *t, int code);
