/* timing.c - how long the first content, and the whole call, took */
#include "cli/timing.h"

#include <time.h>

static int64_t began, first = -1;

int64_t timing_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void timing_begin(void)
{
    began = timing_now();
    first = -1;
}

allm_status timing_note(const allm_event *event, void *ud)
{
    (void)ud;
    if (first < 0 && (event->type == ALLM_EV_TEXT_DELTA ||
                      event->type == ALLM_EV_REASONING_DELTA ||
                      event->type == ALLM_EV_TOOL_CALL_STARTED))
        first = timing_now() - began;
    return ALLM_OK;
}

int64_t timing_first(void)
{
    return first;
}

int64_t timing_total(void)
{
    return timing_now() - began;
}
