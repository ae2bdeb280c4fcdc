/* test_openai_chat.c - the dialect, by its folders of fixtures */
#include "provider/openai_chat.h"

#include "harness/check.h"
#include "harness/fixture.h"

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

TESTS = {
    TEST_ONCE(decodes_every_fixture),
    TEST_ONCE(encodes_every_fixture),
    TEST(decodes_transcripts),
    TEST(decodes_odd_frames),
    TEST(decodes_odd_servers),
    TEST(decodes_a_router),
    TEST(encodes_tools_and_images),
    TEST(encodes_odd_histories),
    TESTS_END,
};
