/* test_arena.c - allocate, grow in place, free all at once */
#include "base/arena.h"

#include "harness/check.h"

#include <stdint.h>
#include <string.h>

static bool aligned(const void *p)
{
    return (uintptr_t)p % 8 == 0;
}

static void an_empty_arena_holds_nothing(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    CHECK_INT(arena_held(&a), 0);
    arena_reset(&a);
    arena_release(&a);
    arena_release(&a);
    CHECK_INT(check_allocations(), 0);
}

static void null_means_no_memory_and_nothing_else(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    const void *none = arena_alloc(&a, 0);
    const void *one = arena_alloc(&a, 1);
    CHECK(none && one && none != one);
    CHECK_ALWAYS((none && one) == !a.broken);
    CHECK_ALWAYS(aligned(none) && aligned(one));
    arena_release(&a);
}

static void a_hint_makes_it_one_allocation(void)
{
    struct arena a;
    arena_init_sized(&a, mem_default(), 3000);
    for (int i = 0; i < 30; i++)
        CHECK(arena_alloc(&a, 100 - 100 % 8));
    CHECK_INT(check_allocations(), 1);
    CHECK_ALWAYS(!check_whole() || arena_held(&a) < 3000 + 64);
    arena_release(&a);
}

static void a_hint_beyond_sizes_is_only_a_hint(void)
{
    struct arena a;
    arena_init_sized(&a, mem_default(), SIZE_MAX);
    CHECK(arena_alloc(&a, 8));
    arena_release(&a);
}

static void blocks_grow_so_that_they_stay_few(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    for (int i = 0; i < 10000; i++)
        arena_alloc(&a, 100);
    CHECK(check_allocations() < 16);
    CHECK(arena_held(&a) < 2 * 10000 * 104);
    arena_release(&a);
}

static void a_large_hint_is_not_repeated(void)
{
    struct arena a;
    arena_init_sized(&a, mem_default(), 4 << 20);
    arena_alloc(&a, 4 << 20);
    arena_alloc(&a, 100);
    CHECK(arena_held(&a) < 5 << 20);
    arena_release(&a);
}

static void a_large_piece_fits(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    char *small = arena_zero(&a, 10);
    char *large = arena_zero(&a, 1000000);
    char *after = arena_zero(&a, 10);
    if (small && large && after) {
        memset(large, 'x', 1000000);
        CHECK(small[9] == 0 && after[0] == 0);
    }
    CHECK(small && large && after);
    arena_release(&a);
}

/* ------------------------------------------------------------- breaking --- */

