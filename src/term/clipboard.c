/* clipboard.c - copy text to the clipboard of a terminal, by OSC 52 */
#include "term/clipboard.h"

/* Three bytes, or the one or two of the end, as four characters. */
static void add_group(const unsigned char *in, size_t len, struct bytes *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned b = len > 1 ? in[1] : 0, c = len > 2 ? in[2] : 0;
    unsigned bits = (unsigned)in[0] << 16 | b << 8 | c;
    bytes_byte(out, digits[bits >> 18 & 63]);
    bytes_byte(out, digits[bits >> 12 & 63]);
    bytes_byte(out, len > 1 ? digits[bits >> 6 & 63] : '=');
    bytes_byte(out, len > 2 ? digits[bits & 63] : '=');
}

void clipboard_sequence(const char *text, size_t len, struct bytes *out)
{
    bytes_text(out, "\033]52;c;");
    for (size_t i = 0; i < len; i += 3)
        add_group((const unsigned char *)text + i, len - i < 3 ? len - i : 3,
                  out);
    bytes_byte(out, '\a');
}
