/* encode.h - structs as JSON text, by the table of their fields */
#ifndef DATA_ENCODE_H
#define DATA_ENCODE_H

#include "data/shape.h"
#include "json/emit.h"

/* One document being written. */
struct encoder {
    struct emit emit;           /* into `out`: an encoder stays in place */
    struct buf out;
    allm_text *text;            /* what will hold the document */
    struct arena *arena;        /* of the text: for errors */
    uint32_t form;              /* ALLM_FORM_* */
    const allm_error *error;    /* what could not be written; else NULL */
};

/* False: no memory. */
bool encode_begin(struct encoder *e, struct mem mem, uint32_t form);

/* Make room for what a struct will probably take, so that a long text need not
 * be moved as it grows. */
void encode_reserve(struct encoder *e, const struct shape *s,
                    const void *value);

/* The text; or a failed one that tells the error; NULL: no memory. */
allm_text *encode_finish(struct encoder *e);

/* A struct with (tagged form) or without its envelope; NULL writes null. */
void encode_value(struct encoder *e, const struct shape *s, const void *value);

/* The members of a struct alone, into an object that is already open. */
void encode_members(struct encoder *e, const struct shape *s,
                    const void *value);

/* Free-form JSON; in the plain form the envelopes inside are taken off. */
void encode_json(struct encoder *e, const allm_json *v);

void encode_text(struct encoder *e, const char *text);  /* NULL: null */

/*
 * A struct of ours as a value in the arena.  NULL with *error: it has no such
 * form, or no memory.
 */
const allm_json *encode_to_json(struct arena *a, const struct shape *s,
                                const void *value, uint32_t form,
                                const allm_error **error);

/* The `_json` function of every noun. */
allm_text *encode_to_text(const struct shape *s, const void *value,
                          uint32_t form);

#endif
