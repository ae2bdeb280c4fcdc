/* runs.h - count how often each tool runs */
#pragma once

#include <allm.h>

enum { MAX_NAMES = 128 };

/* Counts by name, in the order of each tool's first run. */
struct runs {
    size_t count;
    struct {
        char name[80];
        uint64_t n;
    } of[MAX_NAMES];
    uint64_t callback;          /* calls of on_tool_error */
};

void runs_count(struct runs *r, const char *name);
/* Write the members tool_runs and callback_runs. */
void runs_write(const struct runs *r, allm_json_build *out);
