/*
 * responses_item.c - assemble the items of a response from their events
 *
 *   (1) An event belongs to the item with its index; the id decides only
 *       between several of them, or where there is no index.
 *   (2) A text that arrived in deltas is not emitted again when the complete
 *       text arrives.
 *   (3) The complete arguments of a call replace those from its deltas.
 *   (4) A call that is complete when it begins may be one that the server runs
 *       itself: then an item of the server ends in its place.  The call is held
 *       back until that is clear.
 */
#include "provider/openai/responses_item.h"

#include "provider/openai/responses_item_call.h"
#include "provider/openai/responses_item_state.h"
#include "json/json.h"

static struct responses_item *find_or_append(struct responses_items *all,
                                             const struct responses_place *p,
                                             enum responses_kind kind)
{
    struct responses_item *i = openai_item_find(all, p, kind);
    return i ? i : openai_item_append(all, p, kind);
}

/* -------------------------------------------------------------- parts --- */

static bool is_emitted(const struct responses_item *i,
                       enum responses_piece what, int64_t number)
{
    for (const struct responses_part *p = i->parts; p; p = p->next)
        if (p->what == what && p->number == number)
            return true;
    return false;
}

static void mark_emitted(struct responses_items *all, struct responses_item *i,
                         enum responses_piece what, int64_t number)
{
    if (i->part_count == RESPONSES_MOST) {
        openai_item_refuse_more(all);
        return;
    }
    struct responses_part *p = arena_zero(all->answer->life, sizeof *p);
    if (!p) {
        openai_item_no_memory(all);
        return;
    }
    i->part_count++;
    p->what = what;
    p->number = number;
    p->next = i->parts;
    i->parts = p;
}

static void emit_text_part(struct responses_items *all,
                           struct responses_item *i, struct slice text)
{
    size_t before = all->answer->text.len;
    answer_text(all->answer, text);
    i->emitted += all->answer->text.len - before;
}

static void emit_refusal_part(struct responses_items *all,
                              struct responses_item *i, struct slice text)
{
    answer_refusal(all->answer, text);
    buf_add(&i->refusal, text);
    if (i->refusal.broken)
        openai_item_no_memory(all);
}

/* The parts of a reasoning item become one text, separated by a blank line. */
static void emit_thought_part(struct responses_items *all,
                              struct responses_item *i, struct slice text,
                              bool next)
{
    if (next && i->emitted)
        answer_thought(all->answer, SLICE("\n\n"));
    answer_thought(all->answer, text);
    i->emitted += text.len;
}

/* Of the summary and the full reasoning, only the first to arrive is
 * emitted. */
static bool is_other_source(const struct responses_item *i,
                            enum responses_piece what)
{
    return i->kind == RESPONSES_REASONING && i->parts && i->parts->what != what;
}

static void add_part(struct responses_items *all, struct responses_item *i,
                     enum responses_piece what, int64_t number,
                     struct slice text, bool whole)
{
    bool begun = is_emitted(i, what, number);
    if (!text.len || (whole && begun) || is_other_source(i, what))
        return;                 /* keeps (2) */
    if (!begun)
        mark_emitted(all, i, what, number);
    if (what == RESPONSES_TEXT)
        emit_text_part(all, i, text);
    else if (what == RESPONSES_REFUSAL)
        emit_refusal_part(all, i, text);
    else
        emit_thought_part(all, i, text, !begun);
}

/* ------------------------------------------------------------- events --- */

/* Keep a call that has arguments when it begins: they count if no others
 * arrive.  True: it is held back, keeps (4). */
static bool call_hold(struct responses_items *all, struct responses_item *i,
                      const allm_json *item)
{
    if (i->slot || !openai_item_call_arguments(all, item).len)
        return false;
    i->held = json_copy(all->answer->life, item);
    if (!i->held)
        openai_item_no_memory(all);
    return json_is(json_at(item, "status"), "completed");
}

/* An item of the server ends: a call held back in its place was the server's,
 * too. */
static void call_discard(struct responses_items *all,
                         const struct responses_place *place)
{
    struct responses_item *call = openai_item_find(all, place, RESPONSES_CALL);
    if (call && call->held && !call->slot && openai_item_has_index(call, place))
        call->done = true;
}

