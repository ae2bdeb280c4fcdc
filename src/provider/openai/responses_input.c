/*
 * responses_input.c - write a conversation as the "input" of /responses
 *
 *      system, user   {role, content}
 *      assistant      {type: message, role, content}, {type: reasoning},
 *                     {type: function_call} and the server's own items, in
 *                     the order received
 *      tool           {type: function_call_output}
 *
 * Servers reject reasoning without a following item, and calls to the client
 * without a result: neither is sent.  An image item without an image is not
 * sent either, unless the server stores its items: its id would be unknown.
 */
#include "provider/openai/responses_input.h"

#include "provider/call_ids.h"
#include "provider/image_source.h"
#include "provider/layout.h"
#include "provider/memo.h"
#include "json/json.h"

static const char dialect_key;  /* its address identifies our memo entries */

struct answered {               /* the call that a result answers */
    const char *id;
    bool custom;
};

struct writing {
    const allm_call *call;
    struct emit *emit;
    struct arena *arena;
    struct call_ids ids;
    bool stored;
    bool broken;
};

static void open_item(struct writing *w, const char *name, const char *value)
{
    emit_open(w->emit, '{');
    emit_member_word(w->emit, name, value);
}

static void close_item(struct writing *w)
{
    emit_close(w->emit, '}');
}

/* Write those members of an object that are in the list, in its order. */
static void write_members(struct writing *w, const allm_json *from,
                          const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const allm_json *v = allm_json_get(from, names[i]);
        if (v)
            emit_member_value(w->emit, names[i], v);
    }
}

/* ------------------------------------------------------- user, system --- */

static void write_part(struct writing *w, const allm_part *p)
{
    if (p->kind == ALLM_PART_TEXT) {
        open_item(w, "type", "input_text");
        history_write(w->emit, "text", history_part(p));
        close_item(w);
    } else if (p->kind == ALLM_PART_IMAGE && p->image) {
        open_item(w, "type", "input_image");
        emit_name(w->emit, SLICE("image_url"));
        image_source_write_url(w->emit, p->image, w->arena);
        emit_member_word(w->emit, "detail", image_source_detail(p));
        close_item(w);
    }
}

static void write_plain(struct writing *w, const allm_message *m)
{
    open_item(w, "role", m->role == ALLM_ROLE_SYSTEM ? "system" : "user");
    if (!history_has_image(m)) {
        history_write(w->emit, "content", history_text(m, w->arena));
        close_item(w);
        return;
    }
    emit_member_open(w->emit, "content", '[');
    for (size_t i = 0; i < m->part_count; i++)
        write_part(w, m->parts[i]);
    emit_close(w->emit, ']');
    close_item(w);
}

/* ---------------------------------------------------------- assistant --- */

static bool is_custom(const allm_tool_call *call)
{
    return json_is(allm_json_get(call->metadata, "type"), "custom");
}

static void write_call(struct writing *w, const allm_tool_call *call,
                       const char *id)
{
    static const char *const more[] = { "namespace", "caller" };
    const allm_json *own = history_state(w->call, call->provider_state);
    bool custom = is_custom(call);
    open_item(w, "type", custom ? "custom_tool_call" : "function_call");
    history_write(w->emit, "call_id", slice_of(id));
    history_write(w->emit, "name", slice_of(history_name(call, w->arena)));
    history_write(w->emit, custom ? "input" : "arguments",
                  custom ? history_raw(call)
                         : history_arguments(call, w->arena));
    write_members(w, own, more, sizeof more / sizeof *more);
    close_item(w);
}

/* Write a text of the assistant; `layout` has its refusal and phase, or is
 * NULL. */
