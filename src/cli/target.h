/* target.h - choose the model and its key */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "allm.h"

struct target {
    char model[256]; /* "provider:id" */
    bool keyless; /* it works without a key */
    allm_keys *keys;
    allm_catalog *catalog;
};

/*
 * Choose the model: `model` (or NULL), else ALLM_MODEL, else the first of the
 * catalog whose provider has a key.  END_DONE, or an exit code after an error
 * was printed.
 */
int target_choose(struct target *t, const char *model);
void target_release(struct target *t);

/* The keys of the program: from the environment, then from ./.env. */
allm_keys *target_keys(void);
/* END_DONE if there is a key for this provider; *source (if not NULL) says
 * where.  END_KEY if there is none.  Else the .env file cannot be read: an
 * error was printed. */
int target_find_key(const allm_keys *keys, const char *provider,
                    const char **source);

#endif
