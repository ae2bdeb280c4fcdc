/*
 * read.h - the JSON reader: text to values in one pass
 *
 * Shared by read.c, which reads the structure, read_text.c, which reads
 * strings, and read_keys.c.  All other files use parse.h.
 */
#pragma once

#include "json/scan.h"
#include "json/val.h"
#include "json/where.h"

/* The limit of a document.  A value takes 16 bytes, so "0,0,0..." would become
 * eight times as long as its text. */
enum { READ_MOST_VALUES = 16 * 1024 * 1024 };

struct reading {
    struct arena *arena;
    struct slice text;          /* the caller's, never changed */
    size_t max_depth, max_values;
    bool duplicates;            /* equal keys: the first wins */
    bool loose;                 /* ...the last wins; odd strings are accepted */
    bool partial;               /* the text may be cut off anywhere */

    char *start, *end;          /* our copy, followed by SCAN_PADDING zeros */
    yyjson_val *vals;           /* a head, the root, its members */
    yyjson_val *next, *limit;   /* where the next one goes; the end */
    size_t depth;               /* of the open containers */
    size_t open;                /* index of the innermost, or 0 */
    char closer;                /* what ends it: } or ] or, if none, 0 */
    char *big_end;              /* end of a number text that needs its NUL */
    bool has_twins;             /* equal keys were seen, and allowed */
    bool mended;                /* keys that were not UTF-8 were repaired */

    bool cut;                   /* the text was cut off, which is allowed */
    bool no_memory;
    struct fault *fault;        /* the text is rejected if its word is set */
};

/* Start to read a text; the caller sets the options afterwards.  The members
 * are set one by one: clearing the whole struct takes as long as reading a
 * small document. */
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
 * Read.  The root is r->vals + 1, if that is before r->next: a partial text of
 * only white space has none.  False: no_memory, or a fault.
 */
bool read_document(struct reading *r);

/* The text is wrong at a position: it is rejected or, if that is its end, cut
 * off.  Returns NULL. */
char *read_wrong(struct reading *r, const char *at, const char *detail,
                 const char *expected);

/*
 * Read a string, from after its quote, that begins with plain characters up to
 * `at`.  Returns the position after the closing quote, or NULL like
 * read_wrong(); if the string was cut off, *v holds what is there.
 */
char *read_text_rest(struct reading *r, char *from, char *at, yyjson_val *v);

/* Make a key valid UTF-8.  False: no_memory. */
bool read_mend_key(struct reading *r, yyjson_val *key);

/* Make the repaired keys of an object distinct again; keys that were equal
 * before are left alone.  False: no_memory. */
bool read_settle_keys(struct reading *r, yyjson_val *object);
