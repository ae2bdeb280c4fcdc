/*
 * chat_encode.c - encode a request for /chat/completions
 *
 *      model, messages, tools, tool_choice, response_format, temperature,
 *      max_tokens, stream, stream_options, then the options
 *
 * An option with one of these names replaces the member; null removes it.
 */
#include "provider/openai/chat_encode.h"

#include "provider/call_ids.h"
#include "provider/extra.h"
#include "provider/http.h"
#include "provider/image_source.h"
#include "provider/memo.h"
#include "provider/model_rules.h"
#include "provider/openai/address.h"
#include "provider/openai/format.h"
#include "provider/quirks.h"
#include "provider/tool_json.h"
#include "json/emit.h"
#include "json/json.h"

static const char dialect_key;  /* its address identifies our memo entries */

struct encoding {
    const allm_call *call;
    const allm_request *request;
    allm_http *http;
    struct arena *arena;
    struct emit emit;
    struct extra extra;
    uint64_t quirks;
    uint32_t rules;             /* of the model */
    struct call_ids ids;
    bool replay;                /* send reasoning_content with every turn */
};

static void write_text(struct encoding *e, struct slice s)
{
    if (!s.ptr)
        e->http->broken = true;
    emit_text(&e->emit, s.ptr ? s : SLICE(""));
}

/* ----------------------------------------------------------- messages --- */

static void write_image(struct encoding *e, const allm_part *p)
{
    emit_member_word(&e->emit, "type", "image_url");
    emit_member_open(&e->emit, "image_url", '{');
    emit_at(&e->emit, "url");
    image_source_write_url(&e->emit, p->image, e->arena);
    emit_member_word(&e->emit, "detail", image_source_detail(p));
    emit_close(&e->emit, '}');
}

static void write_parts(struct encoding *e, const allm_message *m)
{
    emit_member_open(&e->emit, "content", '[');
    for (size_t i = 0; i < m->part_count; i++) {
        const allm_part *p = m->parts[i];
        if (p->kind != ALLM_PART_TEXT &&
            !(p->kind == ALLM_PART_IMAGE && p->image))
            continue;
        emit_open(&e->emit, '{');
        if (p->kind == ALLM_PART_TEXT) {
            emit_member_word(&e->emit, "type", "text");
            emit_at(&e->emit, "text");
            write_text(e, history_part(p));
        } else {
            write_image(e, p);
        }
        emit_close(&e->emit, '}');
    }
    emit_close(&e->emit, ']');
}

static void write_content(struct encoding *e, const allm_message *m)
{
    if (history_has_image(m) && m->role != ALLM_ROLE_TOOL) {
        write_parts(e, m);
        return;
    }
    struct slice text = history_text(m, e->arena);
    emit_at(&e->emit, "content");
    if (text.ptr && !text.len && m->tool_call_count &&
        !(e->quirks & CHAT_EMPTY_CONTENT))
        emit_null(&e->emit);
    else
        write_text(e, text);
}

static void write_call(struct encoding *e, const allm_tool_call *call,
                       const char *id)
{
    const allm_json *own = history_state(e->call, call->provider_state);
    const allm_json *extra = allm_json_get(own, "extra_content");
    bool custom = json_is(allm_json_get(call->metadata, "type"), "custom");
    const char *name = history_name(call, e->arena);
    e->http->broken |= !name;
    emit_open(&e->emit, '{');
    emit_member(&e->emit, "id", id);
    emit_member_word(&e->emit, "type", custom ? "custom" : "function");
    emit_member_open(&e->emit, custom ? "custom" : "function", '{');
    emit_member(&e->emit, "name", name);
    emit_at(&e->emit, custom ? "input" : "arguments");
    write_text(e,
               custom ? history_raw(call) : history_arguments(call, e->arena));
    emit_close(&e->emit, '}');
    if (extra)
        emit_member_value(&e->emit, "extra_content", extra);
    emit_close(&e->emit, '}');
}

/* Write the reasoning that the model of this message needs back. */
static void write_reasoning(struct encoding *e, const allm_message *m)
{
    const allm_json *own = history_state(e->call, m->provider_state);
    const allm_json *details = allm_json_get(own, "reasoning_details");
    struct slice thought = json_slice(allm_json_get(own, "reasoning_content"));
    if (e->replay) {
        emit_at(&e->emit, "reasoning_content");
        write_text(e, thought.ptr ? thought : SLICE(""));
    }
    if (details)
        emit_member_value(&e->emit, "reasoning_details", details);
}

