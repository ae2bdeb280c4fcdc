/*
 * args.c - assemble the arguments of a call from streamed pieces
 *
 * The arguments are a tree.  The elements of a list are in the order in which
 * they first arrive, and their indexes are ignored: they arrive in order, and a
 * single index must not create a list of a million elements.
 */
#include "provider/gemini/args.h"

#include "provider/gemini/field.h"
#include "provider/utf8_pieces.h"
#include "json/json.h"
#include "json/write.h"

enum { MAX_NODES = 4096, MAX_STEPS = 32 };

enum kind { EMPTY, OBJECT, ARRAY, TEXT, VALUE };

struct gemini_args_node {
    struct gemini_args_node *next;
    struct gemini_args_node *first, *last;      /* its children */
    struct slice key;           /* name or index in the parent */
    enum kind kind;
    struct buf text;            /* TEXT */
    struct utf8_pieces utf8;
    bool open;                  /* the string is incomplete */
    const allm_json *value;     /* VALUE */
};

static struct gemini_args_node *node_make(struct gemini_args *g,
                                          struct slice key)
{
    struct gemini_args_node *n = arena_zero(g->life, sizeof *n);
    const char *key_copy = arena_copy(g->life, key);
    if (!n || !key_copy) {
        g->broken = true;
        return NULL;
    }
    n->key = (struct slice){ key_copy, key.len };
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

/* -------------------------------------------------------------- paths --- */

/* One step of a path: .name, ['name'] or [7]. */
struct step {
    struct slice key;
    enum kind parent;               /* type of the parent: OBJECT or ARRAY */
};

static size_t length_until(struct slice s, const char *stops)
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

/* Parse a step in brackets; false: invalid. */
static bool take_bracket(struct slice *path, struct step *out)
{
    struct slice rest = slice_skip(*path, 1);
    char quote = rest.len ? *rest.ptr : 0;
    bool quoted = quote == '\'' || quote == '"';
    if (quoted)
        rest = slice_skip(rest, 1);
    size_t n = length_until(rest, !quoted ? "]" : quote == '"' ? "\"" : "'");
    size_t end = n + quoted;
    if (end >= rest.len || rest.ptr[end] != ']')
        return false;
    out->key = (struct slice){ rest.ptr, n };
    out->parent = quoted ? OBJECT : ARRAY;
    *path = slice_skip(rest, end + 1);
    return quoted || is_number(out->key);
}

/* Remove the next step from the path; false: invalid. */
static bool take_step(struct slice *path, struct step *out)
{
    if (*path->ptr == '[')
        return take_bracket(path, out);
    if (*path->ptr != '.')
        return false;
    *path = slice_skip(*path, 1);
    out->key = (struct slice){ path->ptr, length_until(*path, ".[") };
    out->parent = OBJECT;
    *path = slice_skip(*path, out->key.len);
    return out->key.len > 0;
}

/* The child that a step leads to, created if it does not exist; NULL:
 * impossible. */
static struct gemini_args_node *step_enter(struct gemini_args *g,
                                           struct gemini_args_node *at,
                                           const struct step *step)
{
    if (at->kind == EMPTY)
        at->kind = step->parent;
    if (at->kind != step->parent)
        return NULL;
    for (struct gemini_args_node *n = at->first; n; n = n->next)
        if (slice_eq(n->key, step->key))
            return n;
    if (g->count >= MAX_NODES)
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
        if (++steps > MAX_STEPS || !take_step(&path, &step))
            return NULL;
        at = step_enter(g, at, &step);
    }
    return at == g->root ? NULL : at;
}

/* ------------------------------------------------------------- values --- */

static void add_text(struct gemini_args *g, struct gemini_args_node *n,
                     struct slice text, bool continues)
{
    if (!n->open)
        buf_clear(&n->text);
    struct slice repaired = utf8_pieces_take(&n->utf8, g->life, text);
    buf_add(&n->text, repaired);
    if (!continues)
        buf_add(&n->text, utf8_pieces_end(&n->utf8));
    n->kind = TEXT;
    n->open = continues;
    g->broken = g->broken || !repaired.ptr || n->text.broken;
}

/* The value of a piece that is not a string; NULL if there is none. */
static const allm_json *value_of(const allm_json *piece)
{
    static const char *const names[] = { "numberValue", "boolValue" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gemini_field(piece, names[i]))
            return gemini_field(piece, names[i]);
    return gemini_field(piece, "nullValue") ? json_null() : NULL;
}

/* The path of a piece.  Names in it become keys, so they must be UTF-8. */
static struct slice path_of(struct gemini_args *g, const allm_json *piece)
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
    struct gemini_args_node *n = path_find(g, path_of(g, piece));
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

/* ------------------------------------------------------------- output --- */

static void write_node(struct buf *out, struct gemini_args_node *n)
{
    bool object = n->kind == OBJECT;
    if (n->kind == TEXT) {
        buf_add(&n->text, utf8_pieces_end(&n->utf8));
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
            write_node(out, k);     /* at most MAX_STEPS deep */
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
