/* test_responses.c - the dialect, tested with its fixtures */
#include "provider/dialects.h"

#include "harness/check.h"
#include "harness/fixture.h"
#include "harness/noun.h"
#include "unit/provider/talking.h"
#include "json/json.h"

#include <stdio.h>

static void decodes_every_fixture(void)
{
    fixture_decode_all("openai_responses", &openai_responses_adapter);
}

static void encodes_every_fixture(void)
{
    fixture_encode_all("openai_responses", &openai_responses_adapter);
}

/* The n-th allocation fails, of all fixtures whose names begin like this. */
static void decodes_transcripts(void)
{
    fixture_decode_some("openai_responses", &openai_responses_adapter, "resp-");
}

static void decodes_odd_answers(void)
{
    fixture_decode_some("openai_responses", &openai_responses_adapter, "q0");
}

static void decodes_odd_streams(void)
{
    fixture_decode_some("openai_responses", &openai_responses_adapter, "q1");
}

static void decodes_reasoning(void)
{
    fixture_decode_some("openai_responses", &openai_responses_adapter,
                        "reasoning-");
}

static void encodes_tools_and_images(void)
{
    fixture_encode_some("openai_responses", &openai_responses_adapter,
                        "encode-a-");
}

static void encodes_the_rest(void)
{
    fixture_encode_some("openai_responses", &openai_responses_adapter,
                        "encode-");
}

/* ---------------------------------------------------------------- signs --- */

/* The state of the protocol after each of these events. */
static void tells_where_the_protocol_is(void)
{
    static const struct talking_sign rows[] = {
        { "a keep-alive is no content", "{\"type\":\"keepalive\"}", true,
          false, false },
        { "a beginning", "{\"type\":\"response.created\",\"response\":{}}",
          false, false, false },
        { "text",
          "{\"type\":\"response.output_text.delta\",\"output_index\":0,"
          "\"delta\":\"x\"}",
          false, false, false },
        { "an item is no end",
          "{\"type\":\"response.output_item.done\",\"output_index\":0,"
          "\"item\":{\"type\":\"message\",\"status\":\"completed\"}}",
          false, false, false },
        { "the end", "{\"type\":\"response.completed\",\"response\":{}}", false,
          false, true },
    };
    talking_check_signs(&openai_responses_adapter, rows,
                        sizeof rows / sizeof *rows);
}

/* ----------------------------------------------------------- round trip --- */

/* An answer goes back item by item as it came, to its own model only. */
static void sends_back_what_came(void)
{
#define THOUGHT(id, t) \
    "{\"type\":\"reasoning\",\"id\":\"" id "\",\"summary\":[{\"type\":" \
    "\"summary_text\",\"text\":\"" t "\"}],\"encrypted_content\":\"c2Vh\"}"
#define CALLED(id, name) \
    "{\"type\":\"function_call\",\"call_id\":\"" id "\",\"name\":\"" name \
    "\",\"arguments\":\"{\\\"n\\\":1}\"}"
#define SAID(text) \
    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"" text "\"}"
#define INPUT \
    "\"input\":[" THOUGHT("rs_1", "one") "," SEARCH "," SAID("First.") "," \
    CALLED("call_1", "a") "," THOUGHT("rs_2", "") "," \
    CALLED("call_2", "b") "," SAID("Then.") ","
#define SEARCH "{\"type\":\"web_search_call\",\"id\":\"ws_1\"}"
#define TEXT(t) \
    "{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":" \
    "\"" t "\"}]}"
    struct sinking s;
    struct buf mine, other;
    const allm_call call = { .size = sizeof call,
                       .provider = "openai",
                       .model = "m",
                       .base_url = "http://x",
                       .adapter_opts = json_empty_object() };
    sinking_begin(&s);
    talking_send_back(
        &openai_responses_adapter, &s, call, "n",
        "{\"status\":\"completed\",\"output\":[" THOUGHT(
            "rs_1",
            "one") "," SEARCH
                   "," TEXT("First.") "," CALLED("call_1", "a") "," THOUGHT(
                       "rs_2", "") "," CALLED("call_2",
                                              "b") "," TEXT("Then.") "]}",
        &mine, &other);
    CHECK(mine.ptr && strstr(mine.ptr, INPUT));
    CHECK(other.ptr && !strstr(other.ptr, "c2Vh") &&
          !strstr(other.ptr, "ws_1"));
    CHECK(other.ptr && strstr(other.ptr, "First.Then."));
    sinking_end(&s);
}

/* As many items, or parts of one, as are taken, and one more. */
static void so_many_items_are_taken(void)
{
    enum { MOST = 8192 };
    static const char *const forms[][2] = {
        { "{\"type\":\"response.output_item.added\",\"output_index\":",
          ",\"item\":{\"type\":\"message\",\"content\":[]}}" },
        { "{\"type\":\"response.output_text.delta\",\"output_index\":0,"
          "\"delta\":\"x\",\"content_index\":", "}" },
    };
    const allm_call call = { .size = sizeof call, .provider = "openai" };
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        struct sinking s;
        sinking_begin(&s);
        void *state = arena_zero(&s.life, openai_responses_adapter.state_size);
        for (int i = 0; i <= MOST; i++) {
            char data[160];
            int len = snprintf(data, sizeof data, "%s%d%s", forms[k][0], i,
                               forms[k][1]);
            const allm_frame frame = { .size = sizeof frame,
                                       .name = "",
                                       .data = data,
                                       .data_len = (size_t)len };
            CHECK(!s.sink.failure);
            openai_responses_adapter.decode(state, &call, &frame, &s.sink);
            sinking_take(&s);
        }
        CHECK(s.sink.failure);
        sinking_end(&s);
    }
}

TESTS = {
    TEST_ONCE(decodes_every_fixture),
    TEST_ONCE(encodes_every_fixture),
    TEST(decodes_transcripts),
    TEST(decodes_odd_answers),
    TEST(decodes_odd_streams),
    TEST(decodes_reasoning),
    TEST(encodes_tools_and_images),
    TEST(encodes_the_rest),
    TEST(tells_where_the_protocol_is),
    TEST(sends_back_what_came),
    TEST_ONCE(so_many_items_are_taken),
    TESTS_END,
};
