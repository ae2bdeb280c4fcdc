/* path.h - the path from a document's root to a position in it */
#pragma once

#include "base/buf.h"
#include "json/build.h"

/* Steps live on the call stack of the code that walks the document. */
struct path {
    const struct path *outer;
    struct slice key;           /* ptr NULL: an index */
    size_t index;
};

#define PATH_KEY(outer_, name) { (outer_), slice_of(name), 0 }
#define PATH_INDEX(outer_, i)  { (outer_), { NULL, 0 }, (i) }

/*
 * The form of error pairs: one field name at the top level, otherwise a list
 * of names and indices; always a list if `listed`.
 */
void path_write(struct build *b, const struct path *p, bool listed);

/* Add one pair [path, reason] to an open array. */
void path_write_pair(struct build *b, const struct path *p, bool listed,
                     const char *reason);

/* "/messages/0/role", for messages. */
void path_spell(struct buf *out, const struct path *p);
