/* encode.h - write structs as JSON, by the table of their fields */
#pragma once

#include "data/shape.h"
#include "json/emit.h"

/* The state of writing a document. */
struct encoder {
    struct emit emit;           /* into `out`: an encoder must not be moved */
    struct buf out;
    allm_text *text;            /* will hold the document */
    struct arena *arena;        /* of the text: for errors */
    allm_form form;              /* ALLM_FORM_* */
    const allm_error *error;    /* why it cannot be written, or NULL */
};

/* False: out of memory. */
bool encode_begin(struct encoder *e, struct mem mem, allm_form form);

/* Reserve what a struct will probably need, so a long text is not moved while
 * it grows. */
void encode_reserve(struct encoder *e, const struct shape *s,
                    const void *value);

/* The text; a failed one with the error; or NULL: out of memory. */
allm_text *encode_finish(struct encoder *e);

/* A struct with (tagged form) or without its envelope; NULL writes null. */
void encode_value(struct encoder *e, const struct shape *s, const void *value);

/* Only the members of a struct, into an object that is already open. */
void encode_members(struct encoder *e, const struct shape *s,
                    const void *value);

/* Free-form JSON; in the plain form the envelopes inside are removed. */
void encode_json(struct encoder *e, const allm_json *v);

void encode_text(struct encoder *e, const char *text);  /* NULL: null */

/*
 * A struct of ours as a value in the arena.  NULL with *error: it has no such
 * form, or out of memory.  `error` may be NULL.
 */
const allm_json *encode_to_json(struct arena *a, const struct shape *s,
                                const void *value, allm_form form,
                                const allm_error **error);

/* The same as text, at the end of a text that the caller writes.  NULL, or why
 * it has no such form (in the arena); a lack of memory shows as a broken
 * buffer. */
const allm_error *encode_to_emit(struct emit *out, struct arena *a,
                                 const struct shape *s, const void *value,
                                 allm_form form);

/* Implements the `_json` function of every type. */
allm_text *encode_to_text(const struct shape *s, const void *value,
                          allm_form form);
