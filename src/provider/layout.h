/*
 * layout.h - in which order text and calls of an answer stood
 *
 * Some providers want an answer back in the order in which they gave it.  The
 * layout, a list in provider_state, has a piece for each of its parts; of a
 * text it tells how many bytes of the message's stand there.
 */
#ifndef PROVIDER_LAYOUT_H
#define PROVIDER_LAYOUT_H

#include "allm.h"

enum layout_kind { LAYOUT_OTHER, LAYOUT_TEXT, LAYOUT_CALL };

/* The layout in the message's provider_state, if the model of this call made
 * it; else NULL.  `name` is the dialect's name for the list. */
const allm_json *layout_of(const allm_call *call, const allm_message *m,
                           const char *name);

/* How many bytes of the text a piece stands for. */
size_t layout_bytes(const allm_json *piece);

/* Does the layout still tell where text and calls of the message stand?  A
 * dialect knows the kind of a piece. */
bool layout_fits(const allm_json *layout, const allm_message *m,
                 enum layout_kind (*kind)(const allm_json *piece));

#endif
