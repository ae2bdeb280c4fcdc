/* test_model_rules.c - how a request depends on the name of its model */
#include "provider/model_rules.h"

#include "harness/check.h"

enum {
    REASONER = MODEL_RESPONSES | MODEL_NEW_TOKENS | MODEL_REASONS,
    OLD = MODEL_PLAIN,
    TOKENS = MODEL_NEW_TOKENS | MODEL_PLAIN,
    GPT_6 = REASONER | MODEL_NO_RETENTION,
    OPUS_47 = MODEL_ADAPTIVE | MODEL_XHIGH | MODEL_HIDES | MODEL_NO_SAMPLING,
    FIVE = OPUS_47 | MODEL_THINKS,
    OPUS_55 = FIVE | MODEL_NOT_FORCED,
    SONNET_55 = FIVE | MODEL_NOT_FORCED | MODEL_BETWEEN,
    HAIKU_55 = FIVE | MODEL_STOPS
};

struct name {
    const char *model;
    uint32_t rules;
};

static void compare(const struct name *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        check_row(rows[i].model);
        CHECK_INT(model_rules(rows[i].model), rows[i].rules);
    }
}

#define COMPARE(rows) compare(rows, sizeof rows / sizeof *(rows))

static void openai_is_known_by_its_names(void)
{
    static const struct name rows[] = {
        { "gpt-3.5-turbo-0125", OLD },
        { "gpt-35-turbo", OLD },
        { "gpt-4", OLD },
        { "gpt-4-0613", OLD },
        { "gpt-4-1106-preview", OLD },
        { "gpt-4-turbo-2024-04-09", OLD },
        { "gpt-4-32k", OLD },
        { "gpt-4o", TOKENS },
        { "gpt-4o-mini-2024-07-18", TOKENS },
        { "chatgpt-4o-latest", TOKENS },
        { "gpt-4.1-nano", TOKENS },
        { "gpt-4.5-preview", TOKENS },
        { "gpt-4o-search-preview", TOKENS | MODEL_NO_SAMPLING },
        { "gpt-5-search-api-2025-10-14", TOKENS | MODEL_NO_SAMPLING },
        { "gpt-5", REASONER },
        { "gpt-5-2025-08-07", REASONER },
        { "gpt-5-mini", REASONER },
        { "gpt-5-codex", REASONER },
        { "gpt-5-pro-2025-10-06", REASONER },
        { "gpt-5-chat-latest", MODEL_RESPONSES | TOKENS },
        { "gpt-5.1", REASONER | MODEL_EFFORT_NONE },
        { "gpt-5.1-2025-11-13", REASONER | MODEL_EFFORT_NONE },
        { "gpt-5.1-codex-max", REASONER },
        { "gpt-5.1-chat-latest", REASONER },
        { "gpt-5.2", REASONER | MODEL_EFFORT_NONE },
        { "gpt-5.2-pro", REASONER },
        { "gpt-5.3-chat-latest", REASONER },
        { "gpt-5.4-nano-2026-03-17", REASONER | MODEL_EFFORT_NONE },
        { "gpt-5.5", REASONER },
        { "gpt-5.5-pro-2026-04-23", REASONER },
        { "gpt-5.6", REASONER },
        { "gpt-5.6-luna-2026-07-09", REASONER },
        { "gpt-6-astra", GPT_6 },
        { "gpt-6-sol", GPT_6 },
        { "gpt-6.1-terra", GPT_6 },
        { "gpt-daybreak-red-latest", REASONER },
        { "chat-latest", REASONER },
        { "computer-use-preview", REASONER },
        { "o1", REASONER },
        { "o3-mini-2025-01-31", REASONER },
        { "o4-mini-deep-research", REASONER },
    };
    COMPARE(rows);
}

