/* ask_settings.h - the settings of a call, where no flag sets another value */
#ifndef CLI_ASK_SETTINGS_H
#define CLI_ASK_SETTINGS_H

#include "cli/ask_parts.h"

/* Read --config, and fill what no flag has set: stream, usage, timeout,
 * max_cost, max_turns, retry and output.*.  What depends on the model is filled
 * by target_resolve(), and `keep` and `store` by session_open(). */
void ask_settings_fill(struct ask *a);

#endif
