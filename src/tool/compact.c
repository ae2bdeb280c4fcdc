/*
 * compact.c - compact tools, and tool_help, which describes them in full
 *
 *      {"name": "search", "schema": <long>, "compact": true}
 *   -> {"name": "search", "schema": {"type":"object"},
 *       "description": "Finds pages. Args: query [limit] [compact]"}
 */
#include "tool/compact.h"

#include "base/buf.h"
#include "data/tool.h"
#include "json/json.h"
#include "json/parse.h"
#include "json/write.h"

#include <stdint.h>
#include <stdlib.h>

enum { SUMMARY_CHARS = 160 };
#define HELP "tool_help"
#define MARK "allm_builtin"
#define NO_LIMIT (SIZE_MAX / 2)

bool compact_is_help(const allm_tool *tool)
{
    return json_is(allm_json_get(tool->metadata, MARK), HELP);
}

bool compact_is_reader(const allm_tool *tool)
{
    return tool && tool->call &&
           json_is(allm_json_get(tool->metadata, MARK), "tool_output");
}

bool compact_any(size_t count, const allm_tool *const *tools)
{
    for (size_t i = 0; i < count; i++)
        if (tools[i]->compact)
            return true;
    return false;
}

bool compact_collides(size_t count, const allm_tool *const *tools)
{
    const allm_tool *namesake = tool_find(count, tools, HELP);
    return namesake && !compact_is_help(namesake) && compact_any(count, tools);
}

bool compact_names_help(const char *name, size_t count,
                        const allm_tool *const *tools)
{
    if (strcmp(name, HELP) != 0)
        return false;
    const allm_tool *tool = tool_find(count, tools, name);
    return tool ? compact_is_help(tool) : compact_any(count, tools);
}

/* The first sentence of the first line. */
static struct slice first_sentence(const char *text)
{
    struct slice s = { text, 0 };
    while (text && text[s.len] && text[s.len] != '\n') {
        char c = text[s.len++];
        bool ends = c == '.' || c == '!' || c == '?';
        if (ends && (!text[s.len] || strchr(" \n", text[s.len])))
            break;
    }
    return s;
}

/* The length in bytes of the first n characters. */
static size_t bytes_of_chars(struct slice s, size_t n)
{
    size_t at = 0;
    while (at < s.len && n) {
        at++;
        while (at < s.len && ((unsigned char)s.ptr[at] & 0xc0) == 0x80)
            at++;
        n--;
    }
    return at;
}

static void write_summary(struct buf *out, const allm_tool *tool)
{
    if (tool->summary && *tool->summary) {
        buf_text(out, tool->summary);
        return;
    }
    struct slice s = first_sentence(tool->description);
    if (bytes_of_chars(s, SUMMARY_CHARS) == s.len) {
        buf_add(out, s);
        return;
    }
    s.len = bytes_of_chars(s, SUMMARY_CHARS - 3);
    buf_add(out, s);
    buf_text(out, "...");
}

static bool is_required(const allm_json *required, struct slice name)
{
    for (const allm_json *r = NULL; (r = allm_json_next(required, r));)
        if (allm_json_type_of(r) == ALLM_JSON_TEXT &&
            slice_eq(json_slice(r), name))
            return true;
    return false;
}

static int by_name(const void *a, const void *b)
{
    struct slice x = *(const struct slice *)a, y = *(const struct slice *)b;
    int order = memcmp(x.ptr, y.ptr, x.len < y.len ? x.len : y.len);
    return order ? order : (x.len > y.len) - (x.len < y.len);
}

static void write_names(struct buf *out, const struct slice *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        buf_text(out, i ? ", " : "");
        buf_add(out, names[i]);
    }
}

/* List the names of the optional members, sorted; returns their number. */
static size_t list_optional(const allm_json *properties,
                            const allm_json *required, struct slice *names)
{
    size_t n = 0;
    for (const allm_json *k = NULL; (k = allm_json_next(properties, k));)
        if (!is_required(required, json_slice(k)))
            names[n++] = json_slice(k);
    if (n)
        qsort(names, n, sizeof *names, by_name);
    return n;
}

