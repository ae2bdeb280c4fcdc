/* test_settings.c - the table of settings, its paths and its schema */
#include "conf/settings.h"

#include "harness/check.h"

#include <stdio.h>
#include <stdlib.h>

static void finds_rows(void)
{
    static const struct {
        const char *path, *key; /* NULL: unknown */
        const char *pointer;
    } rows[] = {
        { "model", "model", "/model" },
        { "output.color", "output.color", "/output/color" },
        { "options.openai:gpt-4.1*", "options.*", "/options/openai:gpt-4.1*" },
        { "options.a/b~c", "options.*", "/options/a~1b~0c" },
        { "mcp.config", "mcp.config", "/mcp/config" },
        { "mcp.files", "mcp.*", "/mcp/files" },
        { "providers.corp.key", "providers.*.key", "/providers/corp/key" },
        { "providers.my.corp.base_url", "providers.*.base_url",
          "/providers/my.corp/base_url" },
        { "providers.my.key.key", "providers.*.key", "/providers/my.key/key" },
        { "aliases.4.1", "aliases.*", "/aliases/4.1" },
        { "output", NULL, "/output" },
        { "output.", NULL, "/output/" },
        { "output.colour", NULL, "/output/colour" },
        { "output.color.x", NULL, "/output/color/x" },
        { "providers..key", NULL, "/providers//key" },
        { "providers.corp", NULL, "/providers/corp" },
        { "", NULL, "/" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char pointer[64];
        const struct setting *s = setting_find(rows[i].path);
        check_row(rows[i].path);
        CHECK_TEXT(s ? s->key : NULL, rows[i].key);
        CHECK(setting_pointer(rows[i].path, pointer, sizeof pointer));
        CHECK_TEXT(pointer, rows[i].pointer);
        char path[64];
        CHECK(setting_path(pointer, path, sizeof path));
        CHECK_TEXT(path, rows[i].path);
        CHECK(!setting_pointer(rows[i].path, pointer, strlen(pointer)));
    }
    CHECK(setting_is_group("output") && setting_is_group("providers.corp"));
    CHECK(!setting_is_group("out") && !setting_is_group("model"));
    CHECK(!setting_is_group("providers.corp.baseurl"));
    CHECK(setting_has_members("providers.my.corp"));
    CHECK(!setting_has_members("model") && !setting_has_members("providers."));
}

static void names_variables(void)
{
    char name[64];
    CHECK(setting_variable(setting_find("output.color"), name));
    CHECK_TEXT(name, "ALLM_OUTPUT_COLOR");
    CHECK(!setting_variable(setting_find("tools.dirs"), name));
    CHECK(!setting_variable(setting_find("aliases.x"), name));
    for (size_t i = 0; setting_at(i); i++) {
        const struct setting *s = setting_at(i);
        CHECK(*s->help && *setting_expects(s));
        CHECK((s->kind == SETTING_WORD) == (s->words != NULL));
    }
}

/* Without trust a project sets these and nothing else. */
static void most_rows_need_trust(void)
{
    static const char *const free[] = {
        "model", "template", "options.*", "timeout", "max_cost", "max_turns",
        "retry", "output.markdown", "output.color", "output.width",
        "output.links", "output.reasoning", "routing.*",
    };
    for (size_t i = 0; setting_at(i); i++) {
        const struct setting *s = setting_at(i);
        bool listed = false;
        for (size_t k = 0; k < sizeof free / sizeof *free; k++)
            listed |= !strcmp(free[k], s->key);
        check_row(s->key);
        CHECK(listed == (s->trust >= TRUST_FREE && s->trust <= TRUST_OPTIONS));
    }
}

/* The shipped file is what the table makes. */
static void ships_its_schema(void)
{
    char path[1024];
    static char text[65536];
    const char *source = getenv("SOURCE_DIR");
    snprintf(path, sizeof path, "%s/data/config.schema.json",
             source ? source : ".");
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = '\0';
    if (f)
        fclose(f);
    allm_json *schema = setting_schema();
    allm_text *written = allm_json_write(schema, ALLM_JSON_PRETTY);
    size_t len = strlen(text);
    if (len && text[len - 1] == '\n')
        text[len - 1] = '\0';
    CHECK_TEXT(text, allm_text_bytes(written, NULL));
    allm_json_schema *compiled = allm_json_schema_new(schema);
    CHECK(!allm_json_schema_error(compiled));
    allm_json_schema_free(compiled);
    allm_text_free(written);
    allm_json_free(schema);
}

TESTS = { TEST(finds_rows), TEST(names_variables), TEST(most_rows_need_trust),
          TEST_ONCE(ships_its_schema), TESTS_END };
