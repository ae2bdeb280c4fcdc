/* catalog_shipped.h - read the catalog that ships with the library, by row */
#pragma once

#include "engine/catalog_parts.h"

/* The rows that were read so far, a slot for each row of the table.  Any thread
 * may read one. */
struct catalog_shipped;

/* The struct is in the arena, but the rows are not, so it must be released.
 * NULL: out of memory. */
struct catalog_shipped *catalog_shipped_new(struct arena *a);
void catalog_shipped_release(struct catalog_shipped *s);

size_t catalog_shipped_count(void);

/* The document without its models, in the arena.  NULL: out of memory. */
const allm_json *catalog_shipped_head(struct arena *a);

/* The row of a model, or the number of rows if there is none. */
size_t catalog_shipped_find(const struct catalog_spelling *s);

/* The model in a row, which must be below the count.  NULL: out of memory. */
const allm_model_ref *catalog_shipped_at(struct catalog_shipped *s, size_t row);

/* The models of the provider with this index; false if there is none. */
bool catalog_shipped_provider(size_t number, struct catalog_group *out);
