/*
 * redact.c - keys taken out of texts that others wrote
 *
 * Providers repeat keys in their complaints.  What is secret is known twice:
 * the key of the call, literally, and the look of keys, by their beginnings.
 */
#include "provider/redact.h"

#include "base/buf.h"
#include "base/status.h"
#include "json/json.h"
#include "json/parse.h"
#include "json/write.h"

#include <stdint.h>

enum { SHORTEST_KEY = 4 };      /* shorter ones would hit ordinary words */

/* How keys begin, and how many characters must follow at least. */
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
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '*' ||
           c == '.';
}

/* The length of what looks like a key at this place; 0: none does. */
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

static size_t secret_at(struct slice rest, char before, struct slice key)
{
    if (key.len >= SHORTEST_KEY && slice_starts(rest, key))
        return key.len;
    return is_key_byte(before) ? 0 : looks_secret(rest);
}

const char *redact_text(struct arena *a, const char *text, struct slice key)
{
    struct buf out;
    struct slice rest = slice_of(text);
    bool found = false;
    char before = ' ';
    buf_init(&out, a, SIZE_MAX / 2);
    while (rest.len) {
        size_t n = secret_at(rest, before, key);
        if (n)
            buf_text(&out, "[REDACTED]");
        else
            buf_byte(&out, *rest.ptr);
        found = found || n;
        before = n ? ' ' : *rest.ptr;
        rest = slice_skip(rest, n ? n : 1);
    }
    if (!found)
        return text;
    return out.broken ? NULL : out.ptr;
}

/* A key that stands in JSON in another form than by itself. */
static bool is_escaped(struct slice key)
{
    return key.len &&
           (memchr(key.ptr, '"', key.len) || memchr(key.ptr, '\\', key.len));
}

/* The same of a JSON value, by its text; NULL where that cannot be. */
static const allm_json *redact_json(struct arena *a, const allm_json *v,
                                    struct slice key)
{
    const struct json_limits any = { .max_bytes = SIZE_MAX,
                                     .max_depth = UINT32_MAX,
                                     .duplicates = true };
    const allm_error *error;
    struct buf text;
    buf_init(&text, a, SIZE_MAX / 2);
    if (!v || is_escaped(key) || !json_write(&text, v, 0))
        return NULL;
    const char *clean = redact_text(a, text.ptr, key);
    if (clean == text.ptr)
        return json_copy(a, v);
    return clean ? json_parse(a, slice_of(clean), any, &error) : NULL;
}

/* Redacted or not: a copy. */
/* What others wrote may be long; cut behind the keys, and between letters. */
static const char *cut_text(struct arena *a, const char *text)
{
    enum { MOST = 2000 };
    size_t n = text ? strnlen(text, MOST + 1) : 0;
    if (n <= MOST)
        return text;
    while (n > MOST || (text[n] & 0xC0) == 0x80)
        n--;
    return arena_copy(a, (struct slice){ text, n });
}

static const char *copy_text(struct arena *a, const char *text,
                             struct slice key)
{
    const char *clean = redact_text(a, text, key);
    return clean == text ? arena_text(a, text) : clean;
}

const allm_error *redact_error(struct arena *a, const allm_error *error,
                               struct slice key)
{
    allm_error *mine = arena_alloc(a, sizeof *mine);
    if (!mine)
        return status_nomem();
    *mine = *error;
    mine->home = NULL;
    mine->reason = copy_text(a, error->reason, key);
    mine->message = cut_text(a, copy_text(a, error->message, key));
    mine->provider = copy_text(a, error->provider, key);
    mine->request_id = copy_text(a, error->request_id, key);
    mine->tool_name = copy_text(a, error->tool_name, key);
    mine->tool_call_id = copy_text(a, error->tool_call_id, key);
    mine->errors = redact_json(a, error->errors, key);
    mine->cause = redact_json(a, error->cause, key);
    mine->metadata = redact_json(a, error->metadata, key);
    mine->kept = redact_json(a, error->kept, key);
    return a->broken ? status_nomem() : mine;
}
