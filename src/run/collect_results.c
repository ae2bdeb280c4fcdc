/* collect_results.c - the results of a fold: response, step, chat */
#include "run/collect.h"

#include "data/chat_result.h"
#include "data/message.h"
#include "run/collect_call.h"
#include "tool/result.h"
#include "json/build.h"
#include "json/json.h"

static const allm_tool_call **call_list(const struct collect *c,
                                        struct arena *a)
{
    const allm_tool_call **list =
        arena_zero(a, (c->call_count + 1) * sizeof *list);
    size_t n = 0;
    for (struct collect_call *k = c->calls; list && k; k = k->next) {
        allm_tool_call *call = arena_alloc(a, sizeof *call);
        if (!call)
            return NULL;
        *call = k->call;
        if (!k->completed) {        /* only pieces: the raw text, not parsed */
            call->raw_arguments = k->raw.ptr ? k->raw.ptr : "";
            call->raw_len = k->raw.len;
        }
        list[n++] = call;
    }
    return list;
}

/* The metadata of the fold, with the reasoning text unless they have it. */
static const allm_json *response_metadata(const struct collect *c,
                                          struct arena *a)
{
    if (c->reasoning.len == 0 || allm_json_get(c->metadata, "reasoning"))
        return c->metadata ? c->metadata : json_empty_object();
    const allm_json *reasoning = build_one_text(a, "text",
                                                buf_slice(&c->reasoning));
    return reasoning
               ? json_set(a, c->metadata ? c->metadata : json_empty_object(),
                          SLICE("reasoning"), reasoning)
               : NULL;
}

/* The message with its tool calls, ready to be appended to a thread.  *made is
 * the message if it is a new one, which the caller frees. */
static const allm_message *message_with_calls(
    const struct collect *c, const allm_tool_call *const *calls,
    allm_message **made)
{
    const allm_message *m = c->last_message;
    *made = NULL;
    if (!m || !calls || !c->call_count || m->tool_call_count)
        return m;
    allm_message fields = *m;
    fields.home = NULL;
    fields.tool_calls = calls;
    fields.tool_call_count = c->call_count;
    return *made = allm_message_new(&fields);
}

/* The list without the arguments that are borrowed, which need no copy. */
static void leave_borrowed(const struct collect *c,
                           const allm_tool_call *const *list)
{
    size_t n = 0;
    for (const struct collect_call *k = c->calls; k; k = k->next, n++) {
        allm_tool_call *call = (allm_tool_call *)(uintptr_t)list[n];
        if (!k->borrowed)
            continue;
        call->arguments = json_empty_object();
        call->raw_arguments = NULL;
        call->raw_len = 0;
    }
}

/* Set them in the calls of a message that nobody else has yet. */
static void set_borrowed(struct collect *c, const allm_message *m)
{
    size_t n = 0;
    for (struct collect_call *k = c->calls; k; k = k->next, n++) {
        allm_tool_call *call = (allm_tool_call *)(uintptr_t)m->tool_calls[n];
        if (!k->borrowed)
            continue;
        call->arguments = k->call.arguments;
        call->raw_arguments = k->call.raw_arguments;
        call->raw_len = k->call.raw_len;
    }
}

/* The message with its calls, whose borrowed arguments are not set yet.  NULL:
 * no memory, or it has its calls already. */
static allm_message *make_message(const struct collect *c)
{
    const allm_error *error;
    allm_message *m = NULL;
    if (!c->last_message || c->last_message->tool_call_count)
        return NULL;
    struct arena a = arena_in(home_mem(c->home));
    allm_message fields = *c->last_message;
    fields.home = NULL;
    fields.tool_calls = call_list(c, &a);
    fields.tool_call_count = c->call_count;
    if (fields.tool_calls) {
        leave_borrowed(c, fields.tool_calls);
        m = shape_keep(&message_shape, &fields, home_mem(c->home), &a, &error);
    }
    arena_release(&a);
    return m;
}

