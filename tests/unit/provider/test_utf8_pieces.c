/* test_utf8_pieces.c - text that arrives in pieces becomes valid UTF-8 */
#include "provider/utf8_pieces.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "harness/check.h"

#define BAD "\xEF\xBF\xBD"
#define HIGH "\xED\xA0\xBD"     /* U+D83D */
#define LOW "\xED\xB8\x80"      /* U+DE00 */
#define FACE "\xF0\x9F\x98\x80" /* U+1F600 */

static void mends_pieces(void)
{
    static const struct {
        const char *why, *piece[3], *want;
    } rows[] = {
        { "well", { "ab", "c\xC3\xA9", "" }, "abc\xC3\xA9" },
        { "cut in a character", { "a\xC3", "\xA9", "b" }, "a\xC3\xA9" "b" },
        { "cut twice", { "\xF0\x9F", "\x98", "\x80" }, FACE },
        { "never finished", { "a\xF0\x9F", "b", "" }, "a" BAD BAD "b" },
        { "unfinished at the end", { "a\xC3", "", "" }, "a" BAD },
        { "no UTF-8", { "\xFF", "a\x80", "" }, BAD "a" BAD },
        { "a pair", { HIGH, LOW, "" }, FACE },
        { "a pair in one piece", { "x" HIGH LOW "y", "", "" }, "x" FACE "y" },
        { "a high half alone", { HIGH, "a", "" }, BAD "a" },
        { "a high half at the end", { "a" HIGH, "", "" }, "a" BAD },
        { "two high halves", { HIGH HIGH, LOW, "" }, BAD FACE },
        { "a low half alone", { "a" LOW, "b", "" }, "a" BAD "b" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct utf8_pieces m = { .len = 0 };
        struct buf out;
        arena_init(&a, mem_default());
        buf_init(&out, &a, 1000);
        check_row(rows[i].why);
        for (size_t k = 0; k < 3; k++) {
            struct slice piece = slice_of(rows[i].piece[k]);
            struct slice told = utf8_pieces_take(&m, &a, piece);
            CHECK(told.ptr && utf8_valid(told, NULL));
            buf_add(&out, told);
        }
        buf_add(&out, utf8_pieces_end(&m));
        CHECK_ALWAYS(m.len == 0);
        CHECK_SLICE(buf_slice(&out), slice_of(rows[i].want));
        arena_release(&a);
    }
}

static void well_formed_text_is_not_copied(void)
{
    struct arena a;
    struct utf8_pieces m = { .len = 0 };
    struct slice text = SLICE("caf\xC3\xA9");
    arena_init(&a, mem_default());
    CHECK_ALWAYS(utf8_pieces_take(&m, &a, text).ptr == text.ptr);
    CHECK_ALWAYS(arena_held(&a) == 0);
    arena_release(&a);
}

TESTS = { TEST(mends_pieces), TEST(well_formed_text_is_not_copied),
          TESTS_END };
