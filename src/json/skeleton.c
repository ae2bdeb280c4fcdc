/*
 * skeleton.c - a fast reader for documents similar to the previous one
 *
 *      skeleton    {"id": "a", "text": "Hello", "n": 1}
 *                           compare |holes|  compare
 *      another  {"id": "a", "text": " world", "n": 2}
 *
 * The values of another document are a copy of the skeleton's, except for the
 * holes: strings and numbers that have been seen to differ.  The text of a
 * hole is read as a document of its own.
 *
 * Invariants
 *   (1) If two documents are equal except in the holes, and each hole contains
 *       again a string or a number, both are JSON of the same shape.
 *   (2) Keys, literals and brackets are never holes: a difference there is a
 *       miss, and the document is read by the ordinary reader.
 *   (3) Therefore an object of the document has its keys at the same distances
 *       as the same object of the skeleton, and one view serves both.
 *   (4) A document that differs only in the watched holes is equal to the last
 *       one but for these, so its other values need not be read.
 *   (5) After `patience` misses in a row a new skeleton is made.  Each
 *       skeleton that fits nothing increases the patience.
 */
#include "json/skeleton.h"

#include "json/parse.h"
#include "json/val.h"

#include <stdint.h>

enum {
    LONGEST = 4096, HOLES = 8, VIEWS = 4, MOST_PATIENCE = 64,
    FIRST_PATIENCE = 2          /* an answer of two events needs no skeleton */
};

struct token {
    uint16_t at, end;           /* position in the text */
    bool hole;                  /* it can be a hole */
};

/* The view of an object, whose distance from the root is `at` values. */
struct known_view {
    size_t at;
    struct json_view view;
};

struct skeleton_form {
    struct arena arena;         /* owns all of this */
    struct slice text;          /* the document it was made from */
    const allm_json *value;     /* ...as a value */
    struct token *token;        /* one for each value, in order */
    size_t count;
    size_t hole[HOLES];         /* indices of tokens that differ, ascending */
    size_t hole_count;
    const allm_json *last;      /* the document that was read by it; or NULL */
    struct known_view known[VIEWS];
    size_t known_count;
    size_t watched;             /* the value to be read; 0, the root: none */
    bool whole;                 /* all tokens were found: it is usable */
};

void skeleton_init(struct skeleton *m)
{
    *m = (struct skeleton){ .patience = FIRST_PATIENCE };
}

void skeleton_forget(struct skeleton *m)
{
    if (m->form) {
        struct arena all = m->form->arena;
        arena_release(&all);
    }
    m->form = NULL;
    m->misses = 0;
}

/* ------------------------------------------------------------- tokens --- */

static bool is_digit(char c)
{
    return (c >= '0' && c <= '9') || c == '-';
}

/* A string, from its quote, without a backslash; 0: it has one, or no end. */
static size_t plain_length(struct slice s)
{
    const char *end = s.len > 1 ? memchr(s.ptr + 1, '"', s.len - 1) : NULL;
    size_t n = end ? (size_t)(end - s.ptr) : 0;
    return n && !memchr(s.ptr, '\\', n) ? n + 1 : 0;
}

/* A string, from its quote; 0: it has no end. */
static size_t text_length(struct slice s)
{
    size_t n = 1;
    for (; n < s.len && s.ptr[n] != '"'; n++)
        n += s.ptr[n] == '\\';
    return n < s.len ? n + 1 : 0;
}

/* Can this character follow a value? */
static bool ends_value(char c)
{
    return c == ',' || c == '}' || c == ']' || slice_space(c);
}

/* A number or a literal. */
static size_t word_length(struct slice s)
{
    size_t n = 0;
    while (n < s.len && !ends_value(s.ptr[n]))
        n++;
    return n;
}

static size_t token_length(struct slice s)
{
    if (*s.ptr == '{' || *s.ptr == '[')
        return 1;
    return *s.ptr == '"' ? text_length(s) : word_length(s);
}

/* Skip what is between tokens. */
static struct slice skip_between(struct slice s)
{
    while (s.len && (ends_value(*s.ptr) || *s.ptr == ':'))
        s = slice_skip(s, 1);
    return s;
}

static bool is_key(struct slice behind)
{
    while (behind.len && slice_space(*behind.ptr))
        behind = slice_skip(behind, 1);
    return behind.len && *behind.ptr == ':';
}

/* Find the token of each value.  False: a value has none, or shares one, since
 * only one of several equal keys is kept. */
static bool find_tokens(struct skeleton_form *f)
{
    struct slice rest = f->text;
    for (size_t i = 0; i < f->count; i++) {
        rest = skip_between(rest);
        size_t len = rest.len ? token_length(rest) : 0;
        if (!len)
            return false;
        char first = *rest.ptr;
        size_t at = f->text.len - rest.len;
        rest = slice_skip(rest, len);
        f->token[i] = (struct token){
            (uint16_t)at, (uint16_t)(at + len),
            is_digit(first) || (first == '"' && !is_key(rest))
        };
    }
    return !skip_between(rest).len;
}

