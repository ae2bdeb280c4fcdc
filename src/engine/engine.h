/* engine.h - what to talk to, and with which defaults */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "allm.h"
#include "base/home.h"
#include "engine/engine_core.h"
#include "engine/options.h"

const struct engine_core *engine_core(const allm_engine *e);
/* For tests, before the first call: 256 MiB are too much to fill often. */
void engine_limit_answers(allm_engine *e, size_t bytes);
const struct registry_row *engine_row(const allm_engine *e);   /* or NULL */

/* Whom a call with this model asks: where no adapter was named, the provider in
 * front of the model decides.  NULL: nobody. */
const struct registry_row *engine_row_for(const allm_engine *e,
                                          const char *model,
                                          const allm_model_ref *ref);
const allm_adapter *engine_adapter(const allm_engine *e);       /* or NULL */
const allm_engine_record *engine_record(const allm_engine *e);

/* Tools of the engine with those of the options: replaced in place by name,
 * the others appended.  False: no memory. */
bool engine_tools(const allm_engine *e, const struct options *o,
                  struct arena *a, size_t *count, const allm_tool *const **out);

/* Parameters with the options over them, engine fields left out; a value in
 * the arena.  NULL: no memory. */
const allm_json *engine_params(const allm_engine *e, const struct options *o,
                               struct arena *a);

/* The name of the model: the call's, the request's, or the engine's. */
const char *engine_model(const allm_engine *e, const struct options *o,
                         const char *of_request);

/* Read the engine's params as options into d, and fill in what o does not set;
 * the fields of a request are left to the caller (options_inherit_fields).
 * NULL, or the error. */
const allm_error *engine_defaults(const allm_engine *e, struct allm_home *home,
                                  struct options *o, struct options *d);

/* The id of a call: the caller's or a new one, in the arena.  NULL: no memory. */
const char *engine_request_id(const allm_engine *e, const struct options *o,
                              struct arena *a);

#endif
