/* wake.h - rouse the loop's thread out of its wait, from anywhere */
#ifndef LOOP_WAKE_H
#define LOOP_WAKE_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * The loop watches wake_fd() for reading.  Whoever has news first writes them
 * where the loop will look, then rings; the loop first clears, then looks.  So
 * nothing is missed, and many rings make one wake-up.
 *
 * After a fork a ring in the child wakes the parent.
 */
struct wake {
    int fd;
    atomic_bool rung;
};

int wake_init(struct wake *w);          /* 0 or an errno */
void wake_release(struct wake *w);
int wake_fd(const struct wake *w);

/* From any thread, and from a signal handler; errno is left alone. */
void wake_ring(struct wake *w);

/* By the loop's thread only: has somebody rung since the last wake_clear()?  A
 * ring that came while that ran may show as a readable descriptor only. */
bool wake_rung(const struct wake *w);

/* By the loop's thread only; reads the descriptor.  May be called when nobody
 * rang, but is for when wake_rung() or the descriptor says so. */
void wake_clear(struct wake *w);

#endif
