/*
 * extra.h - what callers add to a request by themselves
 *
 * Options that no field of ours stands for go into the body as they are; three
 * names are read here for every dialect:
 *
 *      "extra_body"     members of the body, over everything else
 *      "extra_headers"  {"name": "value"}, none of them for keys
 *      "base_url"       where to; not for the wire
 */
#ifndef PROVIDER_EXTRA_H
#define PROVIDER_EXTRA_H

#include "allm.h"
#include "base/arena.h"
#include "json/emit.h"

struct extra {
    const allm_json *options;   /* for the body: engine, request, extra_body */
    const allm_call *call;
};

/* NULL, or an error in the arena. */
const allm_error *extra_init(struct extra *x, const allm_call *call,
                             struct arena *a);

/* An option of the call, else of the adapter; JSON's null is none. */
const allm_json *extra_get(const struct extra *x, const char *name);
const char *extra_text(const struct extra *x, const char *name);

/* May a member of ours be written?  Not if an option has its name. */
bool extra_leaves(const struct extra *x, const char *name);

/*
 * The request's temperature is neutral: it is left out where a model with these
 * rules answers 400 to it, or to it together with the option top_p.  Options
 * are in the provider's own terms and always sent.
 */
bool extra_refuses_temperature(const struct extra *x, uint32_t rules);
/* Is it written?  It is set, no option has its name, the model takes it. */
bool extra_writes_temperature(const struct extra *x, uint32_t rules);

/* The error for a "reasoning_effort" that is none of ours. */
const allm_error *extra_refuse_effort(struct arena *a, const char *word);

/* Write the options that are for the wire, but for those in the list (which
 * NULL ends).  Those that are null are left out. */
void extra_write(const struct extra *x, struct emit *e, const char *const *but);

/* Write the headers.  NULL, or an error in the arena. */
const allm_error *extra_headers(const struct extra *x, allm_http *http,
                                struct arena *a);

#endif
