/* test_tasks.c - dialects of embed, image and moderate, with fixtures */
#include "provider/tasks.h"

#include "harness/check.h"
#include "harness/fixture.h"
#include "provider/dialects.h"

static void both(const allm_adapter *adapter)
{
    fixture_decode_all(adapter->name, adapter);
    fixture_encode_all(adapter->name, adapter);
}

static void openai_embeds(void)
{
    both(&openai_embed_adapter);
}

static void gemini_embeds(void)
{
    both(&gemini_embed_adapter);
}

static void ollama_embeds(void)
{
    both(&ollama_embed_adapter);
}

static void openai_paints(void)
{
    both(&openai_image_adapter);
}

static void gemini_paints(void)
{
    both(&gemini_image_adapter);
}

static void openai_moderates(void)
{
    both(&openai_moderate_adapter);
}

/* The n-th allocation fails. */
static void memory_may_run_out(void)
{
    static const allm_adapter *const all[] = {
        &openai_embed_adapter, &gemini_embed_adapter, &ollama_embed_adapter,
        &openai_image_adapter, &gemini_image_adapter, &openai_moderate_adapter,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        fixture_decode_some(all[i]->name, all[i], "a-");
        fixture_encode_some(all[i]->name, all[i], "encode-a-");
    }
}

TESTS = {
    TEST_ONCE(openai_embeds),
    TEST_ONCE(gemini_embeds),
    TEST_ONCE(ollama_embeds),
    TEST_ONCE(openai_paints),
    TEST_ONCE(gemini_paints),
    TEST_ONCE(openai_moderates),
    TEST(memory_may_run_out),
    TESTS_END,
};
