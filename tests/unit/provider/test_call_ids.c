/* test_call_ids.c - ids of calls are unique in a conversation */
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

/* The hundredth id costs as much as the second. */
static void the_same_again_and_again_stays_cheap(void)
{
    struct call_ids ids;
    struct arena a;
    const char *last = NULL;
    bool plain = false;
    arena_init(&a, mem_default());
    call_ids_init(&ids, (struct history_ids){ .any = true }, &a);
    for (unsigned i = 0; i < 1000; i++)
        last = call_ids_next(&ids, "call_0", &plain);
    CHECK_TEXT(last, "call_0_1000");
    CHECK(arena_held(&a) < (size_t)512 * 1024);
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

#define FOUR_ACCENTS "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
#define EIGHT_ACCENTS FOUR_ACCENTS FOUR_ACCENTS

/* It is not cut inside a character either. */
static void a_long_one_stays_short_enough(void)
{
    const char *const accents = EIGHT_ACCENTS EIGHT_ACCENTS;
    const char *const long_one = "0123456789012345678901234567890123456789";
    struct call_ids ids;
    struct arena a;
    bool plain = false;
    arena_init(&a, mem_default());
    call_ids_init(&ids, (struct history_ids){ .most = 40, .any = true }, &a);
    CHECK_TEXT(call_ids_next(&ids, long_one, &plain), long_one);
    CHECK_TEXT(call_ids_next(&ids, long_one, &plain), "0123456789012345678_2");
    CHECK_TEXT(call_ids_next(&ids, accents, &plain), accents);
    CHECK_TEXT(call_ids_next(&ids, accents, &plain),
               EIGHT_ACCENTS "\xC3\xA9_2");
    arena_release(&a);
}

/* Ids of just so many letters and digits stay that, and differ. */
static void a_short_one_keeps_its_length(void)
{
    const char *const given[] = { "abcDEF123", "abcDEF123", "call_0", "call_0",
                                  "abcDEF123", "" };
    const char *seen[6] = { NULL };
    struct call_ids ids;
    struct arena a;
    arena_init(&a, mem_default());
    call_ids_init(&ids, (struct history_ids){ .exactly = 9 }, &a);
    for (size_t i = 0; i < 6; i++) {
        bool plain = false;
        seen[i] = call_ids_next(&ids, given[i], &plain);
        CHECK(seen[i] && strlen(seen[i]) == 9 && !strchr(seen[i], '_'));
        for (size_t k = 0; seen[i] && k < i; k++)
            CHECK(seen[k] && strcmp(seen[k], seen[i]) != 0);
    }
    CHECK_TEXT(seen[0], "abcDEF123");
    arena_release(&a);
}

/* A result has the id of its call, and only what stays may be kept. */
static void results_are_sent_with_the_ids_of_their_calls(void)
{
    allm_tool_call call = { .size = sizeof call, .id = "c" };
    allm_tool_call other = { .size = sizeof other, .id = "d" };
    const allm_tool_call *const twice[] = { &call, &call };
    const allm_tool_call *const one[] = { &other };
    allm_message first = { .size = sizeof first,
                           .tool_calls = twice,
                           .tool_call_count = 2 };
    allm_message next = { .size = sizeof next,
                          .tool_calls = one,
                          .tool_call_count = 1 };
    allm_message result = { .size = sizeof result, .tool_call_id = "c" };
    allm_message last = { .size = sizeof last, .tool_call_id = "d" };
    struct call_ids ids;
    struct arena a;
    bool plain = false;
    arena_init(&a, mem_default());
    call_ids_init(&ids, (struct history_ids){ .any = true }, &a);
    CHECK(!call_ids_ask(&ids, &first));
    CHECK_TEXT(call_ids_answer(&ids, &result, &plain), "c");
    CHECK(plain);
    CHECK_TEXT(call_ids_answer(&ids, &result, &plain), "c_2");
    CHECK(!plain);
    CHECK(call_ids_ask(&ids, &next));
    CHECK_TEXT(call_ids_answer(&ids, &last, &plain), "d");
    CHECK(plain);
    arena_release(&a);
}

TESTS = {
    TEST(the_second_one_is_numbered),
    TEST(many_do_not_meet),
    TEST(the_same_again_and_again_stays_cheap),
    TEST(an_empty_one_is_made_legal),
    TEST(a_long_one_stays_short_enough),
    TEST(a_short_one_keeps_its_length),
    TEST(results_are_sent_with_the_ids_of_their_calls),
    TESTS_END,
};
