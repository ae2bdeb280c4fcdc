/* responses_item_state.c - keep the items that the model must see again */
#include "provider/openai/responses_item_state.h"

#include "json/build.h"
#include "json/json.h"

/* Some servers reject "created_by", and the status and null members of
 * reasoning; of their own items they want every member back, even null. */
static bool is_sent_back(const allm_json *key, enum responses_kind kind)
{
    bool empty = json_is_type(allm_json_value(key), ALLM_JSON_NULL);
    return !json_is(key, "created_by") &&
           !(kind == RESPONSES_REASONING && (empty || json_is(key, "status")));
}

/* Servers reject reasoning without a "summary". */
const allm_json *openai_item_raw(struct responses_items *all,
                                 const allm_json *item)
{
    enum responses_kind kind = openai_item_kind(item);
    const allm_json *summary = json_at(item, "summary");
    struct build b = build_object_in(all->answer->sink->arena);
    for (const allm_json *k = NULL; (k = allm_json_next(item, k));)
        if (is_sent_back(k, kind))
            build_entry(&b, k);
    if (kind == RESPONSES_REASONING &&
        (!summary || json_is_type(summary, ALLM_JSON_NULL)))
        build_value_at(&b, "summary", json_empty_array());
    const allm_json *raw = json_copy(all->answer->life, build_finish(&b));
    if (!raw)
        openai_item_no_memory(all);
    return raw;
}

const allm_json *openai_item_mark(struct responses_items *all,
                                  const struct responses_item *i)
{
    static const char *const names[] = { "type", "id", "encrypted_content" };
    if (!json_text_at(i->raw, "encrypted_content").len)
        return NULL;
    struct build b = build_object_in(all->answer->sink->arena);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        const allm_json *v = json_at(i->raw, names[n]);
        if (v)
            build_value_at(&b, names[n], v);
    }
    build_end(&b);
    return answer_stamp(all->answer, answer_build(all->answer, &b));
}

/* Text and calls are in the message anyway. */
static bool needs_state(const struct responses_item *i)
{
    return i->raw || i->phase || i->refusal.len;
}

static void write_message(struct build *b, const struct responses_item *i)
{
    if (!i->emitted && !i->refusal.len)
        return;
    build_object(b);
    build_text_at(b, "type", SLICE("message"));
    build_uint_at(b, "bytes", i->emitted);
    if (i->refusal.len)
        build_text_at(b, "refusal", buf_slice(&i->refusal));
    build_text_if(b, "phase", i->phase);
    build_end(b);
}

static void write_item(struct build *b, const struct responses_item *i)
{
    if (i->kind == RESPONSES_MESSAGE) {
        write_message(b, i);
    } else if (i->raw) {
        build_value(b, i->raw);
    } else if (i->slot) {
        build_object(b);
        build_text_at(b, "type", SLICE("function_call"));
        build_end(b);
    }
}

const allm_json *openai_responses_item_state(const struct responses_items *all)
{
    bool any = false;
    for (const struct responses_item *i = all->first; i; i = i->next)
        any = any || needs_state(i);
    if (!any)
        return NULL;
    struct build b = build_object_in(all->answer->sink->arena);
    build_array_at(&b, "output");
    for (const struct responses_item *i = all->first; i; i = i->next)
        write_item(&b, i);
    build_end(&b);
    build_end(&b);
    return answer_build(all->answer, &b);
}
