/* model_table.h - models in a table: which, and how wide its columns are */
#ifndef CLI_MODEL_TABLE_H
#define CLI_MODEL_TABLE_H

#include "allm.h"

/* Which models are shown. */
struct model_filter {
    const char *provider;   /* NULL: any */
    const char *can;        /* "tools,vision"; NULL: anything */
    int count;
    char **words;           /* all of them in its name */
};

bool model_filter_fits(const struct model_filter *f, const allm_model_ref *m);
/* Are all these words in the name? */
bool model_filter_matches_name(const struct model_filter *f, const char *name);

/* Does any model of the catalog have a capability or purpose of each name in
 * `can`?  If not, the first such name is copied to `word`. */
bool model_filter_check_can(const struct model_filter *f,
                            const allm_catalog *catalog, char word[64]);
/* Does any model of the catalog belong to the filter's provider? */
bool model_filter_check_provider(const struct model_filter *f,
                                 const allm_catalog *catalog);

/*
 * First all rows that will be shown are measured, then they are printed: with
 * columns below each other, and their titles if it is for a terminal.
 */
struct model_table {
    int name, context, price;
};

void model_table_measure(struct model_table *t, const allm_model_ref *m);
void model_table_begin(const struct model_table *t);
void model_table_print(const struct model_table *t, const allm_model_ref *m);

#endif