static void anthropic_is_known_by_its_names(void)
{
    static const struct name rows[] = {
        { "claude-instant-1.2", 0 },
        { "claude-2.1", 0 },
        { "claude-3-haiku-20240307", 0 },
        { "claude-3-7-sonnet-latest", 0 },
        { "claude-sonnet-4-20250514", 0 },
        { "claude-opus-4-1", MODEL_ONE_SAMPLER },
        { "claude-opus-4-5-20251101", MODEL_ONE_SAMPLER },
        { "claude-sonnet-4-5", MODEL_ONE_SAMPLER },
        { "claude-haiku-4-5-20251001", MODEL_ONE_SAMPLER },
        { "claude-sonnet-4-6", MODEL_ADAPTIVE | MODEL_ONE_SAMPLER },
        { "claude-opus-4-6-20260205", MODEL_ADAPTIVE | MODEL_ONE_SAMPLER },
        { "claude-opus-4-7", OPUS_47 },
        { "claude-opus-4-8", OPUS_47 },
        { "claude-opus-5", FIVE | MODEL_STOPS },
        { "claude-sonnet-5", FIVE | MODEL_STOPS },
        { "claude-fable-5", FIVE },
        { "claude-mythos-5", FIVE },
        { "claude-mythos-preview", FIVE },
        { "claude-fable-5-1", OPUS_55 },
        { "claude-mythos-5-1", OPUS_55 },
        { "claude-opus-5-5", OPUS_55 },
        { "claude-sonnet-5-5", SONNET_55 },
        { "claude-haiku-5-5", HAIKU_55 },
    };
    COMPARE(rows);
}

static void google_is_known_by_its_names(void)
{
    static const struct name rows[] = {
        { "gemini-1.5-pro", 0 },
        { "gemini-2.0-flash-001", 0 },
        { "gemini-exp-1206", 0 },
        { "gemini-2.5-flash", MODEL_BUDGET | MODEL_STOPS },
        { "gemini-2.5-flash-lite", MODEL_BUDGET | MODEL_STOPS },
        { "gemini-2.5-flash-preview-04-17", MODEL_BUDGET | MODEL_STOPS },
        { "gemini-2.5-pro", MODEL_BUDGET },
        { "gemini-2.5-pro-preview-tts", 0 },
        { "gemini-3-pro-preview", MODEL_LEVELS },
        { "gemini-3-flash-preview", MODEL_LEVELS | MODEL_MINIMAL },
        { "gemini-3.1-pro-preview-customtools", MODEL_LEVELS },
        { "gemini-3.1-flash-lite", MODEL_LEVELS | MODEL_MINIMAL },
        { "gemini-3.5-flash", MODEL_LEVELS | MODEL_MINIMAL },
        { "gemini-3.6-flash", MODEL_LEVELS | MODEL_MINIMAL },
        { "gemini-3.7-flash", MODEL_LEVELS },
        { "gemini-3.8-flash", MODEL_LEVELS },
        { "gemini-4-argon", MODEL_LEVELS },
        { "gemini-flash-latest", MODEL_LEVELS },
        { "gemini-flash-lite-latest", MODEL_LEVELS | MODEL_MINIMAL },
        { "gemini-pro-latest", MODEL_LEVELS },
        { "gemini-omni-1.1-flash", MODEL_LEVELS },
        { "gemini-robotics-er-1.5-preview", 0 },
        { "gemini-robotics-er-2-preview", MODEL_LEVELS },
        { "gemini-nano-banana-2.1", MODEL_LEVELS },
        { "gemma-4-31b-it", 0 },
    };
    COMPARE(rows);
}

static void a_newer_version_is_like_the_newest(void)
{
    static const struct name rows[] = {
        { "gpt-5.7", REASONER },
        { "gpt-6", GPT_6 },
        { "gpt-6.2-nova-2027-01-05", GPT_6 },
        { "gpt-7-chat-latest", GPT_6 },
        { "gpt-10", GPT_6 },
        { "o5", REASONER },
        { "o5-mini", REASONER },
        { "o11-pro", REASONER },
        { "gpt-image-3", MODEL_BASE64 },
        { "claude-opus-4-9", OPUS_47 },
        { "claude-opus-5-6", OPUS_55 },
        { "claude-opus-6", OPUS_55 },
        { "claude-sonnet-6", SONNET_55 },
        { "claude-haiku-6", HAIKU_55 },
        { "claude-fable-6", OPUS_55 },
        { "claude-saga-7-20270101", OPUS_55 },
        { "claude-opus-latest", OPUS_55 },
        { "gemini-3.9-flash", MODEL_LEVELS },
        { "gemini-4-pro", MODEL_LEVELS },
        { "gemini-4.5-flash-lite", MODEL_LEVELS | MODEL_MINIMAL },
        { "gemini-12-pro", MODEL_LEVELS },
        { "grok-4.7", 0 },
        { "grok-5", 0 },
        { "deepseek-v5-pro", 0 },
        { "mistral-large-5", 0 },
        { "qwen4-max", 0 },
    };
    COMPARE(rows);
}

