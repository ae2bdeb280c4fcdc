/* runs.h - how often each tool has run */
#ifndef SCENARIO_RUNS_H
#define SCENARIO_RUNS_H

#include <allm.h>

enum { MOST_NAMES = 128 };

/* Counts by name, in the order of the first runs. */
struct runs {
    size_t count;
    struct {
        char name[80];
        uint64_t n;
    } of[MOST_NAMES];
    uint64_t callback;          /* of on_tool_error */
};

void runs_count(struct runs *r, const char *name);
/* Members tool_runs and callback_runs of an object being built. */
void runs_write(const struct runs *r, allm_json_build *out);

#endif
