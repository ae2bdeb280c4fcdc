/* block.c - assemble the content blocks of a response */
#include "provider/anthropic/block.h"

#include "json/build.h"
#include "json/json.h"
#include "json/parse.h"
#include "json/write.h"

enum kind { TEXT, THINKING, REDACTED, CALL, OPAQUE };

/* A server may send any number of them, but lists that are searched must be
 * short. */
enum { MAX_BLOCKS = 8192, MAX_MEMBERS = 256 };

/* A member of a block of unknown type, changed by deltas. */
struct member {
    struct member *next;
    const char *key;
    size_t key_len;
    struct buf text;            /* its strings, concatenated */
    const allm_json *value;     /* not NULL: the value is not a string */
};

struct anthropic_block {
    struct anthropic_block *next;
    int64_t index;
    enum kind kind;
    bool open;
    bool is_signed;
    bool by_code;               /* OPAQUE: a call by code of the provider */
    size_t text_len;            /* TEXT: its bytes of the response text */
    struct buf thought;         /* THINKING */
    struct buf signature;
    struct buf input;           /* OPAQUE: deltas of "input" */
    struct calls_slot *slot;    /* CALL */
    const allm_json *raw;       /* the block as it started, in `life` */
    struct member *members;     /* OPAQUE: members changed by deltas */
    struct buf citations;       /* TEXT: a JSON list without brackets */
};

static void out_of_memory(struct anthropic_blocks *all)
{
    all->answer->sink->status = ALLM_ERR_NOMEM;
}

/* ------------------------------------------------------------- blocks --- */

