/* think.h - reasoning that a model writes into its text, between tags */
#ifndef PROVIDER_THINK_H
#define PROVIDER_THINK_H

#include "base/slice.h"

/*
 * <think>...</think>, told apart from the answer wherever the tags are cut.
 * Zeroed at first; `inside` may be set then, for servers that swallow the
 * opening tag.  At most seven bytes are held back: the beginning of a tag.
 */
struct think {
    bool inside;
    size_t matched;             /* bytes of the tag that came already */
};

struct think_piece {
    struct slice text;          /* may be empty */
    bool thought;
};

/* Take a piece off the text; false: it is used up. */
bool think_next(struct think *t, struct slice *in, struct think_piece *out);

/* What is held at the end; false: nothing. */
bool think_end(struct think *t, struct think_piece *out);

#endif
