/*
 * responses_item.c - the items of an answer, put together again
 *
 *   (1) An event belongs to the item with its index; the id decides only
 *       between several of them, or where there is no index.
 *   (2) A text that came in deltas is not told again when it comes as a whole.
 *   (3) The arguments that come as a whole are the true ones.
 *   (4) A call that is completed when it begins may be one of the server to
 *       itself: then an item of the server's own ends in its place.  It is held
 *       back until that is clear.
 */
#include "provider/openai/responses_item.h"

#include "json/build.h"
#include "json/json.h"
#include "json/write.h"

enum kind { MESSAGE, CALL, REASONING, OPAQUE, KINDS };

/* Of items, and of parts of one: a server may name any number, and what is
 * searched must be short. */
enum { MOST = 8192 };

/* A part of an item of which something was told. */
struct part {
    struct part *next;
    enum responses_piece what;
    int64_t number;
};

struct responses_item {
    struct responses_item *next;
    enum kind kind;
    bool has_index, begun, done;
    bool custom;                /* CALL: its input is plain text */
    bool cited;                 /* MESSAGE: its sources were told */
    int64_t index;
    struct slice id;
    struct part *parts;         /* the newest first */
    size_t part_count;
    size_t told;                /* bytes, of text or reasoning */
    struct buf refusal;         /* MESSAGE */
    const char *phase;          /* MESSAGE; or NULL */
    struct calls_slot *slot;    /* CALL; NULL: not yet */
    struct buf pending;         /* CALL: arguments before that */
    struct slice name;          /* CALL: known before that */
    const allm_json *held;      /* CALL: as it began, with arguments; or NULL */
    const allm_json *raw;       /* REASONING, OPAQUE: as it came; or NULL */
};

static void no_memory(struct responses_items *all)
{
    all->answer->sink->status = ALLM_ERR_NOMEM;
}

static void refuse_more(struct responses_items *all)
{
    sink_malformed(all->answer->sink, "the answer has more than 8,192 items, "
                                      "or parts of an item");
}

static bool is_custom(const allm_json *item)
{
    return json_is(json_at(item, "type"), "custom_tool_call");
}

