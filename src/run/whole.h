/* whole.h - results of tools that were cut, for those who want the rest */
#ifndef RUN_WHOLE_H
#define RUN_WHOLE_H

#include "base/home.h"

#define WHOLE_TOOL "tool_output"

struct whole_text;

struct whole {
    struct allm_home *home;     /* borrowed: owns the texts */
    struct whole_text *texts;
    size_t max;                 /* bytes that are given at once */
};

/* The tool by which a model reads on, in the home; NULL: no memory. */
const allm_tool *whole_tool(struct whole *w);

/* Keep a text; for struct turn_terms. */
bool whole_keep(void *whole, const char *call_id, struct slice text);

/* NULL: it was not cut. */
const char *whole_find(const struct whole *w, const char *call_id, size_t *len);

#endif
