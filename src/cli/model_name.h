/* model_name.h - what the user's name of a model stands for */
#pragma once

#include "allm.h"

struct model_name {
    char name[256];     /* "provider:id" */
    char provider[64];  /* a known one, or the user's own */
    char like[64];      /* the known provider that it works like */
    const char *id;     /* in name */
    bool keyless;       /* that provider works without a key */
    bool foreign;       /* an alias of the project sets the address */
    allm_json *options; /* of the aliases, an object; NULL: none */
    const char *system; /* of the aliases; NULL: none */
};

/*
 * Resolve an alias, "provider:id", "provider/id" or the id of a model that only
 * one provider has.  END_DONE, or an exit code after an error was printed.
 */
int model_name_resolve(struct model_name *m, const char *text,
                       const allm_catalog *catalog);
/* Would an alias `name` for this model lead to itself? */
bool model_name_loops(const char *name, const char *model);
void model_name_release(struct model_name *m);

/* Does a pattern such as "openai:gpt-*" match the whole name? */
bool model_name_matches(const char *pattern, const char *name);
