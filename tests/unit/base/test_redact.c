/* test_redact.c - find secrets in text */
#include "base/redact.h"

#include "harness/check.h"

#define KEY "sesame-0123456789"

static void texts_are_redacted(void)
{
    static const struct {
        const char *text, *clean;
    } rows[] = {
        { "", "" },
        { "nothing to hide", "nothing to hide" },
        { KEY, "[REDACTED]" },
        { "bad key " KEY ".", "bad key [REDACTED]." },
        { "x" KEY KEY "y", "x[REDACTED][REDACTED]y" },
        { "sesame-012345678", "sesame-012345678" },
        { "key sk-abcdef", "key [REDACTED]" },
        { "key sk-abcde", "key sk-abcde" },
        { "key sk-proj-ab_12**********3456. Go", "key [REDACTED]. Go" },
        { "risk-assessment desk-drawer", "risk-assessment desk-drawer" },
        { "(sk-ant-api03-xyz)", "([REDACTED])" },
        { "org-abcdefgh rk-123456", "[REDACTED] [REDACTED]" },
        { "AIzaSyA1234567 ya29.abcdef", "[REDACTED] [REDACTED]" },
        { "pa-0123456789abcdef", "[REDACTED]" },
        { "pa-rameter", "pa-rameter" },
        { "gsk_0123456789abcdef", "[REDACTED]" },
        { "gsk_short", "gsk_short" },
        { "apikey_0123456789abcdef", "[REDACTED]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        check_row(rows[i].text);
        arena_init(&a, mem_default());
        CHECK_TEXT(redact_text(&a, rows[i].text, SLICE(KEY)), rows[i].clean);
        arena_release(&a);
    }
}

static void what_has_no_key_is_not_copied(void)
{
    struct arena a;
    const char *text = "plain";
    arena_init(&a, mem_default());
    CHECK_ALWAYS(redact_text(&a, NULL, SLICE(KEY)) == NULL);
    CHECK(redact_text(&a, text, SLICE(KEY)) == text);
    CHECK_TEXT(redact_text(&a, "a shy key", SLICE("shy")), "a shy key");
    CHECK(redact_text(&a, text, (struct slice){ NULL, 0 }) == text);
    arena_release(&a);
}

/* The key is removed, wherever it is. */
static void no_text_keeps_the_key(void)
{
    struct random r = check_random();
    for (int n = 0; n < 3000; n++) {
        struct arena a;
        char text[128];
        size_t len = 0;
        while (len < 80) {
            if (random_below(r, 4) == 0) {
                memcpy(text + len, KEY, strlen(KEY));
                len += strlen(KEY);
            } else {
                text[len++] = "sk-sesame.0 "[random_below(r, 12)];
            }
        }
        text[len] = '\0';
        arena_init(&a, mem_default());
        const char *clean = redact_text(&a, text, SLICE(KEY));
        CHECK_ALWAYS(!clean || !strstr(clean, KEY));
        arena_release(&a);
    }
}

static void several_spellings_and_bytes(void)
{
    static const struct slice keys[] = { { "se/same", 7 }, { "se\\/same", 8 },
                                         { "se/same-long", 12 } };
    const struct {
        struct slice text;
        bool looks;
        struct slice clean;
    } rows[] = {
        { SLICE("a\0se/same\0b"), false, SLICE("a\0[REDACTED]\0b") },
        { SLICE("se\\/same"), false, SLICE("[REDACTED]") },
        { SLICE("\\u0073e/s\\u0061me"), false, SLICE("[REDACTED]") },
        { SLICE("a\\u0073\\u0065\\u002F\\u0073\\u0061\\u006d\\u0065b"),
          false, SLICE("a[REDACTED]b") },
        { SLICE("\\u0073e/s\\u0062me"), false, SLICE("\\u0073e/s\\u0062me") },
        { SLICE("se/sam\\u006"), false, SLICE("se/sam\\u006") },
        { SLICE("the longest: se/same-long"), false,
          SLICE("the longest: [REDACTED]") },
        { SLICE("sk-abcdefgh"), false, SLICE("sk-abcdefgh") },
        { SLICE("sk-abcdefgh"), true, SLICE("[REDACTED]") },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        const struct redact what = { 3, keys, rows[i].looks };
        check_row(rows[i].text.ptr);
        arena_init(&a, mem_default());
        CHECK_SLICE(redact_slice(&a, rows[i].text, &what), rows[i].clean);
        arena_release(&a);
    }
}

TESTS = {
    TEST(texts_are_redacted),
    TEST(what_has_no_key_is_not_copied),
    TEST_ONCE(no_text_keeps_the_key),
    TEST(several_spellings_and_bytes),
    TESTS_END,
};
