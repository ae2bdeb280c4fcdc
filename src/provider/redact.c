/* redact.c - remove keys from errors and from responses */
#include "provider/redact.h"

#include "base/buf.h"
#include "base/status.h"
#include "json/json.h"
#include "json/parse.h"
#include "json/write.h"

#include <stdint.h>

/* Shorter keys, such as "lm-studio" for a local server, may be part of an
 * ordinary name. */
enum { SHORTEST_KEY = 12 };

static const struct json_limits no_limits = { .max_bytes = SIZE_MAX,
                                        .max_depth = UINT32_MAX,
                                        .duplicates = true };

/* Does the key have characters that JSON escapes? */
static bool is_escaped(struct slice key)
{
    return key.len &&
           (memchr(key.ptr, '"', key.len) || memchr(key.ptr, '\\', key.len));
}

/* A JSON value redacted in its text form; NULL if that is not possible. */
static const allm_json *redact_json(struct arena *a, const allm_json *v,
                                    struct slice key)
{
    struct buf text = buf_in(a, SIZE_MAX / 2);
    if (!v || is_escaped(key) || !json_write(&text, v, 0))
        return NULL;
    const char *clean = redact_text(a, text.ptr, key);
    if (clean == text.ptr)
        return json_copy(a, v);
    return clean ? json_parse(a, slice_of(clean), no_limits, NULL) : NULL;
}

/* Truncate a long text between characters.  Keys are redacted before. */
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

/* Always a copy, redacted if necessary. */
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

const allm_json *redact_answer(struct arena *a, const allm_json *v,
                               struct slice key)
{
    struct buf text, quoted;
    if (!v || key.len < SHORTEST_KEY)
        return v;
    buf_init(&text, a, SIZE_MAX / 2);
    buf_init(&quoted, a, SIZE_MAX / 2);
    json_write_text(&quoted, key);
    if (quoted.broken || !json_write(&text, v, 0))
        return NULL;
    const struct slice escaped = { quoted.ptr + 1, quoted.len - 2 };
    const struct redact rules = { 1, &escaped, false };
    struct slice clean = redact_slice(a, buf_slice(&text), &rules);
    if (clean.ptr == text.ptr)
        return v;
    v = clean.ptr ? json_parse(a, clean, no_limits, NULL) : NULL;
    return v || a->broken ? v : json_empty_object();
}