static void write_text_item(struct writing *w, struct slice text,
                            const allm_json *layout)
{
    struct slice refusal = json_slice(allm_json_get(layout, "refusal"));
    const char *phase = allm_json_text(allm_json_get(layout, "phase"), NULL);
    if (text.ptr && !text.len && !refusal.len)
        return;
    open_item(w, "type", "message");    /* llama.cpp requires the type */
    emit_member_word(w->emit, "role", "assistant");
    if (!refusal.len) {
        history_write(w->emit, "content", text);
    } else {
        emit_member_open(w->emit, "content", '[');
        if (text.len) {
            open_item(w, "type", "output_text");
            history_write(w->emit, "text", text);
            close_item(w);
        }
        open_item(w, "type", "refusal");
        history_write(w->emit, "refusal", refusal);
        close_item(w);
        emit_close(w->emit, ']');
    }
    if (phase)
        history_write(w->emit, "phase", slice_of(phase));
    close_item(w);
}

/* ------------------------------------------------------------- layout --- */

static bool is_kind(const allm_json *item, const char *type)
{
    return json_is(allm_json_get(item, "type"), type);
}

static enum layout_kind kind_of(const allm_json *item)
{
    return is_kind(item, "message")         ? LAYOUT_TEXT
           : is_kind(item, "function_call") ? LAYOUT_CALL
                                            : LAYOUT_OTHER;
}

/* Did the server answer this call to one of its own tools? */
static bool is_answered(const allm_json *layout, const allm_json *item)
{
    struct slice id = json_slice(allm_json_get(item, "call_id"));
    for (const allm_json *i = NULL; (i = allm_json_next(layout, i));)
        if (i != item && slice_eq(json_slice(allm_json_get(i, "call_id")), id))
            return true;
    return false;
}

/* May this item, which is neither text nor a call to the caller, be sent? */
static bool may_send(const struct writing *w, const allm_json *layout,
                     const allm_json *item)
{
    const allm_json *sealed = allm_json_get(item, "encrypted_content");
    const allm_json *open = allm_json_get(item, "content");
    if (!json_slice(allm_json_get(item, "type")).len)
        return false;           /* invalid, or a state from elsewhere */
    if (is_kind(item, "reasoning"))
        return json_slice(sealed).len || allm_json_count(open) ||
               (w->stored && allm_json_get(item, "id"));
    if (is_kind(item, "mcp_approval_request"))
        return false;
    if (is_kind(item, "image_generation_call"))
        return json_slice(allm_json_get(item, "result")).len || w->stored;
    return !json_slice(allm_json_get(item, "call_id")).len ||
           is_answered(layout, item);
}

static bool is_ours(const allm_json *item)
{
    return is_kind(item, "message") || is_kind(item, "function_call");
}

/* Is there an item after this one that will be sent? */
static bool is_followed(const struct writing *w, const allm_json *layout,
                        const allm_json *item)
{
    for (const allm_json *i = item; (i = allm_json_next(layout, i));)
        if (is_ours(i) || (!is_kind(i, "reasoning") && may_send(w, layout, i)))
            return true;
    return false;
}

/* Write a generated image with the members that the server accepts; it rejects
 * its own other members. */
static void write_image_item(struct writing *w, const allm_json *item)
{
    static const char *const accepted[] = { "id", "type", "status", "result" };
    emit_open(w->emit, '{');
    write_members(w, item, accepted, sizeof accepted / sizeof *accepted);
    emit_close(w->emit, '}');
}

static void write_server_item(struct writing *w, const allm_json *layout,
                              const allm_json *item, bool followed)
{
    if (!may_send(w, layout, item) ||
        (is_kind(item, "reasoning") && !followed &&
         !is_followed(w, layout, item)))
        return;
    if (is_kind(item, "image_generation_call"))
        write_image_item(w, item);
    else
        emit_value(w->emit, item);
}

/* Write the items in their original order: reasoning may be between calls. */
static void write_layout(struct writing *w, const allm_message *m,
                         const allm_json *layout)
{
    size_t at = 0, call = 0;
    for (const allm_json *i = NULL; (i = allm_json_next(layout, i));) {
        if (is_kind(i, "function_call")) {
            write_call(w, m->tool_calls[call], w->ids.turn[call]);
            call++;
        } else if (is_kind(i, "message")) {
            write_text_item(w,
                            (struct slice){ m->text ? m->text + at : "",
                                          layout_bytes(i) },
                            i);
            at += layout_bytes(i);
        } else {
            write_server_item(w, layout, i, false);
        }
    }
}

