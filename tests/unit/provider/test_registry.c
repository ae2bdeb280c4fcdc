/* test_registry.c - the names of adapters */
#include "provider/registry.h"

#include "harness/check.h"
#include "provider/dialects.h"
#include "provider/quirks.h"

static const allm_adapter *adapter_of(struct slice name)
{
    const struct registry_row *row = registry_find(name);
    return row ? row->adapter : NULL;
}

static void names_are_exact(void)
{
    static const struct {
        const char *name;
        const allm_adapter *adapter;
    } rows[] = {
        { "fake", &fake_adapter },
        { "Elixir.ALLM.Providers.Fake", &fake_adapter },
        { "Fake", NULL },
        { "fake ", NULL },
        { "fak", NULL },
        { "fakes", NULL },
        { "ALLM.Providers.Fake", NULL },
        { "nobody", NULL },
        { "", NULL },
        { NULL, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].name);
        CHECK(adapter_of(slice_of(rows[i].name)) == rows[i].adapter);
    }
}

static void a_name_need_not_end(void)
{
    CHECK(adapter_of((struct slice){ "fake:m", 4 }) == &fake_adapter);
    CHECK(!adapter_of((struct slice){ "fake\0", 5 }));
}

/* An adapter of ours is found by the name that it carries. */
static void names_agree(void)
{
    CHECK(adapter_of(slice_of(fake_adapter.name)) == &fake_adapter);
    CHECK_INT(fake_adapter.size, sizeof fake_adapter);
}

static void every_row_can_be_found(void)
{
    const struct registry_row *row;
    size_t n = 0;
    for (; (row = registry_at(n)); n++) {
        check_row(row->name);
        CHECK_ALWAYS(registry_find(slice_of(row->name)) == row);
        CHECK_ALWAYS(!row->module ||
                     registry_find(slice_of(row->module)) == row);
        CHECK_ALWAYS(row->adapter && row->adapter->name);
        size_t len = row->base_url ? strlen(row->base_url) : 0;
        CHECK_ALWAYS(!len || row->base_url[len - 1] != '/');
        CHECK_ALWAYS(!row->adapter->encode || row->base_url_env);
    }
    CHECK_ALWAYS(n > 30);
    CHECK_ALWAYS(!registry_find(SLICE("nobody")));
}

static void a_dialect_is_a_name_too(void)
{
    const struct registry_row *row = registry_find(SLICE("openai_chat"));
    CHECK_ALWAYS(row && !row->base_url && row->keyless);
    row = registry_find(SLICE("ollama"));
    CHECK_ALWAYS(row && row->base_url && row->keyless);
    row = registry_find(SLICE("azure"));
    CHECK_ALWAYS(row && !strcmp(row->auth_header, "api-key"));
}

/* ------------------------------------------------------------- dialects --- */

