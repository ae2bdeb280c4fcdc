/* catalog_shipped.h - data/catalog.json, which the build turns into C */
#ifndef ENGINE_CATALOG_SHIPPED_H
#define ENGINE_CATALOG_SHIPPED_H

#include <stddef.h>

extern const unsigned char catalog_shipped[];
extern const size_t catalog_shipped_len;

#endif