static enum kind kind_of(const allm_json *block)
{
    static const struct {
        const char *type;
        enum kind kind;
    } kinds[] = { { "text", TEXT },
                  { "thinking", THINKING },
                  { "redacted_thinking", REDACTED },
                  { "tool_use", CALL } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (json_is(json_at(block, "type"), kinds[i].type))
            return kinds[i].kind;
    return OPAQUE;
}

/* The newest block with this index, open or not. */
static struct anthropic_block *block_find(const struct anthropic_blocks *all,
                                          int64_t index)
{
    struct anthropic_block *found = NULL;
    if (all->last && all->last->index == index)
        return all->last;
    for (struct anthropic_block *b = all->first; b; b = b->next)
        if (b->index == index)
            found = b;
    return found;
}

static struct anthropic_block *block_add(struct anthropic_blocks *all,
                                         int64_t index, enum kind kind)
{
    struct arena *life = all->answer->life;
    if (all->count == MAX_BLOCKS) {
        sink_malformed(all->answer->sink,
                       "the response has more than 8,192 blocks");
        return NULL;
    }
    struct anthropic_block *b = arena_zero(life, sizeof *b);
    if (!b) {
        out_of_memory(all);
        return NULL;
    }
    b->index = index;
    b->kind = kind;
    b->open = true;
    buf_init(&b->thought, life, SIZE_MAX / 2);
    buf_init(&b->signature, life, SIZE_MAX / 2);
    buf_init(&b->input, life, SIZE_MAX / 2);
    buf_init(&b->citations, life, SIZE_MAX / 2);
    if (all->last)
        all->last->next = b;
    else
        all->first = b;
    all->last = b;
    all->count++;
    return b;
}

static void keep_raw(struct anthropic_blocks *all, struct anthropic_block *b,
                     const allm_json *raw)
{
    b->raw = json_copy(all->answer->life, raw);
    if (!b->raw)
        out_of_memory(all);
}

/* ------------------------------------------------------------- deltas --- */

static void add_text(struct anthropic_blocks *all, struct anthropic_block *b,
                     struct slice piece)
{
    size_t before = all->answer->text.len;
    answer_text(all->answer, piece);
    b->text_len += all->answer->text.len - before;
}

static void add_thought(struct anthropic_blocks *all, struct anthropic_block *b,
                        struct slice piece)
{
    answer_thought(all->answer, piece);
    buf_add(&b->thought, piece);
    if (b->thought.broken)
        out_of_memory(all);
}

static void signature_add(struct anthropic_blocks *all,
                          struct anthropic_block *b, struct slice piece)
{
    buf_add(&b->signature, piece);
    b->is_signed = b->is_signed || piece.len;
    if (b->signature.broken)
        out_of_memory(all);
}

/* A citation is emitted, and also stored with the text. */
static void citation_add(struct anthropic_blocks *all,
                         struct anthropic_block *b, const allm_json *citation)
{
    if (!citation)
        return;
    answer_gather_one(all->answer, "citations", citation);
    if (b->citations.len)
        buf_byte(&b->citations, ',');
    if (!json_write(&b->citations, citation, 0))
        out_of_memory(all);
}

static void citations_add(struct anthropic_blocks *all,
                          struct anthropic_block *b, const allm_json *list)
{
    if (!json_is_type(list, ALLM_JSON_ARRAY))
        return;
    for (const allm_json *c = NULL; (c = allm_json_next(list, c));)
        citation_add(all, b, c);
}

static void input_append(struct anthropic_blocks *all,
                         struct anthropic_block *b, struct slice piece)
{
    struct answer *a = all->answer;
    if (b->kind != CALL) {
        buf_add(&b->input, piece);
        if (b->input.broken)
            out_of_memory(all);
    } else if (b->slot && piece.len) {
        calls_append(&a->calls, b->slot, piece, a->sink);
    }
}

/* ------------------------------------------------------- block starts --- */

/* Who made the call, if the block says so; it is sent back with the call. */
static const allm_json *caller_of(struct answer *a, const allm_json *block)
{
    const allm_json *caller = json_at(block, "caller");
    return json_is_type(caller, ALLM_JSON_OBJECT)
               ? answer_stamp(a, build_one(a->sink->arena, "caller", caller))
               : NULL;
}

static void open_call(struct anthropic_blocks *all, struct anthropic_block *b,
                      const allm_json *block)
{
    struct answer *a = all->answer;
    answer_start(a);
    b->slot = calls_open(&a->calls, json_text_at(block, "id"),
                         json_text_at(block, "name"), a->sink);
    if (b->slot)
        b->slot->state = caller_of(a, block);
    keep_raw(all, b, block);
}

/* Was the call made by code that the provider ran, not directly by the
 * model? */
static bool is_by_code(const allm_json *block)
{
    const allm_json *caller = json_at(block, "caller");
    return json_is(json_at(block, "type"), "tool_use") &&
           json_is_type(caller, ALLM_JSON_OBJECT) &&
           !json_is(json_at(caller, "type"), "direct");
}

static struct anthropic_block *add_by_code(struct anthropic_blocks *all,
                                           int64_t index)
{
    if (all->by_code == CALLS_MOST) {
        sink_malformed(all->answer->sink, "the response has more than 128 "
                                          "calls made by the provider's code");
        return NULL;
    }
    struct anthropic_block *b = block_add(all, index, OPAQUE);
    if (b)
        b->by_code = true;
    all->by_code++;
    return b;
}

bool anthropic_block_start(struct anthropic_blocks *all, int64_t index,
                           const allm_json *block)
{
    struct anthropic_block *old = block_find(all, index);
    if (old && old->open)
        anthropic_block_stop(all, index);
    struct anthropic_block *b = is_by_code(block)
                                    ? add_by_code(all, index)
                                    : block_add(all, index, kind_of(block));
    if (!b)
        return true;
    answer_start(all->answer);
    switch (b->kind) {
    case TEXT:
        add_text(all, b, json_text_at(block, "text"));
        citations_add(all, b, json_at(block, "citations"));
        break;
    case THINKING:
        add_thought(all, b, json_text_at(block, "thinking"));
        signature_add(all, b, json_text_at(block, "signature"));
        break;
    case CALL:
        open_call(all, b, block);
        break;
    case REDACTED:
    case OPAQUE:
        keep_raw(all, b, block);
        break;
    }
    return b->kind != OPAQUE || b->by_code;
}

/* ------------------------------------------------------- block deltas --- */

/* The member of a block by name, initially as the block started.  NULL: too
 * many, or out of memory. */
static struct member *member_of(struct anthropic_blocks *all,
                                struct anthropic_block *b, struct slice key)
{
    struct arena *life = all->answer->life;
    size_t count = 0;
    struct member **at = &b->members;
    for (; *at; at = &(*at)->next, count++)
        if (slice_eq((struct slice){ (*at)->key, (*at)->key_len }, key))
            return *at;
    if (count == MAX_MEMBERS) {
        sink_malformed(all->answer->sink,
                       "a block of the response has more than 256 members");
        return NULL;
    }
    struct member *m = arena_zero(life, sizeof *m);
    const char *key_copy = arena_copy(life, key);
    if (!m || !key_copy) {
        out_of_memory(all);
        return NULL;
    }
    m->key = key_copy;
    m->key_len = key.len;
    buf_init(&m->text, life, SIZE_MAX / 2);
    buf_add(&m->text, json_slice(json_get(b->raw, key)));
    return *at = m;
}

/* Apply a delta to a block of unknown type: strings are appended, other values
 * are replaced. */
static void grow_opaque(struct anthropic_blocks *all, struct anthropic_block *b,
                        const allm_json *delta)
{
    b->open = true;             /* block_settle() must run (again) */
    for (const allm_json *k = NULL; (k = allm_json_next(delta, k));) {
        const allm_json *v = allm_json_value(k);
        if (json_is(k, "type"))
            continue;
        struct member *m = member_of(all, b, json_slice(k));
        if (!m)
            return;
        if (json_is_type(v, ALLM_JSON_TEXT)) {
            m->value = NULL;
            buf_add(&m->text, json_slice(v));
        } else {
            buf_clear(&m->text);
            m->value = json_copy(all->answer->life, v);
        }
        if (m->text.broken || all->answer->life->broken)
            out_of_memory(all);
    }
}

/* Create a block whose start is missing, if the delta implies its type. */
static struct anthropic_block *block_guess(struct anthropic_blocks *all,
                                           int64_t index, const allm_json *type)
{
    if (json_is(type, "text_delta"))
        return block_add(all, index, TEXT);
    if (json_is(type, "thinking_delta") || json_is(type, "signature_delta"))
        return block_add(all, index, THINKING);
    return NULL;
}

bool anthropic_block_grow(struct anthropic_blocks *all, int64_t index,
                          const allm_json *delta)
{
    const allm_json *type = json_at(delta, "type");
    struct anthropic_block *b = block_find(all, index);
    if (!b)
        b = block_guess(all, index, type);
    if (!b)
        return all->answer->sink->status < 0;
    if (json_is(type, "text_delta") && b->kind == TEXT)
        add_text(all, b, json_text_at(delta, "text"));
    else if (json_is(type, "thinking_delta") && b->kind == THINKING)
        add_thought(all, b, json_text_at(delta, "thinking"));
    else if (json_is(type, "signature_delta") && b->kind == THINKING)
        signature_add(all, b, json_text_at(delta, "signature"));
    else if (json_is(type, "input_json_delta") &&
             (b->kind == CALL || b->kind == OPAQUE))
        input_append(all, b, json_text_at(delta, "partial_json"));
    else if (json_is(type, "citations_delta") && b->kind == TEXT)
        citation_add(all, b, json_at(delta, "citation"));
    else if (b->kind == OPAQUE)
        grow_opaque(all, b, delta);
    else
        return false;
    return b->kind != OPAQUE || b->by_code;
}

/* -------------------------------------------------------- block stops --- */

/* The provider's data that proves that a thought is the model's own. */
static const allm_json *proof_of(struct anthropic_blocks *all,
                                 const struct anthropic_block *b)
{
    struct build o = build_object_in(all->answer->sink->arena);
    if (b->kind == REDACTED) {
        build_text_at(&o, "type", SLICE("redacted_thinking"));
        build_text_at(&o, "data", json_text_at(b->raw, "data"));
    } else {
        build_text_at(&o, "type", SLICE("thinking"));
        build_text_at(&o, "signature", buf_slice(&b->signature));
    }
    build_end(&o);
    return answer_stamp(all->answer, answer_build(all->answer, &o));
}

/* If there were no deltas, use the input in the block's start. */
static void settle_call(struct anthropic_blocks *all, struct anthropic_block *b)
{
    const allm_json *input = json_at(b->raw, "input");
    if (!b->slot || b->slot->raw.len || !allm_json_count(input))
        return;
    input_append(all, b, sink_json(all->answer->sink, input));
}

/* Merge the members that deltas changed into the block. */
static void settle_members(struct anthropic_blocks *all,
                           struct anthropic_block *b)
{
    if (!b->members)
        return;
    struct build o = build_object_in(all->answer->sink->arena);
    for (const struct member *m = b->members; m; m = m->next) {
        build_key(&o, (struct slice){ m->key, m->key_len });
        if (m->value)
            build_value(&o, m->value);
        else
            build_text(&o, buf_slice(&m->text));
    }
    const allm_json *changed = build_finish(&o);
    b->raw = changed ? json_merge(all->answer->life, b->raw, changed) : NULL;
    if (!b->raw)
        out_of_memory(all);
}

static void settle_opaque(struct anthropic_blocks *all,
                          struct anthropic_block *b)
{
    struct arena *life = all->answer->life;
    settle_members(all, b);
    if (!b->input.len)
        return;
    const allm_json *input = json_parse_loose(life, buf_slice(&b->input), NULL);
    if (input)
        b->raw = json_set(life, b->raw, SLICE("input"), input);
    if (!b->raw || life->broken)
        out_of_memory(all);
}

static void block_settle(struct anthropic_blocks *all,
                         struct anthropic_block *b)
{
    if (!b->open)
        return;
    b->open = false;
    if (b->kind == THINKING)
        answer_thought_end(all->answer, b->is_signed ? proof_of(all, b) : NULL);
    else if (b->kind == REDACTED)
        answer_thought_end(all->answer, proof_of(all, b));
    else if (b->kind == CALL)
        settle_call(all, b);
    else if (b->kind == OPAQUE)
        settle_opaque(all, b);
}

void anthropic_block_stop(struct anthropic_blocks *all, int64_t index)
{
    struct anthropic_block *b = block_find(all, index);
    if (!b)
        return;
    block_settle(all, b);
    calls_close(&all->answer->calls, b->slot, all->answer->sink);
}

/* ------------------------------------------------- calls made by code --- */

/* Does the response contain the result of this call: its own, or later that of
 * the code that made it? */
static bool has_result(const struct anthropic_blocks *all,
                       const struct anthropic_block *call)
{
    struct slice id = json_text_at(call->raw, "id");
    struct slice code = json_text_at(json_at(call->raw, "caller"), "tool_id");
    bool after_call = false;
    for (const struct anthropic_block *b = all->first; b; b = b->next) {
        struct slice result_of = json_text_at(b->raw, "tool_use_id");
        if (result_of.len && (slice_eq(result_of, id) ||
                              (after_call && slice_eq(result_of, code))))
            return true;
        after_call = after_call || b == call;
    }
    return false;
}

/* The client must answer this call like any other. */
static void call_emit(struct anthropic_blocks *all, struct anthropic_block *b)
{
    struct slice input = buf_slice(&b->input);
    b->kind = CALL;
    open_call(all, b, b->raw);
    input_append(all, b, input);
    settle_call(all, b);
    calls_close(&all->answer->calls, b->slot, all->answer->sink);
}

void anthropic_block_end(struct anthropic_blocks *all)
{
    for (struct anthropic_block *b = all->first; b; b = b->next)
        block_settle(all, b);
    for (struct anthropic_block *b = all->first; b; b = b->next) {
        if (!b->by_code || !b->raw)
            continue;
        if (has_result(all, b))
            answer_raw(all->answer, b->raw);
        else
            call_emit(all, b);
    }
}

/* -------------------------------------------------------------- state --- */

static bool must_send_back(const struct anthropic_blocks *all,
                           const struct anthropic_block *b)
{
    return b->kind == REDACTED || b->kind == OPAQUE ||
           (b->kind == THINKING &&
            (b->is_signed || (all->unsigned_thoughts && b->thought.len)));
}

/* The citations of a text as a list; NULL if there are none. */
static const allm_json *citations_of(struct arena *a,
                                     const struct anthropic_block *b)
{
    if (!b->citations.len)
        return NULL;
    struct buf text = buf_in(a, SIZE_MAX / 2);
    buf_byte(&text, '[');
    buf_add(&text, buf_slice(&b->citations));
    buf_byte(&text, ']');
    return text.broken ? NULL : json_parse_loose(a, buf_slice(&text), NULL);
}

static void write_thinking(struct build *o, const struct anthropic_block *b)
{
    build_text_at(o, "type", SLICE("thinking"));
    build_text_at(o, "thinking", buf_slice(&b->thought));
    build_text_at(o, "signature", buf_slice(&b->signature));
}

static void write_text(struct build *o, const struct anthropic_block *b)
{
    const allm_json *citations = citations_of(o->arena, b);
    build_text_at(o, "type", SLICE("text"));
    build_uint_at(o, "bytes", b->text_len);
    build_value_if(o, "citations", citations);
}

static void write_block(struct build *o, const struct anthropic_blocks *all,
                        const struct anthropic_block *b)
{
    if ((b->kind == TEXT && !b->text_len) ||
        (b->kind == THINKING && !must_send_back(all, b)))
        return;
    if (b->kind == REDACTED || b->kind == OPAQUE) {
        build_value(o, b->raw);
        return;
    }
    build_object(o);
    if (b->kind == THINKING)
        write_thinking(o, b);
    else if (b->kind == TEXT)
        write_text(o, b);
    else
        build_text_at(o, "type", SLICE("tool_use"));
    build_end(o);
}

const allm_json *anthropic_block_state(const struct anthropic_blocks *all)
{
    bool any = false;
    for (const struct anthropic_block *b = all->first; b; b = b->next)
        any = any || must_send_back(all, b);
    if (!any)
        return NULL;
    struct build o = build_object_in(all->answer->sink->arena);
    build_array_at(&o, "content");
    for (const struct anthropic_block *b = all->first; b; b = b->next)
        write_block(&o, all, b);
    build_end(&o);
    build_end(&o);
    return answer_build(all->answer, &o);
}
