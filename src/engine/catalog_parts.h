/* catalog_parts.h - types that the document and the shipped table share */
#pragma once

#include "allm.h"
#include "base/arena.h"

/* A model name, and its two possible readings: "provider:id", "id@provider". */
struct catalog_spelling {
    struct slice text;
    struct slice provider[2], id[2];    /* ptr is NULL if impossible */
};

/* Is it the name of this model, with its provider? */
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
    size_t next;                /* start of the next search */
};
