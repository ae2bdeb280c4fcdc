/* path.c - the path from a document's root to a position in it */
#include "data/path.h"

enum { DEEPEST = 64 };          /* structs are nested less deeply than this */

void path_write(struct build *b, const struct path *p, bool listed)
{
    const struct path *chain[DEEPEST];
    size_t n = 0;
    for (; p && n < DEEPEST; p = p->outer)
        chain[n++] = p;
    if (n == 1 && chain[0]->key.ptr && !listed) {
        build_text_copy(b, chain[0]->key);
        return;
    }
    build_array(b);
    while (n--) {
        if (chain[n]->key.ptr)
            build_text_copy(b, chain[n]->key);
        else
            build_uint(b, chain[n]->index);
    }
    build_end(b);
}

void path_write_pair(struct build *b, const struct path *p, bool listed,
                     const char *reason)
{
    build_array(b);
    path_write(b, p, listed);
    build_text(b, slice_of(reason));
    build_end(b);
}

void path_spell(struct buf *out, const struct path *p)
{
    const struct path *chain[DEEPEST];
    size_t n = 0;
    for (; p && n < DEEPEST; p = p->outer)
        chain[n++] = p;
    while (n--) {
        buf_byte(out, '/');
        if (chain[n]->key.ptr)
            buf_add(out, chain[n]->key);
        else
            buf_uint(out, chain[n]->index);
    }
}
