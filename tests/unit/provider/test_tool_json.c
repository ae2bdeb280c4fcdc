/* test_tool_json.c - tools as they are sent to a model */
#include "provider/tool_json.h"

#include "harness/check.h"
#include "harness/play.h"

static void shows(const allm_tool *tool, const char *want)
{
    struct arena a;
    struct buf text;
    struct emit out;
    arena_init(&a, mem_default());
    buf_init(&text, &a, 4096);
    emit_init(&out, &text);
    emit_open(&out, '{');
    tool_json_write(&out, tool);
    emit_close(&out, '}');
    CHECK_SLICE(buf_slice(&text), slice_of(want));
    arena_release(&a);
}

static void has_a_schema_always(void)
{
    allm_json *schema = play_json("{'type':'object'}");
    shows(ALLM(tool, .name = "now"),
          "{\"name\":\"now\",\"parameters\":{\"type\":\"object\","
          "\"properties\":{}}}");
    if (schema)
        shows(ALLM(tool, .name = "n", .description = "d", .schema = schema),
              "{\"name\":\"n\",\"description\":\"d\",\"parameters\":"
              "{\"type\":\"object\"}}");
    allm_json_free(schema);
}

static void words_are_no_names(void)
{
    CHECK_ALWAYS(tool_json_is_choice("auto") && tool_json_is_choice("none") &&
                 tool_json_is_choice("required"));
    CHECK_ALWAYS(!tool_json_is_choice("now") && !tool_json_is_choice(""));
}

TESTS = {
    TEST(has_a_schema_always),
    TEST(words_are_no_names),
    TESTS_END
};
