/* model_table.h - filter models, and print them as a table */
#pragma once

#include "allm.h"

/* The models to show. */
struct model_filter {
    const char *provider;   /* NULL: any */
    const char *can;        /* "tools,vision"; NULL: anything */
    int count;
    char **words;           /* the name must contain all of them */
};

bool model_filter_fits(const struct model_filter *f, const allm_model_ref *m);
/* Does the name contain all the words? */
bool model_filter_matches_name(const struct model_filter *f, const char *name);

/* Does any model of the catalog have a capability or purpose of each name in
 * `can`?  If not, the first such name is copied to `word`. */
bool model_filter_check_can(const struct model_filter *f,
                            const allm_catalog *catalog, char word[64]);

/*
 * The caller first measures all models, then prints them: the columns are
 * aligned, and have titles on a terminal.
 */
struct model_table {
    int name, context, price;
};

void model_table_measure(struct model_table *t, const allm_model_ref *m);
void model_table_begin(const struct model_table *t);
void model_table_print(const struct model_table *t, const allm_model_ref *m);
