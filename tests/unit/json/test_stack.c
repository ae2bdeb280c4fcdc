/* test_stack.c - a stack that moves to the heap when it must */
#include "json/stack.h"

#include "harness/check.h"

#include <stdint.h>

static void keeps_frames_when_it_moves(void)
{
    uint64_t first[4];
    struct stack s;
    stack_init(&s, mem_default(), sizeof *first, first, 4);
    CHECK_ALWAYS(!stack_top(&s));
    size_t pushed = 0;
    for (uint64_t *frame; pushed < 1000; pushed++) {
        frame = stack_push(&s);
        if (!frame)
            break;
        *frame = pushed;
    }
    CHECK_INT(pushed, 1000);
    for (uint64_t *top = stack_top(&s); top; top = stack_pop(&s))
        CHECK_ALWAYS(*top == --pushed);
    CHECK_ALWAYS(pushed == 0 && s.count == 0);
    stack_release(&s);
}

static void needs_no_memory_at_first(void)
{
    char first[8];
    struct stack s;
    size_t before = check_allocations();
    stack_init(&s, mem_default(), 1, first, sizeof first);
    for (size_t i = 0; i < sizeof first; i++)
        CHECK_ALWAYS(stack_push(&s) == &first[i]);
    CHECK_ALWAYS(check_allocations() == before);
    stack_release(&s);
}

TESTS = {
    TEST(keeps_frames_when_it_moves),
    TEST(needs_no_memory_at_first),
    TESTS_END
};
