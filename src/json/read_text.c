/*
 * read_text.c - decode strings: escapes and UTF-8
 *
 * Strings are decoded in place: an escape is longer than what it represents,
 * so `to` never overtakes `at`.
 *
 *      "a\u00e9b"      from: a, to: end of what is decoded, at: what is next
 */
#include "json/read.h"

#include "base/utf8.h"

struct decoding {
    struct reading *r;
    char *to, *at;
    bool escaped;               /* an escape was found */
};

static bool refuse_string(struct decoding *d, const char *at,
                          const char *detail, const char *expected)
{
    read_wrong(d->r, at, detail, expected);
    return false;
}

/* Four hexadecimal digits; *at moves past them. */
static bool read_hex(struct decoding *d, const char **at, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, ++*at) {
        int value = slice_hex(**at);
        if (value < 0)
            return refuse_string(d, *at, "invalid_text",
                                 "expected four hexadecimal digits");
        *unit = *unit << 4 | (uint32_t)value;
    }
    return true;
}

/* The low half of a surrogate pair. */
static bool read_low(struct decoding *d, const char **at, uint32_t *low)
{
    static const char expected[] = "expected a low surrogate (\\uDC00 to "
                                   "\\uDFFF) behind a high one";
    for (const char *p = "\\u"; *p; p++, ++*at)
        if (**at != *p)
            return refuse_string(d, *at, "invalid_text", expected);
    const char *digits = *at;
    if (!read_hex(d, at, low))
        return false;
    return (*low >= 0xDC00 && *low <= 0xDFFF) ||
           refuse_string(d, digits, "invalid_text", expected);
}

/* A lone surrogate, as the three bytes that UTF-8 would encode it with. */
static void put_half(struct decoding *d, uint32_t unit)
{
    *d->to++ = (char)(0xE0 | unit >> 12);
    *d->to++ = (char)(0x80 | (unit >> 6 & 0x3F));
    *d->to++ = (char)(0x80 | (unit & 0x3F));
}

/* Does the low half follow? */
static bool is_paired(const char *at)
{
    return at[0] == '\\' && at[1] == 'u' && (at[2] | 0x20) == 'd' &&
           slice_hex(at[3]) >= 0xC && slice_hex(at[4]) >= 0 &&
           slice_hex(at[5]) >= 0;
}

/* \uXXXX, or two of them. */
static bool read_unicode(struct decoding *d)
{
    const char *at = d->at + 2;
    uint32_t point, low;
    if (!read_hex(d, &at, &point))
        return false;
    if (d->r->loose && point >= 0xD800 && point <= 0xDFFF &&
        (point >= 0xDC00 || !is_paired(at))) {
        d->at += at - d->at;
        put_half(d, point);
        return true;
    }
    if (point >= 0xDC00 && point <= 0xDFFF)
        return refuse_string(
            d, d->at + 2, "invalid_text",
            "expected no low surrogate without a high one before it");
    if (point >= 0xD800 && point <= 0xDBFF) {
        if (!read_low(d, &at, &low))
            return false;
        point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
    }
    d->at += at - d->at;
    d->to += utf8_put(d->to, point);
    return true;
}

static bool read_escape(struct decoding *d)
{
    static const char names[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    char c = d->at[1];
    const char *name = c ? strchr(names, c) : NULL;
    d->escaped = true;
    if (name) {
        *d->to++ = means[name - names];
        d->at += 2;
        return true;
    }
    if (c == 'u')
        return read_unicode(d);
    return refuse_string(
        d, d->at + 1, "invalid_text",
        "expected one of \" \\ / b f n r t u behind a backslash");
}

/* The length of a well-formed sequence beyond ASCII, or 0. */
static size_t multibyte_length(const char *at)
{
    const unsigned char *p = (const unsigned char *)at;
    unsigned two = p[0] * 256u + p[1];
    if ((p[1] & 0xC0) != 0x80)
        return 0;
    if (two < 0xE000)
        return two >= 0xC200 ? 2 : 0;           /* below: overlong */
    if ((p[2] & 0xC0) != 0x80)
        return 0;
    if (two < 0xF000)                           /* overlong, surrogates */
        return two >= 0xE0A0 && (two < 0xEDA0 || two > 0xEDBF) ? 3 : 0;
    if ((p[3] & 0xC0) != 0x80)
        return 0;
    return two >= 0xF090 && two <= 0xF48F ? 4 : 0;  /* overlong, too big */
}

static bool read_sequence(struct decoding *d)
{
    size_t n = multibyte_length(d->at);
    if (!n && d->r->loose) {
        d->escaped = true;      /* the writer must check it */
        n = 1;
    }
    if (n) {
        memmove(d->to, d->at, n);
        d->to += n;
        d->at += n;
        return true;
    }
    struct slice rest = { d->at, (size_t)(d->r->end - d->at) };
    bool unfinished = rest.len < 4 && utf8_unfinished(rest) == rest.len;
    return refuse_string(d, unfinished ? d->r->end : d->at, "invalid_utf8",
                         "expected UTF-8");
}

/* A control character that should have been escaped. */
static bool take_control(struct decoding *d)
{
    d->escaped = true;
    *d->to++ = *d->at++;
    return true;
}

/* Decode what is not plain, one by one, and the plain characters after it. */
static bool read_on(struct decoding *d)
{
    bool ok;
    if (*d->at & 0x80)
        ok = read_sequence(d);
    else if (*d->at == '\\')
        ok = read_escape(d);
    else if (d->r->loose && d->at != d->r->end)
        ok = take_control(d);
    else
        ok = refuse_string(
            d, d->at, "invalid_text",
            d->at == d->r->end
                ? "expected a closing quote"
                : "expected control characters in a string to be escaped");
    if (!ok)
        return false;
    size_t n = (size_t)(scan_plain(d->at) - d->at);
    if (d->to != d->at)
        memmove(d->to, d->at, n);
    d->to += n;
    d->at += n;
    return true;
}

char *read_text_rest(struct reading *r, char *from, char *at, yyjson_val *v)
{
    struct decoding d = { .r = r };
    d.to = d.at = at;
    bool ok = true;
    while (ok && *d.at != '"')
        ok = read_on(&d);
    v->tag = val_text_tag((size_t)(d.to - from));
    if (!d.escaped)
        v->tag |= YYJSON_SUBTYPE_NOESC;     /* it can be written as it is */
    v->uni.str = from;
    if (ok || r->cut)
        *d.to = '\0';
    return ok ? d.at + 1 : NULL;
}
