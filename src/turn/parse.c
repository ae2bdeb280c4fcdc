/*
 * parse.c - the first stage: does the answer ask for tools?
 *
 * A chat goes by the finish reason: tools are run when it is tool_calls, and
 * an answer that stopped for another reason ends the chat, whatever calls it
 * has.  An agent goes by the calls.  An answer without a finish reason, with
 * one that we do not know, or with tool_calls and no calls, decides nothing:
 * the loop goes on.
 */
#include "data/chat_result.h"
#include "turn/pipeline.h"

static allm_status take_calls(allm_context *c)
{
    const allm_response *r = c->response;
    c->calls = r->tool_calls;
    c->call_count = r->tool_call_count;
    context_note(c, "parse_tool_calls");
    return ALLM_OK;
}

static allm_status no_calls(allm_context *c, allm_decision d,
                            const char *reason, const char *tag)
{
    context_note(c, tag);
    context_decide(c, d, reason);
    return ALLM_OK;
}

/* The first call of the tool that ends the loop; its siblings do not run. */
static bool is_terminal(allm_context *c)
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

static bool is_blank(const allm_response *r)
{
    for (size_t i = 0; r->output_text && i < r->output_len; i++)
        if (!strchr(" \t\r\n\v\f", r->output_text[i]) || !r->output_text[i])
            return false;
    return true;
}

static allm_status by_calls(allm_context *c)
{
    const allm_response *r = c->response;
    if (is_terminal(c)) {
        c->calls = r->tool_calls;
        c->call_count = r->tool_call_count;
        context_note_text(c, "parse_terminal_tool", c->terms->terminal_tool);
        context_decide(c, ALLM_DECISION_DONE, NULL);
        return ALLM_OK;
    }
    if (r->tool_call_count && !c->terms->manual)
        return take_calls(c);
    if (r->tool_call_count) {
        c->calls = r->tool_calls;
        c->call_count = r->tool_call_count;
        return no_calls(c, ALLM_DECISION_HALT, HALTED_MANUAL, "parse_manual");
    }
    if (c->terms->retry_blank && is_blank(r))
        return no_calls(c, ALLM_DECISION_RETRY, NULL, "parse_blank_stop");
    return no_calls(c, ALLM_DECISION_DONE, NULL, "parse_no_tools");
}

allm_status parse_run(allm_context *c, void *ud)
{
    const allm_response *r = c->response;
    (void)ud;
    if (!r)
        return allm_context_fail(
            c, ALLM(error, .kind = ALLM_ERR_ENGINE, .reason = "pipeline_error",
                    .message = "the context has no response to parse"));
    if (c->terms->by_calls)
        return by_calls(c);
    if (r->finish_reason == ALLM_FINISH_TOOL_CALLS) {
        if (c->terms->manual)
            return no_calls(c, ALLM_DECISION_HALT, HALTED_MANUAL,
                            "parse_manual");
        return take_calls(c);
    }
    if (r->finish_reason == ALLM_FINISH_NONE ||
        r->finish_reason == ALLM_FINISH_OTHER) {
        context_note(c, "parse_no_tools");
        return ALLM_OK;
    }
    return no_calls(c, ALLM_DECISION_DONE, NULL, "parse_no_tools");
}
