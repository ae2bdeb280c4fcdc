/*
 * headers.c - the HTTP headers of an MCP request
 *
 * A mark is valid at a property that is reached from the root of the schema
 * through "properties" alone.  The path to it in the schema is the path to its
 * value in the arguments.
 */
#include "mcp/headers.h"

#include "base/base64.h"
#include "base/nocase.h"

enum { MOST_MARKS = 32, DEEPEST = 8 };

/* ---------------------------------------------------------------- marks --- */

struct mark {
    struct slice name;
    const allm_json *value;         /* of the argument; NULL: none */
};

struct marks {
    struct mark mark[MOST_MARKS];
    size_t count;
    bool valid;
};

static bool is_token(struct slice s)
{
    static const char signs[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!slice_alnum(c) && !memchr(signs, c, sizeof signs - 1))
            return false;
    }
    return s.len > 0 && s.len <= 128;
}

/* One mark at a property of this schema. */
static void add_mark(struct marks *m, const allm_json *property,
                     const allm_json *value)
{
    const allm_json *type = json_at(property, "type");
    struct slice name = json_text_at(property, "x-mcp-header");
    bool fits = is_token(name) && m->count < MOST_MARKS &&
                (json_is(type, "string") || json_is(type, "integer") ||
                 json_is(type, "boolean"));
    for (size_t i = 0; fits && i < m->count; i++)
        fits = !nocase_eq(name, m->mark[i].name);
    if (fits)
        m->mark[m->count++] = (struct mark){ name, value };
    m->valid = m->valid && fits;
}

/* The properties of one level; those below follow by a bounded recursion. */
static void find_marks(struct marks *m, const allm_json *schema,
                       const allm_json *args, unsigned depth)
{
    const allm_json *properties = json_at(schema, "properties");
    const allm_json *key = NULL;
    if (depth >= DEEPEST || !json_is_type(properties, ALLM_JSON_OBJECT))
        return;
    while ((key = allm_json_next(properties, key))) {
        const allm_json *property = allm_json_value(key);
        const allm_json *value = json_get(args, json_slice(key));
        if (json_at(property, "x-mcp-header"))
            add_mark(m, property, value);
        find_marks(m, property, value, depth + 1);
    }
}

/* How many marks are there at all, at valid places or not? */
static size_t count_marks(const allm_json *v, unsigned depth)
{
    const allm_json *at = NULL;
    bool object = json_is_type(v, ALLM_JSON_OBJECT);
    size_t n = json_text_at(v, "x-mcp-header").ptr ? 1 : 0;
    if (depth >= 4 * DEEPEST || (!object && !json_is_type(v, ALLM_JSON_ARRAY)))
        return n;
    while ((at = allm_json_next(v, at)))
        n += count_marks(object ? allm_json_value(at) : at, depth + 1);
    return n;
}

bool mcp_headers_valid(const allm_json *schema)
{
    struct marks m = { .valid = true };
    find_marks(&m, schema, NULL, 0);
    return m.valid && m.count == count_marks(schema, 0);
}

/* --------------------------------------------------------------- values --- */

/* A value that HTTP cannot carry as it is, or that looks encoded. */
static bool needs_encoding(struct slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if ((c < ' ' && c != '\t') || c >= 0x7f)
            return true;
    }
    return (s.len && (slice_space(*s.ptr) || slice_space(s.ptr[s.len - 1]))) ||
           (slice_starts(s, SLICE("=?base64?")) && slice_ends(s, SLICE("?=")));
}

static const char *header_value(struct arena *a, struct slice s)
{
    struct buf b = buf_in(a, SIZE_MAX - 1);
    if (needs_encoding(s)) {
        buf_text(&b, "=?base64?");
        base64_add(&b, s);
        buf_text(&b, "?=");
    } else {
        buf_add(&b, s);
    }
    return b.broken ? NULL : buf_slice(&b).ptr;
}

/* Strings, integers and booleans are sent, others are not. */
static bool has_header(const allm_json *v)
{
    int64_t n;
    return json_is_type(v, ALLM_JSON_TEXT) || json_is_type(v, ALLM_JSON_BOOL) ||
           json_int64(v, &n);
}

static const char *argument_value(struct arena *a, const allm_json *v)
{
    int64_t n = 0;
    if (json_is_type(v, ALLM_JSON_TEXT))
        return header_value(a, json_slice(v));
    if (json_is_type(v, ALLM_JSON_BOOL))
        return allm_json_true(v) ? "true" : "false";
    json_int64(v, &n);
    struct buf b = buf_in(a, 32);
    buf_int(&b, n);
    return b.broken ? NULL : b.ptr;
}

static void add_header(struct mcp_headers *h, const char *name,
                       const char *value)
{
    h->list[h->count++] = (struct mcp_header){ name, value };
}

static bool add_arguments(struct arena *a, const struct mcp_message *m,
                          const allm_json *schema, struct mcp_headers *out)
{
    struct marks marks = { .valid = true };
    find_marks(&marks, schema, m->arguments, 0);
    for (size_t i = 0; i < marks.count; i++) {
        struct mark *mark = &marks.mark[i];
        if (!has_header(mark->value))
            continue;
        struct buf name = buf_in(a, SIZE_MAX - 1);
        buf_text(&name, "Mcp-Param-");
        buf_add(&name, mark->name);
        const char *value = argument_value(a, mark->value);
        if (name.broken || !value)
            return false;
        add_header(out, name.ptr, value);
    }
    return true;
}

bool mcp_headers_make(struct arena *a, const struct mcp_message *m,
                      const allm_json *schema, struct mcp_headers *out)
{
    out->count = 0;
    out->list = arena_alloc(a, (MOST_MARKS + 3) * sizeof *out->list);
    if (!out->list)
        return false;
    if (m->revision->header && m->method != MCP_INITIALIZE)
        add_header(out, "MCP-Protocol-Version", m->revision->name);
    if (!m->revision->modern || !m->method)
        return true;
    add_header(out, "Mcp-Method", mcp_method_name(m->method));
    if (m->name) {
        const char *value = header_value(a, slice_of(m->name));
        if (!value)
            return false;
        add_header(out, "Mcp-Name", value);
    }
    return add_arguments(a, m, schema, out);
}
