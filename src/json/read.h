/*
 * read.h - the reader: a text becomes values, in one pass
 *
 * Shared by read.c, which knows the structure, read_text.c, which knows what
 * stands between quotes, and read_keys.c.  Others go by parse.h.
 */
#ifndef JSON_READ_H
#define JSON_READ_H

#include "json/scan.h"
#include "json/val.h"
#include "json/where.h"

/* Of a document.  A value takes 16 bytes, so that "0,0,0..." would become eight
 * times as long as it was. */
enum { READ_MOST_VALUES = 16 * 1024 * 1024 };

struct reading {
    struct arena *arena;
    struct slice text;          /* the caller's, never changed */
    size_t max_depth, max_values;
    bool duplicates;            /* equal keys: the first wins */
    bool loose;                 /* ...the last does; odd texts are taken */
    bool partial;               /* the text may stop anywhere */

    char *start, *end;          /* our copy; SCAN_PADDING zeros behind it */
    yyjson_val *vals;           /* a head, the root, its members */
    yyjson_val *next, *limit;   /* where the next one goes, and none */
    size_t depth;               /* of the open containers */
    size_t open;                /* index of the innermost, or 0 */
    char closer;                /* what ends it: } or ] or, if none, 0 */
    char *big_end;              /* a number kept as text still needs its NUL */
    bool has_twins;             /* equal keys were seen, and allowed */
    bool mended;                /* keys were not UTF-8, and are now */

    bool cut;                   /* the text stopped, as it may */
    bool no_memory;
    struct fault *fault;        /* its word is set: the text is refused */
};

/* Begin to read a text; how it is read is set afterwards.  Field by field: to
 * clear a struct as a whole takes as long as to read a small document. */
static inline void read_init(struct reading *r, struct arena *arena,
                             struct slice text, struct fault *fault)
{
    r->arena = arena;
    r->text = text;
    r->max_values = READ_MOST_VALUES;
    r->start = r->end = r->big_end = NULL;
    r->vals = r->next = r->limit = NULL;
    r->depth = r->open = 0;
    r->closer = '\0';
    r->has_twins = r->mended = r->cut = r->no_memory = false;
    r->fault = fault;
    fault->word = NULL;
}

/*
 * Read.  The root is r->vals + 1, if it is before r->next: there is none when a
 * partial text is but white space.  False: no_memory, or a fault.
 */
bool read_document(struct reading *r);

/* The text is wrong at a place: refused; or if that is its end, it is cut.
 * Gives NULL. */
char *read_wrong(struct reading *r, const char *at, const char *detail,
                 const char *expected);

/*
 * Read a text, from behind its quote, that begins with plain characters up to
 * `at`.  Gives the place behind the closing quote, or NULL as read_wrong();
 * of a text that was cut, *v holds what is there.
 */
char *read_text_rest(struct reading *r, char *from, char *at, yyjson_val *v);

/* Make a key UTF-8.  False: no_memory. */
bool read_mend_key(struct reading *r, yyjson_val *key);

/* Make the keys of an object differ again that were made UTF-8; those that were
 * equal before are left to others.  False: no_memory. */
bool read_settle_keys(struct reading *r, yyjson_val *object);

#endif
