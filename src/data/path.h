/* path.h - the way from a document's root to a place in it */
#ifndef DATA_PATH_H
#define DATA_PATH_H

#include "base/buf.h"
#include "json/build.h"

/* Steps live on the stack of whoever walks the document. */
struct path {
    const struct path *outer;
    struct slice key;           /* ptr NULL: an index */
    size_t index;
};

#define PATH_KEY(outer_, name) { (outer_), slice_of(name), 0 }
#define PATH_INDEX(outer_, i)  { (outer_), { NULL, 0 }, (i) }

/*
 * As error pairs have it: one field name at the top level, else a list of
 * names and indices; always a list if `listed`.
 */
void path_write(struct build *b, const struct path *p, bool listed);

/* One pair [path, reason] into an array that is open. */
void path_write_pair(struct build *b, const struct path *p, bool listed,
                     const char *reason);

/* "/messages/0/role", for sentences. */
void path_spell(struct buf *out, const struct path *p);

#endif
