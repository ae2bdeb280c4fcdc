/* catalog_document.h - a catalog from a JSON document */
#pragma once

#include "engine/catalog_parts.h"

struct catalog_model {
    allm_model_ref ref;
    const allm_json *aliases;
};

struct catalog_document {
    const allm_json *head;          /* the whole document */
    size_t count;
    struct catalog_model *models;   /* in the arena */
};

/* Read the models of a document that lives as long as the arena.  Returns NULL,
 * or an error. */
const allm_error *catalog_document_read(struct catalog_document *d,
                                        struct arena *a,
                                        const allm_json *document);

const allm_model_ref *catalog_document_find(const struct catalog_document *d,
                                            const struct catalog_spelling *s);

/* The first provider whose first model has this index or a higher one; false if
 * there is none. */
bool catalog_document_provider(const struct catalog_document *d, size_t from,
                               struct catalog_group *out);