/* Is this another item of the server, of a different type? */
static bool is_other_type(const struct responses_item *i, const allm_json *item)
{
    return i->kind == RESPONSES_OPAQUE &&
           !slice_eq(json_text_at(i->raw, "type"), json_text_at(item, "type"));
}

/* Is this the known item, rather than another one with the same index? */
static bool is_same_item(const struct responses_item *i,
                         const struct responses_place *p, const allm_json *item)
{
    return !is_other_type(i, item) && (openai_item_has_id(i, p->id) ||
                                       !p->id.len || !i->id.len || !i->begun);
}

void openai_responses_item_begin(struct responses_items *all,
                                 const struct responses_place *place,
                                 const allm_json *item, const allm_json *chunk)
{
    enum responses_kind kind = openai_item_kind(item);
    struct responses_item *i = openai_item_find(all, place, kind);
    answer_start(all->answer);
    if (!i || i->done || !is_same_item(i, place, item))
        i = openai_item_append(all, place, kind);
    if (kind == RESPONSES_OPAQUE)
        answer_raw(all->answer, chunk);
    if (!i)
        return;
    i->begun = true;
    if (kind == RESPONSES_CALL && !call_hold(all, i, item))
        openai_item_call_open(all, i, item);
    if (kind == RESPONSES_OPAQUE)
        i->raw = openai_item_raw(all, item);
}

void openai_responses_item_add(struct responses_items *all,
                               const struct responses_place *place,
                               enum responses_piece what, struct slice text,
                               bool whole)
{
    static const enum responses_kind kinds[] = {
        RESPONSES_MESSAGE,   RESPONSES_MESSAGE, RESPONSES_REASONING,
        RESPONSES_REASONING, RESPONSES_CALL,    RESPONSES_CALL
    };
    struct responses_item *i = find_or_append(all, place, kinds[what]);
    if (!i)
        return;
    if (i->kind != RESPONSES_CALL) {
        add_part(all, i, what, place->part, text, whole);
        return;
    }
    i->custom = i->custom || what == RESPONSES_INPUT;
    if (whole)
        openai_item_call_settle(all, i, text);
    else
        openai_item_call_append(all, i, text);
}

void openai_responses_item_name(struct responses_items *all,
                                const struct responses_place *place,
                                struct slice name)
{
    struct responses_item *i = find_or_append(all, place, RESPONSES_CALL);
    if (i && !i->name.len && name.len)
        i->name = openai_item_keep(all, name);
}

static void emit_citation(struct responses_items *all, struct responses_item *i,
                          const allm_json *annotation)
{
    if (!json_is_type(annotation, ALLM_JSON_OBJECT))
        return;
    answer_gather_one(all->answer, "annotations", annotation);
    i->cited = true;
}

void openai_responses_item_cite(struct responses_items *all,
                                const struct responses_place *place,
                                const allm_json *annotation)
{
    struct responses_item *i = find_or_append(all, place, RESPONSES_MESSAGE);
    if (i)
        emit_citation(all, i, annotation);
}

/* --------------------------------------------------------------- ends --- */

static void message_end(struct responses_items *all, struct responses_item *i,
                        const allm_json *item)
{
    struct slice phase = json_text_at(item, "phase");
    const allm_json *content = json_at(item, "content");
    bool silent = !i->parts, cited = i->cited;
    int64_t number = 0;
    if (phase.len)
        i->phase = openai_item_keep(all, phase).ptr;
    if (silent && json_is_type(content, ALLM_JSON_TEXT))
        add_part(all, i, RESPONSES_TEXT, 0, json_slice(content), true);
    if (!json_is_type(content, ALLM_JSON_ARRAY))
        return;
    for (const allm_json *p = NULL;
         !all->answer->sink->failure && (p = allm_json_next(content, p));) {
        const allm_json *sources = json_at(p, "annotations");
        if (silent) {
            add_part(all, i, RESPONSES_TEXT, number, json_text_at(p, "text"),
                     true);
            add_part(all, i, RESPONSES_REFUSAL, number,
                     json_text_at(p, "refusal"), true);
        }
        number++;
        if (cited || !json_is_type(sources, ALLM_JSON_ARRAY))
            continue;
        for (const allm_json *c = NULL; (c = allm_json_next(sources, c));)
            emit_citation(all, i, c);
    }
}

