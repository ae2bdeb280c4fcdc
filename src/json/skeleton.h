/*
 * skeleton.h - read documents that are like the one before
 *
 * The events of an answer are the same document over and over, but for a text
 * here and a number there.  A skeleton is made of one of them; another that has
 * its shape is compared with it, and only what differs is read.
 *
 * What comes out is what json_parse_loose() would give, and lives as long as
 * the arena, but no longer than until the skeleton is next asked or forgets.
 */
#ifndef JSON_SKELETON_H
#define JSON_SKELETON_H

#include "base/arena.h"

struct skeleton {
    struct skeleton_form *form;    /* NULL: none is made */
    unsigned misses;            /* in a row */
    unsigned patience;          /* how many there must be for a new one */
};

void skeleton_init(struct skeleton *m);

/* Give the memory back; the next document is the first again. */
void skeleton_forget(struct skeleton *m);

/* As json_parse_loose().  What is kept is of the same memory as the arena. */
const allm_json *skeleton_parse(struct skeleton *m, struct arena *a,
                                struct slice text, const allm_error **error);

#endif
