/* replay.c - the events of an answer that comes from a journal */
#include "run/replay.h"

static void put_call_events(allm_context *c, const allm_tool_call *call)
{
    allm_event *started = context_put(c, ALLM_EV_TOOL_CALL_STARTED);
    allm_event *completed = context_put(c, ALLM_EV_TOOL_CALL_COMPLETED);
    if (!started || !completed)
        return;
    started->id = completed->id = call->id;
    started->name = completed->name = call->name;
    completed->arguments = call->arguments;
    completed->raw_arguments = call->raw_arguments ? call->raw_arguments : "";
    completed->raw_len = call->raw_arguments ? call->raw_len : 0;
    completed->metadata = call->metadata;
    completed->provider_state = call->provider_state;
}

void replay_answer(allm_context *c)
{
    const allm_response *r = c->response;
    allm_event *e = context_put(c, ALLM_EV_MESSAGE_STARTED);
    if (e)
        e->message = r->message;
    if (r->output_len && (e = context_put(c, ALLM_EV_TEXT_COMPLETED))) {
        e->text = r->output_text;
        e->text_len = r->output_len;
    }
    for (size_t i = 0; i < r->tool_call_count; i++)
        put_call_events(c, r->tool_calls[i]);
    e = context_put(c, ALLM_EV_MESSAGE_COMPLETED);
    if (e) {
        e->message = r->message;
        e->finish_reason = r->finish_reason;
    }
}
