/*
 * decide.c - the last stage: decide what follows this turn
 *
 * A tool that halts the chat has priority, then calls that the caller must
 * answer; otherwise the model is called again.
 */
#include "data/chat_result.h"
#include "turn/pipeline.h"

allm_status decide_run(allm_context *c, void *ud)
{
    (void)ud;
    if (c->halt || c->manual_count) {
        const char *reason = c->halt ? outcome_halted_reason(&c->halt->outcome)
                                     : HALTED_MANUAL;
        context_decide(c, ALLM_DECISION_HALT, reason);
        context_note_text(c, "loop_halt", reason);
    } else if (c->message_count) {
        context_decide(c, ALLM_DECISION_CONTINUE, NULL);
        context_note(c, "loop_continue");
    } else {
        context_decide(c, ALLM_DECISION_DONE, NULL);
        context_note(c, "loop_done_fallback");
    }
    return ALLM_OK;
}
