/* test_call_ids.c - ids of calls, each used once in a whole conversation */
#include "provider/call_ids.h"

#include "harness/check.h"

static void the_second_one_is_numbered(void)
{
    const struct {
        const char *why, *id, *want;
        bool plain;
    } rows[] = {
        { "the first of its kind", "call_0", "call_0", true },
        { "the second", "call_0", "call_0_2", false },
        { "another", "call_1", "call_1", true },
        { "one that looks like ours", "call_0_2", "call_0_2_2", false },
        { "the third", "call_0", "call_0_3", false },
    };
    struct call_ids ids;
    struct arena a;
    arena_init(&a, mem_default());
    call_ids_init(&ids, (struct history_ids){ .dashes = true }, &a);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool plain = !rows[i].plain;
        check_row(rows[i].why);
        CHECK_TEXT(call_ids_next(&ids, rows[i].id, &plain), rows[i].want);
        CHECK(plain == rows[i].plain);
    }
    arena_release(&a);
}

static void many_do_not_meet(void)
{
    struct call_ids ids;
    struct arena a;
    char id[32];
    arena_init(&a, mem_default());
    call_ids_init(&ids, (struct history_ids){ .any = true }, &a);
    for (unsigned i = 0; i < 300; i++) {
        bool plain = false;
        struct buf name;
        buf_init(&name, &a, sizeof id);
        buf_uint(&name, i);
        CHECK_TEXT(call_ids_next(&ids, name.ptr, &plain), name.ptr);
        CHECK(plain);
    }
    CHECK(ids.count == 300 || ids.broken);
    arena_release(&a);
}

static void an_empty_one_is_made_legal(void)
{
    struct call_ids ids;
    struct arena a;
    bool plain = false;
    arena_init(&a, mem_default());
    call_ids_init(&ids, (struct history_ids){ .most = 64, .dashes = true }, &a);
    const char *first = call_ids_next(&ids, NULL, &plain);
    CHECK(first && *first);
    const char *second = call_ids_next(&ids, "", &plain);
    CHECK(first && second && strcmp(first, second) != 0);
    arena_release(&a);
}

static void a_long_one_stays_short_enough(void)
{
    const char *const long_one = "0123456789012345678901234567890123456789";
    struct call_ids ids;
    struct arena a;
    bool plain = false;
    arena_init(&a, mem_default());
    call_ids_init(&ids, (struct history_ids){ .most = 40, .any = true }, &a);
    CHECK_TEXT(call_ids_next(&ids, long_one, &plain), long_one);
    CHECK_TEXT(call_ids_next(&ids, long_one, &plain), "0123456789012345678_2");
    arena_release(&a);
}

TESTS = {
    TEST(the_second_one_is_numbered),
    TEST(many_do_not_meet),
    TEST(an_empty_one_is_made_legal),
    TEST(a_long_one_stays_short_enough),
    TESTS_END,
};
