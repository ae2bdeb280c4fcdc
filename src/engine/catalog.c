/*
 * catalog.c - the capabilities and prices of models
 *
 * A catalog consists of a document, or of the table that ships with the
 * library, or of both; then the document is searched first.  A document is read
 * as a whole; a row of the table is read when it is first used.  A catalog is
 * immutable, so any number of threads may read it.
 */
#include "engine/catalog.h"

#include "base/home.h"
#include "base/status.h"
#include "engine/catalog_document.h"
#include "engine/catalog_shipped.h"
#include "json/json.h"

#include <stdint.h>

struct allm_catalog {
    struct allm_home *home;     /* owns everything, this struct too */
    const allm_error *error;
    struct catalog_document document;   /* empty if there is none */
    struct catalog_shipped *shipped;    /* or NULL */
    const allm_json *shipped_head;      /* the table's "updated", "same"... */
};

/* ------------------------------------------------------- construction --- */

static const allm_error *take_document(allm_catalog *c,
                                       const allm_json *document)
{
    struct arena *a = home_arena(c->home);
    const allm_error *why = allm_json_error(document);
    if (why)                    /* a text that is not valid JSON */
        return status_retell(a, why);
    const allm_json *mine = json_copy(a, document);
    return mine ? catalog_document_read(&c->document, a, mine) : status_nomem();
}

static void release_shipped(void *shipped)
{
    catalog_shipped_release(shipped);
}

static const allm_error *take_shipped(allm_catalog *c)
{
    struct arena *a = home_arena(c->home);
    c->shipped_head = catalog_shipped_head(a);
    c->shipped = catalog_shipped_new(a);
    return c->shipped_head && c->shipped &&
                   home_on_free(c->home, release_shipped, c->shipped)
               ? NULL
               : status_nomem();
}

static allm_catalog *catalog_make(const allm_json *document, bool shipped)
{
    struct allm_home *home = home_new(mem_default(), json_size(document));
    allm_catalog *c = home ? arena_zero(home_arena(home), sizeof *c) : NULL;
    if (!c) {
        home_drop(home);
        return NULL;
    }
    c->home = home;
    if (document)
        c->error = take_document(c, document);
    if (!c->error && shipped)
        c->error = take_shipped(c);
    if (c->error != status_nomem())
        return c;
    home_drop(home);
    return NULL;
}

allm_catalog *allm_catalog_new(const allm_json *document)
{
    return catalog_make(document, !document);
}

allm_catalog *allm_catalog_over(const allm_json *document)
{
    return catalog_make(document, true);
}

const allm_error *allm_catalog_error(const allm_catalog *c)
{
    return c ? c->error : status_nomem();
}

allm_catalog *allm_catalog_keep(const allm_catalog *c)
{
    if (c)
        home_keep(c->home);
    return (allm_catalog *)(uintptr_t)c;    /* only its home changes */
}

void allm_catalog_free(allm_catalog *c)
{
    if (c)
        home_drop(c->home);
}

/* ------------------------------------------------------------- lookup --- */

/* The provider whose models this one also has: "google" has those of
 * "gemini". */
static struct slice same_as(const allm_catalog *c, struct slice provider)
{
    const allm_json *own = json_at(c->document.head, "same");
    const allm_json *shipped = json_at(c->shipped_head, "same");
    struct slice other = json_slice(json_get(own, provider));
    if (!other.len)
        other = json_slice(json_get(shipped, provider));
    return other.len ? other : provider;
}

/* Split at the character at `i`; do nothing if either side is empty. */
static void split_spelling(const allm_catalog *c, struct catalog_spelling *s,
                           int way, size_t i)
{
    struct slice left = { s->text.ptr, i };
    struct slice right = slice_skip(s->text, i + 1);
    if (!left.len || !right.len)
        return;
    s->provider[way] = same_as(c, way ? right : left);
    s->id[way] = way ? left : right;
}

/* An id may contain a colon, as "llama3:8b" does, or an @; a provider never
 * does. */
