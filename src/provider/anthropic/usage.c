/*
 * usage.c - convert Anthropic's usage to ours
 *
 * Their "input_tokens" excludes tokens that were read from the cache or written
 * to it.  Ours is the sum of the three; theirs is kept in `extra`.
 */
#include "provider/anthropic/usage.h"

#include "provider/counts.h"
#include "json/build.h"
#include "json/json.h"

const allm_json *anthropic_usage_merge(struct arena *a,
                                       const allm_json *previous,
                                       const allm_json *details)
{
    if (allm_json_type_of(details) != ALLM_JSON_OBJECT)
        return previous;
    struct build b = build_object_in(a);
    for (const allm_json *k = NULL; (k = allm_json_next(details, k));)
        if (!json_is_type(allm_json_value(k), ALLM_JSON_NULL))
            build_entry(&b, k);
    const allm_json *set_members = build_finish(&b);
    return set_members
               ? json_merge(a, previous ? previous : json_empty_object(),
                            set_members)
               : NULL;
}

/* All members that have no field in our usage. */
static const allm_json *extra_of(struct arena *a, const allm_json *usage)
{
    static const char *const mapped[] = {
        "cache_read_input_tokens", "cache_creation_input_tokens",
        "cache_write_input_tokens", "output_tokens", "server_tool_use", NULL,
    };
    allm_int written = counts_at(usage, "cache_creation_input_tokens");
    struct build b = build_object_in(a);
    if (written.set)
        build_int_at(&b, "cache_write_input_tokens", written.value);
    build_entries(&b, usage, mapped);
    const allm_json *extra = build_finish(&b);
    return allm_json_count(extra) ? extra : NULL;
}

allm_usage anthropic_usage_read(struct arena *a, const allm_json *usage,
                                bool is_first)
{
    allm_usage u = { .size = sizeof u };
    allm_int uncached = counts_at(usage, "input_tokens");
    allm_int written = counts_at(usage, "cache_creation_input_tokens");
    const allm_json *details = allm_json_get(usage, "output_tokens_details");
    const allm_json *tools = allm_json_get(usage, "server_tool_use");
    u.cached_input_tokens = counts_at(usage, "cache_read_input_tokens");
    u.input_tokens = counts_add(uncached,
                                counts_add(u.cached_input_tokens, written));
    u.reasoning_tokens = counts_at(details, "thinking_tokens");
    if (!is_first)
        u.output_tokens = counts_at(usage, "output_tokens");
    if (u.input_tokens.set && u.output_tokens.set)
        u.total_tokens = counts_add(u.input_tokens, u.output_tokens);
    if (allm_json_type_of(tools) == ALLM_JSON_OBJECT)
        u.tool_usage = tools;
    u.extra = extra_of(a, usage);
    return u;
}
