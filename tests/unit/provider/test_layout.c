/* test_layout.c - a layout is used only if it still matches */
#include "provider/layout.h"

#include "harness/check.h"
#include "harness/play.h"
#include "json/json.h"

#include <stdint.h>

static enum layout_kind kind_of(const allm_json *piece)
{
    const allm_json *is = allm_json_get(piece, "is");
    return json_is(is, "text")   ? LAYOUT_TEXT
           : json_is(is, "call") ? LAYOUT_CALL
                                 : LAYOUT_OTHER;
}

static void fits_the_message_it_was_made_of(void)
{
    static const struct {
        const char *why, *layout;
        size_t text_len, calls;
        bool fits;
    } rows[] = {
        { "text, call, text",
          "[{'is':'text','bytes':2},{'is':'call'},{'is':'text','bytes':3}]", 5,
          1, true },
        { "what is neither does not count",
          "[{'is':'text','bytes':2},{'is':'thought','bytes':9}]", 2, 0, true },
        { "an empty one of an empty message", "[]", 0, 0, true },
        { "the text was changed", "[{'is':'text','bytes':2}]", 3, 0, false },
        { "the text is shorter", "[{'is':'text','bytes':2}]", 1, 0, false },
        { "a call was added", "[{'is':'call'}]", 0, 2, false },
        { "a call was taken away", "[{'is':'call'}]", 0, 0, false },
        { "more bytes than there can be",
          "[{'is':'text','bytes':18446744073709551615},"
          "{'is':'text','bytes':18446744073709551615}]", 2, 0, false },
        { "bytes below nothing", "[{'is':'text','bytes':-2}]", 0, 0, true },
        { "no bytes", "[{'is':'text'}]", 0, 0, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_json *layout = play_json(rows[i].layout);
        allm_message m = { .size = sizeof m, .text = "abcdef",
                           .text_len = rows[i].text_len,
                           .tool_call_count = rows[i].calls };
        if (layout)
            CHECK_ALWAYS(layout_fits(layout, &m, kind_of) == rows[i].fits);
        allm_json_free(layout);
    }
}

static void parts_have_an_order_of_their_own(void)
{
    static const allm_part *const parts[1];
    allm_message m = { .size = sizeof m, .parts = parts };
    CHECK_ALWAYS(!layout_fits(json_empty_array(), &m, kind_of));
}

TESTS = {
    TEST(fits_the_message_it_was_made_of),
    TEST(parts_have_an_order_of_their_own),
    TESTS_END
};