static size_t list_required(const allm_json *required, struct slice *names)
{
    size_t n = 0;
    for (const allm_json *r = NULL; (r = allm_json_next(required, r));)
        if (allm_json_type_of(r) == ALLM_JSON_TEXT)
            names[n++] = json_slice(r);
    return n;
}

/* Write "Args: a, b [c]", or nothing if the schema has no properties. */
static void write_signature(struct buf *out, const allm_tool *tool)
{
    const allm_json *properties = allm_json_get(tool->schema, "properties");
    const allm_json *required = allm_json_get(tool->schema, "required");
    if (allm_json_type_of(properties) != ALLM_JSON_OBJECT)
        return;
    if (allm_json_type_of(required) != ALLM_JSON_ARRAY)
        required = NULL;
    buf_text(out, out->len ? " Args:" : "Args:");
    size_t most = allm_json_count(properties) + allm_json_count(required);
    struct slice *names = arena_alloc(out->arena, (most + 1) * sizeof *names);
    if (!names || allm_json_count(properties) == 0) {
        buf_text(out, " none");
        return;
    }
    size_t n = list_required(required, names);
    buf_text(out, n ? " " : "");
    write_names(out, names, n);
    n = list_optional(properties, required, names);
    buf_text(out, n ? " [" : "");
    write_names(out, names, n);
    buf_text(out, n ? "]" : "");
}

static const allm_json *parse_literal(struct arena *a, const char *text)
{
    return json_parse_strict(a, slice_of(text), NULL);
}

static const allm_tool *make_stub(struct arena *a, const allm_tool *tool)
{
    allm_tool *stub = arena_zero(a, sizeof *stub);
    struct buf text = buf_in(a, NO_LIMIT);
    write_summary(&text, tool);
    write_signature(&text, tool);
    buf_text(&text, text.len ? " [compact]" : "[compact]");
    if (!stub || text.broken)
        return NULL;
    stub->size = sizeof *stub;
    stub->name = tool->name;
    stub->description = text.ptr;
    stub->schema = parse_literal(a, "{\"type\":\"object\"}");
    stub->manual = tool->manual;
    stub->effect = tool->effect;
    stub->metadata = tool->metadata;
    return stub->schema ? stub : NULL;
}

static const allm_tool *make_help(struct arena *a)
{
    allm_tool *help = arena_zero(a, sizeof *help);
    if (!help)
        return NULL;
    help->size = sizeof *help;
    help->name = HELP;
    help->description =
        "Returns the full description and the parameters of tools marked "
        "[compact]. Call it before you call a tool whose arguments you do "
        "not know.";
    help->schema =
        parse_literal(a, "{\"type\":\"object\",\"properties\":{\"names\":{"
                         "\"type\":\"array\",\"items\":{\"type\":\"string\"}"
                         ",\"description\":\"Names of tools\"}},"
                         "\"required\":[\"names\"]}");
    help->metadata = parse_literal(a, "{\"" MARK "\":\"" HELP "\"}");
    help->effect = ALLM_EFFECT_PURE;
    return help->schema && help->metadata ? help : NULL;
}

static const allm_json *only_element(const allm_json *names)
{
    return allm_json_count(names) == 1 ? allm_json_at(names, 0) : NULL;
}

/* The tool that a choice forces, in the format of any provider; or NULL. */
static const char *forced_tool(const allm_json *map)
{
    static const char *const paths[] = { "/name", "/function/name", "/tool",
                                        "/1" };
    static const char *const lists[] = {
        "/functionCallingConfig/allowedFunctionNames",
        "/function_calling_config/allowed_function_names",
        "/allowedFunctionNames",
        "/allowed_function_names",
    };
    const char *name = NULL;
    for (size_t i = 0; !name && i < sizeof paths / sizeof *paths; i++)
        name = allm_json_text(allm_json_pointer(map, paths[i]), NULL);
    for (size_t i = 0; !name && i < sizeof lists / sizeof *lists; i++)
        name = allm_json_text(only_element(allm_json_pointer(map, lists[i])),
                              NULL);
    return name;
}