static void a_size_that_cannot_be_breaks_it(void)
{
    const struct {
        const char *why;
        size_t size;
    } rows[] = {
        { "all there is", SIZE_MAX },
        { "cannot be rounded up", SIZE_MAX - 6 },
        { "can be rounded up, but not with a header", SIZE_MAX - 15 },
        { "more than pointers can be apart", SIZE_MAX / 2 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        char *first = arena_text(&a, "first");
        CHECK_ALWAYS(!arena_alloc(&a, rows[i].size));
        CHECK_ALWAYS(a.broken);
        a.broken = false;
        CHECK_ALWAYS(!arena_zero(&a, rows[i].size));
        CHECK_ALWAYS(a.broken);
        a.broken = false;
        CHECK_ALWAYS(!arena_resize(&a, first, 6, rows[i].size));
        CHECK_ALWAYS(a.broken);
        CHECK_TEXT(first, "first");
        arena_release(&a);
    }
}

static void a_text_without_end_breaks_it(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    CHECK_ALWAYS(!arena_copy(&a, (struct slice){ "x", SIZE_MAX }));
    CHECK_ALWAYS(a.broken);
    arena_release(&a);
}

static void a_broken_arena_still_works(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    char *before = arena_text(&a, "before");
    arena_alloc(&a, SIZE_MAX);
    char *after = arena_text(&a, "after");
    CHECK_TEXT(before, "before");
    CHECK_TEXT(after, "after");
    CHECK_ALWAYS(a.broken);
    arena_reset(&a);
    CHECK_ALWAYS(!a.broken);
    CHECK_TEXT(arena_text(&a, "again"), "again");
    arena_release(&a);
}

/* ------------------------------------------------------------- resizing --- */

static void the_newest_piece_changes_in_place(void)
{
    struct arena a;
    arena_init_sized(&a, mem_default(), 1000);
    arena_alloc(&a, 50);
    char *p = arena_alloc(&a, 10);
    if (p) {
        memcpy(p, "abcdefghij", 10);
        CHECK_ALWAYS(arena_resize(&a, p, 10, 500) == p);
        CHECK_ALWAYS(!memcmp(p, "abcdefghij", 10));
        CHECK_ALWAYS(arena_resize(&a, p, 500, 3) == p);
        CHECK_ALWAYS(arena_alloc(&a, 1) == p + 8);  /* the freed bytes */
    }
    CHECK_INT(check_allocations(), 1);
    arena_release(&a);
}

static void an_older_piece_moves_to_grow(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    char *p = arena_text(&a, "abc");
    char *other = arena_text(&a, "other");
    if (p && other) {
        char *q = arena_resize(&a, p, 4, 100);
        CHECK(q && q != p);
        CHECK_TEXT(q, "abc");
        CHECK_TEXT(p, "abc");
        CHECK_TEXT(other, "other");
        CHECK_ALWAYS(arena_resize(&a, p, 4, 2) == p);
    }
    arena_release(&a);
}

static void the_newest_piece_moves_when_its_block_is_full(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    char *p = arena_text(&a, "abc");
    if (p) {
        char *q = arena_resize(&a, p, 4, 100000);
        CHECK(q && q != p);
        CHECK_TEXT(q, "abc");
        CHECK_TEXT(p, "abc");
    }
    arena_release(&a);
}

static void a_list_grows(void)
{
    enum { COUNT = 100 };
    struct arena a;
    int *list = NULL;
    size_t cap = 0, n = 0;
    arena_init(&a, mem_default());
    while (n < COUNT && arena_grow(&a, &list, n, &cap, 3, sizeof *list)) {
        CHECK_ALWAYS(n < cap);
        list[n] = (int)n;
        n++;
    }
    CHECK_INT(n, COUNT);
    CHECK_INT(cap, 192);
    for (size_t i = 0; i < n; i++)
        CHECK_ALWAYS(list[i] == (int)i);
    arena_release(&a);
}

static void resizing_nothing_allocates(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    CHECK(arena_resize(&a, NULL, 0, 10));
    arena_release(&a);
}

static void a_piece_given_back_is_given_out_again(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    char *p = arena_alloc(&a, 100);
    CHECK_ALWAYS(!p || arena_resize(&a, p, 100, 0) == p);
    CHECK(arena_alloc(&a, 100) == p);
    arena_release(&a);
}

/* --------------------------------------------------------------- copies --- */

static void copies_end_in_a_nul(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    CHECK_TEXT(arena_copy(&a, (struct slice){ "abcdef", 3 }), "abc");
    CHECK_TEXT(arena_copy(&a, SLICE("")), "");
    CHECK_TEXT(arena_text(&a, "text"), "text");
    char *nul_inside = arena_copy(&a, SLICE("a\0b"));
    CHECK(nul_inside && !memcmp(nul_inside, "a\0b", 4));
    arena_release(&a);
}

static void absent_text_stays_absent(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    CHECK_ALWAYS(!arena_text(&a, NULL));
    CHECK_ALWAYS(!arena_copy(&a, (struct slice){ NULL, 0 }));
    CHECK_ALWAYS(!a.broken);
    CHECK_INT(check_allocations(), 0);
    arena_release(&a);
}

/* ---------------------------------------------------------------- reuse --- */

static void a_reset_keeps_one_block(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    for (int i = 0; i < 100; i++)
        arena_alloc(&a, 100);
    size_t held = arena_held(&a);
    arena_reset(&a);
    CHECK(arena_held(&a) > 0 && arena_held(&a) < held);
    CHECK_INT(check_live_blocks(), 1);

    size_t before = check_allocations();
    for (int i = 0; i < 40; i++)
        arena_alloc(&a, 100);
    CHECK_INT(check_allocations(), before);
    arena_release(&a);
    CHECK_ALWAYS(check_live_blocks() == 0);
}

static void after_a_reset_no_piece_is_the_newest(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    char *p = arena_alloc(&a, 16);
    arena_reset(&a);
    CHECK_ALWAYS(!a.last);
    CHECK(arena_alloc(&a, 16) == p);
    arena_release(&a);
}

static void a_released_arena_begins_anew(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    arena_alloc(&a, 100000);
    arena_release(&a);
    CHECK_ALWAYS(check_live_bytes() == 0);
    CHECK_TEXT(arena_text(&a, "anew"), "anew");
    arena_release(&a);
}

/* ------------------------------------------------------------- property --- */

enum { PIECES = 200 };

struct piece {
    unsigned char *ptr;
    size_t size;
    unsigned char mark;
};

static bool is_intact(const struct piece *p)
{
    for (size_t i = 0; i < p->size; i++)
        if (p->ptr[i] != p->mark)
            return false;
    return true;
}

/* A large piece has a block to itself, which grows as a whole, wherever it is
 * in the list. */
static void a_large_piece_leaves_no_copy_behind(void)
{
    struct arena a;
    size_t size = 300000;
    arena_init(&a, mem_default());
    char *first = arena_alloc(&a, size), *second = arena_alloc(&a, size);
    CHECK(arena_alloc(&a, 8));
    for (int i = 0; first && second && i < 10; i++, size *= 2) {
        memset(first, 'a', size);
        memset(second, 'b', size);
        first = arena_resize(&a, first, size, size * 2);
        second = arena_resize(&a, second, size, size * 2);
        CHECK(first && first[0] == 'a' && first[size - 1] == 'a');
        CHECK(second && second[0] == 'b' && second[size - 1] == 'b');
    }
    CHECK(arena_held(&a) < 2 * size + 10000);
    arena_release(&a);
}

/* Two buffers that grow in turns: little more is held than they need. */
static void growing_pieces_move_to_blocks_of_their_own(void)
{
    struct arena a;
    size_t size = 1000;
    arena_init(&a, mem_default());
    char *first = arena_zero(&a, size), *second = arena_zero(&a, size);
    while (first && second && size < 2000000) {
        first = arena_resize(&a, first, size, size * 2);
        second = arena_resize(&a, second, size, size * 2);
        size *= 2;
    }
    CHECK(first && second && !first[0] && !second[999]);
    CHECK(arena_held(&a) < 2 * size + 150000);
    CHECK(arena_alloc(&a, 8));
    arena_release(&a);
}

/* Give a piece a new size; old bytes that remain must be the same. */
static void change(struct arena *a, struct piece *p, size_t size)
{
    unsigned char *q = arena_resize(a, p->ptr, p->size, size);
    if (!q)
        return;
    p->ptr = q;
    p->size = p->ptr && size < p->size ? size : p->size;
    CHECK_ALWAYS(is_intact(p));
    p->size = size;
    memset(q, p->mark, size);
}

/* Allocate and resize at random; each piece is filled with its number, so
 * that pieces that overlap destroy each other. */
static void use_at_random(struct random r, size_t steps)
{
    struct piece pieces[PIECES] = { { 0 } };
    struct arena a;
    arena_init_sized(&a, mem_default(), random_below(r, 2000));
    for (size_t i = 0; i < steps; i++) {
        struct piece *p = &pieces[i % PIECES];
        size_t most = random_below(r, 10)   ? 200
                      : random_below(r, 50) ? 5000
                                            : 1000000;
        size_t size = random_below(r, most) + 1;
        if (p->ptr && random_below(r, 2)) {
            change(&a, p, size);
        } else {
            p->ptr = arena_alloc(&a, size);
            p->size = p->ptr ? size : 0;
            p->mark = (unsigned char)random_below(r, 256);
            if (p->ptr)
                memset(p->ptr, p->mark, size);
        }
        CHECK_ALWAYS(aligned(p->ptr));
    }
    for (size_t i = 0; i < PIECES; i++)
        CHECK_ALWAYS(is_intact(&pieces[i]));
    arena_release(&a);
}

static void pieces_never_overlap(void)
{
    struct random r = check_random();
    for (int i = 0; i < 100; i++)
        use_at_random(r, 1000);
}

static void pieces_never_overlap_without_memory(void)
{
    use_at_random(check_random(), 150);
}

/* Pieces outlive the arena that they came from, and the newest of the other
 * arena can still grow in place. */
static void pieces_change_their_arena(void)
{
    struct arena a, b;
    arena_init(&a, mem_default());
    arena_init(&b, mem_default());
    char *newest = arena_copy(&a, SLICE("a"));
    char *small = arena_copy(&b, SLICE("small"));
    char *large = arena_zero(&b, 300000);
    size_t held = arena_held(&a) + arena_held(&b);
    if (newest && small && large) {
        arena_adopt(&a, &b);
        CHECK_INT(arena_held(&b), 0);
        CHECK_INT(arena_held(&a), held);
        CHECK(arena_resize(&a, newest, 2, 100) == newest);
        CHECK(arena_alloc(&b, 1) || !check_whole());
        arena_release(&b);
        CHECK_TEXT(small, "small");
        CHECK(large[299999] == 0);
        arena_adopt(&a, &b);    /* nothing */
    }
    arena_release(&a);
    arena_release(&b);
}

TESTS = {
    TEST(pieces_change_their_arena),
    TEST(an_empty_arena_holds_nothing),
    TEST(null_means_no_memory_and_nothing_else),
    TEST(a_hint_makes_it_one_allocation),
    TEST(a_hint_beyond_sizes_is_only_a_hint),
    TEST(blocks_grow_so_that_they_stay_few),
    TEST(a_large_hint_is_not_repeated),
    TEST(a_large_piece_fits),
    TEST(a_size_that_cannot_be_breaks_it),
    TEST(a_text_without_end_breaks_it),
    TEST(a_broken_arena_still_works),
    TEST(the_newest_piece_changes_in_place),
    TEST(an_older_piece_moves_to_grow),
    TEST(the_newest_piece_moves_when_its_block_is_full),
    TEST(a_list_grows),
    TEST(resizing_nothing_allocates),
    TEST(a_large_piece_leaves_no_copy_behind),
    TEST(growing_pieces_move_to_blocks_of_their_own),
    TEST(a_piece_given_back_is_given_out_again),
    TEST(copies_end_in_a_nul),
    TEST(absent_text_stays_absent),
    TEST(a_reset_keeps_one_block),
    TEST(after_a_reset_no_piece_is_the_newest),
    TEST(a_released_arena_begins_anew),
    TEST_ONCE(pieces_never_overlap),
    TEST(pieces_never_overlap_without_memory),
    TESTS_END
};