void collect_take_over(struct collect *c, struct arena *from)
{
    if (!c->borrows)
        return;
    allm_message *m = make_message(c);
    bool held = m && home_hold(c->home, m->home);
    arena_adopt(home_arena(held ? m->home : c->home), from);
    if (held) {
        set_borrowed(c, m);
        c->last_message = m;
    }
    allm_message_free(m);
    for (struct collect_call *k = c->calls; k; k = k->next)
        k->borrowed = false;
    c->borrows = false;
}

/* The response has the calls of its message, which it keeps alive. */
static void share_calls(allm_response *r)
{
    r->tool_calls = r->message->tool_calls;
    r->tool_call_count = r->message->tool_call_count;
}

allm_response *collect_response(const struct collect *c, const char *request_id)
{
    allm_message *made;
    struct arena a = arena_in(home_mem(c->home));
    allm_response fields = { .size = sizeof fields,
                             .id = c->id,
                             .request_id = request_id,
                             .model = c->model,
                             .output_text = c->text.ptr ? c->text.ptr : "",
                             .output_len = c->text.len,
                             .tool_call_count = c->call_count,
                             .finish_reason = c->finish_reason,
                             .raw_finish_reason = c->raw_finish_reason,
                             .usage = c->usage,
                             .error = c->error };
    fields.tool_calls = call_list(c, &a);
    fields.metadata = response_metadata(c, &a);
    fields.message = message_with_calls(c, fields.tool_calls, &made);
    bool complete = fields.tool_calls && fields.metadata && !c->broken &&
                    (fields.message || !c->last_message);
    bool shared = fields.message && c->call_count &&
                  (made || collect_has_same_calls(c, fields.message));
    if (shared)
        fields.tool_call_count = 0;
    allm_response *r = complete ? allm_response_new(&fields) : NULL;
    if (shared && r && r->message)
        share_calls(r);
    allm_message_free(made);
    arena_release(&a);
    return r;
}

allm_step_result *collect_step_result(const struct collect *c)
{
    struct arena a = arena_in(home_mem(c->home));
    allm_response *response = collect_response(c, NULL);
    struct build b = build_object_in(&a);
    result_write_halt(&b, c->halt);
    const allm_json *halt = build_finish(&b);
    allm_step_result fields = { .size = sizeof fields,
                                .thread = c->thread,
                                .response = response,
                                .tool_result_count = c->result_count,
                                .done = collect_is_step_done(c) };
    fields.tool_results = collect_result_list(c, &a);
    fields.metadata =
        halt ? json_merge(&a, c->metadata ? c->metadata : json_empty_object(),
                          halt)
             : NULL;
    allm_step_result *r = NULL;
    if (response && fields.tool_results && fields.metadata && c->thread)
        r = allm_step_result_new(&fields);
    allm_response_free(response);
    arena_release(&a);
    return r;
}

const struct collect_step *collect_last_step(const struct collect *c)
{
    const struct collect_step *s = c->steps;
    while (s && s->next)
        s = s->next;
    return s;
}

const struct collect_step *collect_first_step(const struct collect *c)
{
    return c->steps;
}

allm_chat_result *collect_chat_result(const struct collect *c)
{
    if (c->chat_result)
        return allm_chat_result_new(c->chat_result);
    if (!c->thread)
        return NULL;
    struct arena a = arena_in(home_mem(c->home));
    allm_response *partial = c->step_count ? NULL : collect_response(c, NULL);
    const allm_step_result **steps =
        arena_zero(&a, (c->step_count + 1) * sizeof *steps);
    size_t n = 0;
    for (const struct collect_step *s = c->steps; steps && s; s = s->next)
        steps[n++] = s->step;
    allm_chat_result *r = NULL;
    if (steps && (n || partial))
        r = allm_chat_result_new(
            ALLM(chat_result, .thread = c->thread,
                 .final_response = n ? steps[n - 1]->response : partial,
                 .step_count = n, .steps = steps,
                 .halted_reason = c->error ? HALTED_ERROR : HALTED_CANCELLED,
                 .error = c->error, .metadata = c->metadata));
    allm_response_free(partial);
    arena_release(&a);
    return r;
}
