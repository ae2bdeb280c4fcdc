/* test_base64.c - encode with both alphabets, decode strictly */
#include "base/base64.h"

#include "harness/check.h"

/* --------------------------------------------------------------- tables --- */

static void writes_and_reads(void)
{
    static const struct {
        const char *why;
        struct slice bytes;
        const char *standard, *url;
    } rows[] = {
        { "RFC 4648, section 10: nothing", { "", 0 }, "", "" },
        { "f", { "f", 1 }, "Zg==", "Zg" },
        { "fo", { "fo", 2 }, "Zm8=", "Zm8" },
        { "foo", { "foo", 3 }, "Zm9v", "Zm9v" },
        { "foob", { "foob", 4 }, "Zm9vYg==", "Zm9vYg" },
        { "fooba", { "fooba", 5 }, "Zm9vYmE=", "Zm9vYmE" },
        { "foobar", { "foobar", 6 }, "Zm9vYmFy", "Zm9vYmFy" },
        { "absent bytes", { NULL, 0 }, "", "" },
        { "NUL", { "\0\0\0\0", 4 }, "AAAAAA==", "AAAAAA" },
        { "all bits", { "\xFF\xFF\xFF\xFF", 4 }, "/////w==", "_____w" },
        { "where the alphabets differ", { "\xFB\xEF\xBE", 3 }, "++++",
          "----" },
    };
    struct buf out;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&out, &a, 100);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        struct slice bytes = rows[i].bytes;
        buf_clear(&out);
        base64_add(&out, bytes);
        CHECK_SLICE(buf_slice(&out), slice_of(rows[i].standard));
        buf_clear(&out);
        base64_add_url(&out, bytes);
        CHECK_SLICE(buf_slice(&out), slice_of(rows[i].url));
        buf_clear(&out);
        CHECK(base64_take(&out, slice_of(rows[i].standard)));
        CHECK(slice_eq(buf_slice(&out), bytes));
    }
    arena_release(&a);
}

static void refuses(void)
{
    static const struct {
        const char *why;
        struct slice text;
    } rows[] = {
        { "one digit", { "Z", 1 } },
        { "two digits without padding", { "Zg", 2 } },
        { "three digits without padding", { "Zm8", 3 } },
        { "five digits", { "Zm9vY", 5 } },
        { "padding cut", { "Zg=", 3 } },
        { "too much padding", { "Zg===", 5 } },
        { "padding of three", { "Z===", 4 } },
        { "padding alone", { "====", 4 } },
        { "padding behind a whole group", { "Zm9v====", 8 } },
        { "padding in the middle", { "Zg==Zg==", 8 } },
        { "padding before a digit", { "Z=g=", 4 } },
        { "padding at the start", { "=Zg=", 4 } },
        { "four stray bits", { "Zh==", 4 } },
        { "all stray bits", { "Z/==", 4 } },
        { "two stray bits", { "Zm9=", 4 } },
        { "the URL alphabet, minus", { "----", 4 } },
        { "the URL alphabet, underscore", { "____", 4 } },
        { "a space", { "Zm 8", 4 } },
        { "a line end", { "Zm9v\n", 5 } },
        { "a line end for a digit", { "Zm9\n", 4 } },
        { "NUL", { "Zm9\0", 4 } },
        { "a byte beyond ASCII", { "Zm9\xC3", 4 } },
        { "just before A", { "Zm@v", 4 } },
        { "just behind Z", { "Zm[v", 4 } },
        { "just before a", { "Zm`v", 4 } },
        { "just behind z", { "Zm{v", 4 } },
        { "just behind 9", { "Zm:v", 4 } },
        { "a comma", { "Zm,v", 4 } },
        { "a full stop", { "Zm.v", 4 } },
        { "bad at the start of a long text", { "!AAAAAAAAAAAAAAA", 16 } },
        { "bad at its end", { "AAAAAAAAAAAAAAA!", 16 } },
    };
    struct buf out;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&out, &a, 1000);
    buf_text(&out, "before");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        struct buf old = out;
        CHECK_ALWAYS(!base64_take(&out, rows[i].text));
        CHECK_ALWAYS(out.ptr == old.ptr && out.len == old.len);
        CHECK_ALWAYS(out.cap == old.cap && out.broken == old.broken);
        CHECK_TEXT(out.ptr, "before");
    }
    arena_release(&a);
}

static void adds_behind_what_is_there(void)
{
    struct buf out;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&out, &a, 1000);
    buf_text(&out, "data:");
    base64_add(&out, SLICE("foob"));
    base64_add_url(&out, SLICE("\xFF"));
    CHECK(base64_take(&out, SLICE("YmFyIQ==")));
    CHECK_TEXT(out.ptr, "data:Zm9vYg==_wbar!");
    arena_release(&a);
}

/* --------------------------------------------------------------- limits --- */