static void read_spelling(const allm_catalog *c, struct catalog_spelling *s,
                          struct slice text)
{
    *s = (struct catalog_spelling){ .text = text };
    const char *colon = memchr(text.ptr, ':', text.len);
    if (colon)
        split_spelling(c, s, 0, (size_t)(colon - text.ptr));
    for (size_t i = text.len; i-- && !s->id[1].ptr;)
        if (text.ptr[i] == '@')
            split_spelling(c, s, 1, i);
}

bool catalog_find(const allm_catalog *c, const char *spelling,
                  const allm_model_ref **out)
{
    struct catalog_spelling s;
    struct slice text = slice_of(spelling);
    *out = NULL;
    if (!c || c->error || !text.len)
        return true;
    read_spelling(c, &s, text);
    *out = catalog_document_find(&c->document, &s);
    if (*out || !c->shipped)
        return true;
    size_t row = catalog_shipped_find(&s);
    if (row == catalog_shipped_count())
        return true;
    *out = catalog_shipped_at(c->shipped, row);
    return *out != NULL;
}

const allm_model_ref *allm_catalog_find(const allm_catalog *c,
                                        const char *spelling)
{
    const allm_model_ref *ref;
    catalog_find(c, spelling, &ref);
    return ref;
}

static size_t count_of(const allm_catalog *c)
{
    if (!c || c->error)
        return 0;
    return c->document.count + (c->shipped ? catalog_shipped_count() : 0);
}

const allm_model_ref *allm_catalog_at(const allm_catalog *c, size_t index)
{
    if (index >= count_of(c))
        return NULL;
    return index < c->document.count
               ? &c->document.models[index].ref
               : catalog_shipped_at(c->shipped, index - c->document.count);
}

/* A capability is supported if it is true, or an object that is enabled. */
static bool has_capability(const allm_model_ref *ref, const allm_json *what)
{
    const allm_json *v = json_get(ref->capabilities, json_slice(what));
    return allm_json_true(v) || allm_json_true(allm_json_get(v, "enabled"));
}

const allm_model_ref *allm_catalog_select(const allm_catalog *c,
                                          const allm_json *require, size_t from,
                                          size_t *index)
{
    const allm_model_ref *ref;
    for (size_t i = from; (ref = allm_catalog_at(c, i)); i++) {
        const allm_json *what = NULL;
        while ((what = allm_json_next(require, what)) &&
               has_capability(ref, what))
            ;
        if (what)
            continue;
        if (index)
            *index = i;
        return ref;
    }
    return NULL;
}

/* ------------------------------------------------------------ summary --- */

static void put_text(allm_json_build *b, const char *key, struct slice text)
{
    allm_json_build_key(b, key);
    if (text.ptr)
        allm_json_build_text(b, text.ptr, text.len);
    else
        allm_json_build_null(b);
}

static void put_number(allm_json_build *b, const char *key, size_t n)
{
    allm_json_build_key(b, key);
    allm_json_build_int(b, (int64_t)n);
}

static void put_group(allm_json_build *b, const struct catalog_group *g,
                      size_t before)
{
    allm_json_build_object(b);
    put_text(b, "name", g->provider);
    put_number(b, "first", before + g->first);
    put_number(b, "count", g->count);
    allm_json_build_end(b);
}

static void put_groups(allm_json_build *b, const allm_catalog *c)
{
    struct catalog_group g = { .next = 0 };
    while (catalog_document_provider(&c->document, g.next, &g))
        put_group(b, &g, 0);
    g.next = 0;
    while (c->shipped && catalog_shipped_provider(g.next, &g))
        put_group(b, &g, c->document.count);
}

/* A string of the document's head, or else of the table's. */
static struct slice head_text(const allm_catalog *c, const char *name)
{
    struct slice own = c ? json_text_at(c->document.head, name)
                         : (struct slice){ NULL, 0 };
    return own.ptr || !c ? own : json_text_at(c->shipped_head, name);
}

allm_json *allm_catalog_summary(const allm_catalog *c)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    put_text(b, "updated", head_text(c, "updated"));
    put_text(b, "source", head_text(c, "source"));
    put_number(b, "count", count_of(c));
    allm_json_build_key(b, "providers");
    allm_json_build_array(b);
    if (count_of(c))
        put_groups(b, c);
    allm_json_build_end(b);
    allm_json_build_end(b);
    return allm_json_build_done(b);
}
