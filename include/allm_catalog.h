/*
 * allm_catalog.h - what models can do and cost; providers
 *
 *    1  Catalog               models, capabilities, prices
 *    2  Providers             that are known by name
 *    3  Models                what a server says that it offers
 */
#ifndef ALLM_CATALOG_H
#define ALLM_CATALOG_H

#include "allm_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Declared by later chapters. */
typedef struct allm_call_opts allm_call_opts;
typedef struct allm_stream allm_stream;

/* ----------------------------------------------------------- 1  Catalog --- */

typedef struct allm_catalog allm_catalog;

/*
 * Models with capabilities, limits and prices, from a JSON document of the
 * form of data/catalog.json (NULL: that one, which ships with the library; of
 * it only those models are read that are asked for).  Optional: without one
 * every model passes, and one it does not know, too.  Any number of threads may
 * use it.
 */
ALLM_API allm_catalog *allm_catalog_new(const allm_json *document);
/* The document over the one that ships: its models come first, and what it does
 * not have is looked for there. */
ALLM_API allm_catalog *allm_catalog_over(const allm_json *document);
ALLM_API const allm_error *allm_catalog_error(const allm_catalog *);
ALLM_API allm_catalog *allm_catalog_keep(const allm_catalog *);
ALLM_API void allm_catalog_free(allm_catalog *);
/* By any spelling; NULL if it is not there, or no memory.  Lent by the
 * catalog. */
ALLM_API const allm_model_ref *allm_catalog_find(const allm_catalog *,
                                                 const char *spelling);
ALLM_API const allm_model_ref *allm_catalog_at(const allm_catalog *, size_t);
/* The first model from `from` on that has all these capabilities, a list such
 * as ["tools", "vision"]; *index is its place.  NULL: there is none. */
ALLM_API const allm_model_ref *allm_catalog_select(const allm_catalog *,
                                                   const allm_json *require,
                                                   size_t from, size_t *index);
/* { "updated" (the day of its facts, or null), "source", "count", "providers":
 * [{ "name", "first" (the place of its first model, its default), "count" }] },
 * in the catalog's order. */
ALLM_API allm_json *allm_catalog_summary(const allm_catalog *);

/* --------------------------------------------------------- 2  Providers --- */

/* The providers that are known by name, an array of { "name", "dialect" (the
 * adapter's name), "base_url" (or null: yours), "base_url_variable" (or null),
 * "keyless" (works without a key), "http" (false: nothing is sent),
 * "schema_provider" (null; or it ignores response_format, and this provider
 * asks the same server by a dialect that does not) }. */
ALLM_API allm_json *allm_registry_list(void);

/* ------------------------------------------------------------ 3  Models --- */

/* What the engine's provider, or its server, says that it offers: a stream
 * without events, as allm_embed() gives one.  A model is not needed: the
 * engine's adapter, or its model, tells whom to ask. */
ALLM_API allm_stream *allm_models(const allm_engine *, const allm_call_opts *);
/* [{ "id", "raw" (as the provider describes it) }], lent by the stream; NULL
 * until it has ended with ALLM_OK. */
ALLM_API const allm_json *allm_stream_models(const allm_stream *);

#ifdef __cplusplus
}
#endif
#endif
