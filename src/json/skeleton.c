/*
 * skeleton.c - read documents that are like the one before
 *
 *      skeleton    {"id": "a", "text": "Hello", "n": 1}
 *                           compare |holes|  compare
 *      another  {"id": "a", "text": " world", "n": 2}
 *
 * The values of another document are a copy of the skeleton's, but for the holes:
 * texts and numbers that were seen to differ.  A hole is cut out and read as a
 * document of its own.
 *
 * Invariants
 *   (1) Where all is equal but for what stands in the holes, and that is again
 *       a text or a number, both documents are JSON of the same shape.
 *   (2) Keys, literals and brackets are no holes: what differs there is a miss,
 *       and read in the plain way.
 *   (3) After `patience` misses in a row a skeleton is made.  Moulds that fit
 *       nothing make for more patience.
 */
#include "json/skeleton.h"

#include "base/status.h"
#include "json/parse.h"
#include "json/val.h"

enum { LONGEST = 4096, HOLES = 8, MOST_PATIENCE = 64 };

struct token {
    uint16_t at, end;           /* in the text */
    bool hole;                  /* it can be one */
};

struct skeleton_form {
    struct arena arena;         /* of all this */
    struct slice text;          /* the document that it was made of */
    const allm_json *value;     /* ...as a value */
    struct token *token;        /* one for each value in it, in their order */
    size_t count;
    size_t hole[HOLES];         /* tokens that differ, rising */
    size_t hole_count;
    bool whole;                 /* all the tokens were found: it is of use */
};

void skeleton_init(struct skeleton *m)
{
    *m = (struct skeleton){ .patience = 1 };
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

/* A text, from its quote, if it has no backslash; 0: it has, or does not end. */
static size_t plain_length(struct slice s)
{
    const char *end = s.len > 1 ? memchr(s.ptr + 1, '"', s.len - 1) : NULL;
    size_t n = end ? (size_t)(end - s.ptr) : 0;
    return n && !memchr(s.ptr, '\\', n) ? n + 1 : 0;
}

/* A text, from its quote; 0: it does not end. */
static size_t text_length(struct slice s)
{
    size_t n = 1;
    for (; n < s.len && s.ptr[n] != '"'; n++)
        n += s.ptr[n] == '\\';
    return n < s.len ? n + 1 : 0;
}

/* What may stand behind a value. */
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

/* What stands between tokens. */
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

/* Find the token of each value.  False: a value has none, or shares it: of
 * equal keys but one was kept. */
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

/* An empty form for a text; NULL: no memory. */
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

/* Read a document and make a skeleton of it.  NULL: read it in the plain way. */
static const allm_json *learn(struct skeleton *m, struct mem mem,
                              struct slice text)
{
    const allm_error *error;
    skeleton_forget(m);
    struct skeleton_form *f = m->form = make_form(mem, text.len);
    if (!f)
        return NULL;
    f->value = json_parse_loose(&f->arena, text, &error);
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

/* Nothing but a backslash changes a text that is read loosely. */
static bool fill_plain(struct arena *a, struct slice text, yyjson_val *v)
{
    v->tag = val_text_tag(text.len);
    v->uni.str = arena_copy(a, text);
    return v->uni.str != NULL;
}

static bool fill_any(struct arena *a, struct slice token, yyjson_val *v)
{
    const allm_error *error;
    const allm_json *read = json_parse_loose(a, token, &error);
    if (read)
        *v = *val_of(read);
    return read != NULL;
}

/* Read what stands in a hole; its length, 0: it does not fit. */
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

/* The token at a place; behind a number is at it, too: it may go on.  f->count:
 * none. */
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

/* The documents differ here: let it be a hole from now on.  False: it cannot
 * be one. */
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

/* Are these bytes of the skeleton next in the document?  Else *at is the place
 * where they differ. */
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

/* Fill the copy of the skeleton's values with what stands in the holes of a
 * document.  False: it differs from the skeleton at this place. */
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

/* The document by the skeleton; NULL: it does not fit. */
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
