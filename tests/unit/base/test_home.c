/* test_home.c - reference-counted arenas: what they keep alive */
#include "base/home.h"

#include "harness/check.h"

/* What happened, in order: letters that duties write. */
struct diary {
    char text[32];
    size_t len;
};

struct entry {
    struct diary *diary;
    char letter;
};

static void write_entry(void *arg)
{
    struct entry *e = arg;
    if (e->diary->len + 1 < sizeof e->diary->text)
        e->diary->text[e->diary->len++] = e->letter;
}

static void a_small_value_is_one_allocation(void)
{
    struct allm_home *h = home_new(mem_default(), 100);
    if (!h)
        return;
    CHECK(arena_alloc(home_arena(h), 100));
    CHECK_INT(check_allocations(), 1);
    home_drop(h);
    CHECK_ALWAYS(check_live_blocks() == 0);
}

static void the_last_user_frees_it(void)
{
    struct diary d = { { 0 }, 0 };
    struct entry gone = { &d, 'x' };
    struct allm_home *h = home_new(mem_default(), 0);
    if (!h || !home_on_free(h, write_entry, &gone)) {
        home_drop(h);
        return;
    }
    CHECK_ALWAYS(home_keep(h) == h);
    CHECK_ALWAYS(home_keep(h) == h);
    home_drop(h);
    home_drop(h);
    CHECK_TEXT(d.text, "");
    home_drop(h);
    CHECK_TEXT(d.text, "x");
}

static void nothing_is_a_home_too(void)
{
    CHECK_ALWAYS(!home_keep(NULL));
    home_drop(NULL);
    CHECK_ALWAYS(!home_new(mem_default(), SIZE_MAX));
}

static void remembers_its_allocator(void)
{
    struct allm_home *h = home_new(mem_default(), 0);
    if (!h)
        return;
    CHECK(home_mem(h).fn == mem_default().fn);
    CHECK(home_mem(h).ud == mem_default().ud);
    home_drop(h);
}

static void duties_are_done_last_one_first(void)
{
    struct diary d = { { 0 }, 0 };
    struct entry a = { &d, 'a' }, b = { &d, 'b' }, c = { &d, 'c' };
    struct allm_home *h = home_new(mem_default(), 1000);
    if (!h)
        return;
    home_on_free(h, write_entry, &a);
    home_on_free(h, write_entry, &b);
    home_on_free(h, write_entry, &c);
    home_drop(h);
    CHECK_TEXT(d.text, "cba");
    CHECK_ALWAYS(d.len == 3);       /* each once, with or without memory */
}

/* -------------------------------------------------------- out of memory --- */

/* An allocator for so many allocations and no more. */
struct few {
    struct mem below;
    int left;
};

static void *give_few(void *ud, void *p, size_t old, size_t size)
{
    struct few *f = ud;
    if (size && f->left-- <= 0)
        return NULL;
    return f->below.fn(f->below.ud, p, old, size);
}

static void a_duty_that_cannot_be_kept_is_done_at_once(void)
{
    struct few f = { mem_default(), 1 };
    struct diary d = { { 0 }, 0 };
    struct entry e = { &d, 'x' };
    struct allm_home *h = home_new((struct mem){ give_few, &f }, 0);
    if (!h)
        return;
    while (arena_alloc(home_arena(h), 8))
        continue;
    CHECK_ALWAYS(!home_on_free(h, write_entry, &e));
    CHECK_ALWAYS(d.len == 1);
    home_drop(h);
    CHECK_ALWAYS(d.len == 1);
}

static void a_home_that_cannot_be_held_is_not_kept(void)
{
    struct few f = { mem_default(), 1 };
    struct diary d = { { 0 }, 0 };
    struct entry e = { &d, 'x' };
    struct allm_home *other = home_new(mem_default(), 100);
    struct allm_home *h = home_new((struct mem){ give_few, &f }, 0);
    if (h && other) {
        home_on_free(other, write_entry, &e);
        while (arena_alloc(home_arena(h), 8))
            continue;
        CHECK_ALWAYS(!home_hold(h, other));
        CHECK_ALWAYS(!check_whole() || d.len == 0);
    }
    home_drop(other);
    CHECK_ALWAYS(!h || !other || d.len == 1);
    home_drop(h);
}

/* -------------------------------------------------------------- holding --- */

