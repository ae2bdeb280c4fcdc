/*
 * think.c - separate reasoning in <think> tags from the text
 *
 * The bytes held back are always the beginning of the expected tag, so their
 * number is enough.  The first character of a tag does not occur in it again,
 * so after a mismatch the search can restart at the current byte.
 */
#include "provider/think.h"

static struct slice tag_of(const struct think *t)
{
    return t->inside ? SLICE("</think>") : SLICE("<think>");
}

/* The beginning of a tag turned out to be text. */
static bool release_text(struct think *t, struct think_piece *out)
{
    *out = (struct think_piece){ { tag_of(t).ptr, t->matched }, t->inside };
    t->matched = 0;
    return true;
}

/* Match the text with the tag; false: they differ, or the text ended. */
static bool tag_match(struct think *t, struct slice *in)
{
    struct slice tag = tag_of(t);
    while (in->len && t->matched < tag.len && *in->ptr == tag.ptr[t->matched]) {
        t->matched++;
        *in = slice_skip(*in, 1);
    }
    return t->matched == tag.len;
}

bool think_next(struct think *t, struct slice *in, struct think_piece *out)
{
    while (in->len) {
        if (t->matched || *in->ptr == '<') {
            if (tag_match(t, in)) {
                t->inside = !t->inside;
                t->matched = 0;
            } else if (in->len) {
                return release_text(t, out);
            }
            continue;
        }
        const char *next = memchr(in->ptr, '<', in->len);
        size_t n = next ? (size_t)(next - in->ptr) : in->len;
        *out = (struct think_piece){ { in->ptr, n }, t->inside };
        *in = slice_skip(*in, n);
        return true;
    }
    return false;
}

bool think_end(struct think *t, struct think_piece *out)
{
    return t->matched && release_text(t, out);
}
