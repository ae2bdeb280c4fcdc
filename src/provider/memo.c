/* memo.c - the encoded form of a message, kept with it */
#include "provider/memo.h"

#include "provider/hash.h"

enum { LIMIT = 4 * 1024 * 1024 };

/* The NUL is hashed, too, so two strings differ from their concatenation. */
static uint64_t hash_text(uint64_t h, const char *text)
{
    return hash_add(h, text ? (struct slice){ text, strlen(text) + 1 }
                            : SLICE("\1"));
}

/* Does the message contain state that only one model may read? */
static bool has_state(const allm_message *m)
{
    bool found = m->provider_state != NULL;
    for (size_t i = 0; !found && i < m->tool_call_count; i++)
        found = m->tool_calls[i]->provider_state != NULL;
    for (size_t i = 0; !found && i < m->part_count; i++)
        found = m->parts[i]->provider_state != NULL;
    return found;
}

static uint64_t hash_model(uint64_t facts, const allm_call *call)
{
    const struct slice bytes = { (const char *)&facts, sizeof facts };
    uint64_t h = hash_add(HASH_START, bytes);
    return hash_text(hash_text(h, call->provider), call->model);
}

struct home_key memo_key(const void *dialect, uint64_t facts,
                         const allm_call *call, const allm_message *m)
{
    struct home_key key = { { (uint64_t)(uintptr_t)dialect, facts } };
    if (has_state(m))
        key.word[1] = hash_model(facts, call);
    return key;
}

/* A struct that was copied by somebody may differ from the one in the home. */
static bool is_ours(const allm_message *m)
{
    return m->home && home_value(m->home) == m;
}

struct slice memo_find(const allm_message *m, struct home_key key)
{
    return is_ours(m) ? home_note(m->home, key) : (struct slice){ NULL, 0 };
}

void memo_keep(const allm_message *m, struct home_key key, struct slice bytes)
{
    if (is_ours(m))
        home_add_note(m->home, key, bytes);
}

void memo_keep_written(const allm_message *m, struct home_key key,
                       const struct buf *out, size_t from)
{
    if (!out->broken && out->len > from && out->len - from <= LIMIT)
        memo_keep(m, key, (struct slice){ out->ptr + from, out->len - from });
}
