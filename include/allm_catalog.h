/*
 * allm_catalog.h - what models can do and cost, and which providers exist
 *
 *    1  Catalog               models, capabilities, prices
 *    2  Providers             the providers known by name
 *    3  Models                the models that a server offers
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

/*
 * Models with their capabilities, limits and prices.  A catalog is optional:
 * without one every model is accepted, and so is a model that it does not
 * know.  Any number of threads may use a catalog.
 */
typedef struct allm_catalog allm_catalog;

/*
 * Creates a catalog from a JSON document in the form of data/catalog.json.
 * NULL: the catalog that ships with the library; its models are read when they
 * are looked up.
 */
ALLM_API allm_catalog *allm_catalog_new(const allm_json *document);
/*
 * Creates a catalog that looks in this document first, then in the one that
 * ships with the library.
 */
ALLM_API allm_catalog *allm_catalog_over(const allm_json *document);
/* Why the document was rejected, or NULL. */
ALLM_API const allm_error *allm_catalog_error(const allm_catalog *);
/* Adds a reference, or drops one. */
ALLM_API allm_catalog *allm_catalog_keep(const allm_catalog *);
ALLM_API void allm_catalog_free(allm_catalog *);
/*
 * Finds a model by any of its spellings.  NULL: not found, or out of memory.
 * The result is borrowed from the catalog.
 */
ALLM_API const allm_model_ref *allm_catalog_find(const allm_catalog *,
                                                 const char *spelling);
/* The model at this index, borrowed; NULL after the last one. */
ALLM_API const allm_model_ref *allm_catalog_at(const allm_catalog *, size_t);
/*
 * The first model from index `from` on that has all the capabilities of a list
 * such as ["tools", "vision"], borrowed; *index is its index.  NULL: there is
 * none.
 */
ALLM_API const allm_model_ref *allm_catalog_select(const allm_catalog *,
                                                   const allm_json *require,
                                                   size_t from, size_t *index);
/*
 * A summary of the catalog; the caller frees it.  An object { "updated" (the
 * date of its data, or null), "source", "count", "providers": [{ "name",
 * "first" (the index of its first model, the default), "count" }] }, in the
 * order of the catalog.
 */
ALLM_API allm_json *allm_catalog_summary(const allm_catalog *);

/* --------------------------------------------------------- 2  Providers --- */

/*
 * The providers known by name, an array of objects; the caller frees it.
 *
 *   name                the name, as in "openai:gpt-4o"
 *   dialect             the name of its adapter
 *   base_url            or null: the caller must give one
 *   base_url_variable   the environment variable for it, or null
 *   keyless             true: works without a key
 *   http                false: nothing is sent
 *   schema_provider     null; or this provider ignores response_format, and
 *                       the one named here reaches the same server by a
 *                       dialect that does not
 *   embed_inputs        the texts that a request for embeddings may have, or
 *                       null: it has no embeddings
 *   embed_bytes         the bytes that they may have together, or null
 */
ALLM_API allm_json *allm_registry_list(void);

/* ------------------------------------------------------------ 3  Models --- */

/*
 * Requests the list of models from the engine's provider or server.  A stream
 * without events, like that of allm_embed().  A model is not needed: the
 * engine's adapter, or its model, selects the provider.
 */
ALLM_API allm_stream *allm_models(const allm_engine *, const allm_call_opts *);
/*
 * The models: [{ "id", "raw" (as the provider describes it) }], borrowed from
 * the stream.  NULL until it has ended with ALLM_OK.
 */
ALLM_API const allm_json *allm_stream_models(const allm_stream *);

#ifdef __cplusplus
}
#endif
#endif
