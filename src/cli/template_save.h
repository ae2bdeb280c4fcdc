/* template_save.h - write the flags of a call as a template: --save NAME */
#pragma once

#include "cli/template_use.h"

/* What to save; each member but the name and `over` may be NULL.  What is not
 * given is taken from `over`, the template of the call; the values of its
 * parameters become defaults. */
struct template_save {
    const char *name;
    const struct template_use *over;
    const char *model, *system, *schema, *extract;
    const allm_json *options;
    const struct flag_list *attach, *tools;
};

/* Write the user's template; argv is the prompt.  Returns the exit code. */
int template_save_write(const struct template_save *s, int argc, char **argv);
/* Check a text, and replace the file with it.  Returns the exit code. */
int template_save_text(const char *path, const struct bytes *text);
