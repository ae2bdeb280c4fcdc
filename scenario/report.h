/* report.h - what an operation gave, under the names that `expect` uses */
#ifndef SCENARIO_REPORT_H
#define SCENARIO_REPORT_H

#include "scenario.h"

/* An object being written.  The operation adds what it gave; report_finish()
 * adds what the fake saw, which tools ran meanwhile, and the session. */
struct report {
    allm_json_build *out;
    uint64_t calls, released;   /* before the operation */
    size_t requests;
};

void report_begin(struct report *r, struct scenario *s);
allm_json *report_finish(struct report *r, const struct scenario *s);

void report_json(struct report *r, const char *name, const allm_json *v);
/* A JSON text; why it could not be made, or NULL. */
const allm_error *report_text(struct report *r, const char *name,
                              const allm_text *json);
/* "ok", and "error" and "misuse" if it failed: once, at the end. */
void report_end(struct report *r, const allm_error *error);

#endif
