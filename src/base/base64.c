/*
 * base64.c - base64 with padding (RFC 4648, section 4) and its URL alphabet
 *
 *      3 bytes   |aaaaaabb|bbbbcccc|ccdddddd|
 *      4 digits  |aaaaaa|bbbbbb|cccccc|dddddd|
 *
 * One remaining byte gives two digits and "==", two bytes give three and "=".
 * The bits of the last digit that belong to no byte must be zero, so each byte
 * sequence has exactly one encoding.
 *
 * Decoding makes two passes, first to check and then to decode, so invalid
 * input leaves the output untouched.
 */
#include "base/base64.h"

static const char standard[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char for_urls[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

enum { IS_DIGIT = 0x40, VALUE = 0x3F };

/* The value of a character of the standard alphabet, with IS_DIGIT. */
static const unsigned char digit[256] = {
    ['A'] = 0x40, ['B'] = 0x41, ['C'] = 0x42, ['D'] = 0x43, ['E'] = 0x44,
    ['F'] = 0x45, ['G'] = 0x46, ['H'] = 0x47, ['I'] = 0x48, ['J'] = 0x49,
    ['K'] = 0x4A, ['L'] = 0x4B, ['M'] = 0x4C, ['N'] = 0x4D, ['O'] = 0x4E,
    ['P'] = 0x4F, ['Q'] = 0x50, ['R'] = 0x51, ['S'] = 0x52, ['T'] = 0x53,
    ['U'] = 0x54, ['V'] = 0x55, ['W'] = 0x56, ['X'] = 0x57, ['Y'] = 0x58,
    ['Z'] = 0x59, ['a'] = 0x5A, ['b'] = 0x5B, ['c'] = 0x5C, ['d'] = 0x5D,
    ['e'] = 0x5E, ['f'] = 0x5F, ['g'] = 0x60, ['h'] = 0x61, ['i'] = 0x62,
    ['j'] = 0x63, ['k'] = 0x64, ['l'] = 0x65, ['m'] = 0x66, ['n'] = 0x67,
    ['o'] = 0x68, ['p'] = 0x69, ['q'] = 0x6A, ['r'] = 0x6B, ['s'] = 0x6C,
    ['t'] = 0x6D, ['u'] = 0x6E, ['v'] = 0x6F, ['w'] = 0x70, ['x'] = 0x71,
    ['y'] = 0x72, ['z'] = 0x73, ['0'] = 0x74, ['1'] = 0x75, ['2'] = 0x76,
    ['3'] = 0x77, ['4'] = 0x78, ['5'] = 0x79, ['6'] = 0x7A, ['7'] = 0x7B,
    ['8'] = 0x7C, ['9'] = 0x7D, ['+'] = 0x7E, ['/'] = 0x7F,
};

/* -------------------------------------------------------------- writing --- */

/* Three bytes as 24 bits. */
static uint32_t join_bytes(const unsigned char *p)
{
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

/* Write the first n digits of 24 bits. */
static void put_digits(char *at, uint32_t bits, size_t n, const char *alphabet)
{
    for (size_t i = 0; i < n; i++)
        at[i] = alphabet[bits >> (18 - 6 * i) & VALUE];
}

/* Write the last one or two bytes without padding; returns the number of
 * digits. */
static size_t put_rest(char *at, struct slice rest, const char *alphabet)
{
    unsigned char last[3] = { 0 };
    memcpy(last, rest.ptr, rest.len);
    put_digits(at, join_bytes(last), rest.len + 1, alphabet);
    return rest.len + 1;
}

static void add_encoded(struct buf *out, struct slice bytes,
                        const char *alphabet, bool padded)
{
    size_t rest = bytes.len % 3, whole = bytes.len - rest, room;
    if (!mem_mul(bytes.len / 3 + 1, 4, &room)) {
        out->broken = out->over = true;
        return;
    }
    if (!rest)
        room -= 4;
    else if (!padded)
        room -= 3 - rest;
    if (!buf_reserve(out, room))
        return;

    const unsigned char *p = (const unsigned char *)bytes.ptr;
    char *at = out->ptr + out->len;
    for (size_t i = 0; i < whole; i += 3, at += 4)
        put_digits(at, join_bytes(p + i), 4, alphabet);
    if (rest)
        at += put_rest(at, slice_skip(bytes, whole), alphabet);
    out->len += room;
    while (at < out->ptr + out->len)
        *at++ = '=';
    *at = '\0';
}

void base64_add(struct buf *out, struct slice bytes)
{
    add_encoded(out, bytes, standard, true);
}

void base64_add_url(struct buf *out, struct slice bytes)
{
    add_encoded(out, bytes, for_urls, false);
}

/* -------------------------------------------------------------- reading --- */

/* The number of "=" at the end: 0, 1 or 2. */
static size_t padding(struct slice text)
{
    if (text.len == 0 || text.ptr[text.len - 1] != '=')
        return 0;
    return text.ptr[text.len - 2] == '=' ? 2 : 1;
}

/* Only digits, and no bit set that belongs to no byte. */
static bool well_formed(struct slice digits)
{
    static const unsigned char stray[] = { 0, VALUE, 0x0F, 0x03 };
    const unsigned char *p = (const unsigned char *)digits.ptr;
    unsigned all = IS_DIGIT;
    for (size_t i = 0; i < digits.len; i++)
        all &= digit[p[i]];
    if (!(all & IS_DIGIT))
        return false;
    unsigned char bits = stray[digits.len % 4];
    return !bits || !(digit[p[digits.len - 1]] & bits);
}

/* The 24 bits of up to four digits. */
static uint32_t take_digits(const unsigned char *p, size_t n)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; i++)
        bits = bits << 6 | (i < n ? digit[p[i]] & VALUE : 0);
    return bits;
}

static void put_bytes(char *at, uint32_t bits, size_t n)
{
    for (size_t i = 0; i < n; i++)
        at[i] = (char)(unsigned char)(bits >> (16 - 8 * i));
}

bool base64_take(struct buf *out, struct slice text)
{
    if (text.len % 4)
        return false;
    size_t pad = padding(text);
    struct slice digits = { text.ptr, text.len - pad };
    if (!well_formed(digits))
        return false;
    size_t room = text.len / 4 * 3 - pad;
    if (!buf_reserve(out, room))
        return false;

    const unsigned char *p = (const unsigned char *)digits.ptr;
    char *at = out->ptr + out->len;
    size_t rest = digits.len % 4, whole = digits.len - rest;
    for (size_t i = 0; i < whole; i += 4, at += 3)
        put_bytes(at, take_digits(p + i, 4), 3);
    if (rest)
        put_bytes(at, take_digits(p + whole, rest), rest - 1);
    out->len += room;
    out->ptr[out->len] = '\0';
    return true;
}
