/*
 * text.c - results that are bytes: the public allm_text
 *
 * The struct, its bytes and its error live in the text's own home: freeing the
 * text drops the home.  A text is unfinished, valid or failed; only a valid
 * one has bytes.
 */
#include "base/text.h"

#include "base/status.h"

struct allm_text {
    struct allm_home *home;
    struct slice bytes;         /* ptr is NULL unless the text is valid */
    const allm_error *error;
};

allm_text *text_begin(struct mem mem, size_t hint)
{
    size_t size;
    if (!mem_add(hint, sizeof(allm_text), &size))
        return NULL;
    struct allm_home *h = home_new(mem, size);
    if (!h)
        return NULL;
    allm_text *t = arena_zero(home_arena(h), sizeof *t);
    if (!t) {
        home_drop(h);
        return NULL;
    }
    t->home = h;
    return t;
}

struct arena *text_arena(allm_text *t)
{
    return t ? home_arena(t->home) : NULL;
}

allm_text *text_finish(allm_text *t, struct slice bytes)
{
    if (!t || t->error)
        return t;
    if (home_arena(t->home)->broken)
        return text_fail(t, status_nomem());
    t->bytes = bytes.ptr ? bytes : SLICE("");
    return t;
}

allm_text *text_fail(allm_text *t, const allm_error *error)
{
    if (!t)
        return NULL;
    t->error = error ? error : status_nomem();
    t->bytes = (struct slice){ NULL, 0 };
    return t;
}

const char *allm_text_bytes(const allm_text *t, size_t *len)
{
    struct slice bytes = t ? t->bytes : (struct slice){ NULL, 0 };
    if (len)
        *len = bytes.len;
    return bytes.ptr;
}

const allm_error *allm_text_error(const allm_text *t)
{
    return t ? t->error : status_nomem();
}

void allm_text_free(allm_text *t)
{
    if (t)
        home_drop(t->home);
}
