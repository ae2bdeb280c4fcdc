/* test_status.c - names of statuses, and errors in an arena */
#include "base/status.h"

#include "base/utf8.h"

#include "harness/check.h"

#include <wchar.h>

static void every_status_has_a_name(void)
{
    static const struct {
        allm_status status;
        const char *name;
    } rows[] = {
        { ALLM_OK, "ok" },
        { ALLM_EVENT, "event" },
        { ALLM_AGAIN, "again" },
        { ALLM_ERR_MISUSE, "misuse" },
        { ALLM_ERR_NOMEM, "nomem" },
        { ALLM_ERR_ENGINE, "engine" },
        { ALLM_ERR_VALIDATION, "validation" },
        { ALLM_ERR_ADAPTER, "adapter" },
        { ALLM_ERR_STREAM, "stream" },
        { ALLM_ERR_TOOL, "tool" },
        { ALLM_ERR_SESSION, "session" },
        { ALLM_ERR_STORE, "store" },
        { ALLM_ERR_IMAGE, "image" },
        { (allm_status)77, "unknown" },
        { (allm_status)-77, "unknown" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].name);
        CHECK_TEXT(allm_status_name(rows[i].status), rows[i].name);
    }
}

static void a_blank_error_says_nothing_but_its_kind(void)
{
    allm_error e = status_blank(ALLM_ERR_TOOL);
    CHECK_INT(e.size, sizeof e);
    CHECK_INT(e.kind, ALLM_ERR_TOOL);
    CHECK(!e.home && !e.reason && !e.message && !e.provider);
    CHECK(!e.http_status.set && !e.retry_after_ms.set && !e.event_index.set);
    CHECK(!e.errors && !e.cause && !e.metadata && !e.kept);
}

static void the_error_without_memory_is_always_there(void)
{
    const allm_error *e = status_nomem();
    CHECK_INT(e->size, sizeof *e);
    CHECK_INT(e->kind, ALLM_ERR_NOMEM);
    CHECK_TEXT(e->reason, "out_of_memory");
    CHECK_TEXT(e->message, "out of memory");
    CHECK(e == status_nomem());
    CHECK_INT(check_allocations(), 0);
}

static void an_error_has_what_was_set(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    char name[] = "blue";
    const allm_error *e = status_error(&a, ALLM_ERR_VALIDATION, "wrong",
                                       "%s is no %d", name, 7);
    name[0] = 'g';              /* the message is a copy */
    CHECK_ALWAYS(e || a.broken);
    if (e) {
        CHECK_INT(e->size, sizeof *e);
        CHECK_INT(e->kind, ALLM_ERR_VALIDATION);
        CHECK_TEXT(e->reason, "wrong");
        CHECK_TEXT(e->message, "blue is no 7");
    }
    arena_release(&a);
}

/* A very long message is truncated; that is not a lack of memory. */
static void a_long_message_is_cut(void)
{
    enum { LIMIT = 64 * 1024 };
    static char text[2 * LIMIT];
    static const struct {
        const char *why;
        const char *unit;
        const char *before;
        size_t size;            /* of the text */
        size_t kept;
    } rows[] = {
        { "exactly the limit", "a", "", LIMIT, LIMIT },
        { "a byte more", "a", "", LIMIT + 1, LIMIT },
        { "twice as much", "a", "", 2 * LIMIT - 1, LIMIT },
        { "whole characters at the cut", "\xC3\xA4", "", LIMIT + 2, LIMIT },
        { "a character of two bytes across the cut", "\xC3\xA4", "a",
          LIMIT + 10, LIMIT - 1 },
        { "a character of four bytes across the cut", "\xF0\x9F\x98\x80",
          "abc", LIMIT + 8, LIMIT - 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        check_row(rows[i].why);
        for (size_t at = 0; at < rows[i].size; at += strlen(rows[i].unit))
            memcpy(text + at, rows[i].unit, strlen(rows[i].unit));
        text[rows[i].size - strlen(rows[i].before)] = '\0';
        arena_init(&a, mem_default());
        const allm_error *e = status_error(&a, ALLM_ERR_TOOL, "long", "%s%s",
                                           rows[i].before, text);
        CHECK(e);
        if (e) {
            CHECK_INT(strlen(e->message), rows[i].kept);
            CHECK(utf8_valid(slice_of(e->message), NULL));
        }
        arena_release(&a);
    }
}

/* A wide character that the C locale does not have. */
static void what_cannot_be_printed_is_still_an_error(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    const allm_error *e = status_error(&a, ALLM_ERR_TOOL, "odd", "%lc",
                                       (wint_t)0x20AC);
    CHECK(e);
    CHECK_ALWAYS(!e || *e->message);
    CHECK_TEXT(e ? e->reason : NULL, "odd");
    arena_release(&a);
}

static void an_error_is_copied_into_another(void)
{
    struct arena a, b;
    arena_init(&a, mem_default());
    arena_init(&b, mem_default());
    const char *reason = arena_text(&a, "because");
    const allm_error *e = status_error(&a, ALLM_ERR_STORE, reason, "50%% off");
    const allm_error *again = e ? status_retell(&b, e) : status_nomem();
    arena_release(&a);          /* the copy is independent */
    CHECK(again != status_nomem());
    CHECK_ALWAYS(again->size == sizeof *again);
    if (again != status_nomem()) {
        CHECK_INT(again->kind, ALLM_ERR_STORE);
        CHECK_TEXT(again->reason, "because");
        CHECK_TEXT(again->message, "50% off");
    }
    arena_release(&b);
}

static void lack_of_memory_is_reported_without_memory(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    CHECK_ALWAYS(status_retell(&a, status_nomem()) == status_nomem());
    CHECK_INT(check_allocations(), 0);
    arena_release(&a);
}

TESTS = {
    TEST(every_status_has_a_name),
    TEST(a_blank_error_says_nothing_but_its_kind),
    TEST(the_error_without_memory_is_always_there),
    TEST(an_error_has_what_was_set),
    TEST(a_long_message_is_cut),
    TEST(what_cannot_be_printed_is_still_an_error),
    TEST(an_error_is_copied_into_another),
    TEST(lack_of_memory_is_reported_without_memory),
    TESTS_END
};
