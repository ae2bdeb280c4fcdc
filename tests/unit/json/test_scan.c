/* test_scan.c - find the end of the plain characters in a string */
#include "json/scan.h"

#include "harness/check.h"

/* Each of the 256 bytes at each place, among plain ones. */
static void finds_each_byte_at_each_place(void)
{
    char text[40 + SCAN_PADDING];
    for (size_t at = 0; at < 20; at++) {
        for (int byte = 0; byte < 256; byte++) {
            bool plain = byte >= ' ' && byte < 0x80 && byte != '"' &&
                         byte != '\\';
            memset(text, 'x', sizeof text);
            text[30] = '"';
            text[at] = (char)byte;
            CHECK_INT(scan_plain(text) - text, plain ? 30 : (int)at);
        }
    }
}

static void the_first_of_several_counts(void)
{
    static const char specials[] = { '"', '\\', '\n', '\0', '\x1F', '\x80',
                                     '\xFF', '\xA0' };
    char text[24 + SCAN_PADDING];
    for (size_t first = 0; first < 10; first++) {
        for (size_t i = 0; i < sizeof specials; i++) {
            for (size_t k = 0; k < sizeof specials; k++) {
                memset(text, 'x', sizeof text);
                text[first] = specials[i];
                text[first + 1] = specials[k];
                text[first + 3] = specials[k];
                CHECK_INT(scan_plain(text) - text, (int)first);
            }
        }
    }
}

TESTS = {
    TEST(finds_each_byte_at_each_place),
    TEST(the_first_of_several_counts),
    TESTS_END
};
