/* catalog.h - open the catalog of models, and compute its age */
#pragma once

#include "allm.h"

/*
 * The shipped catalog, overridden by the user's: the file in ALLM_CATALOG, or
 * allm/catalog.json below XDG_CONFIG_HOME (~/.config) if that file exists.
 * NULL: it cannot be read; an error was printed.
 */
allm_catalog *catalog_open(void);

/* Does it have a model of this provider? */
bool catalog_has(const allm_catalog *catalog, const char *provider);

/* The age of the catalog in days; < 0: unknown.  The date is written to `day`,
 * "" if there is none. */
long catalog_age(const allm_catalog *catalog, char day[11]);
