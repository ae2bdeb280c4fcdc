/* demo_script.h - what the scripted model of the demonstration says */
#ifndef CLI_DEMO_SCRIPT_H
#define CLI_DEMO_SCRIPT_H

#include "allm.h"

/* Options of the fake, roots.  slowly: at reading speed.  The first two
 * answers, with calls of tools; and the last one, which knows what the user
 * has said. */
allm_json *demo_script_first(bool slowly);
allm_json *demo_script_last(bool slowly, const char *answer);

#endif
