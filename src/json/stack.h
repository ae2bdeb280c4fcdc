/*
 * stack.h - a stack of frames, for walking a value without recursion
 *
 * The stack starts in memory that its user provides (usually an array next to
 * it) and moves to the heap only if a value is nested deeper than that.
 */
#pragma once

#include "base/arena.h"

struct stack {
    struct arena arena;
    char *frames;
    size_t size;                /* of a frame, in bytes */
    size_t count, cap;
};

void stack_init(struct stack *s, struct mem mem, size_t size, void *first,
                size_t cap);
void stack_release(struct stack *s);

/* A new, uninitialised frame; NULL if out of memory.  Pushing may move the
 * frames. */
void *stack_push(struct stack *s);

/* The newest frame; NULL if there is none. */
static inline void *stack_top(const struct stack *s)
{
    return s->count ? s->frames + (s->count - 1) * s->size : NULL;
}

/* Drop the newest frame and return the one below it. */
static inline void *stack_pop(struct stack *s)
{
    s->count--;
    return stack_top(s);
}
