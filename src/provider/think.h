/* think.h - separate reasoning in <think> tags from the text */
#pragma once

#include "base/slice.h"

/*
 * Separates <think>...</think> from the rest of the text, even if a tag is
 * split.  It begins zeroed; the caller may set `inside` for servers that omit
 * the opening tag.  At most seven bytes are held back: the beginning of a tag.
 */
struct think {
    bool inside;
    size_t matched;             /* bytes of the tag received so far */
};

struct think_piece {
    struct slice text;          /* may be empty */
    bool thought;
};

/* Remove the next piece from the text; false: it is empty. */
bool think_next(struct think *t, struct slice *in, struct think_piece *out);

/* The bytes held back at the end of the text; false: none. */
bool think_end(struct think *t, struct think_piece *out);
