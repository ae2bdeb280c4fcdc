/* parts.c - read the parts of a response, and keep those to send back */
#include "provider/gemini/parts.h"

#include "provider/gemini/field.h"
#include "json/build.h"
#include "json/json.h"

enum kind { TEXT, CALL, OTHER };

struct gemini_part {
    struct gemini_part *next;
    enum kind kind;
    size_t text_len;            /* TEXT: its bytes of the response text */
    struct slice signature;     /* TEXT */
    const allm_json *raw;       /* OTHER: the part, unchanged */
};

static void out_of_memory(struct gemini_parts *all)
{
    all->answer->sink->status = ALLM_ERR_NOMEM;
}

static struct gemini_part *part_add(struct gemini_parts *all, enum kind kind)
{
    struct gemini_part *p = arena_zero(all->answer->life, sizeof *p);
    if (!p) {
        out_of_memory(all);
        return NULL;
    }
    p->kind = kind;
    if (all->last)
        all->last->next = p;
    else
        all->first = p;
    all->last = p;
    return p;
}

/* The state of a thought or a call: its signature and id.  NULL if it has
 * neither. */
static const allm_json *state_of(struct gemini_parts *all,
                                 struct slice signature, struct slice id)
{
    if (!signature.len && !id.len)
        return NULL;
    struct build b = build_object_in(all->answer->sink->arena);
    if (signature.len)
        build_text_at(&b, "thoughtSignature", signature);
    if (id.len)
        build_text_at(&b, "id", id);
    build_end(&b);
    return answer_stamp(all->answer, answer_build(all->answer, &b));
}

/* -------------------------------------------------- text and thoughts --- */

static void part_keep(struct gemini_parts *all, const allm_json *part)
{
    struct gemini_part *p = part_add(all, OTHER);
    if (!p)
        return;
    p->raw = json_copy(all->answer->life, part);
    if (!p->raw)
        out_of_memory(all);
}

/* A part with a signature is never merged with others. */
static void read_text(struct gemini_parts *all, struct slice text,
                      struct slice signature)
{
    struct answer *a = all->answer;
    struct gemini_part *p = all->last;
    size_t before = a->text.len;
    if (text.len || signature.len)
        answer_thought_end(a, NULL);
    answer_text(a, text);
    size_t text_len = a->text.len - before;
    if (!text_len && !signature.len)
        return;
    if (!p || p->kind != TEXT || p->signature.len || signature.len)
        p = part_add(all, TEXT);
    if (!p)
        return;
    p->text_len += text_len;
    if (!signature.len)
        return;
    p->signature = (struct slice){ arena_copy(a->life, signature),
                                   signature.len };
    if (!p->signature.ptr)
        out_of_memory(all);
}

static void read_thought(struct gemini_parts *all, const allm_json *part,
                         struct slice text, struct slice signature)
{
    answer_thought(all->answer, text);
    if (!signature.len)
        return;
    part_keep(all, part);
    answer_thought_end(all->answer,
                       state_of(all, signature, (struct slice){ NULL, 0 }));
}

/* -------------------------------------------------------------- calls --- */

/* Set all arguments at once; no delta is emitted. */
static void arguments_set(struct gemini_parts *all, struct calls_slot *slot,
                          struct slice text)
{
    struct answer *a = all->answer;
    calls_replace(&a->calls, slot, text, a->sink);
    calls_close(&a->calls, slot, a->sink);
}

/* The arguments of the open call are complete. */
static void close_call(struct gemini_parts *all)
{
    struct calls_slot *slot = all->open;
    all->open = NULL;
    if (!slot)
        return;
    struct buf text = buf_in(all->answer->sink->arena, SIZE_MAX / 2);
    if (!gemini_args_write(&all->args, &text))
        out_of_memory(all);
    arguments_set(all, slot, buf_slice(&text));
}

static void add_pieces(struct gemini_parts *all, const allm_json *pieces)
{
    if (json_is_type(pieces, ALLM_JSON_ARRAY))
        for (const allm_json *p = NULL; (p = allm_json_next(pieces, p));)
            gemini_args_add(&all->args, p);
    if (all->args.broken)
        out_of_memory(all);
}

/* Does it continue the call that is open? */
static bool continues_call(const struct gemini_parts *all,
                           const allm_json *call)
{
    struct slice name = gemini_field_text(call, "name");
    return all->open &&
           (!name.len || (gemini_field(call, "partialArgs") &&
                          all->open->name && slice_is(name, all->open->name)));
}

static struct calls_slot *open_call(struct gemini_parts *all,
                                    const allm_json *call,
                                    struct slice signature)
{
    struct answer *a = all->answer;
    struct slice id = gemini_field_text(call, "id");
    answer_thought_end(a, NULL);
    answer_start(a);
    struct calls_slot *slot =
        calls_open(&a->calls, id, gemini_field_text(call, "name"), a->sink);
    if (slot && part_add(all, CALL))
        slot->state = state_of(all, signature, id);
    return slot;
}

