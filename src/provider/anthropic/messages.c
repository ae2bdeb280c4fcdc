/*
 * messages.c - encode the conversation for /v1/messages
 *
 *      {"role": "user",      "content": [text | image | tool_result, ...]}
 *      {"role": "assistant", "content": [thinking | text | tool_use, ...]}
 *
 *   (1) Roles alternate: adjacent messages of the same role are merged, and
 *       tool results belong to the user.  The first message is always the
 *       user's.
 *   (2) The content is always a list of blocks, even for one text.  So a longer
 *       conversation starts with the same bytes as a shorter one.
 *   (3) No text is blank, and no list is empty; such blocks are left out.
 *   (4) The id of a call is used only once.
 *   (5) A call to a server tool is sent with its result, unless the model is to
 *       continue from there.
 *
 * "cache_control" in the metadata of a part is sent with its block; in the
 * metadata of a message, with its last block.
 */
#include "provider/anthropic/messages.h"

#include "provider/call_ids.h"
#include "provider/history.h"
#include "provider/image_source.h"
#include "provider/layout.h"
#include "provider/memo.h"
#include "json/json.h"

static const char memo_name;    /* its address is the key of memos */

/* The user's message that precedes an assistant that spoke first. */
#define OPENING "(The conversation begins with the assistant.)"

struct writer {
    const allm_call *call;
    struct emit *emit;
    struct arena *arena;
    struct call_ids ids;
    allm_role open_role;        /* role of the message being written */
    allm_role role;             /* role of the next block's message */
    size_t from;                /* where this message's blocks start */
    bool has_block;             /* this message has a block */
    bool role_ends;             /* the next message has another role */
    bool broken;
};

static bool is_blank(struct slice s)
{
    return !slice_strip(s).len;
}

/* -------------------------------------------------------------- turns --- */

static void close_turn(struct writer *w)
{
    if (w->open_role == ALLM_ROLE_NONE)
        return;
    emit_close(w->emit, ']');
    emit_close(w->emit, '}');
}

static void open_turn(struct writer *w, allm_role role)
{
    bool first = w->open_role == ALLM_ROLE_NONE;
    close_turn(w);
    emit_open(w->emit, '{');
    emit_member_word(w->emit, "role",
                     role == ALLM_ROLE_ASSISTANT && !first ? "assistant"
                                                           : "user");
    emit_member_open(w->emit, "content", '[');
    w->open_role = role;
    if (!first || role != ALLM_ROLE_ASSISTANT)
        return;
    emit_open(w->emit, '{');    /* keeps (1) */
    emit_member_word(w->emit, "type", "text");
    history_write(w->emit, "text", SLICE(OPENING));
    emit_close(w->emit, '}');
    w->open_role = ALLM_ROLE_USER;
    open_turn(w, role);
}

/* Open the turn that the next block belongs to. */
static void turn_enter(struct writer *w)
{
    if (w->open_role != w->role)
        open_turn(w, w->role);
    if (!w->has_block)
        w->from = w->emit->out->len + w->emit->comma;
    w->has_block = true;
}

static void open_block(struct writer *w, const char *type)
{
    turn_enter(w);
    emit_open(w->emit, '{');
    emit_member_word(w->emit, "type", type);
}

/* `marked`: metadata that may have cache_control, or NULL. */
static void close_block(struct writer *w, const allm_json *marked)
{
    const allm_json *mark = allm_json_get(marked, "cache_control");
    if (allm_json_type_of(mark) == ALLM_JSON_OBJECT)
        emit_member_value(w->emit, "cache_control", mark);
    emit_close(w->emit, '}');
}

/* ------------------------------------------------------------- blocks --- */

static void write_text(struct writer *w, struct slice text,
                       const allm_json *marked)
{
    if (!text.ptr)
        w->broken = true;
    if (!text.ptr || is_blank(text))
        return;
    open_block(w, "text");
    history_write(w->emit, "text", text);
    close_block(w, marked);
}

static void write_image(struct writer *w, const allm_image *image,
                        const allm_json *marked)
{
    open_block(w, "image");
    emit_member_open(w->emit, "source", '{');
    if (image->source == ALLM_IMAGE_URL) {
        emit_member_word(w->emit, "type", "url");
        history_write(w->emit, "url",
                      (struct slice){ image->data, image->data_len });
    } else {
        emit_member_word(w->emit, "type", "base64");
        history_write(w->emit, "media_type",
                      slice_of(image_source_type(image)));
        emit_name(w->emit, SLICE("data"));
        image_source_write(w->emit, image, false, w->arena);
    }
    emit_close(w->emit, '}');
    close_block(w, marked);
}

