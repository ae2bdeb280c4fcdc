/*
 * messages.c - encode the conversation for /api/chat
 *
 *      {"role", "content", "images": [base64], "thinking", "tool_calls"}
 *      {"role": "tool", "content", "tool_name", "tool_call_id"}
 *
 * Older servers identify a result by the name of its tool, newer ones also by
 * the id of the call.  Servers ignore members that they do not know.
 */
#include "provider/ollama/messages.h"

#include "provider/hash.h"
#include "provider/history.h"
#include "provider/image_source.h"
#include "provider/memo.h"
#include "json/json.h"

static const char memo_name;    /* its address is the key of memos */

struct writer {
    const allm_call *call;
    struct emit *emit;
    struct arena *arena;
    bool broken;                /* out of memory */
};

static void write_images(struct writer *w, const allm_message *m)
{
    if (!history_has_image(m) || m->role == ALLM_ROLE_TOOL)
        return;
    emit_member_open(w->emit, "images", '[');
    for (size_t i = 0; i < m->part_count; i++)
        if (m->parts[i]->kind == ALLM_PART_IMAGE && m->parts[i]->image)
            image_source_write(w->emit, m->parts[i]->image, false, w->arena);
    emit_close(w->emit, ']');
}

static void write_call(struct writer *w, const allm_tool_call *call)
{
    struct slice arguments = history_arguments(call, w->arena);
    w->broken = w->broken || !arguments.ptr;
    emit_open(w->emit, '{');
    if (call->id && *call->id)
        emit_member(w->emit, "id", call->id);
    emit_member_open(w->emit, "function", '{');
    history_write(w->emit, "name", slice_of(history_name(call, w->arena)));
    emit_member_raw(w->emit, "arguments",
                    arguments.ptr ? arguments : SLICE("{}"));
    emit_close(w->emit, '}');
    emit_close(w->emit, '}');
}

static void write_assistant(struct writer *w, const allm_message *m)
{
    const allm_json *state = history_state(w->call, m->provider_state);
    struct slice thought = json_slice(allm_json_get(state, "thinking"));
    if (thought.len)
        history_write(w->emit, "thinking", thought);
    if (!m->tool_call_count)
        return;
    emit_member_open(w->emit, "tool_calls", '[');
    for (size_t i = 0; i < m->tool_call_count; i++)
        write_call(w, m->tool_calls[i]);
    emit_close(w->emit, ']');
}

static void write_message(struct writer *w, const allm_message *m,
                          const char *tool)
{
    emit_open(w->emit, '{');
    emit_member_word(w->emit, "role", history_role(m));
    history_write(w->emit, "content", history_text(m, w->arena));
    write_images(w, m);
    if (m->role == ALLM_ROLE_ASSISTANT)
        write_assistant(w, m);
    if (m->role == ALLM_ROLE_TOOL) {
        emit_member(w->emit, "tool_name", tool);
        if (m->tool_call_id && *m->tool_call_id)
            emit_member(w->emit, "tool_call_id", m->tool_call_id);
    }
    emit_close(w->emit, '}');
}

/* Write a message, or reuse its memo. */
static void recall_message(struct writer *w, const struct history_item *item,
                           const char *tool)
{
    const allm_message *m = item->message;
    struct buf *out = w->emit->out;
    if (item->made) {
        write_message(w, m, tool);
        return;
    }
    struct home_key k =
        memo_key(&memo_name, hash_add(HASH_START, slice_of(tool)), w->call, m);
    struct slice memo = memo_find(m, k);
    if (memo.ptr) {
        emit_borrowed(w->emit, memo);
        return;
    }
    size_t from = out->len + w->emit->comma;
    write_message(w, m, tool);
    if (!w->broken)
        memo_keep_written(m, k, out, from);
}

/* The tool of the call that this message answers.  NULL: out of memory. */
static const char *tool_of(const struct history *h, const allm_message *m)
{
    if (m->role != ALLM_ROLE_TOOL || !h->calling || !h->call)
        return "";
    return history_name(h->calling->tool_calls[h->call - 1], h->arena);
}

bool ollama_messages_write(const allm_call *call, struct emit *e,
                           struct arena *a)
{
    struct writer w = { .call = call, .emit = e, .arena = a };
    struct history h;
    struct history_item item;
    history_init(&h, call, a);
    emit_open(e, '[');
    while (!w.broken && history_next(&h, &item)) {
        const char *tool = tool_of(&h, item.message);
        w.broken = w.broken || !tool;
        if (tool)
            recall_message(&w, &item, tool);
    }
    emit_close(e, ']');
    return !w.broken && !h.broken;
}
