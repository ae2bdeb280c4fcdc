/* tools.c - the tools of a server, as models see them */
#include "mcp/tools.h"

#include "base/buf.h"
#include "base/sha256.h"
#include "mcp/headers.h"
#include "json/build.h"

#include <stdlib.h>

/* --------------------------------------------------------------- filter --- */

/* Does a name match a pattern with * and ?  Linear: a later * forgets the
 * earlier ones. */
static bool matches_glob(struct slice pattern, struct slice name)
{
    size_t p = 0, n = 0, star = SIZE_MAX, from = 0;
    while (n < name.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            from = n;
        } else if (p < pattern.len &&
                   (pattern.ptr[p] == '?' || pattern.ptr[p] == name.ptr[n])) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

/* A pattern with ! excludes.  If there are others, one of them must match. */
static bool passes_filter(const allm_json *filter, struct slice name)
{
    const allm_json *v = NULL;
    bool wanted = false, some = false;
    if (!json_is_type(filter, ALLM_JSON_ARRAY))
        return true;
    while ((v = allm_json_next(filter, v))) {
        struct slice pattern = json_slice(v);
        if (pattern.len && *pattern.ptr == '!') {
            if (matches_glob(slice_skip(pattern, 1), name))
                return false;
        } else {
            some = true;
            wanted = wanted || matches_glob(pattern, name);
        }
    }
    return wanted || !some;
}

/* ---------------------------------------------------------------- names --- */

static bool is_plain(char c)
{
    return slice_alnum(c) || c == '_' || c == '-';
}

/* SERVER__TOOL; with a hash of the real names if it is too long, or if another
 * tool has the same name. */
static const char *show_name(struct arena *a, const char *server,
                             const char *name, bool hashed)
{
    enum { DIGITS = 6 };
    char hex[SHA256_HEX + 1];
    struct buf b = buf_in(a, SIZE_MAX - 1);
    buf_format(&b, "%s__%s", server, name);
    if (b.broken)
        return NULL;
    sha256_hex(buf_slice(&b), hex);
    for (size_t i = 0; i < b.len; i++)
        if (!is_plain(b.ptr[i]))
            b.ptr[i] = '_';
    if (b.len > MCP_TOOL_NAME || hashed) {
        size_t room = MCP_TOOL_NAME - DIGITS - 1;
        b.len = b.len < room ? b.len : room;
        buf_byte(&b, '_');
        buf_add(&b, (struct slice){ hex, DIGITS });
    }
    return b.broken ? NULL : b.ptr;
}

static bool is_shown(const struct mcp_tools *t, const char *shown)
{
    for (size_t i = 0; i < t->count; i++)
        if (!strcmp(t->tools[i].shown, shown))
            return true;
    return false;
}

/* ---------------------------------------------------------------- tools --- */

static int compare_names(const void *x, const void *y)
{
    const allm_json *const *a = x;
    const allm_json *const *b = y;
    struct slice s = json_text_at(*a, "name"), t = json_text_at(*b, "name");
    size_t n = s.len < t.len ? s.len : t.len;
    int order = n ? memcmp(s.ptr, t.ptr, n) : 0;
    if (order)
        return order;
    if (s.len != t.len)
        return s.len < t.len ? -1 : 1;
    return *a < *b ? -1 : *a > *b;      /* equal names: as they came */
}

static void leave_out(struct mcp_tools *t, struct slice name)
{
    if (!t->invalid++)
        t->why = name;
}

/* Users approve calls by it: it must not spread over lines. */
static bool is_printable(struct slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] < ' ' || name.ptr[i] == 0x7f)
            return false;
    return name.len > 0;
}

static bool is_valid(const allm_json *tool, bool http)
{
    struct slice name = json_text_at(tool, "name");
    const allm_json *schema = json_at(tool, "inputSchema");
    return is_printable(name) &&
           (!schema || json_is_type(schema, ALLM_JSON_OBJECT)) &&
           (!http || mcp_headers_valid(schema));
}

static bool add_tool(struct arena *a, const allm_json *v,
                     const struct mcp_tools_opts *opts, struct mcp_tools *t)
{
    const allm_json *hints = json_at(v, "annotations");
    const char *description = json_text_at(v, "description").ptr;
    struct mcp_tool *tool = &t->tools[t->count];
    *tool = (struct mcp_tool){
        .name = json_text_at(v, "name").ptr,
        .description = description ? description : "",
        .schema = json_at(v, "inputSchema"),
        .output = json_at(v, "outputSchema"),
        .annotations = hints,
        .read_only = allm_json_true(json_at(hints, "readOnlyHint")),
        .idempotent = allm_json_true(json_at(hints, "idempotentHint")),
    };
    tool->shown = show_name(a, opts->server, tool->name, false);
    if (tool->shown && is_shown(t, tool->shown))
        tool->shown = show_name(a, opts->server, tool->name, true);
    if (!tool->schema)
        tool->schema = build_one_text(a, "type", SLICE("object"));
    t->count += tool->shown && tool->schema;
    return tool->shown && tool->schema;
}

/* Add those that are wanted to `sorted`; returns how many. */
static size_t sort_tools(const allm_json *list,
                         const struct mcp_tools_opts *opts,
                         const allm_json **sorted, struct mcp_tools *out)
{
    const allm_json *v = NULL;
    size_t n = 0;
    while ((v = allm_json_next(list, v))) {
        struct slice name = json_text_at(v, "name");
        if (!is_valid(v, opts->http))
            leave_out(out, name);
        else if (passes_filter(opts->filter, name))
            sorted[n++] = v;
    }
    qsort(sorted, n, sizeof *sorted, compare_names);
    return n;
}

bool mcp_tools_make(struct arena *a, const allm_json *list,
                    const struct mcp_tools_opts *opts, struct mcp_tools *out)
{
    size_t count = allm_json_count(list);
    const allm_json **sorted = arena_alloc(a, count * sizeof *sorted);
    *out = (struct mcp_tools){ .count = 0 };
    out->tools = arena_alloc(a, count * sizeof *out->tools);
    if (!sorted || !out->tools)
        return false;
    if (!json_is_type(list, ALLM_JSON_ARRAY))
        return true;
    size_t n = sort_tools(list, opts, sorted, out);
    for (size_t i = 0; i < n; i++) {
        if (out->count == MCP_TOOLS_MOST ||
            (i && slice_eq(json_text_at(sorted[i - 1], "name"),
                           json_text_at(sorted[i], "name"))))
            leave_out(out, json_text_at(sorted[i], "name"));
        else if (!add_tool(a, sorted[i], opts, out))
            return false;
    }
    return true;
}
