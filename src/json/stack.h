/*
 * stack.h - a stack of frames, for walking a value without recursion
 *
 * It begins in a place its user has (usually an array beside it) and moves to
 * the heap only when a value is deeper than that.
 */
#ifndef JSON_STACK_H
#define JSON_STACK_H

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

/* A new frame, not initialised; NULL when there is no memory.  Frames may
 * move when one is pushed. */
void *stack_push(struct stack *s);

/* The newest frame; NULL if there is none. */
static inline void *stack_top(const struct stack *s)
{
    return s->count ? s->frames + (s->count - 1) * s->size : NULL;
}

/* Drop the newest and give the one under it. */
static inline void *stack_pop(struct stack *s)
{
    s->count--;
    return stack_top(s);
}

#endif
