/*
 * extra.h - options that callers add to a request
 *
 * Options without a field in our structs are copied into the body.  Three names
 * have the same meaning in every dialect:
 *
 *      "extra_body"     members of the body; they override all others
 *      "extra_headers"  {"name": "value"}; headers for keys are rejected
 *      "base_url"       the address of the server; it is not sent
 */
#pragma once

#include "allm.h"
#include "base/arena.h"
#include "json/emit.h"

struct extra {
    const allm_json *options;   /* for the body: engine, request, extra_body */
    const allm_call *call;
    int64_t effort_tokens;      /* of "reasoning_effort", if it is a number;
                                 * the option then is the level for it */
};

/* NULL, or an error in the arena. */
const allm_error *extra_init(struct extra *x, const allm_call *call,
                             struct arena *a);

/* An option of the call, else of the adapter; NULL if it is missing or null. */
const allm_json *extra_get(const struct extra *x, const char *name);
const char *extra_text(const struct extra *x, const char *name);

/* May the dialect write this member?  Not if an option has its name. */
bool extra_leaves(const struct extra *x, const char *name);

/*
 * The request's temperature is provider-neutral: it is left out if a model with
 * these rules rejects it, or rejects it together with the option top_p.  The
 * options themselves are always sent.
 */
bool extra_refuses_temperature(const struct extra *x, uint32_t rules);
/* Is it sent?  Only if it is set, no option has its name, and the model accepts
 * it. */
bool extra_writes_temperature(const struct extra *x, uint32_t rules);

/* The error for an unknown "reasoning_effort". */
const allm_error *extra_refuse_effort(struct arena *a, const char *word);

/* Write the options that belong in the body, except those in the list, which
 * NULL ends.  Options that are null are left out. */
void extra_write(const struct extra *x, struct emit *e,
                 const char *const *except);

/* Write the headers.  NULL, or an error in the arena. */
const allm_error *extra_headers(const struct extra *x, allm_http *http,
                                struct arena *a);
