/*
 * catalog_table.h - data/catalog.json, which the build turns into tables
 *
 *      names (sorted)       rows (as in the document)        texts
 *      { text, row } -----> { id, provider, limits, ... } -> {"context":...}\n
 *
 * A number called text, id, limits and so on is a place in catalog_texts: a
 * text begins there and ends at a line feed.  Texts that are alike are there
 * once; an empty one means that the document has none.
 *
 * Invariants
 *   (1) Names are in the order of their bytes; equal ones in that of `alias`,
 *       then of `row`.
 *   (2) The models of a provider stand together.
 */
#ifndef ENGINE_CATALOG_TABLE_H
#define ENGINE_CATALOG_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct catalog_row {
    uint32_t id, provider, capabilities, limits, pricing, metadata;
};

struct catalog_name {
    uint32_t text;
    uint16_t row, alias;        /* alias: 0 for an id, else 1 */
};

struct catalog_provider {
    uint32_t text, first;       /* first: a row */
};

extern const struct catalog_row catalog_rows[];
extern const struct catalog_name catalog_names[];
extern const struct catalog_provider catalog_providers[];
extern const size_t catalog_rows_count, catalog_names_count,
    catalog_providers_count;

extern const uint32_t catalog_head;     /* the document without its models */
extern const unsigned char catalog_texts[];

#endif
