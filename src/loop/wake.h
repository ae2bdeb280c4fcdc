/* wake.h - wake the loop's thread from its wait, from any thread */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

/*
 * The loop watches wake_fd() for reading.  A thread with news first stores
 * them where the loop will look, then rings; the loop first clears, then looks.
 * So no news are missed, and many rings cause one wake-up.
 *
 * A loop that is awake need not be woken: between wake_mute() and wake_listen()
 * a ring makes no system call.
 *
 * After a fork a ring in the child wakes the parent.
 */
struct wake {
    int fd;
    atomic_bool rung;           /* a ring need not write */
    bool muted, written;        /* for the loop's thread only */
};

int wake_init(struct wake *w);          /* 0 or an errno */
void wake_release(struct wake *w);
int wake_fd(const struct wake *w);

/* From any thread, and from a signal handler; preserves errno. */
void wake_ring(struct wake *w);

/* The functions below are for the loop's thread only. */

/* The loop is awake, and calls wake_listen() before it waits again. */
void wake_mute(struct wake *w);

/* The descriptor is readable: the next wake_listen() reads it. */
void wake_readable(struct wake *w);

/* From now on a ring makes the descriptor readable again.  The caller looks for
 * news afterwards.  Reads the descriptor only if a ring wrote to it. */
void wake_listen(struct wake *w);

/* The same for a loop that does not mute; always reads the descriptor. */
void wake_clear(struct wake *w);
