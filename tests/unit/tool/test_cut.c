/* test_cut.c - results that are too long for the model */
#include "tool/cut.h"

#include "harness/check.h"

static void short_texts_stay(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    struct slice text = SLICE("hello");
    CHECK(cut_text(&a, text, 0).ptr == text.ptr);
    CHECK(cut_text(&a, text, 5).ptr == text.ptr);
    arena_release(&a);
}

static void head_and_tail_stay(void)
{
    static const struct {
        const char *why;
        size_t len, max;
        const char *head, *mark, *tail;
    } rows[] = {
        { "a limit below the mark", 10, 4, "\n",
          "\n[10 of 10 bytes left out: bytes 0 to 10]\n", "]\n" },
        { "two thirds and one third", 400, 126, "\xc3\xa9\xc3\xa9",
          "\n[370 of 400 bytes left out: bytes 20 to 390]\n", "\xc3\xa9" },
        { "between two characters", 400, 123, "\xc3\xa9\xc3\xa9",
          "\n[374 of 400 bytes left out: bytes 18 to 392]\n", "\xc3\xa9" },
    };
    char long_text[400];
    for (size_t i = 0; i < sizeof long_text; i++)
        long_text[i] = i % 2 ? '\xa9' : '\xc3';
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        struct slice s = cut_text(&a, (struct slice){ long_text, rows[i].len },
                                  rows[i].max);
        if (s.ptr) {
            CHECK(!strncmp(s.ptr, rows[i].head, strlen(rows[i].head)));
            CHECK(strstr(s.ptr, rows[i].mark));
            CHECK(!strcmp(s.ptr + s.len - strlen(rows[i].tail), rows[i].tail));
        }
        arena_release(&a);
    }
}

TESTS = {
    TEST(short_texts_stay),
    TEST(head_and_tail_stay),
    TESTS_END,
};
