/* engine.h - the provider, model, tools and defaults that calls use */
#pragma once

#include "allm.h"
#include "base/home.h"
#include "engine/engine_core.h"
#include "engine/options.h"

const struct engine_core *engine_core(const allm_engine *e);
/* For tests, before the first call: filling 256 MiB would take too long. */
void engine_limit_answers(allm_engine *e, size_t bytes);
const struct registry_row *engine_row(const allm_engine *e);   /* or NULL */

/* The adapter for a call with this model.  If the engine names no adapter, the
 * provider in front of the model's name decides.  NULL: none. */
const struct registry_row *engine_row_for(const allm_engine *e,
                                          const char *model,
                                          const allm_model_ref *ref);
const allm_engine_record *engine_record(const allm_engine *e);

/* The engine's tools merged with those of the options: a tool with the same
 * name is replaced in place, others are appended.  False: out of memory. */
bool engine_tools(const allm_engine *e, const struct options *o,
                  struct arena *a, size_t *count, const allm_tool *const **out);

/* The engine's parameters merged with the options, without engine fields, in
 * the arena.  NULL: out of memory. */
const allm_json *engine_params(const allm_engine *e, const struct options *o,
                               struct arena *a);

/* The model's name: that of the call, of the request, or of the engine. */
const char *engine_model(const allm_engine *e, const struct options *o,
                         const char *of_request);

/* Read the engine's params as options into d, and set what o does not set.  The
 * caller inherits the fields of a request (options_inherit_fields).  Returns
 * NULL, or the error. */
const allm_error *engine_defaults(const allm_engine *e, struct allm_home *home,
                                  struct options *o, struct options *d);

/* The call's id: the caller's or a new one, in the arena.  NULL: out of
 * memory. */
const char *engine_request_id(const allm_engine *e, const struct options *o,
                              struct arena *a);
