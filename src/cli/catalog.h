/* catalog.h - the catalog of models that the program uses */
#ifndef CLI_CATALOG_H
#define CLI_CATALOG_H

#include "allm.h"

/*
 * The catalog that ships with the library, under one of the user's own: the
 * file in ALLM_CATALOG, or allm/catalog.json below XDG_CONFIG_HOME (~/.config)
 * if there is such a file.  NULL: it cannot be read, and that was told.
 */
allm_catalog *catalog_open(void);

/* How many days ago its facts were true, by its date; < 0: not known.  The date
 * is written to `day`, "" if there is none. */
long catalog_age(const allm_catalog *catalog, char day[11]);

#endif
