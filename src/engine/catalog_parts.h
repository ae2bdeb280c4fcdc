/* catalog_parts.h - what a document and the shipped table have in common */
#ifndef ENGINE_CATALOG_PARTS_H
#define ENGINE_CATALOG_PARTS_H

#include "allm.h"
#include "base/arena.h"

/* A name of a model, and how it may be read: "provider:id", "id@provider". */
struct catalog_spelling {
    struct slice text;
    struct slice provider[2], id[2];    /* ptr NULL: not in this way */
};

/* Is it this model's, with its provider? */
static inline bool catalog_spells(const struct catalog_spelling *s,
                                  struct slice provider, struct slice id)
{
    for (int i = 0; i < 2; i++)
        if (s->id[i].ptr && slice_eq(s->provider[i], provider) &&
            slice_eq(s->id[i], id))
            return true;
    return false;
}

/* The models of one provider. */
struct catalog_group {
    struct slice provider;
    size_t first, count;
    size_t next;                /* where to look for the next provider */
};

#endif
