/*
 * inject.c - the fifth stage: append the answer and the results as messages
 *
 * The assistant's message has all calls of the answer, including those that did
 * not run.  The messages of the results follow in the order of the calls.
 */
#include "turn/pipeline.h"

allm_status inject_run(allm_context *c, void *ud)
{
    (void)ud;
    context_push_message(c, context_assistant(c));
    for (size_t i = 0; i < c->result_count && !c->broken; i++)
        context_push_message(c, allm_message_keep(
                                    result_of_view(c->results[i])->message));
    context_note(c, "inject_results");
    return c->broken ? ALLM_ERR_NOMEM : ALLM_OK;
}
