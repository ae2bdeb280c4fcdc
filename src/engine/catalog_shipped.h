/* catalog_shipped.h - the catalog that ships with the library, row by row */
#ifndef ENGINE_CATALOG_SHIPPED_H
#define ENGINE_CATALOG_SHIPPED_H

#include "engine/catalog_parts.h"

/* Rows that were read, one place for each of the table; any thread may read
 * one. */
struct catalog_shipped;

/* Lives in the arena, as what it reads does not: release it.  NULL: there is
 * no memory. */
struct catalog_shipped *catalog_shipped_new(struct arena *a);
void catalog_shipped_release(struct catalog_shipped *s);

size_t catalog_shipped_count(void);

/* The document without its models, read into the arena.  NULL: no memory. */
const allm_json *catalog_shipped_head(struct arena *a);

/* The row of a model; the count if there is none. */
size_t catalog_shipped_find(const struct catalog_spelling *s);

/* The model in a row below the count.  NULL: there is no memory. */
const allm_model_ref *catalog_shipped_at(struct catalog_shipped *s, size_t row);

/* The models of the provider with this number; false: there is none. */
bool catalog_shipped_provider(size_t number, struct catalog_group *out);

#endif
