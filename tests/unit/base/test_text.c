/* test_text.c - texts: begun, then finished or failed */
#include "base/text.h"

#include "base/status.h"

#include "harness/check.h"

static void a_finished_text_has_its_bytes(void)
{
    allm_text *t = text_begin(mem_default(), 100);
    if (!t)
        return;
    struct buf b;
    buf_init(&b, text_arena(t), 100);
    buf_text(&b, "so it is");
    CHECK_ALWAYS(text_finish(t, buf_slice(&b)) == t);
    size_t len = 99;
    const char *bytes = allm_text_bytes(t, &len);
    CHECK_TEXT(bytes, "so it is");
    CHECK_INT(len, 8);
    CHECK(allm_text_bytes(t, NULL) == bytes);
    CHECK(!allm_text_error(t));
    CHECK_INT(check_allocations(), 1);
    allm_text_free(t);
}

static void bytes_may_hold_nul(void)
{
    allm_text *t = text_begin(mem_default(), 0);
    if (!t)
        return;
    char *copy = arena_copy(text_arena(t), SLICE("a\0b"));
    text_finish(t, (struct slice){ copy, copy ? 3 : 0 });
    size_t len = 0;
    const char *bytes = allm_text_bytes(t, &len);
    CHECK_INT(len, 3);
    CHECK(bytes && !memcmp(bytes, "a\0b", 4));
    allm_text_free(t);
}

static void an_empty_text_is_well(void)
{
    const struct slice rows[] = { { "", 0 }, { NULL, 0 } };
    for (size_t i = 0; i < 2; i++) {
        allm_text *t = text_finish(text_begin(mem_default(), 0), rows[i]);
        size_t len = 99;
        CHECK_TEXT(allm_text_bytes(t, &len), "");
        CHECK_INT(len, 0);
        CHECK(!allm_text_error(t));
        allm_text_free(t);
    }
}

static void a_failed_text_has_no_bytes(void)
{
    allm_text *t = text_begin(mem_default(), 0);
    if (!t)
        return;
    const allm_error *e = status_error(text_arena(t), ALLM_ERR_VALIDATION,
                                       "wrong", "it is wrong");
    CHECK_ALWAYS(text_fail(t, e) == t);
    size_t len = 99;
    CHECK_ALWAYS(!allm_text_bytes(t, &len));
    CHECK_ALWAYS(len == 0);
    CHECK_ALWAYS(allm_text_error(t) == (e ? e : status_nomem()));
    CHECK_TEXT(allm_text_error(t)->reason, "wrong");
    allm_text_free(t);
}

static void a_failure_without_an_error_is_lack_of_memory(void)
{
    allm_text *t = text_fail(text_begin(mem_default(), 0), NULL);
    CHECK_ALWAYS(allm_text_error(t) == status_nomem());
    CHECK_ALWAYS(!allm_text_bytes(t, NULL));
    allm_text_free(t);
}

static void what_failed_cannot_be_finished(void)
{
    allm_text *t = text_begin(mem_default(), 0);
    text_fail(t, status_nomem());
    CHECK_ALWAYS(text_finish(t, SLICE("late")) == t);
    CHECK_ALWAYS(!allm_text_bytes(t, NULL));
    allm_text_free(t);
}

static void what_was_finished_can_still_fail(void)
{
    allm_text *t = text_finish(text_begin(mem_default(), 0), SLICE("early"));
    text_fail(t, status_nomem());
    CHECK_ALWAYS(!allm_text_bytes(t, NULL));
    CHECK_ALWAYS(allm_text_error(t) == status_nomem());
    allm_text_free(t);
}

/* Bytes built in an arena that broke are not all there. */
static void a_broken_arena_fails_the_text(void)
{
    allm_text *t = text_begin(mem_default(), 0);
    if (!t)
        return;
    struct buf b;
    buf_init(&b, text_arena(t), SIZE_MAX);
    buf_text(&b, "half");
    arena_alloc(text_arena(t), SIZE_MAX);
    text_finish(t, buf_slice(&b));
    CHECK_ALWAYS(!allm_text_bytes(t, NULL));
    CHECK_ALWAYS(allm_text_error(t) == status_nomem());
    allm_text_free(t);
}

static void nothing_is_lack_of_memory(void)
{
    size_t len = 99;
    CHECK_ALWAYS(!allm_text_bytes(NULL, &len));
    CHECK_ALWAYS(len == 0);
    CHECK_ALWAYS(!allm_text_bytes(NULL, NULL));
    CHECK_ALWAYS(allm_text_error(NULL) == status_nomem());
    CHECK_ALWAYS(!text_arena(NULL));
    CHECK_ALWAYS(!text_finish(NULL, SLICE("x")));
    CHECK_ALWAYS(!text_fail(NULL, status_nomem()));
    CHECK_ALWAYS(!text_begin(mem_default(), SIZE_MAX));
    CHECK_ALWAYS(!text_begin(mem_default(), SIZE_MAX - 60));
    allm_text_free(NULL);
}

TESTS = {
    TEST(a_finished_text_has_its_bytes),
    TEST(bytes_may_hold_nul),
    TEST(an_empty_text_is_well),
    TEST(a_failed_text_has_no_bytes),
    TEST(a_failure_without_an_error_is_lack_of_memory),
    TEST(what_failed_cannot_be_finished),
    TEST(what_was_finished_can_still_fail),
    TEST(a_broken_arena_fails_the_text),
    TEST(nothing_is_lack_of_memory),
    TESTS_END
};
