/* finish.c - map a provider's finish reasons to ours */
#include "provider/finish.h"

#include "base/nocase.h"

allm_finish finish_of(const struct finish_word *table, struct slice word)
{
    for (; table->word; table++)
        if (nocase_is(word, table->word))
            return table->is;
    return ALLM_FINISH_OTHER;
}

allm_finish finish_settle(allm_finish reason, size_t calls, bool cut)
{
    if (reason == ALLM_FINISH_STOP && calls)
        return ALLM_FINISH_TOOL_CALLS;
    if (reason == ALLM_FINISH_OTHER && calls && !cut)
        return ALLM_FINISH_TOOL_CALLS;
    if (reason == ALLM_FINISH_TOOL_CALLS && !calls)
        return ALLM_FINISH_STOP;
    return reason;
}