/* ------------------------------------------------------------- making --- */

/* An empty form for a text; NULL: out of memory. */
static struct skeleton_form *make_form(struct mem mem, size_t len)
{
    struct arena a;
    size_t values = len / 6 + 16;
    arena_init_sized(&a, mem,
                     sizeof(struct skeleton_form) + 2 * len + 64 +
                         values * (sizeof(yyjson_val) + sizeof(struct token)));
    struct skeleton_form *f = arena_zero(&a, sizeof *f);
    if (f)
        f->arena = a;
    return f;
}

/* Read a document and make a skeleton from it.  NULL: use the ordinary
 * reader. */
static const allm_json *learn(struct skeleton *m, struct mem mem,
                              struct slice text)
{
    skeleton_forget(m);
    struct skeleton_form *f = m->form = make_form(mem, text.len);
    if (!f)
        return NULL;
    f->value = json_parse_loose(&f->arena, text, NULL);
    const char *mine = arena_copy(&f->arena, text);
    if (!f->value || !mine)
        return f->value;
    f->text = (struct slice){ mine, text.len };
    f->count = val_span(val_of(f->value));
    f->token = arena_alloc(&f->arena, f->count * sizeof *f->token);
    f->whole = f->token && find_tokens(f);
    return f->value;
}

/* ------------------------------------------------------------ filling --- */

/* In loose reading, only a backslash makes a string differ from its bytes. */
static bool fill_plain(struct arena *a, struct slice text, yyjson_val *v)
{
    v->tag = val_text_tag(text.len);
    v->uni.str = arena_copy(a, text);
    return v->uni.str != NULL;
}

static bool fill_any(struct arena *a, struct slice token, yyjson_val *v)
{
    const allm_json *read = json_parse_loose(a, token, NULL);
    if (read)
        *v = *val_of(read);
    return read != NULL;
}

/* Read the text of a hole; returns its length, or 0 if it does not fit. */
static size_t fill_hole(struct arena *a, struct slice rest, char first,
                        yyjson_val *v)
{
    bool text = first == '"';
    if (!rest.len || (text ? *rest.ptr != '"' : !is_digit(*rest.ptr)))
        return 0;
    size_t len = text ? plain_length(rest) : 0;
    if (len)
        return fill_plain(a, (struct slice){ rest.ptr + 1, len - 2 }, v) ? len
                                                                         : 0;
    len = text ? text_length(rest) : word_length(rest);
    return len && fill_any(a, (struct slice){ rest.ptr, len }, v) ? len : 0;
}

/* The token at a position; the position after a number belongs to it, too,
 * since it may continue. f->count: none. */
static size_t token_at(const struct skeleton_form *f, size_t at)
{
    size_t i = f->count;
    while (i > 0 && f->token[i - 1].at > at)
        i--;
    if (i == 0)
        return f->count;
    const struct token *t = &f->token[--i];
    return at < t->end || (at == t->end && is_digit(f->text.ptr[t->at]))
               ? i
               : f->count;
}

/* The documents differ here: make it a hole.  False: it cannot be one. */
static bool add_hole(struct skeleton_form *f, size_t at)
{
    size_t i = token_at(f, at), n = f->hole_count;
    if (i == f->count || !f->token[i].hole || n == HOLES)
        return false;
    while (n > 0 && f->hole[n - 1] > i)
        n--;
    if (n > 0 && f->hole[n - 1] == i)
        return false;
    memmove(&f->hole[n + 1], &f->hole[n],
            (f->hole_count - n) * sizeof *f->hole);
    f->hole[n] = i;
    f->hole_count++;
    return true;
}

/* Are these bytes of the skeleton next in the document?  Otherwise *at is the
 * position where they differ. */
static bool is_next(const struct skeleton_form *f, size_t *at, size_t end,
                    struct slice *rest)
{
    size_t len = end - *at;
    if (len <= rest->len && !memcmp(f->text.ptr + *at, rest->ptr, len)) {
        *at = end;
        *rest = slice_skip(*rest, len);
        return true;
    }
    while (rest->len && f->text.ptr[*at] == *rest->ptr) {
        *rest = slice_skip(*rest, 1);
        ++*at;
    }
    return false;
}

/* Fill the copy of the skeleton's values with the holes of a document.  False:
 * it differs from the skeleton at position *at. */
static bool fill_holes(const struct skeleton_form *f, struct arena *a,
                       struct slice rest, yyjson_val *vals, size_t *at)
{
    *at = 0;
    for (size_t i = 0; i < f->hole_count; i++) {
        const struct token *t = &f->token[f->hole[i]];
        if (!is_next(f, at, t->at, &rest))
            return false;
        size_t len = fill_hole(a, rest, f->text.ptr[*at], &vals[f->hole[i]]);
        if (!len)
            return false;
        rest = slice_skip(rest, len);
        *at = t->end;
    }
    return is_next(f, at, f->text.len, &rest) && !rest.len;
}