bool compact_wire(struct arena *a, size_t count, const allm_tool *const *tools,
                  const char *choice, const allm_json *choice_map,
                  size_t *out_count, const allm_tool *const **out)
{
    *out_count = count;
    *out = tools;
    if (!compact_any(count, tools))
        return true;
    const char *forced = choice_map ? forced_tool(choice_map) : choice;
    const allm_tool **wire = arena_alloc(a, (count + 1) * sizeof *wire);
    if (!wire)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const allm_tool *tool = tools[i];
        bool whole = !tool->compact || (forced && !strcmp(tool->name, forced));
        if (compact_is_help(tool))
            continue;           /* it is added at the end */
        wire[n] = whole ? tool : make_stub(a, tool);
        if (!wire[n++])
            return false;
    }
    wire[n] = make_help(a);
    *out_count = n + 1;
    *out = wire;
    return wire[n] != NULL;
}

static void write_compacts(struct buf *out, size_t count,
                           const allm_tool *const *tools)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (!tools[i]->compact)
            continue;
        buf_text(out, n++ ? ", " : "");
        buf_text(out, tools[i]->name);
    }
    if (!n)
        buf_text(out, "(none)");
}

static void write_help(struct buf *out, const allm_tool *tool)
{
    buf_format(out, "## %s\n%s\nParameters (JSON Schema): ", tool->name,
               tool->description ? tool->description : "");
    json_write(out, tool->schema ? tool->schema : json_empty_object(), 0);
}

static void write_unknown(struct buf *out, struct slice name, size_t count,
                          const allm_tool *const *tools)
{
    buf_text(out, "There is no tool \"");
    buf_add(out, name);
    buf_text(out, "\". Compact tools: ");
    write_compacts(out, count, tools);
}

static bool are_names(const allm_json *names)
{
    if (allm_json_type_of(names) != ALLM_JSON_ARRAY || !allm_json_count(names))
        return false;
    for (const allm_json *n = NULL; (n = allm_json_next(names, n));)
        if (allm_json_type_of(n) != ALLM_JSON_TEXT)
            return false;
    return true;
}

static bool is_repeated(const allm_json *names, const allm_json *name)
{
    for (const allm_json *n = NULL; (n = allm_json_next(names, n)) != name;)
        if (allm_json_equal(n, name))
            return true;
    return false;
}

struct slice compact_help(struct arena *a, size_t count,
                          const allm_tool *const *tools,
                          const allm_json *arguments)
{
    const allm_json *names = allm_json_get(arguments, "names");
    struct buf out = buf_in(a, NO_LIMIT);
    if (!are_names(names)) {
        buf_text(&out, "Usage: " HELP " {\"names\": [\"tool\", ...]}. "
                       "Compact tools: ");
        write_compacts(&out, count, tools);
        names = NULL;
    }
    for (const allm_json *n = NULL; (n = allm_json_next(names, n));) {
        if (is_repeated(names, n))
            continue;
        const allm_tool *tool = tool_find(count, tools,
                                          allm_json_text(n, NULL));
        buf_text(&out, out.len ? "\n\n" : "");
        if (tool)
            write_help(&out, tool);
        else
            write_unknown(&out, json_slice(n), count, tools);
    }
    return out.broken ? (struct slice){ NULL, 0 } : buf_slice(&out);
}

bool compact_missing(struct arena *a, const allm_tool *tool,
                     const allm_json *arguments, struct slice *out)
{
    const allm_json *required = allm_json_get(tool->schema, "required");
    struct buf text = buf_in(a, NO_LIMIT);
    *out = (struct slice){ "", 0 };
    if (allm_json_type_of(required) != ALLM_JSON_ARRAY)
        return true;
    for (const allm_json *r = NULL; (r = allm_json_next(required, r));) {
        if (allm_json_type_of(r) != ALLM_JSON_TEXT ||
            json_get(arguments, json_slice(r)))
            continue;
        buf_text(&text, text.len ? ", " : "missing required argument(s): ");
        buf_add(&text, json_slice(r));
    }
    if (text.len) {
        buf_text(&text, "\n\n");
        write_help(&text, tool);
        *out = buf_slice(&text);
    }
    return !text.broken;
}
