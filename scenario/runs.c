/* runs.c - count how often each tool runs */
#include "runs.h"

#include <stdio.h>
#include <string.h>

void runs_count(struct runs *r, const char *name)
{
    size_t i = 0;
    while (i < r->count && strcmp(r->of[i].name, name) != 0)
        i++;
    if (i == MAX_NAMES)
        return;                 /* a scenario cannot have so many tools */
    if (i == r->count) {
        snprintf(r->of[i].name, sizeof r->of[i].name, "%s", name);
        r->of[i].n = 0;
        r->count++;
    }
    r->of[i].n++;
}

void runs_write(const struct runs *r, allm_json_build *out)
{
    allm_json_build_key(out, "tool_runs");
    allm_json_build_object(out);
    for (size_t i = 0; i < r->count; i++) {
        allm_json_build_key(out, r->of[i].name);
        allm_json_build_uint(out, r->of[i].n);
    }
    allm_json_build_end(out);
    allm_json_build_key(out, "callback_runs");
    allm_json_build_uint(out, r->callback);
}
