/* collect_call.c - a tool call while its events are folded */
#include "run/collect_call.h"

enum { LONG = 64 * 1024 };

static void clear_pieces(struct collect_call *k)
{
    arena_release(&k->pieces);
    buf_init(&k->raw, &k->pieces, SIZE_MAX / 2);
}

void collect_call_init(struct collect_call *k, struct mem mem)
{
    arena_init(&k->pieces, mem);
    clear_pieces(k);
}

void collect_call_complete(struct collect_call *k, struct arena *a,
                           struct slice raw)
{
    bool same = raw.len >= LONG && slice_eq(raw, buf_slice(&k->raw));
    k->call.raw_len = raw.len;
    k->call.raw_arguments = same ? k->raw.ptr : arena_copy(a, raw);
    if (same)
        arena_adopt(a, &k->pieces);
    clear_pieces(k);
    k->completed = true;
    k->borrowed = false;
}

bool collect_call_borrow(struct collect_call *k, const allm_event *e)
{
    if (!e->raw_arguments || e->raw_len < LONG)
        return false;
    k->call.arguments = e->arguments;
    k->call.raw_arguments = e->raw_arguments;
    k->call.raw_len = e->raw_len;
    clear_pieces(k);
    return k->completed = k->borrowed = true;
}

static bool is_same_json(const allm_json *a, const allm_json *b)
{
    return a == b || (a && b && allm_json_equal(a, b));
}

bool collect_call_is(const struct collect_call *k, const allm_tool_call *other)
{
    const allm_tool_call *mine = &k->call;
    if (!k->completed || other->size < sizeof *other)
        return false;
    struct slice raw = { mine->raw_arguments, mine->raw_len };
    struct slice other_raw = { other->raw_arguments, other->raw_len };
    return raw.ptr && other_raw.ptr && !other->kept && other->id &&
           other->name && mine->name && !strcmp(mine->id, other->id) &&
           !strcmp(mine->name, other->name) && slice_eq(raw, other_raw) &&
           is_same_json(mine->arguments, other->arguments) &&
           is_same_json(mine->metadata, other->metadata) &&
           is_same_json(mine->provider_state, other->provider_state);
}
