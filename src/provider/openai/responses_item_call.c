/* responses_item_call.c - build a tool call from an item of a response */
#include "provider/openai/responses_item_call.h"

#include "json/build.h"
#include "json/json.h"

static bool is_custom(const allm_json *item)
{
    return json_is(json_at(item, "type"), "custom_tool_call");
}

/* What must be sent back with the call: the namespace of its tool, and the
 * caller if that is not simply the model. */
static const allm_json *call_state(struct answer *a, const allm_json *item)
{
    static const char *const names[] = { "namespace", "caller" };
    struct build b = build_object_in(a->sink->arena);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const allm_json *v = json_at(item, names[i]);
        if (v && !json_is_type(v, ALLM_JSON_NULL))
            build_value_at(&b, names[i], v);
    }
    build_end(&b);
    const allm_json *fields = answer_build(a, &b);
    return allm_json_count(fields) ? answer_stamp(a, fields) : NULL;
}

void openai_item_call_append(struct responses_items *all,
                             struct responses_item *i, struct slice text)
{
    struct answer *a = all->answer;
    if (i->slot) {
        calls_append(&a->calls, i->slot, text, a->sink);
        return;
    }
    buf_add(&i->pending, text);
    if (i->pending.broken)
        openai_item_no_memory(all);
}

void openai_item_call_start(struct responses_items *all,
                            struct responses_item *i, struct slice id,
                            struct slice name)
{
    struct answer *a = all->answer;
    answer_start(a);
    i->slot = calls_open(&a->calls, id, name, a->sink);
    if (!i->slot)
        return;
    i->slot->custom = i->custom;
    openai_item_call_append(all, i, buf_slice(&i->pending));
}

void openai_item_call_open(struct responses_items *all,
                           struct responses_item *i, const allm_json *item)
{
    struct slice id = json_text_at(item, "call_id");
    struct slice name = json_text_at(item, "name");
    i->custom = is_custom(item);
    if (!id.len)
        id = json_text_at(item, "id");
    if (!name.len)
        name = i->name;
    if (i->slot || !name.len)
        return;
    openai_item_call_start(all, i, id, name);
    if (i->slot)
        i->slot->state = call_state(all->answer, item);
}

void openai_item_call_settle(struct responses_items *all,
                             struct responses_item *i, struct slice text)
{
    struct answer *a = all->answer;
    struct slice so_far = buf_slice(i->slot ? &i->slot->raw : &i->pending);
    if (!text.len || slice_eq(text, so_far))
        return;
    if (slice_starts(text, so_far)) {
        openai_item_call_append(all, i, slice_skip(text, so_far.len));
    } else if (i->slot) {
        calls_replace(&a->calls, i->slot, text, a->sink);
    } else {
        buf_clear(&i->pending);
        openai_item_call_append(all, i, text);
    }
}

/* Usually they are a string of JSON; some servers send the value itself. */
struct slice openai_item_call_arguments(struct responses_items *all,
                                        const allm_json *item)
{
    const allm_json *v = json_at(item, is_custom(item) ? "input" : "arguments");
    if (!json_is_type(v, ALLM_JSON_OBJECT) && !json_is_type(v, ALLM_JSON_ARRAY))
        return json_slice(v);
    return sink_json(all->answer->sink, v);
}
