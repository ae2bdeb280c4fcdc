/* target.h - which model is asked, and with which key */
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
 * The model that is asked for, of -m (or NULL), of ALLM_MODEL, or the first of
 * the catalog whose provider has a key.  END_DONE; else told, and how to end.
 */
int target_choose(struct target *t, const char *model);
void target_release(struct target *t);

/* Keys of the program: the environment, then a .env file. */
allm_keys *target_keys(void);
/* Is there a key for this provider, and where (or NULL)?  END_DONE or END_KEY;
 * else the .env file cannot be read: told, and how to end. */
int target_find_key(const allm_keys *keys, const char *provider,
                    const char **source);

#endif
