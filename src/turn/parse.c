/*
 * parse.c - the first stage: find the tool calls of the answer
 *
 * A chat uses the finish reason: tools run if it is tool_calls; an answer with
 * another reason ends the chat, even if it has calls.  An agent uses the calls.
 * If the finish reason is missing or unknown, or is tool_calls without calls,
 * the stage decides nothing and the chat continues.
 */
#include "data/chat_result.h"
#include "data/error.h"
#include "turn/pipeline.h"

static allm_status accept_calls(allm_context *c)
{
    const allm_response *r = c->response;
    c->calls = r->tool_calls;
    c->call_count = r->tool_call_count;
    context_note(c, "parse_tool_calls");
    return ALLM_OK;
}

static allm_status decide_turn(allm_context *c, allm_decision d,
                               const char *reason, const char *tag)
{
    context_note(c, tag);
    context_decide(c, d, reason);
    return ALLM_OK;
}

/* Find the first call of the terminal tool; the other calls do not run. */
static bool find_terminal_call(allm_context *c)
{
    const allm_response *r = c->response;
    const char *name = c->terms->terminal_tool;
    for (size_t i = 0; name && i < r->tool_call_count; i++)
        if (!strcmp(r->tool_calls[i]->name, name)) {
            c->terminal_call = r->tool_calls[i];
            return true;
        }
    return false;
}

static bool is_blank_answer(const allm_response *r)
{
    for (size_t i = 0; r->output_text && i < r->output_len; i++)
        if (!strchr(" \t\r\n\v\f", r->output_text[i]) || !r->output_text[i])
            return false;
    return true;
}

static allm_status parse_by_calls(allm_context *c)
{
    const allm_response *r = c->response;
    if (find_terminal_call(c)) {
        c->calls = r->tool_calls;
        c->call_count = r->tool_call_count;
        context_note_text(c, "parse_terminal_tool", c->terms->terminal_tool);
        context_decide(c, ALLM_DECISION_DONE, NULL);
        return ALLM_OK;
    }
    if (r->tool_call_count && !c->terms->manual)
        return accept_calls(c);
    if (r->tool_call_count) {
        c->calls = r->tool_calls;
        c->call_count = r->tool_call_count;
        return decide_turn(c, ALLM_DECISION_HALT, HALTED_MANUAL,
                           "parse_manual");
    }
    if (c->terms->retry_blank && is_blank_answer(r))
        return decide_turn(c, ALLM_DECISION_RETRY, NULL, "parse_blank_stop");
    return decide_turn(c, ALLM_DECISION_DONE, NULL, "parse_no_tools");
}

allm_status parse_run(allm_context *c, void *ud)
{
    const allm_response *r = c->response;
    (void)ud;
    if (!r)
        return allm_context_fail(
            c, ALLM(error, .kind = ALLM_ERR_ENGINE, .reason = REASON_PIPELINE,
                    .message = "the context has no response to parse"));
    if (c->terms->by_calls)
        return parse_by_calls(c);
    if (r->finish_reason == ALLM_FINISH_TOOL_CALLS) {
        if (c->terms->manual)
            return decide_turn(c, ALLM_DECISION_HALT, HALTED_MANUAL,
                               "parse_manual");
        return accept_calls(c);
    }
    if (r->finish_reason == ALLM_FINISH_NONE ||
        r->finish_reason == ALLM_FINISH_OTHER) {
        context_note(c, "parse_no_tools");
        return ALLM_OK;
    }
    return decide_turn(c, ALLM_DECISION_DONE, NULL, "parse_no_tools");
}
