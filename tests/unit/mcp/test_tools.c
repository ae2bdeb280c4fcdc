/*
 * test_tools.c - the tools of a server, as models see them
 *
 * The tools of a row are written as "SHOWN=NAME ...", and "-n" for n that were
 * left out.
 */
#include "mcp/tools.h"

#include "base/buf.h"
#include "harness/check.h"
#include "json/parse.h"

#define LONG_50 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee"

static const allm_json *parse(struct arena *a, const char *text)
{
    const allm_error *error;
    return text ? json_parse_loose(a, slice_of(text), &error) : NULL;
}

static void tell_tools(struct buf *b, const struct mcp_tools *t)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct mcp_tool *tool = &t->tools[i];
        CHECK(strlen(tool->shown) <= MCP_TOOL_NAME);
        CHECK(json_is_type(tool->schema, ALLM_JSON_OBJECT));
        buf_format(b, "%s%s=%s", b->len ? " " : "", tool->shown, tool->name);
    }
    if (t->invalid)
        buf_format(b, " -%zu", t->invalid);
}

static void names_and_filters_tools(void)
{
    static const struct {
        const char *why, *list, *filter, *want;
        bool http;
    } rows[] = {
        { "no list", "7", NULL, "", false },
        { "by name, in whatever order",
          "[{\"name\":\"b\"},{\"name\":\"a\"},{\"name\":\"aa\"}]", NULL,
          "s__a=a s__aa=aa s__b=b", false },
        { "other characters become _",
          "[{\"name\":\"a.b/c d\"},{\"name\":\"\xC3\xA9\"}]", NULL,
          "s__a_b_c_d=a.b/c d s____=\xC3\xA9", false },
        { "a name that is taken gets a hash",
          "[{\"name\":\"a.b\"},{\"name\":\"a_b\"}]", NULL,
          "s__a_b=a.b s__a_b_dc3ee7=a_b", false },
        { "64 characters fit",
          "[{\"name\":\"" LONG_50 "12345678901\"}]", NULL,
          "s__" LONG_50 "12345678901=" LONG_50 "12345678901", false },
        { "65 do not",
          "[{\"name\":\"" LONG_50 "123456789012\"}]", NULL,
          "s__" LONG_50 "1234_c76c0b=" LONG_50 "123456789012", false },
        { "what is not a tool is left out",
          "[7,{},{\"name\":\"\"},{\"name\":\"a\\u0000b\"},{\"name\":\"x\","
          "\"inputSchema\":[]},{\"name\":\"y\"},{\"name\":\"a\\n? yes\"},"
          "{\"name\":\"\\u007f\"}]", NULL, "s__y=y -7", false },
        { "of equal names the first counts",
          "[{\"name\":\"x\"},{\"name\":\"x\"}]", NULL, "s__x=x -1", false },
        { "a filter", "[{\"name\":\"read_a\"},{\"name\":\"read_b\"},"
          "{\"name\":\"write\"}]", "[\"read_*\",\"!*_b\"]",
          "s__read_a=read_a", false },
        { "a filter that only excludes",
          "[{\"name\":\"abc\"},{\"name\":\"abd\"},{\"name\":\"\xC3\xA9\"}]",
          "[\"!a*c\",\"!a?\"]", "s__abd=abd s____=\xC3\xA9", false },
        { "a filter with many stars",
          "[{\"name\":\"xaybzc\"},{\"name\":\"abc\"},{\"name\":\"acb\"}]",
          "[\"*a*b*c\"]", "s__abc=abc s__xaybzc=xaybzc", false },
        { "a header that cannot be sent, over HTTP",
          "[{\"name\":\"x\",\"inputSchema\":{\"properties\":{\"a\":{\"type\":"
          "\"number\",\"x-mcp-header\":\"A\"}}}}]", NULL, " -1", true },
        { "and not over HTTP",
          "[{\"name\":\"x\",\"inputSchema\":{\"properties\":{\"a\":{\"type\":"
          "\"number\",\"x-mcp-header\":\"A\"}}}}]", NULL, "s__x=x", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct buf b;
        struct mcp_tools tools;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        buf_init(&b, &a, 4096);
        struct mcp_tools_opts opts = { "s", parse(&a, rows[i].filter),
                                       rows[i].http };
        if (CHECK(mcp_tools_make(&a, parse(&a, rows[i].list), &opts, &tools)))
            tell_tools(&b, &tools);
        CHECK_TEXT(buf_slice(&b).ptr, rows[i].want);
        arena_release(&a);
    }
    check_row(NULL);
}

static void keeps_what_a_tool_says(void)
{
    struct arena a;
    struct mcp_tools t;
    struct mcp_tools_opts opts = { .server = "s" };
    arena_init(&a, mem_default());
    if (mcp_tools_make(&a,
                       parse(&a, "[{\"name\":\"x\",\"description\":\"d\","
                                 "\"inputSchema\":{\"type\":\"object\"},"
                                 "\"outputSchema\":{},\"annotations\":"
                                 "{\"readOnlyHint\":true}},{\"name\":\"y\"}]"),
                       &opts, &t) &&
        CHECK_INT(t.count, 2) && t.count == 2) {
        CHECK_TEXT(t.tools[0].description, "d");
        CHECK(t.tools[0].read_only && !t.tools[0].idempotent);
        CHECK(t.tools[0].output != NULL);
        CHECK_TEXT(t.tools[1].description, "");
        CHECK(!t.tools[1].read_only && !t.tools[1].output);
        CHECK(json_is(json_at(t.tools[1].schema, "type"), "object"));
    }
    arena_release(&a);
}

/* A server may list a million tools, which would be compared for hours. */
static void leaves_out_too_many_tools(void)
{
    enum { COUNT = 100000 };
    struct arena a;
    struct buf list;
    struct mcp_tools t = { .count = 0 };
    struct mcp_tools_opts opts = { .server = "s" };
    arena_init(&a, mem_default());
    buf_init(&list, &a, SIZE_MAX / 2);
    for (int i = 0; i < COUNT; i++)
        buf_format(&list, "%s{\"name\":\"%06d\"}", i ? "," : "[", i);
    buf_byte(&list, ']');
    CHECK(mcp_tools_make(&a, parse(&a, buf_slice(&list).ptr), &opts, &t));
    if (CHECK_INT(t.count, MCP_TOOLS_MOST) && t.count)
        CHECK_TEXT(t.tools[t.count - 1].name, "004095");
    CHECK_INT(t.invalid, COUNT - MCP_TOOLS_MOST);
    arena_release(&a);
}

TESTS = {
    TEST(names_and_filters_tools),
    TEST(leaves_out_too_many_tools),
    TEST(keeps_what_a_tool_says),
    TESTS_END,
};