static void what_is_held_outlives_its_owner(void)
{
    struct diary d = { { 0 }, 0 };
    struct entry a = { &d, 'a' }, b = { &d, 'b' };
    struct allm_home *held = home_new(mem_default(), 100);
    struct allm_home *h = home_new(mem_default(), 100);
    if (held && h) {
        home_on_free(held, write_entry, &a);
        home_hold(h, held);
        home_on_free(h, write_entry, &b);
        home_drop(held);
        held = NULL;
        CHECK_TEXT(d.text, "");
    }
    home_drop(held);
    home_drop(h);
    CHECK_TEXT(d.text, "ba");
}

static void holding_nothing_or_oneself_is_well(void)
{
    struct allm_home *h = home_new(mem_default(), 0);
    if (!h)
        return;
    CHECK_ALWAYS(home_hold(h, NULL));
    CHECK_ALWAYS(home_hold(h, h));
    home_drop(h);
}

static void one_home_may_be_held_by_many(void)
{
    struct diary d = { { 0 }, 0 };
    struct entry gone = { &d, 'x' };
    struct allm_home *held = home_new(mem_default(), 100);
    struct allm_home *h[3] = { NULL };
    if (held)
        home_on_free(held, write_entry, &gone);
    for (int i = 0; i < 3; i++) {
        h[i] = home_new(mem_default(), 100);
        if (h[i])
            home_hold(h[i], held);
    }
    home_drop(held);
    home_drop(h[1]);
    home_drop(h[0]);
    CHECK_TEXT(d.text, "");
    home_drop(h[2]);
    CHECK_TEXT(d.text, "x");
}

static void a_long_chain_goes_without_deep_calls(void)
{
    struct allm_home *newest = NULL;
    for (int i = 0; i < 300000; i++) {
        struct allm_home *h = home_new(mem_default(), 64);
        if (!h)
            break;
        home_hold(h, newest);
        home_drop(newest);
        newest = h;
    }
    home_drop(newest);
    CHECK_INT(check_live_blocks(), 0);
}

/* ---------------------------------------------------- what it remembers --- */

static void the_first_error_counts(void)
{
    static const allm_error first = { .kind = ALLM_ERR_MISUSE };
    static const allm_error second = { .kind = ALLM_ERR_NOMEM };
    struct allm_home *h = home_new(mem_default(), 0);
    if (!h)
        return;
    CHECK(!home_error(h));
    home_set_error(h, NULL);
    CHECK(!home_error(h));
    home_set_error(h, &first);
    home_set_error(h, &second);
    CHECK(home_error(h) == &first);
    home_drop(h);
}

static void knows_the_value_it_was_made_for(void)
{
    struct allm_home *h = home_new(mem_default(), 16);
    if (!h)
        return;
    CHECK(!home_value(h));
    char *value = arena_text(home_arena(h), "value");
    home_set_value(h, value);
    CHECK(home_value(h) == value);
    home_drop(h);
}

static void notes_are_found_by_both_words(void)
{
    const struct home_key a = { { 1, 2 } }, b = { { 1, 3 } }, c = { { 2, 2 } };
    struct allm_home *h = home_new(mem_default(), 16);
    if (!h)
        return;
    CHECK_ALWAYS(!home_note(h, a).ptr);
    home_add_note(h, a, SLICE("one"));
    home_add_note(h, b, SLICE(""));
    home_add_note(h, a, SLICE("late"));
    CHECK_SLICE(home_note(h, a), SLICE("one"));
    CHECK(home_note(h, b).ptr && home_note(h, b).len == 0);
    CHECK_ALWAYS(!home_note(h, c).ptr);
    home_drop(h);
    CHECK_ALWAYS(check_live_blocks() == 0);
}

TESTS = {
    TEST(notes_are_found_by_both_words),
    TEST(a_small_value_is_one_allocation),
    TEST(the_last_user_frees_it),
    TEST(nothing_is_a_home_too),
    TEST(remembers_its_allocator),
    TEST(duties_are_done_last_one_first),
    TEST(a_duty_that_cannot_be_kept_is_done_at_once),
    TEST(a_home_that_cannot_be_held_is_not_kept),
    TEST(what_is_held_outlives_its_owner),
    TEST(holding_nothing_or_oneself_is_well),
    TEST(one_home_may_be_held_by_many),
    TEST_ONCE(a_long_chain_goes_without_deep_calls),
    TEST(the_first_error_counts),
    TEST(knows_the_value_it_was_made_for),
    TESTS_END
};