/* A complete call, or its start. */
static void begin_call(struct gemini_parts *all, const allm_json *call,
                       struct slice signature)
{
    const allm_json *args = gemini_field(call, "args");
    const allm_json *pieces = gemini_field(call, "partialArgs");
    if (!gemini_field_text(call, "name").len && !args && !pieces)
        return;                 /* the end of a call that is not open */
    struct calls_slot *slot = open_call(all, call, signature);
    if (!slot)
        return;
    if (json_is_type(args, ALLM_JSON_TEXT)) {
        arguments_set(all, slot, json_slice(args));
    } else if (args && !json_is_type(args, ALLM_JSON_NULL)) {
        arguments_set(all, slot, sink_json(all->answer->sink, args));
    } else if (pieces || gemini_field_true(call, "willContinue")) {
        all->open = slot;
        gemini_args_init(&all->args, all->answer->life);
        add_pieces(all, pieces);
        if (!gemini_field_true(call, "willContinue"))
            close_call(all);
    } else {
        arguments_set(all, slot, SLICE("{}"));
    }
}

static void read_call(struct gemini_parts *all, const allm_json *call,
                      struct slice signature)
{
    if (!continues_call(all, call)) {
        close_call(all);
        begin_call(all, call, signature);
        return;
    }
    if (signature.len && !all->open->state)
        all->open->state = state_of(all, signature, all->open->wire_id);
    add_pieces(all, gemini_field(call, "partialArgs"));
    if (!gemini_field_true(call, "willContinue"))
        close_call(all);
}

/* -------------------------------------------------------- other parts --- */

static bool is_image(const allm_json *part)
{
    const allm_json *inline_data = gemini_field(part, "inlineData");
    return slice_starts(gemini_field_text(inline_data, "mimeType"),
                        SLICE("image/"));
}

/* Executed code, images and other calls.  Invalid texts and calls are not kept,
 * because the provider would reject them. */
static void read_other(struct gemini_parts *all, const allm_json *part,
                       struct slice signature)
{
    bool thought = gemini_field_true(part, "thought");
    bool invalid = allm_json_get(part, "text") ||
                   gemini_field(part, "functionCall");
    answer_raw(all->answer, part);
    if (!invalid && (!thought || signature.len))
        part_keep(all, part);
    if (!thought && is_image(part))
        answer_gather_one(all->answer, "images", part);
}

void gemini_parts_read(struct gemini_parts *all, const allm_json *part)
{
    const allm_json *text = json_at(part, "text");
    if (json_is_type(text, ALLM_JSON_TEXT) && allm_json_count(part) == 1) {
        read_text(all, json_slice(text), (struct slice){ NULL, 0 });
        return;                 /* nearly all of them */
    }
    const allm_json *call = gemini_field(part, "functionCall");
    struct slice signature = gemini_field_text(part, "thoughtSignature");
    size_t flags = gemini_field(part, "thoughtSignature") != NULL;
    flags += allm_json_get(part, "thought") != NULL;
    if (!json_is_type(part, ALLM_JSON_OBJECT))
        return;
    if (json_is_type(call, ALLM_JSON_OBJECT))
        read_call(all, call, signature);
    else if (!json_is_type(text, ALLM_JSON_TEXT) &&
             allm_json_count(part) > flags)
        read_other(all, part, signature);
    else if (gemini_field_true(part, "thought"))
        read_thought(all, part, json_slice(text), signature);
    else
        read_text(all, json_slice(text), signature);
}

void gemini_parts_end(struct gemini_parts *all)
{
    close_call(all);
}

/* -------------------------------------------------------------- state --- */

static void write_part(struct build *b, const struct gemini_part *p)
{
    build_object(b);
    if (p->kind == TEXT) {
        build_uint_at(b, "bytes", p->text_len);
        if (p->signature.len)
            build_text_at(b, "thoughtSignature", p->signature);
    } else if (p->kind == CALL) {
        build_bool_at(b, "call", true);
    } else {
        build_value_at(b, "part", p->raw);
    }
    build_end(b);
}

const allm_json *gemini_parts_state(const struct gemini_parts *all)
{
    bool any = false;
    for (const struct gemini_part *p = all->first; p; p = p->next)
        any = any || p->kind == OTHER || p->signature.len;
    if (!any || all->answer->sink->status < 0)
        return NULL;
    struct build b = build_object_in(all->answer->sink->arena);
    build_array_at(&b, "parts");
    for (const struct gemini_part *p = all->first; p; p = p->next)
        write_part(&b, p);
    build_end(&b);
    build_end(&b);
    return answer_build(all->answer, &b);
}
