/* finish.c - why a model stopped: a provider's word and ours */
#include "provider/finish.h"

#include "provider/nocase.h"

allm_finish finish_of(const struct finish_word *table, struct slice word)
{
    for (; table->word; table++)
        if (nocase_is(word, table->word))
            return table->is;
    return ALLM_FINISH_OTHER;
}

allm_finish finish_settle(allm_finish said, size_t calls, bool cut)
{
    if (said == ALLM_FINISH_STOP && calls)
        return ALLM_FINISH_TOOL_CALLS;
    if (said == ALLM_FINISH_OTHER && calls && !cut)
        return ALLM_FINISH_TOOL_CALLS;
    if (said == ALLM_FINISH_TOOL_CALLS && !calls)
        return ALLM_FINISH_STOP;
    return said;
}
