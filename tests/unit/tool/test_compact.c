/* test_compact.c - tools with a one-line description, and tool_help */
#include "tool/compact.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "harness/tools.h"

#include <stdio.h>

#define SEARCH_SCHEMA \
    "{\"type\":\"object\",\"properties\":{\"limit\":{\"type\":\"integer\"}," \
    "\"query\":{\"type\":\"string\"},\"after\":{}},\"required\":[\"query\"]}"

static allm_tool *search_tool(void)
{
    return allm_tool_new(ALLM(tool, .name = "search",
                              .description = "Finds pages. By words.\nMore.",
                              .schema_text = SEARCH_SCHEMA, .compact = 1,
                              .call = tools_do, .ud = TOOLS_SCRIPT("echo"),
                              .flags = ALLM_TOOL_INLINE));
}

static allm_tool *plain_tool(const char *name)
{
    return allm_tool_new(ALLM(tool, .name = name, .description = "Plain.",
                              .schema_text = "{\"type\":\"object\"}"));
}

/* The wire list as text: "name|description|schema". */
static const char *wire(size_t count, allm_tool **tools, const char *choice,
                        const char *map)
{
    static char text[4096];
    struct arena a;
    size_t n = 0, at = 0;
    const allm_tool *const *list = NULL;
    allm_json *choice_map = map ? noun_json(map) : NULL;
    arena_init(&a, mem_default());
    text[0] = '\0';
    bool ok = compact_wire(&a, count, (const allm_tool *const *)tools, choice,
                           choice_map, &n, &list);
    for (size_t i = 0; ok && i < n; i++)
        at += (size_t)snprintf(
            text + at, sizeof text - at, "%s%s|%s|%s", i ? "\n" : "",
            list[i]->name, list[i]->description,
            compact_is_help(list[i]) ? "help" : tools_json(list[i]->schema));
    arena_release(&a);
    allm_json_free(choice_map);
    return text;
}

#define HELP_LINE                                                             \
    "\ntool_help|Returns the full description and the parameters of tools "    \
    "marked [compact]. Call it before you call a tool whose arguments you "    \
    "do not know.|help"

static void compact_tools_are_stubs_on_the_wire(void)
{
    allm_tool *tools[] = { plain_tool("plain"), search_tool() };
    if (tools[0] && tools[1])
        CHECK_TEXT(wire(2, tools, NULL, NULL),
                   "plain|Plain.|{\"type\":\"object\"}\n"
                   "search|Finds pages. Args: query [after, limit] [compact]|"
                   "{\"type\":\"object\"}" HELP_LINE);
    if (tools[0])
        CHECK_TEXT(wire(1, tools, NULL, NULL),
                   "plain|Plain.|{\"type\":\"object\"}");
    allm_tool_free(tools[0]);
    allm_tool_free(tools[1]);
}

