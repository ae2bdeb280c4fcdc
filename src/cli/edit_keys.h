/* edit_keys.h - which key does what to a line that is edited */
#ifndef CLI_EDIT_KEYS_H
#define CLI_EDIT_KEYS_H

#include "cli/edit_text.h"

enum edit_end {
    EDIT_CONTINUES,
    EDIT_DONE,    /* Enter */
    EDIT_DROPPED, /* Ctrl-C */
    EDIT_EOF     /* Ctrl-D in an empty line */
};

/* A control character; what follows ESC, as "[A" or "b". */
enum edit_end edit_keys_control(struct edit_text *t, int c);
enum edit_end edit_keys_escape(struct edit_text *t, const char *name);

#endif
