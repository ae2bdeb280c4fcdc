/*
 * args.c - arguments of a call that come in pieces
 *
 * They are kept as a tree.  A list has its elements in the order in which they
 * first came, whatever their numbers: they come in order, and a number alone
 * must not make a list of a million elements.
 */
#include "provider/gemini/args.h"

#include "provider/gemini/field.h"
#include "provider/utf8_pieces.h"
#include "json/json.h"
#include "json/write.h"

enum { MOST_NODES = 4096, MOST_STEPS = 32 };

enum kind { EMPTY, OBJECT, ARRAY, TEXT, VALUE };

struct gemini_args_node {
    struct gemini_args_node *next;
    struct gemini_args_node *first, *last;      /* what is inside */
    struct slice key;           /* its name, or its number, in the parent */
    enum kind kind;
    struct buf text;            /* TEXT */
    struct utf8_pieces mend;
    bool open;                  /* the text goes on */
    const allm_json *value;     /* VALUE */
};

static struct gemini_args_node *node_make(struct gemini_args *g,
                                          struct slice key)
{
    struct gemini_args_node *n = arena_zero(g->life, sizeof *n);
    const char *mine = arena_copy(g->life, key);
    if (!n || !mine) {
        g->broken = true;
        return NULL;
    }
    n->key = (struct slice){ mine, key.len };
    buf_init(&n->text, g->life, SIZE_MAX / 2);
    g->count++;
    return n;
}

void gemini_args_init(struct gemini_args *g, struct arena *life)
{
    *g = (struct gemini_args){ .life = life };
    g->root = node_make(g, SLICE(""));
    if (g->root)
        g->root->kind = OBJECT;
}

/* ------------------------------------------------------------- places --- */

/* One step of a place: .name, ['name'] or [7]. */
struct step {
    struct slice key;
    enum kind of;               /* what the parent is: OBJECT or ARRAY */
};

static size_t span(struct slice s, const char *stops)
{
    size_t n = 0;
    while (n < s.len && !(s.ptr[n] && strchr(stops, s.ptr[n])))
        n++;
    return n;
}

static bool is_number(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return s.len > 0;
}

/* What stands in brackets; false: odd. */
static bool take_bracket(struct slice *path, struct step *out)
{
    struct slice rest = slice_skip(*path, 1);
    char quote = rest.len ? *rest.ptr : 0;
    bool quoted = quote == '\'' || quote == '"';
    if (quoted)
        rest = slice_skip(rest, 1);
    size_t n = span(rest, !quoted ? "]" : quote == '"' ? "\"" : "'");
    size_t end = n + quoted;
    if (end >= rest.len || rest.ptr[end] != ']')
        return false;
    out->key = (struct slice){ rest.ptr, n };
    out->of = quoted ? OBJECT : ARRAY;
    *path = slice_skip(rest, end + 1);
    return quoted || is_number(out->key);
}

/* Cut the next step off; false: the place is odd. */
static bool take_step(struct slice *path, struct step *out)
{
    if (*path->ptr == '[')
        return take_bracket(path, out);
    if (*path->ptr != '.')
        return false;
    *path = slice_skip(*path, 1);
    out->key = (struct slice){ path->ptr, span(*path, ".[") };
    out->of = OBJECT;
    *path = slice_skip(*path, out->key.len);
    return out->key.len > 0;
}

/* The node behind a step, made if it is not there; NULL: it cannot be. */
static struct gemini_args_node *step_enter(struct gemini_args *g,
                                           struct gemini_args_node *at,
                                           const struct step *step)
{
    if (at->kind == EMPTY)
        at->kind = step->of;
    if (at->kind != step->of)
        return NULL;
    for (struct gemini_args_node *n = at->first; n; n = n->next)
        if (slice_eq(n->key, step->key))
            return n;
    if (g->count >= MOST_NODES)
        return NULL;
    struct gemini_args_node *n = node_make(g, step->key);
    if (!n)
        return NULL;
    if (at->last)
        at->last->next = n;
    else
        at->first = n;
    return at->last = n;
}

static struct gemini_args_node *path_find(struct gemini_args *g,
                                          struct slice path)
{
    struct gemini_args_node *at = g->root;
    struct step step;
    size_t steps = 0;
    if (path.len && *path.ptr == '$')
        path = slice_skip(path, 1);
    while (at && path.len) {
        if (++steps > MOST_STEPS || !take_step(&path, &step))
            return NULL;
        at = step_enter(g, at, &step);
    }
    return at == g->root ? NULL : at;
}

/* ------------------------------------------------------------- values --- */

static void add_text(struct gemini_args *g, struct gemini_args_node *n,
                     struct slice text, bool goes_on)
{
    if (!n->open)
        buf_clear(&n->text);
    struct slice well = utf8_pieces_take(&n->mend, g->life, text);
    buf_add(&n->text, well);
    if (!goes_on)
        buf_add(&n->text, utf8_pieces_end(&n->mend));
    n->kind = TEXT;
    n->open = goes_on;
    g->broken = g->broken || !well.ptr || n->text.broken;
}

/* The value of a piece that is no text; NULL: there is none. */
static const allm_json *value_of(const allm_json *piece)
{
    static const char *const names[] = { "numberValue", "boolValue" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gemini_field(piece, names[i]))
            return gemini_field(piece, names[i]);
    return gemini_field(piece, "nullValue") ? json_null() : NULL;
}

/* Where a piece belongs; names in it become keys, and so UTF-8. */
static struct slice place_of(struct gemini_args *g, const allm_json *piece)
{
    struct slice path = gemini_field_text(piece, "jsonPath");
    if (utf8_valid(path, NULL))
        return path;
    path = utf8_repair(g->life, path);
    g->broken = !path.ptr;
    return path;
}

void gemini_args_add(struct gemini_args *g, const allm_json *piece)
{
    const allm_json *text = gemini_field(piece, "stringValue");
    const allm_json *value = value_of(piece);
    if (g->broken || (!text && !value))
        return;
    struct gemini_args_node *n = path_find(g, place_of(g, piece));
    if (!n || n->kind == OBJECT || n->kind == ARRAY)
        return;
    if (allm_json_type_of(text) == ALLM_JSON_TEXT) {
        add_text(g, n, json_slice(text),
                 gemini_field_true(piece, "willContinue"));
    } else if (value) {
        n->kind = VALUE;
        n->value = json_copy(g->life, value);
        g->broken = g->broken || !n->value;
    }
}

/* ------------------------------------------------------------ writing --- */

static void write_node(struct buf *out, struct gemini_args_node *n)
{
    bool object = n->kind == OBJECT;
    if (n->kind == TEXT) {
        buf_add(&n->text, utf8_pieces_end(&n->mend));
        json_write_text(out, buf_slice(&n->text));
    } else if (n->kind == VALUE || n->kind == EMPTY) {
        json_write(out, n->kind == VALUE ? n->value : json_null(), 0);
    } else {
        buf_byte(out, object ? '{' : '[');
        for (struct gemini_args_node *k = n->first; k; k = k->next) {
            if (k != n->first)
                buf_byte(out, ',');
            if (object) {
                json_write_text(out, k->key);
                buf_byte(out, ':');
            }
            write_node(out, k);     /* as deep as a place has steps */
        }
        buf_byte(out, object ? '}' : ']');
    }
}

bool gemini_args_write(struct gemini_args *g, struct buf *out)
{
    if (!g->broken)
        write_node(out, g->root);
    return !g->broken && !out->broken;
}
