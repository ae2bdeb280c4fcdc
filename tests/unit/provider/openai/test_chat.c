/* test_chat.c - the dialect, tested with its fixtures */
#include "provider/dialects.h"

#include "harness/check.h"
#include "harness/fixture.h"
#include "unit/provider/sinking.h"

static void decodes_every_fixture(void)
{
    fixture_decode_all("openai_chat", &openai_chat_adapter);
}

static void encodes_every_fixture(void)
{
    fixture_encode_all("openai_chat", &openai_chat_adapter);
}

/* The n-th allocation fails, of all fixtures whose names begin like this. */
static void decodes_transcripts(void)
{
    fixture_decode_some("openai_chat", &openai_chat_adapter, "chat-");
}

static void decodes_odd_frames(void)
{
    fixture_decode_some("openai_chat", &openai_chat_adapter, "q0");
}

static void decodes_odd_servers(void)
{
    fixture_decode_some("openai_chat", &openai_chat_adapter, "q1");
}

static void decodes_a_router(void)
{
    fixture_decode_some("openai_chat", &openai_chat_adapter, "openrouter");
}

static void encodes_tools_and_images(void)
{
    fixture_encode_some("openai_chat", &openai_chat_adapter, "encode-a");
}

static void encodes_odd_histories(void)
{
    fixture_encode_some("openai_chat", &openai_chat_adapter, "encode-");
}

/* ---------------------------------------------------------------- signs --- */

#define SAID(text, word) \
    "{\"choices\":[{\"delta\":{\"content\":\"" text \
    "\"},\"finish_reason\":" word "}]}"

/* The state of the protocol after the last of these frames. */
static void tells_where_the_protocol_is(void)
{
    const struct {
        const char *why, *data[3];
        bool idle, settled, ended;
    } rows[] = {
        { "no choice, no counts", { "{\"choices\":[]}" }, true, false, false },
        { "counts", { "{\"choices\":[],\"usage\":{\"prompt_tokens\":1}}" },
          false, false, false },
        { "text", { SAID("a", "null") }, false, false, false },
        { "a word before anything was said", { SAID("", "\"stop\"") },
          false, false, false },
        { "a word behind the text: all is there",
          { SAID("a", "null"), SAID("", "\"stop\"") },
          false, true, false },
        { "a word with the last text",
          { SAID("a", "null"), SAID("b", "\"stop\"") },
          false, true, false },
        { "a word with the first text, perhaps with every one",
          { SAID("a", "\"stop\"") },
          false, false, false },
        { "a word with every text",
          { SAID("a", "\"stop\""), SAID("b", "\"stop\"") },
          false, false, false },
        { "and one more without any",
          { SAID("a", "\"stop\""), SAID("", "\"stop\"") },
          false, true, false },
        { "the end", { SAID("a", "null"), "[DONE]" }, false, false, true },
    };
    allm_call call = { .size = sizeof call, .provider = "openai" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sinking s;
        sinking_begin(&s);
        void *state = arena_zero(&s.life, openai_chat_adapter.state_size);
        check_row(rows[i].why);
        for (size_t k = 0; state && k < 3 && rows[i].data[k]; k++) {
            const allm_frame frame = { .size = sizeof frame,
                                       .name = "",
                                       .data = rows[i].data[k],
                                       .data_len = strlen(rows[i].data[k]) };
            s.sink.idle = false;
            CHECK(openai_chat_adapter.decode(state, &call, &frame, &s.sink) ==
                  ALLM_OK);
            sinking_take(&s);
        }
        CHECK(s.sink.idle == rows[i].idle);
        CHECK(s.sink.settled == rows[i].settled);
        CHECK(s.sink.ended == rows[i].ended);
        sinking_end(&s);
    }
}

TESTS = {
    TEST_ONCE(decodes_every_fixture),
    TEST_ONCE(encodes_every_fixture),
    TEST(decodes_transcripts),
    TEST(decodes_odd_frames),
    TEST(decodes_odd_servers),
    TEST(decodes_a_router),
    TEST(encodes_tools_and_images),
    TEST(encodes_odd_histories),
    TEST(tells_where_the_protocol_is),
    TESTS_END,
};
