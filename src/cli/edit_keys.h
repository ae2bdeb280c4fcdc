/* edit_keys.h - the key bindings of the line editor */
#ifndef CLI_EDIT_KEYS_H
#define CLI_EDIT_KEYS_H

#include "cli/edit_text.h"

enum edit_end {
    EDIT_CONTINUES,
    EDIT_DONE,    /* Enter */
    EDIT_DROPPED, /* Ctrl-C */
    EDIT_EOF     /* Ctrl-D in an empty line */
};

/* Apply a control character; the sequence after ESC, such as "[A" or "b". */
enum edit_end edit_keys_control(struct edit_text *t, int c);
enum edit_end edit_keys_escape(struct edit_text *t, const char *name);

#endif