static void what_stands_around_a_name_does_not_matter(void)
{
    static const struct name rows[] = {
        { "openai/gpt-5.6-sol", REASONER },
        { "openai.gpt-6-sol", GPT_6 },
        { "azure/us/gpt-6.1-sol", GPT_6 },
        { "chatgpt/gpt-5.6", REASONER },
        { "ft:gpt-3.5-turbo-0125:acme::9aBc", OLD },
        { "ft:gpt-4o-mini-2024-07-18:acme:claude-5:9aBc", TOKENS },
        { "ft:o4-mini-2025-04-16:acme::9aBc", REASONER },
        { "GPT-5-Mini", REASONER },
        { "anthropic/claude-opus-5.5", OPUS_55 },
        { "anthropic/claude-4.7-opus", OPUS_47 },
        { "us.anthropic.claude-opus-4-1-20250805-v1:0", MODEL_ONE_SAMPLER },
        { "global.anthropic.claude-opus-5-5-v1:0", OPUS_55 },
        { "anthropic.claude-v2:1", 0 },
        { "claude-opus-4-6@20260205", MODEL_ADAPTIVE | MODEL_ONE_SAMPLER },
        { "models/gemini-2.5-pro", MODEL_BUDGET },
        { "google/gemini-3.8-flash", MODEL_LEVELS },
        { "gemini-2.5-flash@001", MODEL_BUDGET | MODEL_STOPS },
    };
    COMPARE(rows);
}

static void other_names_have_no_rules(void)
{
    static const struct name rows[] = {
        { NULL, 0 },
        { "", 0 },
        { "/", 0 },
        { "gpt", 0 },
        { "gpt-", 0 },
        { "o", 0 },
        { "o.", 0 },
        { "o3de", 0 },
        { "olmo-3-32b", 0 },
        { "openchat-3.5", 0 },
        { "gpt-j-6b", 0 },
        { "gpt-neox-20b", 0 },
        { "gpt4all-13b", 0 },
        { "my-gpt-5-deployment", 0 },
        { "llama-4-claude-distill", 0 },
        { "nano-gpt-5", 0 },
        { "gpt-oss-120b", MODEL_LEVELS },
        { "gpt-oss:20b", MODEL_LEVELS },
        { "openai/gpt-oss-safeguard-20b", MODEL_LEVELS },
        { "dall-e-2", 0 },
        { "dall-e-3", MODEL_GENERATES },
        { "gpt-image-2.5-flare-2026-09-08", MODEL_BASE64 },
        { "chatgpt-image-latest", MODEL_BASE64 },
        { "text-embedding-3-large", 0 },
        { "text-embedding-ada-002", MODEL_FIXED_SIZE },
    };
    COMPARE(rows);
}

static void sampling_depends_on_the_effort(void)
{
    static const struct {
        const char *model, *effort;
        bool refused;
    } rows[] = {
        { "gpt-4.1", NULL, false },
        { "gpt-4.1", "high", false },
        { "gpt-5", NULL, true },
        { "gpt-5-chat-latest", NULL, false },
        { "gpt-5.1", NULL, false },
        { "gpt-5.1", "none", false },
        { "gpt-5.1", "low", true },
        { "gpt-5.6", NULL, true },
        { "gpt-5.6", "none", false },
        { "gpt-6-sol", "none", false },
        { "gpt-6-astra", NULL, true },
        { "o3", NULL, true },
        { "claude-opus-4-6", "high", false },
        { "claude-opus-4-7", NULL, true },
        { "claude-haiku-5-5", "none", true },
        { "gemini-3.8-flash", NULL, false },
        { "grok-4.7", "high", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].model);
        CHECK_INT(model_rules_no_sampling(model_rules(rows[i].model),
                                          rows[i].effort),
                  rows[i].refused);
    }
}

TESTS = {
    TEST(openai_is_known_by_its_names),
    TEST(anthropic_is_known_by_its_names),
    TEST(google_is_known_by_its_names),
    TEST(a_newer_version_is_like_the_newest),
    TEST(what_stands_around_a_name_does_not_matter),
    TEST(other_names_have_no_rules),
    TEST(sampling_depends_on_the_effort),
    TESTS_END,
};