static void write_assistant(struct writing *w, const allm_message *m)
{
    const allm_json *layout = layout_of(w->call, m, "output");
    if (layout && layout_fits(layout, m, kind_of)) {
        write_layout(w, m, layout);
        return;
    }
    struct slice text = history_text(m, w->arena);
    bool followed = text.len || m->tool_call_count;
    for (const allm_json *i = NULL; layout && (i = allm_json_next(layout, i));)
        if (!is_ours(i) && followed)
            write_server_item(w, layout, i, true);
    write_text_item(w, text, NULL);
    for (size_t i = 0; i < m->tool_call_count; i++)
        write_call(w, m->tool_calls[i], w->ids.turn[i]);
}

/* ----------------------------------------------------------- messages --- */

/* Find the call that this result answers; true: its id is unchanged. */
static bool find_answered(struct writing *w, const allm_message *m,
                          struct answered *to)
{
    bool plain = false;
    to->id = call_ids_answer(&w->ids, m, &plain);
    const allm_message *assistant = w->ids.assistant;
    if (assistant && w->ids.answered)
        to->custom = is_custom(assistant->tool_calls[w->ids.answered - 1]);
    return plain;
}

static void write_result(struct writing *w, const allm_message *m,
                         const struct answered *call)
{
    open_item(w, "type",
              call->custom ? "custom_tool_call_output"
                           : "function_call_output");
    history_write(w->emit, "call_id", slice_of(call->id));
    history_write(w->emit, "output", history_text(m, w->arena));
    close_item(w);
}

static void write_message(struct writing *w, const allm_message *m,
                          const struct answered *call)
{
    if (m->role == ALLM_ROLE_TOOL)
        write_result(w, m, call);
    else if (m->role == ALLM_ROLE_ASSISTANT)
        write_assistant(w, m);
    else
        write_plain(w, m);
}

/* Write a message, from the memo if it has been encoded before. */
static void write_or_recall_message(struct writing *w,
                                    const struct history_item *item)
{
    const allm_message *m = item->message;
    struct answered call = { .id = NULL };
    struct buf *out = w->emit->out;
    bool plain = true;
    if (m->role == ALLM_ROLE_ASSISTANT)
        plain = call_ids_ask(&w->ids, m);
    if (m->role == ALLM_ROLE_TOOL)
        plain = find_answered(w, m, &call);
    w->broken = w->broken || w->ids.broken;
    if (w->broken)
        return;
    uint64_t facts = (uint64_t)w->stored | (uint64_t)call.custom << 1;
    struct home_key k = memo_key(&dialect_key, facts, w->call, m);
    bool keepable = plain && !item->made;
    struct slice kept = keepable ? memo_find(m, k) : (struct slice){ NULL, 0 };
    if (kept.ptr) {
        emit_borrowed(w->emit, kept);
        return;
    }
    size_t from = out->len + w->emit->comma;
    write_message(w, m, &call);
    if (keepable && !w->broken)
        memo_keep_written(m, k, out, from);
}

bool openai_responses_input_write(const allm_call *call, bool stored,
                                  struct emit *e, struct arena *a)
{
    struct history h;
    struct history_item item;
    struct writing w = { .call = call,
                         .emit = e,
                         .arena = a,
                         .stored = stored };
    call_ids_init(&w.ids, (struct history_ids){ .most = 64, .dashes = true },
                  a);
    history_init(&h, call, a);
    emit_open(e, '[');
    while (!w.broken && history_next(&h, &item))
        write_or_recall_message(&w, &item);
    emit_close(e, ']');
    return !w.broken && !h.broken && !e->out->broken;
}