static void keeps_the_limit(void)
{
    static const struct {
        const char *why;
        size_t limit;
        bool written, url_written, read;
    } rows[] = {
        { "room for all", 8, true, true, true },
        { "a byte less than the padded text", 7, false, true, true },
        { "just the text without padding", 6, false, true, true },
        { "a byte less than that", 5, false, false, true },
        { "just the bytes", 4, false, false, true },
        { "a byte less than the bytes", 3, false, false, false },
        { "no room at all", 0, false, false, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf out;
        struct arena a;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        buf_init(&out, &a, rows[i].limit);
        base64_add(&out, SLICE("foob"));
        CHECK(out.over == !rows[i].written);
        CHECK(out.len == (rows[i].written ? 8 : 0));
        buf_clear(&out);
        base64_add_url(&out, SLICE("foob"));
        CHECK(out.over == !rows[i].url_written);
        CHECK(out.len == (rows[i].url_written ? 6 : 0));
        buf_clear(&out);
        CHECK(base64_take(&out, SLICE("Zm9vYg==")) == rows[i].read);
        CHECK(out.over == !rows[i].read);
        CHECK(out.len == (rows[i].read ? 4 : 0));
        arena_release(&a);
    }
}

static void sizes_do_not_overflow(void)
{
    struct buf out;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&out, &a, SIZE_MAX);
    base64_add(&out, (struct slice){ "", SIZE_MAX });
    CHECK_ALWAYS(out.broken && out.over && out.len == 0);
    CHECK_INT(check_allocations(), 0);
    arena_release(&a);
}

static void a_broken_buffer_takes_nothing(void)
{
    struct buf out;
    struct arena a;
    arena_init(&a, mem_default());
    buf_init(&out, &a, 3);
    buf_text(&out, "ab");
    buf_text(&out, "too long");
    base64_add(&out, SLICE(""));
    CHECK(!base64_take(&out, SLICE("")));
    CHECK(!base64_take(&out, SLICE("Zg==")));
    CHECK_TEXT(out.ptr, "ab");
    arena_release(&a);
}

/* ----------------------------------------------------------- properties --- */

enum { MOST = 300 };

static void go_around(struct random r, struct arena *a)
{
    char bytes[MOST];
    struct slice s = { bytes, random_below(r, MOST) };
    random_fill(r, bytes, s.len);
    struct buf text, back;
    buf_init(&text, a, 2 * MOST);
    buf_init(&back, a, MOST);
    base64_add(&text, s);
    CHECK(text.len == (s.len + 2) / 3 * 4);
    CHECK(base64_take(&back, buf_slice(&text)));
    CHECK(slice_eq(buf_slice(&back), s));
    buf_clear(&text);
    base64_add_url(&text, s);
    CHECK(text.len == (s.len * 4 + 2) / 3);
    CHECK_ALWAYS(!text.ptr || text.ptr[text.len] == '\0');
    arena_reset(a);
}

static void everything_comes_back(void)
{
    struct random r = check_random();
    struct arena a;
    arena_init(&a, mem_default());
    for (int i = 0; i < 20000; i++)
        go_around(r, &a);
    arena_release(&a);
}

static void one_comes_back_without_memory(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    go_around(check_random(), &a);
    arena_release(&a);
}

/* Change a byte of a text: it is refused, or it is the one text of what it
 * gives. */
static void each_value_has_one_text(void)
{
    struct random r = check_random();
    struct arena a;
    arena_init(&a, mem_default());
    for (int i = 0; i < 50000; i++) {
        char bytes[20];
        struct buf text, back, again;
        buf_init(&text, &a, 100);
        buf_init(&back, &a, 100);
        buf_init(&again, &a, 100);
        size_t len = random_below(r, sizeof bytes) + 1;
        random_fill(r, bytes, len);
        base64_add(&text, (struct slice){ bytes, len });
        if (text.broken)
            break;
        size_t at = random_below(r, 3) ? random_below(r, text.len)
                                       : text.len - 1 - random_below(r, 3);
        if (random_below(r, 2))
            text.ptr[at] = "AZaz09+/=-_ \n\xFF"[random_below(r, 14)];
        else
            random_fill(r, text.ptr + at, 1);
        if (base64_take(&back, buf_slice(&text))) {
            base64_add(&again, buf_slice(&back));
            CHECK_SLICE(buf_slice(&again), buf_slice(&text));
        } else {
            CHECK_INT(back.len, 0);
        }
        arena_reset(&a);
    }
    arena_release(&a);
}

TESTS = {
    TEST(writes_and_reads),
    TEST(refuses),
    TEST(adds_behind_what_is_there),
    TEST(keeps_the_limit),
    TEST(sizes_do_not_overflow),
    TEST(a_broken_buffer_takes_nothing),
    TEST_ONCE(everything_comes_back),
    TEST(one_comes_back_without_memory),
    TEST_ONCE(each_value_has_one_text),
    TESTS_END
};
