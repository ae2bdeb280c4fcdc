/*
 * decide.c - the last stage: what happens after this turn
 *
 * A tool that stopped the loop comes first, then calls that wait for the
 * caller; else the model is asked again.
 */
#include "turn/pipeline.h"

allm_status decide_run(allm_context *c, void *ud)
{
    (void)ud;
    if (c->halt) {
        context_decide(c, ALLM_DECISION_HALT, c->halt->reason);
        context_note_text(c, "loop_halt", c->halt->reason);
    } else if (c->manual_count) {
        context_decide(c, ALLM_DECISION_HALT, "manual_tool_calls");
        context_note_text(c, "loop_halt", "manual_tool_calls");
    } else if (c->message_count) {
        context_decide(c, ALLM_DECISION_CONTINUE, NULL);
        context_note(c, "loop_continue");
    } else {
        context_decide(c, ALLM_DECISION_DONE, NULL);
        context_note(c, "loop_done_fallback");
    }
    return ALLM_OK;
}
