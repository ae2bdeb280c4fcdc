/* stack.c - a stack of frames, for walking a value without recursion */
#include "json/stack.h"

void stack_init(struct stack *s, struct mem mem, size_t size, void *first,
                size_t cap)
{
    *s = (struct stack){ .frames = first, .size = size, .cap = cap };
    arena_init(&s->arena, mem);
}

void stack_release(struct stack *s)
{
    arena_release(&s->arena);
}

static bool grow_stack(struct stack *s)
{
    size_t old = s->cap * s->size, bytes;
    if (!mem_mul(old, 2, &bytes))
        return false;
    char *frames = arena_alloc(&s->arena, bytes);
    if (!frames)
        return false;
    memcpy(frames, s->frames, old);
    s->frames = frames;
    s->cap *= 2;
    return true;
}

void *stack_push(struct stack *s)
{
    if (s->count == s->cap && !grow_stack(s))
        return NULL;
    s->count++;
    return stack_top(s);
}
