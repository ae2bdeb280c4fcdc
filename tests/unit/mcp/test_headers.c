/* test_headers.c - the HTTP headers of an MCP request */
#include "mcp/headers.h"

#include "base/buf.h"
#include "harness/check.h"
#include "json/parse.h"

static const allm_json *parse(struct arena *a, const char *text)
{
    const allm_error *error;
    return text ? json_parse_loose(a, slice_of(text), &error) : NULL;
}

#define PROPERTY(name, type, header)                                      \
    "\"" name "\":{\"type\":\"" type "\",\"x-mcp-header\":\"" header "\"}"
#define SCHEMA(properties) \
    "{\"type\":\"object\",\"properties\":{" properties "}}"

static void judges_marks(void)
{
    static const struct {
        const char *why, *schema;
        bool valid;
    } rows[] = {
        { "none", SCHEMA(""), true },
        { "no schema", NULL, true },
        { "a string, an integer, a boolean",
          SCHEMA(PROPERTY("a", "string", "A") "," PROPERTY("b", "integer", "B")
                 "," PROPERTY("c", "boolean", "c-1")), true },
        { "a number", SCHEMA(PROPERTY("a", "number", "A")), false },
        { "an empty name", SCHEMA(PROPERTY("a", "string", "")), false },
        { "a name with a line end",
          SCHEMA(PROPERTY("a", "string", "A\\nB")), false },
        { "a name with a space", SCHEMA(PROPERTY("a", "string", "A B")),
          false },
        { "the same name in other letters",
          SCHEMA(PROPERTY("a", "string", "Ab") "," PROPERTY("b", "string",
                                                            "aB")), false },
        { "in an object in an object",
          SCHEMA("\"o\":" SCHEMA(PROPERTY("a", "string", "A"))), true },
        { "in an array",
          SCHEMA("\"o\":{\"items\":" SCHEMA(PROPERTY("a", "string", "A")) "}"),
          false },
        { "in an alternative",
          "{\"anyOf\":[" SCHEMA(PROPERTY("a", "string", "A")) "]}", false },
        { "a property of that name is no mark",
          SCHEMA("\"x-mcp-header\":{\"type\":\"string\"}"), true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        CHECK(mcp_headers_valid(parse(&a, rows[i].schema)) == rows[i].valid);
        arena_release(&a);
    }
    check_row(NULL);
}

static void writes_headers(void)
{
#define V26 "MCP-Protocol-Version: 2026-07-28\n"
    static const struct {
        const char *why, *revision, *name, *args, *want;
        enum mcp_method method;
    } rows[] = {
        { "a modern call", "2026-07-28", "f", NULL,
          V26 "Mcp-Method: tools/call\nMcp-Name: f\n", MCP_TOOLS_CALL },
        { "a URI", "2026-07-28", "file:///a", NULL,
          V26 "Mcp-Method: resources/read\nMcp-Name: file:///a\n",
          MCP_RESOURCES_READ },
        { "without a name", "2026-07-28", NULL, NULL,
          V26 "Mcp-Method: tools/list\n", MCP_TOOLS_LIST },
        { "not a request", "2026-07-28", NULL, NULL, V26, MCP_NOTHING },
        { "legacy", "2025-06-18", "f", "{\"s\":\"x\"}",
          "MCP-Protocol-Version: 2025-06-18\n", MCP_TOOLS_CALL },
        { "before there was a header", "2025-03-26", "f", NULL, "",
          MCP_TOOLS_CALL },
        { "initialize", "2025-11-25", NULL, NULL, "", MCP_INITIALIZE },
        { "arguments", "2026-07-28", "f",
          "{\"s\":\"x y\",\"i\":-7,\"b\":true,\"o\":{\"n\":\"deep\"}}",
          V26 "Mcp-Method: tools/call\nMcp-Name: f\nMcp-Param-S: x y\n"
          "Mcp-Param-I: -7\nMcp-Param-B: true\nMcp-Param-N: deep\n",
          MCP_TOOLS_CALL },
        { "null and missing ones are left out", "2026-07-28", "f",
          "{\"s\":null,\"i\":1.5}",
          V26 "Mcp-Method: tools/call\nMcp-Name: f\n", MCP_TOOLS_CALL },
        { "an empty one is there", "2026-07-28", "f", "{\"s\":\"\"}",
          V26 "Mcp-Method: tools/call\nMcp-Name: f\nMcp-Param-S: \n",
          MCP_TOOLS_CALL },
        { "not ASCII", "2026-07-28", "Hello, \xE4\xB8\x96\xE7\x95\x8C", NULL,
          V26 "Mcp-Method: tools/call\n"
          "Mcp-Name: =?base64?SGVsbG8sIOS4lueVjA==?=\n", MCP_TOOLS_CALL },
        { "spaces at the ends", "2026-07-28", " padded ", NULL,
          V26 "Mcp-Method: tools/call\n"
          "Mcp-Name: =?base64?IHBhZGRlZCA=?=\n", MCP_TOOLS_CALL },
        { "a line end", "2026-07-28", "line1\nline2", NULL,
          V26 "Mcp-Method: tools/call\n"
          "Mcp-Name: =?base64?bGluZTEKbGluZTI=?=\n", MCP_TOOLS_CALL },
        { "looks encoded", "2026-07-28", "=?base64?literal?=", NULL,
          V26 "Mcp-Method: tools/call\n"
          "Mcp-Name: =?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=\n", MCP_TOOLS_CALL },
    };
    static const char schema[] =
        SCHEMA(PROPERTY("s", "string", "S") "," PROPERTY(
            "i", "integer",
            "I") "," PROPERTY("b", "boolean",
                              "B") ",\"o\":" SCHEMA(PROPERTY("n", "string",
                                                             "N")));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct buf b;
        struct mcp_headers h = { 0, NULL };
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        buf_init(&b, &a, 4096);
        struct mcp_message m = { .method = rows[i].method,
                                 .name = rows[i].name,
                                 .arguments = parse(&a, rows[i].args) };
        m.revision = revision_find(slice_of(rows[i].revision));
        CHECK(mcp_headers_make(&a, &m, parse(&a, schema), &h));
        for (size_t k = 0; k < h.count; k++)
            buf_format(&b, "%s: %s\n", h.list[k].name, h.list[k].value);
        CHECK_TEXT(buf_slice(&b).ptr, rows[i].want);
        arena_release(&a);
    }
    check_row(NULL);
}

TESTS = {
    TEST(judges_marks),
    TEST(writes_headers),
    TESTS_END,
};
