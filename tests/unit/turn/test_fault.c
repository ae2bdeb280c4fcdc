/* test_fault.c - invalid arguments, explained to the model */
#include "turn/fault.h"

#include "harness/check.h"
#include "harness/noun.h"

#include "base/arena.h"

static void faults_are_described_in_words(void)
{
    static const struct {
        const char *schema, *arguments, *told;
    } rows[] = {
        { "{'required': ['city']}", "{}", "missing required field: city" },
        { "{'properties': {'a': {'required': ['b']}}}", "{'a': {}}",
          "field a: missing required field: b" },
        { "{'properties': {'n': {'type': 'integer'}}}", "{'n': 'two'}",
          "field n: expected type integer, got \"two\"" },
        { "{'properties': {'n': {'type': ['integer', 'null']}}}", "{'n': 1.5}",
          "field n: expected type [\"integer\",\"null\"], got 1.5" },
        { "{'properties': {'u': {'enum': ['c', 'f']}}}", "{'u': 'k'}",
          "field u: value \"k\" not in allowed values [\"c\",\"f\"]" },
        { "{'properties': {'n': {'minimum': 3}}}", "{'n': 1}", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena;
        struct buf text;
        check_row(rows[i].schema);
        arena_init(&arena, mem_default());
        buf_init(&text, &arena, 4096);
        allm_json *json = noun_json(rows[i].schema);
        allm_json *arguments = noun_json(rows[i].arguments);
        allm_json_schema *schema = allm_json_schema_new(json);
        allm_json *faults = allm_json_schema_check(schema, arguments);
        CHECK_INT(allm_json_count(faults), 1);
        if (allm_json_count(faults))
            fault_write(&text, allm_json_at(faults, 0), json, arguments);
        if (rows[i].told)
            CHECK_TEXT(text.ptr, rows[i].told);
        else
            CHECK(text.ptr && !strncmp(text.ptr, "/n: ", 4));
        allm_json_free(faults);
        allm_json_schema_free(schema);
        allm_json_free(arguments);
        allm_json_free(json);
        arena_release(&arena);
    }
}

TESTS = {
    TEST(faults_are_described_in_words),
    TESTS_END,
};
