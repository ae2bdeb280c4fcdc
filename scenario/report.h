/* report.h - the outcome of an operation, under the names of `expect` */
#pragma once

#include "scenario.h"

/* An object being built.  The operation adds its result; report_finish() adds
 * the requests that the fake provider saw, the tools that ran, and the
 * session. */
struct report {
    allm_json_build *out;
    uint64_t calls, released;   /* counts before the operation */
    size_t requests;
};

void report_begin(struct report *r, struct scenario *s);
allm_json *report_finish(struct report *r, const struct scenario *s);

void report_json(struct report *r, const char *name, const allm_json *v);
/* Add a JSON text.  Returns its error, or NULL. */
const allm_error *report_text(struct report *r, const char *name,
                              const allm_text *json);
/* Add "ok", and "error" and "misuse" if it failed: once, at the end. */
void report_end(struct report *r, const allm_error *error);