static bool has_mark(const allm_message *m)
{
    for (size_t i = 0; i < m->part_count; i++)
        if (allm_json_get(m->parts[i]->metadata, "cache_control"))
            return true;
    return false;
}

static void write_part(struct writer *w, const allm_part *p,
                       const allm_json *outer)
{
    const allm_json *marked = allm_json_get(p->metadata, "cache_control")
                                  ? p->metadata
                                  : outer;
    if (p->kind == ALLM_PART_TEXT)
        write_text(w, history_part(p), marked);
    else if (p->kind == ALLM_PART_IMAGE && p->image)
        write_image(w, p->image, marked);
}

/* If there is only text, write one block; an image or cache_control needs
 * several. */
static void write_content(struct writer *w, const allm_message *m)
{
    if (!history_has_image(m) && !has_mark(m)) {
        write_text(w, history_text(m, w->arena), m->metadata);
        return;
    }
    for (size_t i = 0; i < m->part_count; i++)
        write_part(w, m->parts[i], i + 1 == m->part_count ? m->metadata : NULL);
}

/* ---------------------------------------------------------- assistant --- */

static void write_call(struct writer *w, const allm_tool_call *call,
                       const char *id)
{
    const allm_json *state = history_state(w->call, call->provider_state);
    const allm_json *caller = allm_json_get(state, "caller");
    struct slice input = history_arguments(call, w->arena);
    open_block(w, "tool_use");
    history_write(w->emit, "id", slice_of(id));
    history_write(w->emit, "name", slice_of(history_name(call, w->arena)));
    emit_name(w->emit, SLICE("input"));
    if (!input.ptr)
        w->broken = true;
    emit_raw(w->emit, input.ptr ? input : SLICE("{}"));
    if (caller)
        emit_member_value(w->emit, "caller", caller);
    close_block(w, call->metadata);
}

/* A text of the model, with its citations. */
static void write_own_text(struct writer *w, struct slice text,
                           const allm_json *block)
{
    const allm_json *citations = allm_json_get(block, "citations");
    if (is_blank(text))
        return;
    open_block(w, "text");
    history_write(w->emit, "text", text);
    if (citations)
        emit_member_value(w->emit, "citations", citations);
    close_block(w, NULL);
}

static enum layout_kind kind_of(const allm_json *block)
{
    const allm_json *type = allm_json_get(block, "type");
    if (json_is(type, "text"))
        return LAYOUT_TEXT;
    /* one with an id is history, not our call: see block.h */
    return json_is(type, "tool_use") && !allm_json_get(block, "id")
               ? LAYOUT_CALL
               : LAYOUT_OTHER;
}

/* Is it a call to a server tool whose result is missing? */
static bool is_pending(const allm_json *layout, const allm_json *block)
{
    const allm_json *type = allm_json_get(block, "type");
    struct slice id = json_slice(allm_json_get(block, "id"));
    if (!json_is(type, "server_tool_use") && !json_is(type, "mcp_tool_use"))
        return false;
    for (const allm_json *b = NULL; (b = allm_json_next(layout, b));)
        if (slice_eq(json_slice(allm_json_get(b, "tool_use_id")), id))
            return false;
    return true;
}

static void write_as_is(struct writer *w, const allm_json *layout,
                        const allm_json *block)
{
    if (!json_slice(allm_json_get(block, "type")).len)
        return;                 /* invalid, or not our state */
    if (w->role_ends && is_pending(layout, block))
        return;                 /* keeps (5) */
    turn_enter(w);
    emit_value(w->emit, block);
}

/* Write the blocks in their original order: a thought may be between calls. */
static void write_layout(struct writer *w, const allm_message *m,
                         const allm_json *layout)
{
    size_t at = 0, call = 0;
    for (const allm_json *b = NULL; (b = allm_json_next(layout, b));) {
        enum layout_kind kind = kind_of(b);
        if (kind == LAYOUT_CALL) {
            write_call(w, m->tool_calls[call], w->ids.turn[call]);
            call++;
        } else if (kind == LAYOUT_TEXT) {
            write_own_text(w, (struct slice){ m->text + at, layout_bytes(b) },
                           b);
            at += layout_bytes(b);
        } else {
            write_as_is(w, layout, b);
        }
    }
}

