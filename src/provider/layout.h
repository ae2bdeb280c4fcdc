/*
 * layout.h - the order of the text and the calls in a response
 *
 * Some providers require that a response is sent back in its original order.
 * The layout, a list in provider_state, has a piece for each part of the
 * response; the piece of a text has the number of its bytes in the message.
 */
#pragma once

#include "allm.h"

enum layout_kind { LAYOUT_OTHER, LAYOUT_TEXT, LAYOUT_CALL };

/* The layout in the message's provider_state, if it is from the model of this
 * call; else NULL.  `name` is the dialect's name for the list. */
const allm_json *layout_of(const allm_call *call, const allm_message *m,
                           const char *name);

/* How many bytes of the text a piece represents. */
size_t layout_bytes(const allm_json *piece);

/* Does the layout match the text and the calls of the message?  `kind` is the
 * dialect's function for the kind of a piece. */
bool layout_fits(const allm_json *layout, const allm_message *m,
                 enum layout_kind (*kind)(const allm_json *piece));
