/* catalog_document.h - a catalog from a JSON document */
#ifndef ENGINE_CATALOG_DOCUMENT_H
#define ENGINE_CATALOG_DOCUMENT_H

#include "engine/catalog_parts.h"

struct catalog_model {
    allm_model_ref ref;
    const allm_json *aliases;
};

struct catalog_document {
    const allm_json *head;          /* the document */
    size_t count;
    struct catalog_model *models;   /* in the arena */
};

/* The models of a document that lives as long as the arena.  NULL, or what is
 * wrong. */
const allm_error *catalog_document_read(struct catalog_document *d,
                                        struct arena *a,
                                        const allm_json *document);

const allm_model_ref *catalog_document_find(const struct catalog_document *d,
                                            const struct catalog_spelling *s);

/* The first provider that begins at this model or later; false: there is none
 * any more. */
bool catalog_document_provider(const struct catalog_document *d, size_t from,
                               struct catalog_group *out);

#endif