/* Write the blocks that are neither text nor calls. */
static void write_kept(struct writer *w, const allm_json *layout)
{
    for (const allm_json *b = NULL; (b = allm_json_next(layout, b));)
        if (kind_of(b) == LAYOUT_OTHER)
            write_as_is(w, layout, b);
}

static void write_assistant(struct writer *w, const allm_message *m)
{
    const allm_json *layout = layout_of(w->call, m, "content");
    if (layout && layout_fits(layout, m, kind_of)) {
        write_layout(w, m, layout);
        return;
    }
    if (layout)
        write_kept(w, layout);
    write_content(w, m);
    for (size_t i = 0; i < m->tool_call_count; i++)
        write_call(w, m->tool_calls[i], w->ids.turn[i]);
}

/* ------------------------------------------------------------ results --- */

static void write_result(struct writer *w, const struct history_item *item,
                         const char *id)
{
    const allm_message *m = item->message;
    const allm_json *failed = allm_json_get(m->metadata, "is_error");
    open_block(w, "tool_result");
    history_write(w->emit, "tool_use_id", slice_of(id));
    history_write(w->emit, "content", history_text(m, w->arena));
    if (item->made || allm_json_true(failed))
        emit_member_bool(w->emit, "is_error", true);
    close_block(w, m->metadata);
}

/* ----------------------------------------------------------- messages --- */

/* If the model continues from the last assistant message, that must not end in
 * white space. */
static void write_last(struct writer *w, const allm_message *m)
{
    allm_message trimmed = *m;
    while (trimmed.text_len && slice_space(trimmed.text[trimmed.text_len - 1]))
        trimmed.text_len--;
    write_assistant(w, &trimmed);
}

static void write_message(struct writer *w, const struct history_item *item,
                          const char *id, bool last)
{
    const allm_message *m = item->message;
    if (m->role == ALLM_ROLE_TOOL)
        write_result(w, item, id);
    else if (m->role != ALLM_ROLE_ASSISTANT)
        write_content(w, m);
    else if (last)
        write_last(w, m);
    else
        write_assistant(w, m);
}

/* Write a message, or reuse its memo. */
static void recall_message(struct writer *w, const struct history_item *item,
                           bool last)
{
    const allm_message *m = item->message;
    const char *id = NULL;
    bool ids_unchanged = true;
    w->has_block = false;
    w->role = m->role == ALLM_ROLE_ASSISTANT ? ALLM_ROLE_ASSISTANT
                                             : ALLM_ROLE_USER;
    if (m->role == ALLM_ROLE_ASSISTANT)
        ids_unchanged = call_ids_ask(&w->ids, m);
    if (m->role == ALLM_ROLE_TOOL)
        id = call_ids_answer(&w->ids, m, &ids_unchanged);
    w->broken = w->broken || w->ids.broken;
    if (w->broken)
        return;
    struct home_key k = memo_key(&memo_name, w->role_ends, w->call, m);
    bool memoizable = ids_unchanged && !item->made && !last;
    struct slice memo = memoizable ? memo_find(m, k)
                                   : (struct slice){ NULL, 0 };
    if (memo.ptr) {
        turn_enter(w);
        emit_borrowed(w->emit, memo);
        return;
    }
    write_message(w, item, id, last);
    if (memoizable && w->has_block && !w->broken)
        memo_keep_written(m, k, w->emit->out, w->from);
}

/* Will this message write no block at all? */
static bool is_silent(const allm_message *m)
{
    struct slice text = { m->text ? m->text : "", m->text_len };
    if (m->role == ALLM_ROLE_SYSTEM)
        return true;
    if (m->role == ALLM_ROLE_TOOL || m->tool_call_count || m->provider_state)
        return false;
    for (size_t i = 0; i < m->part_count; i++) {
        const allm_part *p = m->parts[i];
        if (p->kind != ALLM_PART_TEXT || !is_blank(history_part(p)))
            return false;
    }
    return is_blank(text);
}

/* The role of the message after one without calls; NONE if it is the last. */
static allm_role next_role(const allm_request *r,
                           const struct history_item *item)
{
    size_t next = item->index + 1;
    while (next < r->message_count && is_silent(r->messages[next]))
        next++;
    return next < r->message_count ? r->messages[next]->role : ALLM_ROLE_NONE;
}

