/* test_registry.c - which names stand for an adapter */
#include "provider/registry.h"

#include "harness/check.h"
#include "provider/fake.h"

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

TESTS = {
    TEST_ONCE(every_row_can_be_found),
    TEST_ONCE(a_dialect_is_a_name_too),
    TEST(names_are_exact),
    TEST(a_name_need_not_end),
    TEST(names_agree),
    TESTS_END,
};
