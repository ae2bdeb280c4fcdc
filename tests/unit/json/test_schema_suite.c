/*
 * test_schema_suite.c - the public test suite of JSON Schema 2020-12
 *
 * The suite (github.com/json-schema-org/JSON-Schema-Test-Suite) is data that
 * is not part of the project; without it the test is skipped.  Our own cases,
 * in the same form, are in tests/data/schema and are run by test_schema.c.
 */
#include "base/file.h"
#include "harness/check.h"

#include <stdio.h>
#include <stdlib.h>

/* Every file of the suite: how many of its cases pass, of how many. */
static const struct {
    const char *name;
    int passed, total;
    const char *not_claimed;    /* why not all of it */
} files[] = {
    { "additionalProperties",     21,  21, NULL },
    { "allOf",                    30,  30, NULL },
    { "anchor",                    8,   8, NULL },
    { "anyOf",                    18,  18, NULL },
    { "boolean_schema",           18,  18, NULL },
    { "const",                    54,  54, NULL },
    { "contains",                 21,  21, NULL },
    { "content",                  18,  18, NULL },
    { "default",                   7,   7, NULL },
    { "defs",                      0,   2, "needs the meta-schema" },
    { "dependentRequired",        20,  20, NULL },
    { "dependentSchemas",         20,  20, NULL },
    { "dynamicRef",               31,  44, "13 need other documents" },
    { "enum",                     51,  51, NULL },
    { "exclusiveMaximum",          4,   4, NULL },
    { "exclusiveMinimum",          4,   4, NULL },
    { "format",                  133, 133, NULL },
    { "if-then-else",             30,  30, NULL },
    { "infinite-loop-detection",   2,   2, NULL },
    { "items",                    29,  29, NULL },
    { "maxContains",              14,  14, NULL },
    { "maxItems",                  6,   6, NULL },
    { "maxLength",                 7,   7, NULL },
    { "maxProperties",            10,  10, NULL },
    { "maximum",                   8,   8, NULL },
    { "minContains",              28,  28, NULL },
    { "minItems",                  6,   6, NULL },
    { "minLength",                 7,   7, NULL },
    { "minProperties",            10,  10, NULL },
    { "minimum",                  11,  11, NULL },
    { "multipleOf",               11,  11, NULL },
    { "not",                      40,  40, NULL },
    { "oneOf",                    27,  27, NULL },
    { "pattern",                  12,  12, NULL },
    { "patternProperties",        25,  25, NULL },
    { "prefixItems",              11,  11, NULL },
    { "properties",               28,  28, NULL },
    { "propertyNames",            22,  22, NULL },
    { "ref",                      77,  79, "2 need the meta-schema" },
    { "refRemote",                 0,  31, "all need other documents" },
    { "required",                 18,  18, NULL },
    { "type",                     80,  80, NULL },
    { "unevaluatedItems",         71,  71, NULL },
    { "unevaluatedProperties",   129, 129, NULL },
    { "uniqueItems",              69,  69, NULL },
    { "vocabulary",                4,   5, "we switch no keywords off" },
};

enum { FILES = sizeof files / sizeof *files };

/* Schemas that refer to other documents: we refuse them. */
static const struct {
    const char *file, *schema;  /* NULL: all of the file */
} remote[] = {
    { "defs", NULL },
    { "dynamicRef",
      "strict-tree schema, guards against misspelled properties" },
    { "dynamicRef",
      "tests for implementation dynamic anchor and reference link" },
    { "dynamicRef", "$ref and $dynamicAnchor are independent of order - "
                    "$defs first" },
    { "dynamicRef", "$ref and $dynamicAnchor are independent of order - "
                    "$ref first" },
    { "dynamicRef", "$ref to $dynamicRef finds detached $dynamicAnchor" },
    { "ref", "remote ref, containing refs itself" },
    { "refRemote", NULL },
};

/* Cases that we answer otherwise. */
static const struct {
    const char *file, *data;
} others[] = {
    { "vocabulary", "no validation: invalid number, but it still validates" },
};

static const char *text_of(const allm_json *v, const char *key)
{
    return allm_json_text(allm_json_get(v, key), NULL);
}

static bool is_remote(const char *file, const allm_json *group)
{
    const char *schema = text_of(group, "description");
    for (size_t i = 0; i < sizeof remote / sizeof *remote; i++)
        if (!strcmp(remote[i].file, file) &&
            (!remote[i].schema || !strcmp(remote[i].schema, schema)))
            return true;
    return false;
}

static bool is_other(const char *file, const char *data)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i].file, file) && !strcmp(others[i].data, data))
            return true;
    return false;
}

/* Check one case; whether the answer is that of the suite. */
static bool run_case(const char *file, const allm_json_schema *s,
                     const allm_json *test)
{
    const char *data = text_of(test, "description");
    allm_json *faults = allm_json_schema_check(s, allm_json_get(test, "data"));
    bool valid = allm_json_count(faults) == 0;
    bool right = valid == allm_json_true(allm_json_get(test, "valid"));
    CHECK(!allm_json_error(faults));
    CHECK_WHY(right != is_other(file, data), data);
    allm_json_free(faults);
    return right;
}

/* Check the cases of one schema; how many are right. */
static int run_group(const char *file, const allm_json *group)
{
    int passed = 0;
    check_row(text_of(group, "description"));
    allm_json_schema *s = allm_json_schema_new(allm_json_get(group, "schema"));
    const allm_json *tests_here = allm_json_get(group, "tests");
    const allm_json *test = NULL;
    bool refused = allm_json_schema_error(s) != NULL;
    CHECK(refused == is_remote(file, group));
    while (!refused && (test = allm_json_next(tests_here, test)))
        passed += run_case(file, s, test);
    allm_json_schema_free(s);
    return passed;
}

static void run_file(size_t i, const char *path)
{
    struct arena a;
    struct slice text = { NULL, 0 };
    int passed = 0, total = 0;
    arena_init(&a, mem_default());
    CHECK_INT(file_read(&a, path, 1 << 24, &text), 0);
    allm_json *suite = allm_json_parse(text.ptr, text.len, NULL);
    CHECK(!allm_json_error(suite));
    const allm_json *group = NULL;
    while ((group = allm_json_next(suite, group))) {
        total += (int)allm_json_count(allm_json_get(group, "tests"));
        passed += run_group(files[i].name, group);
    }
    check_row(files[i].name);
    CHECK_INT(passed, files[i].passed);
    CHECK_INT(total, files[i].total);
    allm_json_free(suite);
    arena_release(&a);
    const char *why = files[i].not_claimed;
    printf("# %s %d/%d%s%s\n", files[i].name, passed, total, why ? ": " : "",
           why ? why : "");
}

static void agrees_with_the_suite(void)
{
    for (size_t i = 0; i < FILES; i++) {
        char name[100];
        snprintf(name, sizeof name, "json-schema-suite/%s.json", files[i].name);
        const char *path = check_data(name);
        if (path)
            run_file(i, path);
    }
}

TESTS = {
    TEST_ONCE(agrees_with_the_suite),
    TESTS_END
};