/* The document read by means of the skeleton; NULL: it does not fit. */
static const allm_json *cast(struct skeleton_form *f, struct arena *a,
                             struct slice text)
{
    size_t bytes = (f->count + 1) * sizeof(yyjson_val), at;
    yyjson_val *vals = arena_alloc(a, bytes);
    if (!vals)
        return NULL;
    memcpy(vals, val_of(f->value) - 1, bytes);      /* with the head */
    do {
        if (fill_holes(f, a, text, vals + 1, &at))
            return val_json(vals + 1);
    } while (add_hole(f, at));
    return NULL;
}

const allm_json *skeleton_parse(struct skeleton *m, struct arena *a,
                                struct slice text, const allm_error **error)
{
    bool fits = m->form && m->form->whole;
    const allm_json *v = fits ? cast(m->form, a, text) : NULL;
    if (m->form) {
        m->form->last = v;
        m->form->watched = 0;
    }
    if (v) {
        m->misses = 0;
        m->patience = 1;
        return v;
    }
    if (m->misses++ >= m->patience && text.len <= LONGEST) {
        if (m->patience < MOST_PATIENCE)
            m->patience *= 2;
        v = learn(m, a->mem, text);
    }
    return v ? v : json_parse_loose(a, text, error);
}

/* ---------------------------------------------------------- watching --- */

/* How many values this one is behind the root of the last document; 0: it is
 * the root, or not in it. */
static size_t distance_of(const struct skeleton_form *f, const allm_json *v)
{
    uintptr_t root = f ? (uintptr_t)f->last : 0;
    size_t at = ((uintptr_t)v - root) / sizeof(yyjson_val);
    return root && v && at < f->count ? at : 0;
}

static bool is_watched(const struct skeleton_form *f, size_t hole,
                       const allm_json *const *others, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (hole == distance_of(f, others[i]))
            return true;
    return hole == f->watched;
}

bool skeleton_fits(const struct skeleton *m)
{
    return m->form && m->form->last;
}

bool skeleton_watch(struct skeleton *m, const allm_json *text,
                    const allm_json *const *others, size_t count)
{
    struct skeleton_form *f = m->form;
    size_t at = distance_of(f, text);
    if (!at || val_type(val_of(text)) != YYJSON_TYPE_STR)
        return false;
    f->watched = at;
    for (size_t i = 0; i < f->hole_count; i++)
        if (!is_watched(f, f->hole[i], others, count))
            f->watched = 0;
    return f->watched != 0;
}

/* A number of a few digits only; 0: any other. */
static size_t digits_length(struct slice s)
{
    size_t n = 0;
    while (n < s.len && s.ptr[n] >= '0' && s.ptr[n] <= '9')
        n++;
    bool plain = n < 16 && n < s.len && ends_value(s.ptr[n]);
    return plain && (*s.ptr != '0' || n == 1) ? n : 0;
}

/* The length of a hole that is not read; 0: it must be read. */
static size_t skip_hole(struct slice rest, char first)
{
    if (first != '"')
        return digits_length(rest);
    return rest.len && *rest.ptr == '"' ? plain_length(rest) : 0;
}

bool skeleton_watched(const struct skeleton *m, struct arena *a,
                      struct slice text, struct slice *out)
{
    const struct skeleton_form *f = m->form;
    struct slice rest = text;
    size_t at = 0;
    if (!f || !f->watched)
        return false;
    yyjson_val v = val_of(f->value)[f->watched];    /* if it is no hole */
    for (size_t i = 0; i < f->hole_count; i++) {
        const struct token *t = &f->token[f->hole[i]];
        size_t same = t->at - at;
        if (rest.len < same || memcmp(f->text.ptr + at, rest.ptr, same) != 0)
            return false;
        rest = slice_skip(rest, same);
        char first = f->text.ptr[t->at];
        size_t len = f->hole[i] == f->watched ? fill_hole(a, rest, first, &v)
                                              : skip_hole(rest, first);
        if (!len)
            return false;
        rest = slice_skip(rest, len);
        at = t->end;
    }
    *out = val_slice(&v);
    return rest.len == f->text.len - at &&
           !memcmp(f->text.ptr + at, rest.ptr, rest.len);
}

/* ------------------------------------------------------------- views --- */

/* The view of the object at this distance; a new one if it is not known yet.
 * NULL: there are too many. */
static const struct json_view *view_at(struct skeleton_form *f, size_t at,
                                       const allm_json *object)
{
    for (size_t i = 0; i < f->known_count; i++)
        if (f->known[i].at == at)
            return &f->known[i].view;
    if (f->known_count == VIEWS)
        return NULL;
    struct known_view *k = &f->known[f->known_count++];
    k->at = at;
    json_view_init(&k->view, object);
    return &k->view;
}

void skeleton_view(struct skeleton *m, const allm_json *object,
                   struct json_view *out)
{
    struct skeleton_form *f = m->form;
    size_t at = distance_of(f, object);
    const struct json_view *known = at || (f && f->last && object == f->last)
                                        ? view_at(f, at, object)
                                        : NULL;
    if (!known) {
        json_view_init(out, object);
        return;
    }
    *out = *known;              /* keeps (3) */
    out->object = object;
}