static enum kind kind_of(const allm_json *item)
{
    static const struct {
        const char *type;
        enum kind kind;
    } kinds[] = { { "message", MESSAGE },
                  { "function_call", CALL },
                  { "custom_tool_call", CALL },
                  { "reasoning", REASONING } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (json_is(json_at(item, "type"), kinds[i].type))
            return kinds[i].kind;
    return OPAQUE;
}

/* ------------------------------------------------------------------ finding --- */

static bool has_id(const struct responses_item *i, struct slice id)
{
    return id.len && i->id.ptr && slice_eq(i->id, id);
}

static bool has_index(const struct responses_item *i,
                      const struct responses_place *p)
{
    return p->has_index && i->has_index && i->index == p->index;
}

/* The newest that fits best, keeps (1); NULL: none. */
static struct responses_item *find(const struct responses_items *all,
                                   const struct responses_place *p,
                                   enum kind kind)
{
    struct responses_item *best = NULL;
    int best_rank = 0;
    for (struct responses_item *i = all->first; i; i = i->next) {
        int rank = 0;
        if (i->kind != kind)
            continue;
        if (has_index(i, p))
            rank = has_id(i, p->id) ? 4 : 3;
        else if (has_id(i, p->id) && !(p->has_index && i->has_index))
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

static struct slice keep(struct responses_items *all, struct slice text)
{
    char *mine = arena_copy(all->answer->life, text);
    if (!mine && text.ptr)
        no_memory(all);
    return (struct slice){ mine, mine ? text.len : 0 };
}

static struct responses_item *add(struct responses_items *all,
                                  const struct responses_place *p,
                                  enum kind kind)
{
    struct arena *life = all->answer->life;
    if (all->count == MOST) {
        refuse_more(all);
        return NULL;
    }
    struct responses_item *i = arena_zero(life, sizeof *i);
    if (!i) {
        no_memory(all);
        return NULL;
    }
    i->kind = kind;
    i->has_index = p->has_index;
    i->index = p->index;
    i->id = keep(all, p->id);
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

static struct responses_item *find_or_add(struct responses_items *all,
                                          const struct responses_place *p,
                                          enum kind kind)
{
    struct responses_item *i = find(all, p, kind);
    return i ? i : add(all, p, kind);
}

/* -------------------------------------------------------------------- parts --- */

static bool is_told(const struct responses_item *i, enum responses_piece what,
                    int64_t number)
{
    for (const struct part *p = i->parts; p; p = p->next)
        if (p->what == what && p->number == number)
            return true;
    return false;
}

static void mark_told(struct responses_items *all, struct responses_item *i,
                      enum responses_piece what, int64_t number)
{
    if (i->part_count == MOST) {
        refuse_more(all);
        return;
    }
    struct part *p = arena_zero(all->answer->life, sizeof *p);
    if (!p) {
        no_memory(all);
        return;
    }
    i->part_count++;
    p->what = what;
    p->number = number;
    p->next = i->parts;
    i->parts = p;
}

static void say(struct responses_items *all, struct responses_item *i,
                struct slice text)
{
    size_t before = all->answer->text.len;
    answer_text(all->answer, text);
    i->told += all->answer->text.len - before;
}

static void refuse(struct responses_items *all, struct responses_item *i,
                   struct slice text)
{
    answer_refusal(all->answer, text);
    buf_add(&i->refusal, text);
    if (i->refusal.broken)
        no_memory(all);
}

/* A thought in several parts is one text, a blank line between them. */
static void think(struct responses_items *all, struct responses_item *i,
                  struct slice text, bool next)
{
    if (next && i->told)
        answer_thought(all->answer, SLICE("\n\n"));
    answer_thought(all->answer, text);
    i->told += text.len;
}

/* A summary, or the thought itself: whichever came first is told. */
static bool is_other_source(const struct responses_item *i,
                            enum responses_piece what)
{
    return i->kind == REASONING && i->parts && i->parts->what != what;
}

static void add_text(struct responses_items *all, struct responses_item *i,
                     enum responses_piece what, int64_t number,
                     struct slice text, bool whole)
{
    bool told = is_told(i, what, number);
    if (!text.len || (whole && told) || is_other_source(i, what))
        return;
    if (!told)
        mark_told(all, i, what, number);
    if (what == RESPONSES_TEXT)
        say(all, i, text);
    else if (what == RESPONSES_REFUSAL)
        refuse(all, i, text);
    else
        think(all, i, text, !told);
}

/* -------------------------------------------------------------------- calls --- */

/* What goes back with a call besides: where its tool stands, and who asked for
 * it if not simply the model. */
static const allm_json *state_of_call(struct answer *a, const allm_json *item)
{
    static const char *const names[] = { "namespace", "caller" };
    struct build b;
    build_init(&b, a->sink->arena);
    build_object(&b);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const allm_json *v = json_at(item, names[i]);
        if (!v || json_is_type(v, ALLM_JSON_NULL))
            continue;
        build_key(&b, slice_of(names[i]));
        build_value(&b, v);
    }
    build_end(&b);
    const allm_json *fields = build_done(&b);
    if (!fields)
        a->sink->status = ALLM_ERR_NOMEM;
    return allm_json_count(fields) ? answer_stamp(a, fields) : NULL;
}

static void append(struct responses_items *all, struct responses_item *i,
                   struct slice text)
{
    struct answer *a = all->answer;
    if (i->slot) {
        calls_append(&a->calls, i->slot, text, a->sink);
        return;
    }
    buf_add(&i->pending, text);
    if (i->pending.broken)
        no_memory(all);
}

static void start_call(struct responses_items *all, struct responses_item *i,
                       struct slice id, struct slice name)
{
    struct answer *a = all->answer;
    answer_start(a);
    i->slot = calls_open(&a->calls, id, name, a->sink);
    if (!i->slot)
        return;
    i->slot->custom = i->custom;
    append(all, i, buf_slice(&i->pending));
}

/* Begin the call, if its item names it. */
static void open_call(struct responses_items *all, struct responses_item *i,
                      const allm_json *item)
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
    start_call(all, i, id, name);
    if (i->slot)
        i->slot->state = state_of_call(all->answer, item);
}

/* All of the arguments, keeps (3). */
static void settle_call(struct responses_items *all, struct responses_item *i,
                        struct slice text)
{
    struct answer *a = all->answer;
    struct slice so_far = buf_slice(i->slot ? &i->slot->raw : &i->pending);
    if (!text.len || slice_eq(text, so_far))
        return;
    if (slice_starts(text, so_far)) {
        append(all, i, slice_skip(text, so_far.len));
    } else if (i->slot) {
        calls_replace(&a->calls, i->slot, text, a->sink);
    } else {
        buf_clear(&i->pending);
        append(all, i, text);
    }
}

/* Arguments: a text, or at once what it would say. */
static struct slice arguments_in(struct responses_items *all,
                                 const allm_json *item)
{
    struct buf text;
    const allm_json *v = json_at(item, is_custom(item) ? "input" : "arguments");
    if (!json_is_type(v, ALLM_JSON_OBJECT) && !json_is_type(v, ALLM_JSON_ARRAY))
        return json_slice(v);
    buf_init(&text, all->answer->sink->arena, SIZE_MAX / 2);
    if (!json_write(&text, v, 0))
        no_memory(all);
    return buf_slice(&text);
}

/* ------------------------------------------------------------------- events --- */

static void tell_raw(struct responses_items *all, const allm_json *chunk)
{
    answer_raw(all->answer, chunk);
}

/* Does a member go back?  What is only of interest while a thought is made, or
 * who made an item, some servers refuse to see again; but of their own items
 * they want to see all, even if it is null. */
static bool goes_back_with(const allm_json *key, enum kind kind)
{
    bool empty = json_is_type(allm_json_value(key), ALLM_JSON_NULL);
    return !json_is(key, "created_by") &&
           !(kind == REASONING && (empty || json_is(key, "status")));
}

/* A copy of what goes back; a thought is refused without its "summary". */
static const allm_json *keep_raw(struct responses_items *all,
                                 const allm_json *item)
{
    struct build b;
    enum kind kind = kind_of(item);
    const allm_json *summary = json_at(item, "summary");
    build_init(&b, all->answer->sink->arena);
    build_object(&b);
    for (const allm_json *k = NULL; (k = allm_json_next(item, k));) {
        if (!goes_back_with(k, kind))
            continue;
        build_key(&b, json_slice(k));
        build_value(&b, allm_json_value(k));
    }
    if (kind == REASONING &&
        (!summary || json_is_type(summary, ALLM_JSON_NULL))) {
        build_key(&b, SLICE("summary"));
        build_value(&b, json_empty_array());
    }
    build_end(&b);
    const allm_json *raw = json_copy(all->answer->life, build_done(&b));
    if (!raw)
        no_memory(all);
    return raw;
}

/* A call that has arguments when it begins: they count if no others come.
 * True: it is held back, keeps (4). */
static bool hold(struct responses_items *all, struct responses_item *i,
                 const allm_json *item)
{
    if (i->slot || !arguments_in(all, item).len)
        return false;
    i->held = json_copy(all->answer->life, item);
    if (!i->held)
        no_memory(all);
    return json_is(json_at(item, "status"), "completed");
}

/* An item of the server's own ends: the call held back in its place, if any,
 * was the server's, too. */
static void let_go(struct responses_items *all,
                   const struct responses_place *place)
{
    struct responses_item *call = find(all, place, CALL);
    if (call && call->held && !call->slot && has_index(call, place))
        call->done = true;
}

/* An item of the server's own, and another one in its place? */
static bool is_other_type(const struct responses_item *i, const allm_json *item)
{
    return i->kind == OPAQUE &&
           !slice_eq(json_text_at(i->raw, "type"), json_text_at(item, "type"));
}

/* Is this the item that was told of already, or another one that has its
 * index? */
static bool is_same(const struct responses_item *i,
                    const struct responses_place *p, const allm_json *item)
{
    return !is_other_type(i, item) &&
           (has_id(i, p->id) || !p->id.len || !i->id.len || !i->begun);
}

void openai_responses_item_begin(struct responses_items *all,
                                 const struct responses_place *place,
                                 const allm_json *item, const allm_json *chunk)
{
    enum kind kind = kind_of(item);
    struct responses_item *i = find(all, place, kind);
    answer_start(all->answer);
    if (!i || i->done || !is_same(i, place, item))
        i = add(all, place, kind);
    if (kind == OPAQUE)
        tell_raw(all, chunk);
    if (!i)
        return;
    i->begun = true;
    if (kind == CALL && !hold(all, i, item))
        open_call(all, i, item);
    if (kind == OPAQUE)
        i->raw = keep_raw(all, item);
}

void openai_responses_item_add(struct responses_items *all,
                               const struct responses_place *place,
                               enum responses_piece what, struct slice text,
                               bool whole)
{
    static const enum kind kinds[] = { MESSAGE,   MESSAGE, REASONING,
                                       REASONING, CALL,    CALL };
    struct responses_item *i = find_or_add(all, place, kinds[what]);
    if (!i)
        return;
    if (i->kind != CALL) {
        add_text(all, i, what, place->part, text, whole);
        return;
    }
    i->custom = i->custom || what == RESPONSES_INPUT;
    if (whole)
        settle_call(all, i, text);
    else
        append(all, i, text);
}

void openai_responses_item_name(struct responses_items *all,
                                const struct responses_place *place,
                                struct slice name)
{
    struct responses_item *i = find_or_add(all, place, CALL);
    if (i && !i->name.len && name.len)
        i->name = keep(all, name);
}

/* One more of a list in the metadata. */
static void gather(struct responses_items *all, const char *key,
                   const allm_json *value)
{
    struct build b;
    build_init(&b, all->answer->sink->arena);
    build_array(&b);
    build_value(&b, value);
    build_end(&b);
    const allm_json *one = build_done(&b);
    if (one)
        answer_gather(all->answer, key, one);
    else
        no_memory(all);
}

static void cite(struct responses_items *all, struct responses_item *i,
                 const allm_json *annotation)
{
    if (!json_is_type(annotation, ALLM_JSON_OBJECT))
        return;
    gather(all, "annotations", annotation);
    i->cited = true;
}

void openai_responses_item_cite(struct responses_items *all,
                                const struct responses_place *place,
                                const allm_json *annotation)
{
    struct responses_item *i = find_or_add(all, place, MESSAGE);
    if (i)
        cite(all, i, annotation);
}

/* --------------------------------------------------------------------- ends --- */

static void end_message(struct responses_items *all, struct responses_item *i,
                        const allm_json *item)
{
    struct slice phase = json_text_at(item, "phase");
    const allm_json *content = json_at(item, "content");
    bool silent = !i->parts, cited = i->cited;
    int64_t number = 0;
    if (phase.len)
        i->phase = keep(all, phase).ptr;
    if (silent && json_is_type(content, ALLM_JSON_TEXT))
        add_text(all, i, RESPONSES_TEXT, 0, json_slice(content), true);
    if (!json_is_type(content, ALLM_JSON_ARRAY))
        return;
    for (const allm_json *p = NULL;
         !all->answer->sink->failure && (p = allm_json_next(content, p));) {
        const allm_json *sources = json_at(p, "annotations");
        if (silent) {
            add_text(all, i, RESPONSES_TEXT, number, json_text_at(p, "text"),
                     true);
            add_text(all, i, RESPONSES_REFUSAL, number,
                     json_text_at(p, "refusal"), true);
        }
        number++;
        if (cited || !json_is_type(sources, ALLM_JSON_ARRAY))
            continue;
        for (const allm_json *c = NULL; (c = allm_json_next(sources, c));)
            cite(all, i, c);
    }
}

/* The texts of a "summary" or a "content". */
static void think_all(struct responses_items *all, struct responses_item *i,
                      enum responses_piece what, const allm_json *list)
{
    int64_t number = 0;
    if (!json_is_type(list, ALLM_JSON_ARRAY))
        return;
    for (const allm_json *p = NULL;
         !all->answer->sink->failure && (p = allm_json_next(list, p));)
        add_text(all, i, what, number++, json_text_at(p, "text"), true);
}

/* What makes a thought the model's own; NULL: nothing. */
static const allm_json *mark_of(struct responses_items *all,
                                const struct responses_item *i)
{
    static const char *const names[] = { "type", "id", "encrypted_content" };
    struct build b;
    if (!json_text_at(i->raw, "encrypted_content").len)
        return NULL;
    build_init(&b, all->answer->sink->arena);
    build_object(&b);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        const allm_json *v = json_at(i->raw, names[n]);
        if (!v)
            continue;
        build_key(&b, slice_of(names[n]));
        build_value(&b, v);
    }
    build_end(&b);
    const allm_json *mark = build_done(&b);
    if (!mark)
        no_memory(all);
    return answer_stamp(all->answer, mark);
}

static void end_reasoning(struct responses_items *all, struct responses_item *i,
                          const allm_json *item)
{
    if (!i->told)
        think_all(all, i, RESPONSES_SUMMARY, json_at(item, "summary"));
    if (!i->told)
        think_all(all, i, RESPONSES_THOUGHT, json_at(item, "content"));
    i->raw = keep_raw(all, item);
    answer_thought_end(all->answer, mark_of(all, i));
}

static void end_item(struct responses_items *all, struct responses_item *i,
                     const allm_json *item, const allm_json *chunk)
{
    answer_start(all->answer);
    i->begun = i->done = true;
    switch (i->kind) {
    case MESSAGE:
        end_message(all, i, item);
        break;
    case CALL:
        open_call(all, i, item);
        settle_call(all, i, arguments_in(all, item));
        break;
    case REASONING:
        end_reasoning(all, i, item);
        break;
    case OPAQUE:
    case KINDS:
        i->raw = keep_raw(all, item);
        tell_raw(all, chunk);
        if (json_is(json_at(item, "type"), "image_generation_call") &&
            json_text_at(item, "result").len)
            gather(all, "images", item);
        break;
    }
}

void openai_responses_item_end(struct responses_items *all,
                               const struct responses_place *place,
                               const allm_json *item, const allm_json *chunk)
{
    struct responses_item *i = find(all, place, kind_of(item));
    if (kind_of(item) == OPAQUE)
        let_go(all, place);
    if (i && i->done && is_same(i, place, item))
        return;                 /* told twice */
    if (!i || i->done || is_other_type(i, item))
        i = add(all, place, kind_of(item));
    if (!i)
        return;
    end_item(all, i, item, chunk);
    calls_close(&all->answer->calls, i->slot, all->answer->sink);
}

/* Of a kind that did not come at all, everything is new; else only what was
 * begun and not ended can be. */
void openai_responses_item_output(struct responses_items *all,
                                  const allm_json *output)
{
    bool came[KINDS] = { false };
    struct responses_place place = { .has_index = true };
    if (!json_is_type(output, ALLM_JSON_ARRAY))
        return;
    for (const struct responses_item *i = all->first; i; i = i->next)
        came[i->kind] = true;
    for (const allm_json *v = NULL;
         !all->answer->sink->failure && (v = allm_json_next(output, v));) {
        enum kind kind = kind_of(v);
        place.id = json_text_at(v, "id");
        struct responses_item *i = find(all, &place, kind);
        if (json_is_type(v, ALLM_JSON_OBJECT) && !i && !came[kind])
            i = add(all, &place, kind);
        if (json_is_type(v, ALLM_JSON_OBJECT) && i && !i->done)
            end_item(all, i, v, v);
        place.index++;
    }
}

void openai_responses_item_end_all(struct responses_items *all)
{
    for (struct responses_item *i = all->first; i; i = i->next) {
        if (i->held && !i->done && !(i->slot && i->slot->raw.len))
            end_item(all, i, i->held, i->held);
        if (i->kind == CALL && !i->slot && (i->pending.len || i->name.len))
            start_call(all, i, i->id, i->name);
        if (i->kind == REASONING && !i->done)
            answer_thought_end(all->answer, NULL);
    }
}

/* -------------------------------------------------------------------- state --- */

static void put(struct build *b, const char *key, struct slice text)
{
    build_key(b, slice_of(key));
    build_text(b, text);
}

/* Is there more to it than text and calls, which the message has anyway? */
static bool goes_back(const struct responses_item *i)
{
    return i->raw || i->phase || i->refusal.len;
}

static void write_message(struct build *b, const struct responses_item *i)
{
    if (!i->told && !i->refusal.len)
        return;
    build_object(b);
    put(b, "type", SLICE("message"));
    build_key(b, SLICE("bytes"));
    build_uint(b, i->told);
    if (i->refusal.len)
        put(b, "refusal", buf_slice(&i->refusal));
    if (i->phase)
        put(b, "phase", slice_of(i->phase));
    build_end(b);
}

static void write_item(struct build *b, const struct responses_item *i)
{
    if (i->kind == MESSAGE) {
        write_message(b, i);
    } else if (i->raw) {
        build_value(b, i->raw);
    } else if (i->slot) {
        build_object(b);
        put(b, "type", SLICE("function_call"));
        build_end(b);
    }
}

const allm_json *openai_responses_item_state(const struct responses_items *all)
{
    struct build b;
    bool any = false;
    for (const struct responses_item *i = all->first; i; i = i->next)
        any = any || goes_back(i);
    if (!any)
        return NULL;
    build_init(&b, all->answer->sink->arena);
    build_object(&b);
    build_key(&b, SLICE("output"));
    build_array(&b);
    for (const struct responses_item *i = all->first; i; i = i->next)
        write_item(&b, i);
    build_end(&b);
    build_end(&b);
    const allm_json *state = build_done(&b);
    if (!state)
        all->answer->sink->status = ALLM_ERR_NOMEM;
    return state;
}
