/*
 * redact.c - find and replace secrets in a string
 *
 * Providers repeat API keys in their error messages.  A secret is recognised
 * in two ways: as the key of the call, literally, or by the prefix of known
 * keys.
 */
#include "base/redact.h"

#include "base/buf.h"

#include <stdint.h>

enum { SHORTEST_KEY = 4 };      /* shorter ones would match ordinary words */

/* Prefixes of keys, and how many characters must follow at least. */
static const struct look {
    const char *start;
    size_t least;
} looks[] = {
    { "sk-", 6 },  { "rk-", 6 },   { "org-", 6 },    { "sk_", 16 },
    { "AIza", 6 }, { "ya29.", 6 }, { "apikey_", 16 }, { "gsk_", 16 },
    { "xai-", 16 }, { "pplx-", 16 }, { "csk-", 16 },
    { "pa-", 16 },
};

static bool is_key_byte(char c)
{
    return slice_alnum(c) || c == '-' || c == '_' || c == '*' || c == '.';
}

/* The length of what looks like a key at this place; 0 if nothing does. */
static size_t looks_secret(struct slice rest)
{
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        size_t n = strlen(looks[i].start);
        if (!slice_starts(rest, slice_of(looks[i].start)))
            continue;
        while (n < rest.len && is_key_byte(rest.ptr[n]))
            n++;
        while (n && rest.ptr[n - 1] == '.')
            n--;                /* the end of a sentence */
        if (n >= strlen(looks[i].start) + looks[i].least)
            return n;
    }
    return 0;
}

/* How many bytes encode the character at this place; 0 if it is another one.
 * JSON may write any character as \u and four digits. */
static size_t spells(struct slice at, char c)
{
    if (at.len && *at.ptr == c)
        return 1;
    return at.len >= 6 && slice_starts(at, SLICE("\\u00")) &&
                   slice_hex(at.ptr[4]) * 16 + slice_hex(at.ptr[5]) == c
               ? 6
               : 0;
}

/* The length of the key as it is encoded here; 0 if it is not here. */
static size_t spelled_at(struct slice rest, struct slice key)
{
    size_t at = 0, n = 1;
    for (size_t i = 0; n && i < key.len; i++) {
        n = spells(slice_skip(rest, at), key.ptr[i]);
        at += n;
    }
    return n ? at : 0;
}

/* The longest of the keys at this place; 0 if there is none. */
static size_t key_at(struct slice rest, const struct redact *what)
{
    size_t longest = 0;
    for (size_t i = 0; i < what->count; i++) {
        struct slice key = what->key[i];
        size_t len = key.len >= SHORTEST_KEY ? spelled_at(rest, key) : 0;
        if (len > longest)
            longest = len;
    }
    return longest;
}

size_t redact_find(struct slice text, size_t from, const struct redact *what,
                   size_t *len)
{
    char before = ' ';
    for (size_t i = from; i < text.len; i++) {
        struct slice rest = slice_skip(text, i);
        *len = key_at(rest, what);
        if (!*len && what->looks && !is_key_byte(before))
            *len = looks_secret(rest);
        if (*len)
            return i;
        before = *rest.ptr;
    }
    *len = 0;
    return text.len;
}

struct slice redact_slice(struct arena *a, struct slice text,
                          const struct redact *what)
{
    size_t len, from = 0, at = redact_find(text, 0, what, &len);
    if (!len)
        return text;
    struct buf out = buf_in(a, SIZE_MAX / 2);
    while (len) {
        buf_add(&out, (struct slice){ text.ptr + from, at - from });
        buf_text(&out, REDACT_MARK);
        from = at + len;
        at = redact_find(text, from, what, &len);
    }
    buf_add(&out, slice_skip(text, from));
    return out.broken ? (struct slice){ NULL, 0 } : buf_slice(&out);
}

const char *redact_text(struct arena *a, const char *text, struct slice key)
{
    const struct redact what = { 1, &key, true };
    return redact_slice(a, slice_of(text), &what).ptr;
}
