/* test_caller_struct.c - structs of callers with an older or newer header */
#include "base/caller_struct.h"

#include "harness/noun.h"

#include <stdlib.h>

struct opts {
    size_t size;
    uint32_t first, second;
    const char *text;
};

static const struct opts whole = { sizeof whole, 1, 2, "three" };

static void takes_what_was_filled_in(void)
{
    struct opts o;
    CHECK(caller_struct_take(&o, sizeof o, &whole));
    CHECK_INT(o.size, sizeof o);
    CHECK(o.first == 1 && o.second == 2);
    CHECK_TEXT(o.text, "three");
}

static void nothing_is_all_default(void)
{
    struct opts o;
    memset(&o, 0xFF, sizeof o);
    CHECK(caller_struct_take(&o, sizeof o, NULL));
    CHECK_INT(o.size, sizeof o);
    CHECK(o.first == 0 && o.second == 0 && !o.text);
}

static void an_older_struct_lacks_the_rest(void)
{
    struct opts o;
    size_t n = offsetof(struct opts, second);
    void *old = noun_sized(&whole, sizeof whole, n);
    CHECK(caller_struct_take(&o, sizeof o, old));
    CHECK_INT(o.size, sizeof o);
    CHECK(o.first == 1 && o.second == 0 && !o.text);
    free(old);
}

static void a_newer_struct_may_not_ask_for_more(void)
{
    struct opts o;
    char *newer = noun_sized(&whole, sizeof whole, sizeof whole + 9);
    CHECK_WHY(caller_struct_take(&o, sizeof o, newer),
              "the unknown part is zero");
    CHECK_TEXT(o.text, "three");
    newer[sizeof whole + 8] = 1;
    CHECK_WHY(!caller_struct_take(&o, sizeof o, newer), "it is not");
    CHECK(o.size == sizeof o && o.first == 0 && !o.text);
    free(newer);
}

static void a_size_must_be_filled_in(void)
{
    struct opts o, bad = whole;
    for (bad.size = 0; bad.size < sizeof bad.size; bad.size++) {
        CHECK(!caller_struct_take(&o, sizeof o, &bad));
        CHECK(o.size == sizeof o && o.first == 0 && !o.text);
    }
}

/* A program with a newer header than the library. */
static void a_program_can_ask_for_a_member(void)
{
    const struct opts *ours = &whole;
    CHECK(ALLM_HAS(ours, size) && ALLM_HAS(ours, second));
    CHECK(ALLM_HAS(ours, text));
    struct opts *older = noun_sized(&whole, sizeof whole,
                                    offsetof(struct opts, text));
    CHECK(ALLM_HAS(older, size) && ALLM_HAS(older, second));
    CHECK_WHY(!ALLM_HAS(older, text), "the library does not have it");
    older->size += sizeof older->text - 1;
    CHECK_WHY(!ALLM_HAS(older, text), "not completely");
    free(older);
}

static void a_variable_begins_with_its_size(void)
{
    allm_call_opts opts = ALLM_INIT(call_opts);
    static const allm_json_opts fixed = ALLM_INIT(json_opts);
    CHECK_INT(opts.size, sizeof opts);
    CHECK(!opts.model && !opts.replay && opts.mode == ALLM_MODE_AUTO);
    CHECK_INT(fixed.size, sizeof fixed);
}

TESTS = {
    TEST(takes_what_was_filled_in),
    TEST(nothing_is_all_default),
    TEST(an_older_struct_lacks_the_rest),
    TEST(a_newer_struct_may_not_ask_for_more),
    TEST(a_size_must_be_filled_in),
    TEST(a_program_can_ask_for_a_member),
    TEST(a_variable_begins_with_its_size),
    TESTS_END
};
