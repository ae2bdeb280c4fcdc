/* demo_script.h - the script of the demo's model */
#pragma once

#include "allm.h"

/* Options of the fake provider; the caller frees them.  slowly: at reading
 * speed.  The first script has two answers with tool calls; the last one
 * quotes the user's answer. */
allm_json *demo_script_first(bool slowly);
allm_json *demo_script_last(bool slowly, const char *answer);
