/*
 * catalog_shipped.c - read the catalog that ships with the library, by row
 *
 * The table is constant data and costs nothing until it is used.  A name is
 * found by binary search.  A row is parsed when it is first used, and then
 * kept.  If two threads parse the same row at once, the first one stores it and
 * the other one discards its copy.
 */
#include "engine/catalog_shipped.h"

#include "base/home.h"
#include "engine/catalog_table.h"
#include "json/parse.h"

#include <stdatomic.h>

struct row {
    struct allm_home *home;     /* owns everything, this struct too */
    allm_model_ref ref;
};

struct catalog_shipped {
    struct mem mem;
    _Atomic(struct row *) *rows;
};

/* ------------------------------------------------------- construction --- */

struct catalog_shipped *catalog_shipped_new(struct arena *a)
{
    struct catalog_shipped *s = arena_alloc(a, sizeof *s);
    if (!s)
        return NULL;
    s->mem = a->mem;
    s->rows = arena_zero(a, catalog_rows_count * sizeof *s->rows);
    return s->rows ? s : NULL;
}

void catalog_shipped_release(struct catalog_shipped *s)
{
    for (size_t i = 0; s && i < catalog_rows_count; i++) {
        struct row *r = atomic_load(&s->rows[i]);
        if (r)
            home_drop(r->home);
    }
}

size_t catalog_shipped_count(void)
{
    return catalog_rows_count;
}

/* --------------------------------------------------------------- rows --- */

static struct slice text_at(uint32_t place)
{
    const char *text = (const char *)catalog_texts + place;
    return (struct slice){ text, strcspn(text, "\n") };
}

/* A text of the table as JSON.  If out of memory: NULL, and the arena is
 * broken. */
static const allm_json *read_json(struct arena *a, uint32_t place)
{
    struct slice text = text_at(place);
    if (!text.len)
        return NULL;
    const allm_json *v = json_parse_strict(a, text, NULL);
    a->broken |= !v;
    return v;
}

const allm_json *catalog_shipped_head(struct arena *a)
{
    return read_json(a, catalog_head);
}

static struct row *read_row(struct mem mem, const struct catalog_row *from)
{
    struct allm_home *home = home_new(mem, 1024);
    struct arena *a = home ? home_arena(home) : NULL;
    struct row *r = a ? arena_zero(a, sizeof *r) : NULL;
    if (!r) {
        home_drop(home);
        return NULL;
    }
    *r = (struct row){
        .home = home,
        .ref = { .size = sizeof r->ref,
                 .provider = arena_copy(a, text_at(from->provider)),
                 .id = arena_copy(a, text_at(from->id)),
                 .capabilities = read_json(a, from->capabilities),
                 .limits = read_json(a, from->limits),
                 .pricing = read_json(a, from->pricing),
                 .metadata = read_json(a, from->metadata) },
    };
    if (!a->broken)
        return r;
    home_drop(home);
    return NULL;
}

const allm_model_ref *catalog_shipped_at(struct catalog_shipped *s, size_t row)
{
    struct row *r = atomic_load(&s->rows[row]);
    if (r)
        return &r->ref;
    struct row *mine = read_row(s->mem, &catalog_rows[row]);
    if (!mine)
        return NULL;
    if (atomic_compare_exchange_strong(&s->rows[row], &r, mine))
        return &mine->ref;
    home_drop(mine->home);      /* r: another thread was faster */
    return &r->ref;
}

/* ------------------------------------------------------------- lookup --- */

static int compare_names(struct slice a, struct slice b)
{
    int order = memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);
    return order ? order : a.len < b.len ? -1 : a.len > b.len;
}

/* The first name that is not less than this one (lower bound). */
static size_t first_name(struct slice name)
{
    size_t low = 0, high = catalog_names_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (compare_names(text_at(catalog_names[mid].text), name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The first row with this name; if `provider` is set, only of that provider. */
static size_t row_of(struct slice name, struct slice provider, bool alias)
{
    if (!name.ptr)
        return catalog_rows_count;
    for (size_t i = first_name(name); i < catalog_names_count; i++) {
        const struct catalog_name *n = &catalog_names[i];
        if (!slice_eq(text_at(n->text), name))
            break;
        struct slice row_provider = text_at(catalog_rows[n->row].provider);
        if (n->alias == alias &&
            (!provider.ptr || slice_eq(row_provider, provider)))
            return n->row;
    }
    return catalog_rows_count;
}

static size_t lower_row(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The row of a name with its provider, in either reading. */
static size_t row_with_provider(const struct catalog_spelling *s, bool alias)
{
    return lower_row(row_of(s->id[0], s->provider[0], alias),
                     row_of(s->id[1], s->provider[1], alias));
}

size_t catalog_shipped_find(const struct catalog_spelling *s)
{
    const struct slice any = { NULL, 0 };
    size_t row = row_with_provider(s, false);
    if (row == catalog_rows_count)
        row = row_of(s->text, any, false);
    if (row == catalog_rows_count)
        row = lower_row(row_of(s->text, any, true), row_with_provider(s, true));
    return row;
}

bool catalog_shipped_provider(size_t number, struct catalog_group *out)
{
    if (number >= catalog_providers_count)
        return false;
    const struct catalog_provider *p = &catalog_providers[number];
    size_t end = number + 1 < catalog_providers_count ? p[1].first
                                                      : catalog_rows_count;
    *out = (struct catalog_group){ text_at(p->text), p->first, end - p->first,
                                   number + 1 };
    return true;
}
