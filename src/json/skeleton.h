/*
 * skeleton.h - a fast reader for documents similar to the previous one
 *
 * The events of a response are the same document over and over, except for a
 * string here and a number there.  A skeleton is made from one of them;
 * another one of the same shape is compared with it, and only the differences
 * are read.
 *
 * The result is what json_parse_loose() would return.  It is valid as long as
 * the arena lives, but only until the next use of the skeleton.
 */
#pragma once

#include "base/arena.h"
#include "json/json.h"

struct skeleton {
    struct skeleton_form *form;    /* NULL: none has been made */
    unsigned misses;            /* in a row */
    unsigned patience;          /* how many trigger a new skeleton */
};

void skeleton_init(struct skeleton *m);

/* Free the memory; the next document is treated as the first. */
void skeleton_forget(struct skeleton *m);

/* Like json_parse_loose().  The skeleton uses the same allocator as the
 * arena. */
const allm_json *skeleton_parse(struct skeleton *m, struct arena *a,
                                struct slice text, const allm_error **error);

/* Did the document that was read last fit? */
bool skeleton_fits(const struct skeleton *m);

/*
 * The next document may differ from the one that was read last only in the
 * string `text` and in the `count` values `others`, of which NULL is none.
 * False: it has differed elsewhere before, or the last one did not fit.
 */
bool skeleton_watch(struct skeleton *m, const allm_json *text,
                    const allm_json *const *others, size_t count);

/* The watched string of a document that differs only as skeleton_watch() says;
 * it is valid like a document.  False: use skeleton_parse(), which ends the
 * watch. */
bool skeleton_watched(const struct skeleton *m, struct arena *a,
                      struct slice text, struct slice *out);

/* Like json_view_init(), for an object of the document that was read last.
 * While documents fit, its keys are not visited again. */
void skeleton_view(struct skeleton *m, const allm_json *object,
                   struct json_view *out);