static void write_assistant(struct encoding *e, const allm_message *m)
{
    write_reasoning(e, m);
    if (!m->tool_call_count)
        return;
    emit_member_open(&e->emit, "tool_calls", '[');
    for (size_t i = 0; i < m->tool_call_count; i++)
        write_call(e, m->tool_calls[i], e->ids.turn[i]);
    emit_close(&e->emit, ']');
}

/* `id` is that of the call that a tool message answers. */
static void write_message(struct encoding *e, const allm_message *m,
                          const char *id)
{
    emit_open(&e->emit, '{');
    emit_member_word(&e->emit, "role", history_role(m));
    if (m->role == ALLM_ROLE_TOOL)
        emit_member(&e->emit, "tool_call_id", id);
    else if (m->name)
        emit_member(&e->emit, "name", m->name);
    write_content(e, m);
    if (m->role == ALLM_ROLE_ASSISTANT)
        write_assistant(e, m);
    emit_close(&e->emit, '}');
}

/* Write a message, from the memo if it has been encoded before. */
static void write_or_recall_message(struct encoding *e,
                                    const struct history_item *item)
{
    const uint64_t bytes_differ = CHAT_SHORT_IDS | CHAT_LIMITED_IDS |
                                  CHAT_EMPTY_CONTENT;
    const allm_message *m = item->message;
    const char *id = NULL;
    bool plain = true;          /* its ids do not depend on other messages */
    struct buf *out = e->emit.out;
    if (m->role == ALLM_ROLE_ASSISTANT)
        plain = call_ids_ask(&e->ids, m);
    if (m->role == ALLM_ROLE_TOOL)
        id = call_ids_answer(&e->ids, m, &plain);
    if (e->ids.broken)
        return;
    uint64_t facts = (e->quirks & bytes_differ) | (uint64_t)e->replay << 63;
    struct home_key k = memo_key(&dialect_key, facts, e->call, m);
    bool keepable = plain && !item->made;
    struct slice kept = keepable ? memo_find(m, k) : (struct slice){ NULL, 0 };
    if (kept.ptr) {
        emit_borrowed(&e->emit, kept);
        return;
    }
    size_t from = out->len + e->emit.comma;
    write_message(e, m, id);
    if (keepable && !e->http->broken)
        memo_keep_written(m, k, out, from);
}

static void write_messages(struct encoding *e)
{
    struct history h;
    struct history_item item;
    history_init(&h, e->call, e->arena);
    emit_member_open(&e->emit, "messages", '[');
    while (!e->ids.broken && history_next(&h, &item))
        write_or_recall_message(e, &item);
    emit_close(&e->emit, ']');
    e->http->broken |= h.broken || e->ids.broken;
}

/* Does the history have reasoning of the same model? */
static bool has_thoughts(const struct encoding *e)
{
    const allm_request *r = e->request;
    for (size_t i = r->message_count; i > 0; i--)
        if (allm_json_get(history_state(e->call,
                                        r->messages[i - 1]->provider_state),
                          "reasoning_content"))
            return true;
    return false;
}

/* -------------------------------------------------------------- tools --- */

static void write_tool(struct encoding *e, const allm_tool *tool)
{
    const allm_json *strict = allm_json_get(tool->metadata, "strict");
    emit_open(&e->emit, '{');
    emit_member_word(&e->emit, "type", "function");
    emit_member_open(&e->emit, "function", '{');
    tool_json_write(&e->emit, tool);
    if (allm_json_type_of(strict) == ALLM_JSON_BOOL)
        emit_member_bool(&e->emit, "strict", allm_json_true(strict));
    emit_close(&e->emit, '}');
    emit_close(&e->emit, '}');
}

static void write_choice(struct encoding *e)
{
    const allm_request *r = e->request;
    if (r->tool_choice_map) {
        emit_member_value(&e->emit, "tool_choice", r->tool_choice_map);
    } else if (r->tool_choice && tool_json_is_choice(r->tool_choice)) {
        emit_member_word(&e->emit, "tool_choice", r->tool_choice);
    } else if (r->tool_choice) {
        emit_member_open(&e->emit, "tool_choice", '{');
        emit_member_word(&e->emit, "type", "function");
        emit_member_open(&e->emit, "function", '{');
        emit_member(&e->emit, "name", r->tool_choice);
        emit_close(&e->emit, '}');
        emit_close(&e->emit, '}');
    }
}

