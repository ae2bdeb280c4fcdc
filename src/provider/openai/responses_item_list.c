/* responses_item_list.c - the items of a response, found by their events */
#include "provider/openai/responses_item_list.h"

#include "json/json.h"

void openai_item_no_memory(struct responses_items *all)
{
    all->answer->sink->status = ALLM_ERR_NOMEM;
}

void openai_item_refuse_more(struct responses_items *all)
{
    sink_malformed(all->answer->sink, "the response has more than 8,192 "
                                      "items, or parts of an item");
}

enum responses_kind openai_item_kind(const allm_json *item)
{
    static const struct {
        const char *type;
        enum responses_kind kind;
    } kinds[] = { { "message", RESPONSES_MESSAGE },
                  { "function_call", RESPONSES_CALL },
                  { "custom_tool_call", RESPONSES_CALL },
                  { "reasoning", RESPONSES_REASONING } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (json_is(json_at(item, "type"), kinds[i].type))
            return kinds[i].kind;
    return RESPONSES_OPAQUE;
}

bool openai_item_has_id(const struct responses_item *i, struct slice id)
{
    return id.len && i->id.ptr && slice_eq(i->id, id);
}

bool openai_item_has_index(const struct responses_item *i,
                           const struct responses_place *p)
{
    return p->has_index && i->has_index && i->index == p->index;
}

/* Of those that match equally well, the newest. */
struct responses_item *openai_item_find(const struct responses_items *all,
                                        const struct responses_place *p,
                                        enum responses_kind kind)
{
    struct responses_item *best = NULL;
    int best_rank = 0;
    for (struct responses_item *i = all->first; i; i = i->next) {
        int rank = 0;
        if (i->kind != kind)
            continue;
        if (openai_item_has_index(i, p))
            rank = openai_item_has_id(i, p->id) ? 4 : 3;
        else if (openai_item_has_id(i, p->id) &&
                 !(p->has_index && i->has_index))
            rank = 2;
        else if (!p->has_index && !p->id.len && !i->done)
            rank = 1;
        if (rank && rank >= best_rank) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

struct slice openai_item_keep(struct responses_items *all, struct slice text)
{
    char *mine = arena_copy(all->answer->life, text);
    if (!mine && text.ptr)
        openai_item_no_memory(all);
    return (struct slice){ mine, mine ? text.len : 0 };
}

struct responses_item *openai_item_append(struct responses_items *all,
                                          const struct responses_place *p,
                                          enum responses_kind kind)
{
    struct arena *life = all->answer->life;
    if (all->count == RESPONSES_MOST) {
        openai_item_refuse_more(all);
        return NULL;
    }
    struct responses_item *i = arena_zero(life, sizeof *i);
    if (!i) {
        openai_item_no_memory(all);
        return NULL;
    }
    i->kind = kind;
    i->has_index = p->has_index;
    i->index = p->index;
    i->id = openai_item_keep(all, p->id);
    buf_init(&i->refusal, life, SIZE_MAX / 2);
    buf_init(&i->pending, life, SIZE_MAX / 2);
    if (all->last)
        all->last->next = i;
    else
        all->first = i;
    all->last = i;
    all->count++;
    return i;
}