/* The texts of a "summary" or a "content". */
static void add_thoughts(struct responses_items *all, struct responses_item *i,
                         enum responses_piece what, const allm_json *list)
{
    int64_t number = 0;
    if (!json_is_type(list, ALLM_JSON_ARRAY))
        return;
    for (const allm_json *p = NULL;
         !all->answer->sink->failure && (p = allm_json_next(list, p));)
        add_part(all, i, what, number++, json_text_at(p, "text"), true);
}

static void reasoning_end(struct responses_items *all, struct responses_item *i,
                          const allm_json *item)
{
    if (!i->emitted)
        add_thoughts(all, i, RESPONSES_SUMMARY, json_at(item, "summary"));
    if (!i->emitted)
        add_thoughts(all, i, RESPONSES_THOUGHT, json_at(item, "content"));
    i->raw = openai_item_raw(all, item);
    answer_thought_end(all->answer, openai_item_mark(all, i));
}

static void item_end(struct responses_items *all, struct responses_item *i,
                     const allm_json *item, const allm_json *chunk)
{
    answer_start(all->answer);
    i->begun = i->done = true;
    switch (i->kind) {
    case RESPONSES_MESSAGE:
        message_end(all, i, item);
        break;
    case RESPONSES_CALL:
        openai_item_call_open(all, i, item);
        openai_item_call_settle(all, i, openai_item_call_arguments(all, item));
        break;
    case RESPONSES_REASONING:
        reasoning_end(all, i, item);
        break;
    case RESPONSES_OPAQUE:
    case RESPONSES_KINDS:
        i->raw = openai_item_raw(all, item);
        answer_raw(all->answer, chunk);
        if (json_is(json_at(item, "type"), "image_generation_call") &&
            json_text_at(item, "result").len)
            answer_gather_one(all->answer, "images", item);
        break;
    }
}

void openai_responses_item_end(struct responses_items *all,
                               const struct responses_place *place,
                               const allm_json *item, const allm_json *chunk)
{
    struct responses_item *i = openai_item_find(all, place,
                                                openai_item_kind(item));
    if (openai_item_kind(item) == RESPONSES_OPAQUE)
        call_discard(all, place);
    if (i && i->done && is_same_item(i, place, item))
        return;                 /* some servers send it twice */
    if (!i || i->done || is_other_type(i, item))
        i = openai_item_append(all, place, openai_item_kind(item));
    if (!i)
        return;
    item_end(all, i, item, chunk);
    calls_close(&all->answer->calls, i->slot, all->answer->sink);
}

/* Items of a kind that did not arrive are all new.  Of the other kinds, only
 * items that were begun and not ended can have something new. */
void openai_responses_item_output(struct responses_items *all,
                                  const allm_json *output)
{
    bool arrived[RESPONSES_KINDS] = { false };
    struct responses_place place = { .has_index = true };
    if (!json_is_type(output, ALLM_JSON_ARRAY))
        return;
    for (const struct responses_item *i = all->first; i; i = i->next)
        arrived[i->kind] = true;
    for (const allm_json *v = NULL;
         !all->answer->sink->failure && (v = allm_json_next(output, v));) {
        enum responses_kind kind = openai_item_kind(v);
        place.id = json_text_at(v, "id");
        struct responses_item *i = openai_item_find(all, &place, kind);
        if (json_is_type(v, ALLM_JSON_OBJECT) && !i && !arrived[kind])
            i = openai_item_append(all, &place, kind);
        if (json_is_type(v, ALLM_JSON_OBJECT) && i && !i->done)
            item_end(all, i, v, v);
        place.index++;
    }
}

void openai_responses_item_end_all(struct responses_items *all)
{
    for (struct responses_item *i = all->first; i; i = i->next) {
        if (i->held && !i->done && !(i->slot && i->slot->raw.len))
            item_end(all, i, i->held, i->held);
        if (i->kind == RESPONSES_CALL && !i->slot &&
            (i->pending.len || i->name.len))
            openai_item_call_start(all, i, i->id, i->name);
        if (i->kind == RESPONSES_REASONING && !i->done)
            answer_thought_end(all->answer, NULL);
    }
}