/* True: it is the last message, by the assistant, and has no calls. */
static bool look_ahead(struct writer *w, const struct history_item *item)
{
    w->role_ends = false;
    if (item->message->role != ALLM_ROLE_ASSISTANT ||
        item->message->tool_call_count)
        return false;
    allm_role next = next_role(w->call->request, item);
    w->role_ends = next != ALLM_ROLE_NONE && next != ALLM_ROLE_ASSISTANT;
    return next == ALLM_ROLE_NONE;
}

bool anthropic_messages_write(const allm_call *call, struct emit *e,
                              struct arena *a)
{
    struct history h;
    struct history_item item;
    struct writer w = { .call = call, .emit = e, .arena = a };
    call_ids_init(&w.ids, (struct history_ids){ .most = 64, .dashes = true },
                  a);
    history_init(&h, call, a);
    emit_open(e, '[');
    while (!w.broken && history_next(&h, &item))
        if (item.message->role != ALLM_ROLE_SYSTEM)
            recall_message(&w, &item, look_ahead(&w, &item));
    close_turn(&w);
    emit_close(e, ']');
    return !w.broken && !h.broken && !e->out->broken;
}

/* ------------------------------------------------------------- system --- */

static bool has_any_mark(const allm_request *r)
{
    for (size_t i = 0; i < r->message_count; i++) {
        const allm_message *m = r->messages[i];
        if (m->role == ALLM_ROLE_SYSTEM &&
            (has_mark(m) || allm_json_get(m->metadata, "cache_control")))
            return true;
    }
    return false;
}

/* Join the system messages, with a blank line between them. */
static struct slice system_join(const allm_request *r, struct arena *a)
{
    bool broken = false;
    struct buf all = buf_in(a, SIZE_MAX / 2);
    for (size_t i = 0; i < r->message_count; i++) {
        const allm_message *m = r->messages[i];
        if (m->role != ALLM_ROLE_SYSTEM)
            continue;
        struct slice text = history_text(m, a);
        broken = broken || !text.ptr;
        if (!text.ptr || is_blank(text))
            continue;
        if (all.len)
            buf_text(&all, "\n\n");
        buf_add(&all, text);
    }
    return broken || all.broken ? (struct slice){ NULL, 0 } : buf_slice(&all);
}

bool anthropic_messages_write_system(const allm_call *call, struct emit *e,
                                     struct arena *a)
{
    const allm_request *r = call->request;
    struct slice text = system_join(r, a);
    if (!text.ptr || !text.len)
        return text.ptr != NULL;
    emit_name(e, SLICE("system"));
    if (!has_any_mark(r)) {
        emit_text(e, text);
        return true;
    }
    struct writer w = { .call = call,   /* as if inside a list of blocks */
                         .emit = e,
                         .arena = a,
                         .open_role = ALLM_ROLE_SYSTEM,
                         .role = ALLM_ROLE_SYSTEM };
    emit_open(e, '[');
    for (size_t i = 0; i < r->message_count; i++)
        if (r->messages[i]->role == ALLM_ROLE_SYSTEM)
            write_content(&w, r->messages[i]);
    emit_close(e, ']');
    return !w.broken;
}

/* ----------------------------------------------- calls in the history --- */

/* The first message of an exchange of calls and results that has not ended;
 * NULL if there is none. */
static const allm_message *start_of_calls(const allm_request *r)
{
    size_t n = r->message_count;
    while (n && r->messages[n - 1]->role != ALLM_ROLE_ASSISTANT)
        n--;
    const allm_message *first = NULL;
    for (; n; n--) {
        const allm_message *m = r->messages[n - 1];
        if (m->role == ALLM_ROLE_ASSISTANT && m->tool_call_count)
            first = m;
        else if (m->role != ALLM_ROLE_TOOL)
            break;
    }
    return first;
}

bool anthropic_messages_lack_thought(const allm_call *call)
{
    const allm_message *m = start_of_calls(call->request);
    const allm_json *layout = m ? layout_of(call, m, "content") : NULL;
    const allm_json *type = allm_json_get(allm_json_at(layout, 0), "type");
    return m && !json_is(type, "thinking") &&
           !json_is(type, "redacted_thinking");
}

const allm_tool_call *anthropic_messages_call(const allm_request *r)
{
    for (size_t i = 0; i < r->message_count; i++)
        if (r->messages[i]->tool_call_count)
            return r->messages[i]->tool_calls[0];
    return NULL;
}