static void write_tools(struct encoding *e)
{
    const allm_request *r = e->request;
    if (!r->tool_count)
        return;
    if (extra_leaves(&e->extra, "tools")) {
        emit_member_open(&e->emit, "tools", '[');
        for (size_t i = 0; i < r->tool_count; i++)
            write_tool(e, r->tools[i]);
        emit_close(&e->emit, ']');
    }
    if (extra_leaves(&e->extra, "tool_choice"))
        write_choice(e);
}

/* ------------------------------------------------------ other members --- */

static void write_limits(struct encoding *e)
{
    const allm_request *r = e->request;
    bool newer = (e->quirks & CHAT_NEW_MAX_TOKENS) ||
                 (!(e->quirks & CHAT_OLD_MAX_TOKENS) &&
                  (e->rules & MODEL_NEW_TOKENS));
    if (extra_writes_temperature(&e->extra, e->rules))
        emit_member_number(&e->emit, "temperature", r->temperature.value);
    if (!r->max_tokens.set || !extra_leaves(&e->extra, "max_tokens") ||
        !extra_leaves(&e->extra, "max_completion_tokens"))
        return;
    emit_member_int(&e->emit, newer ? "max_completion_tokens" : "max_tokens",
                    r->max_tokens.value);
}

static void write_stream(struct encoding *e)
{
    if (extra_leaves(&e->extra, "stream"))
        emit_member_bool(&e->emit, "stream", true);
    if ((e->quirks & CHAT_NO_STREAM_OPTIONS) ||
        !extra_leaves(&e->extra, "stream_options") ||
        !extra_leaves(&e->extra, "stream"))
        return;
    emit_member_open(&e->emit, "stream_options", '{');
    emit_member_bool(&e->emit, "include_usage", true);
    emit_close(&e->emit, '}');
}

static void write_body(struct encoding *e)
{
    static const char *const read_here[] = { "prompt_cache",
                                             "reasoning_summary", NULL };
    http_emit(e->http, &e->emit);
    emit_open(&e->emit, '{');
    if (extra_leaves(&e->extra, "model"))
        emit_member(&e->emit, "model", e->call->model);
    if (extra_leaves(&e->extra, "messages"))
        write_messages(e);
    write_tools(e);
    openai_format_write(&e->emit, e->request, &e->extra);
    write_limits(e);
    if (!(e->quirks & CHAT_STRICT_FIELDS))
        openai_format_write_cache(&e->emit, &e->extra, e->rules);
    write_stream(e);
    extra_write(&e->extra, &e->emit, read_here);
    emit_close(&e->emit, '}');
}

/* ------------------------------------------------------------- public --- */

static const allm_error *request_prepare(struct encoding *e)
{
    const allm_error *error = extra_init(&e->extra, e->call, e->arena);
    if (!error)
        error = quirks_check(quirks_chat, e->call, e->arena);
    if (error)
        return error;
    e->quirks = quirks_read(quirks_chat, e->call);
    e->rules = model_rules(e->call->model);
    struct history_ids ids = { .any = true };
    if (e->quirks & CHAT_LIMITED_IDS)
        ids.most = 40;
    if (e->quirks & CHAT_SHORT_IDS)
        ids = (struct history_ids){ .exactly = 9 };
    call_ids_init(&e->ids, ids, e->arena);
    e->replay = (e->quirks & CHAT_REPLAY_REASONING) && e->request->tool_count &&
                has_thoughts(e);
    return image_source_check(e->request, e->arena);
}

allm_status openai_chat_encode(const allm_call *call, allm_http *out)
{
    struct encoding e = { .call = call,
                          .request = call->request,
                          .http = out,
                          .arena = out->arena };
    const allm_error *error = request_prepare(&e);
    const struct openai_address to = { .path = "/chat/completions",
                                       .accept = "text/event-stream",
                                       .azure = e.quirks & CHAT_AZURE_PATHS };
    if (!error)
        error = openai_address_write(&e.extra, out, &to);
    if (error)
        return allm_http_fail(out, error);
    write_body(&e);
    return ALLM_OK;
}