static void stubs_are_one_line(void)
{
    static char long_text[200];
    memset(long_text, 'x', 170);
    const struct {
        const char *why, *description, *summary, *schema, *starts;
    } rows[] = {
        { "the summary first", "Long.", "Short", "{}", "t|Short [compact]|" },
        { "an empty summary is none", "Long.", "", "{}", "t|Long. [compact]|" },
        { "no arguments", "A", NULL, "{\"properties\":{}}",
          "t|A Args: none [compact]|" },
        { "only optional ones", "A", NULL,
          "{\"properties\":{\"b\":{},\"a\":{}}}",
          "t|A Args: [a, b] [compact]|" },
        { "required ones keep their order", "A", NULL,
          "{\"properties\":{\"a\":{},\"b\":{}},\"required\":[\"b\",\"a\"]}",
          "t|A Args: b, a [compact]|" },
        { "nothing to say", "", NULL, "{}", "t|[compact]|" },
        { "a dot inside a word is no end", "Reads x.y files. Well.", NULL, "{}",
          "t|Reads x.y files. [compact]|" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        allm_tool *tool = allm_tool_new(
            ALLM(tool, .name = "t", .description = rows[i].description,
                 .summary = rows[i].summary, .schema_text = rows[i].schema,
                 .compact = 1));
        check_row(rows[i].why);
        if (tool)
            CHECK(slice_starts(slice_of(wire(1, &tool, NULL, NULL)),
                               slice_of(rows[i].starts)));
        allm_tool_free(tool);
    }
    allm_tool *tool = allm_tool_new(ALLM(tool, .name = "t", .schema_text = "{}",
                                         .description = long_text,
                                         .compact = 1));
    if (tool && check_whole()) {
        const char *line = wire(1, &tool, NULL, NULL);
        CHECK(!memcmp(line + 2 + 157, "... [compact]", 13));
    }
    allm_tool_free(tool);
}

static void a_forced_tool_goes_whole(void)
{
    const struct {
        const char *choice, *map;
        bool whole;
    } rows[] = {
        { "search", NULL, true },
        { "auto", NULL, false },
        { "other", NULL, false },
        { NULL, "{'type':'tool','name':'search'}", true },
        { NULL, "{'type':'function','function':{'name':'search'}}", true },
        { NULL, "{'tool':'search'}", true },
        { NULL, "['tool','search']", true },
        { NULL, "{'functionCallingConfig':{'mode':'ANY',"
                "'allowedFunctionNames':['search']}}", true },
        { NULL, "{'functionCallingConfig':{'mode':'ANY',"
                "'allowedFunctionNames':['search','other']}}", false },
        { NULL, "{'type':'any'}", false },
    };
    allm_tool *tool = search_tool();
    for (size_t i = 0; tool && i < sizeof rows / sizeof *rows; i++) {
        const char *text = wire(1, &tool, rows[i].choice, rows[i].map);
        check_row(rows[i].map ? rows[i].map : rows[i].choice);
        CHECK((strstr(text, "Finds pages. By words.\nMore.|" SEARCH_SCHEMA) !=
               NULL) == rows[i].whole);
        CHECK(strstr(text, "\ntool_help|") != NULL);
    }
    allm_tool_free(tool);
}

static void names_may_collide(void)
{
    allm_tool *tools[] = { plain_tool("tool_help"), search_tool() };
    const allm_tool *const *list = (const allm_tool *const *)tools;
    if (tools[0] && tools[1]) {
        CHECK(compact_collides(2, list));
        CHECK(!compact_collides(1, list));
        CHECK(!compact_names_help("tool_help", 2, list));
        CHECK(compact_names_help("tool_help", 1, list + 1));
        CHECK(!compact_names_help("search", 1, list + 1));
        CHECK(compact_any(2, list) && !compact_any(1, list));
    }
    allm_tool_free(tools[0]);
    allm_tool_free(tools[1]);
}

static void help_explains(void)
{
    const struct {
        const char *args, *text;
    } rows[] = {
        { "{'names':['search']}",
          "## search\nFinds pages. By words.\nMore.\nParameters (JSON Schema): "
          SEARCH_SCHEMA },
        { "{'names':['search','nope','search']}",
          "## search\nFinds pages. By words.\nMore.\nParameters (JSON Schema): "
          SEARCH_SCHEMA
          "\n\nThere is no tool \"nope\". Compact tools: search" },
        { "{}", "Usage: tool_help {\"names\": [\"tool\", ...]}. Compact tools: "
                "search" },
        { "{'names':[]}", "Usage: tool_help {\"names\": [\"tool\", ...]}. "
                          "Compact tools: search" },
        { "{'names':[1]}", "Usage: tool_help {\"names\": [\"tool\", ...]}. "
                           "Compact tools: search" },
    };
    allm_tool *tool = search_tool();
    for (size_t i = 0; tool && i < sizeof rows / sizeof *rows; i++) {
        allm_json *args = noun_json(rows[i].args);
        allm_text *text = allm_tool_help(1, (const allm_tool *const *)&tool,
                                         args);
        CHECK_TEXT(allm_text_bytes(text, NULL), rows[i].text);
        allm_text_free(text);
        allm_json_free(args);
    }
    allm_text *none = allm_tool_help(0, NULL, NULL);
    CHECK_TEXT(allm_text_bytes(none, NULL),
               "Usage: tool_help {\"names\": [\"tool\", ...]}. Compact tools: "
               "(none)");
    allm_text_free(none);
    allm_tool_free(tool);
}

/* In a batch: the library answers tool_help, and checks required keys. */
static void runners_know_compact_tools(void)
{
    struct tools_bench t;
    tools_init(&t);
    allm_tool *tool = search_tool();
    if (tool)
        tools_add_fields(&t, tool);
    allm_tool_free(tool);
    tools_call(&t, "tool_help", "{'names':['x']}");
    tools_call(&t, "search", "{'limit':1}");
    tools_call(&t, "search", "{'query':'q'}");
    tools_play(&t);
    CHECK_TEXT(
        tools_results(&t),
        "c0=There is no tool \"x\". Compact tools: search "
        "c1={\"error\":\"missing required argument(s): query\\n\\n## "
        "search\\nFinds pages. By words.\\nMore.\\nParameters (JSON "
        "Schema): {\\\"type\\\":\\\"object\\\",\\\"properties\\\":{"
        "\\\"limit\\\":{\\\"type\\\":\\\"integer\\\"},\\\"query\\\":{"
        "\\\"type\\\":\\\"string\\\"},\\\"after\\\":{}},\\\"required\\\":"
        "[\\\"query\\\"]}\"} c2={\"query\":\"q\"}");
    tools_release(&t);
}

static void a_tool_named_help_is_just_a_tool(void)
{
    struct tools_bench t;
    tools_init(&t);
    tools_add(&t, "tool_help", "text:mine");
    tools_call(&t, "tool_help", "{}");
    tools_play(&t);
    CHECK_TEXT(tools_results(&t), "c0=mine");
    tools_release(&t);
}

TESTS = {
    TEST(compact_tools_are_stubs_on_the_wire),
    TEST(stubs_are_one_line),
    TEST(a_forced_tool_goes_whole),
    TEST(names_may_collide),
    TEST(help_explains),
    TEST(runners_know_compact_tools),
    TEST(a_tool_named_help_is_just_a_tool),
    TESTS_END,
};