static void the_model_chooses_the_dialect(void)
{
    static const struct {
        const char *provider, *model, *api, *dialect;
    } rows[] = {
        { "openai", "gpt-5", NULL, "openai_responses" },
        { "openai", "gpt-5.2-pro", NULL, "openai_responses" },
        { "openai", "gpt-6", NULL, "openai_responses" },
        { "openai", "o1", NULL, "openai_responses" },
        { "openai", "o4-mini", NULL, "openai_responses" },
        { "openai", "gpt-5.6-sol", NULL, "openai_responses" },
        { "openai", "gpt-6.1-terra", NULL, "openai_responses" },
        { "openai", "gpt-10", NULL, "openai_responses" },
        { "openai", "o5", NULL, "openai_responses" },
        { "openai", "ft:o4-mini-2025-04-16:acme::1", NULL,
          "openai_responses" },
        { "openai", "gpt-daybreak-red-latest", NULL, "openai_responses" },
        { "openai", "gpt-5-search-api", NULL, "openai_chat" },
        { "openai", "ft:gpt-4o-mini-2024-07-18:acme::1", NULL, "openai_chat" },
        { "openai", "gpt-audio-1.5", NULL, "openai_chat" },
        { "openai", "gpt-35-turbo", NULL, "openai_chat" },
        { "openai", "gpt-4.1", NULL, "openai_chat" },
        { "openai", "gpt-4o", NULL, "openai_chat" },
        { "openai", "gpt-3.5-turbo", NULL, "openai_chat" },
        { "openai", "gpt-oss-20b", NULL, "openai_chat" },
        { "openai", "gpt-", NULL, "openai_chat" },
        { "openai", "olmo", NULL, "openai_chat" },
        { "openai", "o", NULL, "openai_chat" },
        { "openai", "", NULL, "openai_chat" },
        { "openai", NULL, NULL, "openai_chat" },
        { "openai", "gpt-5", "chat", "openai_chat" },
        { "openai", "gpt-4o", "responses", "openai_responses" },
        { "openai", "gpt-4o", "Responses", NULL },
        { "openai", "gpt-4o", "", NULL },
        { "xai", "gpt-5", NULL, "openai_chat" },
        { "xai", "grok-4", "responses", "openai_responses" },
        { "xai_responses", "grok-4", NULL, "openai_responses" },
        { "xai_responses", "grok-4", "responses", "openai_responses" },
        { "xai_responses", "grok-4", "chat", "openai_chat" },
        { "xai_responses", "grok-4", "messages", NULL },
        { "fake", "gpt-5", "responses", "fake" },
        { "anthropic", "gpt-5", "chat", "anthropic" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct registry_row out;
        check_row(rows[i].model);
        const struct registry_row *row =
            registry_find(slice_of(rows[i].provider));
        bool found = registry_for(row, rows[i].model, rows[i].api, &out);
        CHECK_ALWAYS(found == (rows[i].dialect != NULL));
        CHECK_ALWAYS(!found || !strcmp(out.adapter->name, rows[i].dialect));
        CHECK_ALWAYS(!strcmp(out.name, rows[i].provider));
    }
}

static void quirks_follow_the_dialect(void)
{
    struct registry_row out;
    const struct registry_row *row = registry_find(SLICE("azure"));
    CHECK_ALWAYS(registry_for(row, "m", "responses", &out));
    CHECK_ALWAYS(out.quirks == RESPONSES_AZURE_PATHS);
    row = registry_find(SLICE("azure_responses"));
    CHECK_ALWAYS(registry_for(row, "m", "chat", &out));
    CHECK_ALWAYS(out.quirks == CHAT_AZURE_PATHS);
    row = registry_find(SLICE("openai"));
    CHECK_ALWAYS(registry_for(row, "o3", NULL, &out) && !out.quirks);
    CHECK_ALWAYS(registry_for(row, "gpt-4", NULL, &out));
    CHECK_ALWAYS(out.quirks == CHAT_LIMITED_IDS);
}

static void google_has_three_names(void)
{
    const struct registry_row *gemini = registry_find(SLICE("gemini"));
    const struct registry_row *google = registry_find(SLICE("google"));
    const struct registry_row *vertex = registry_find(SLICE("vertex"));
    CHECK_ALWAYS(gemini && google && vertex);
    CHECK_ALWAYS(gemini->adapter == google->adapter);
    CHECK_ALWAYS(gemini->adapter == vertex->adapter);
    CHECK_ALWAYS(!strcmp(gemini->base_url, google->base_url));
    CHECK_ALWAYS(!strcmp(gemini->adapter->auth_header, "x-goog-api-key"));
    CHECK_ALWAYS(!gemini->auth_header && !vertex->base_url);
    CHECK_ALWAYS(!strcmp(vertex->auth_prefix, "Bearer "));
}

/* Who ignores a schema names a row of the same server that does not. */
static void schemas_are_heeded_elsewhere(void)
{
    const struct registry_row *row;
    size_t n = 0;
    for (size_t i = 0; (row = registry_at(i)); i++) {
        if (!row->schema_provider)
            continue;
        const struct registry_row *other =
            registry_find(slice_of(row->schema_provider));
        CHECK_ALWAYS(other && !other->schema_provider);
        n++;
    }
    CHECK_ALWAYS(n >= 2);
}

/* Where providers have moved to; the old addresses may vanish. */
static void addresses_are_the_documented_ones(void)
{
    static const struct {
        const char *name, *url;
    } rows[] = {
        { "gpustack", "http://localhost/v1" },
        { "nebius", "https://api.tokenfactory.nebius.com/v1" },
        { "novita", "https://api.novita.ai/openai/v1" },
        { "together", "https://api.together.xyz/v1" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct registry_row *row = registry_find(slice_of(rows[i].name));
        check_row(rows[i].name);
        CHECK_TEXT(row ? row->base_url : "", rows[i].url);
    }
}

TESTS = {
    TEST_ONCE(schemas_are_heeded_elsewhere),
    TEST_ONCE(every_row_can_be_found),
    TEST_ONCE(the_model_chooses_the_dialect),
    TEST_ONCE(quirks_follow_the_dialect),
    TEST_ONCE(a_dialect_is_a_name_too),
    TEST_ONCE(google_has_three_names),
    TEST(names_are_exact),
    TEST(a_name_need_not_end),
    TEST(names_agree),
    TEST(addresses_are_the_documented_ones),
    TESTS_END,
};
