/* test_offer.c - tools as models are shown them */
#include "provider/offer.h"

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
    offer_tool(&out, tool);
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
    CHECK_ALWAYS(offer_is_word("auto") && offer_is_word("none") &&
                 offer_is_word("required"));
    CHECK_ALWAYS(!offer_is_word("now") && !offer_is_word(""));
}

TESTS = {
    TEST(has_a_schema_always),
    TEST(words_are_no_names),
    TESTS_END
};
