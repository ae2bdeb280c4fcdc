/*
 * test_schema.c - JSON Schema: what fits, what does not, and what is said
 *
 * Cases without code are in tests/data/schema: the form is that of the public
 * suite, and a case may have "errors", the whole list of what must be said:
 * [path, keyword, schema path, message].
 */
#include "json/schema.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/status.h"
#include "harness/check.h"
#include "random_value.h"
#include "json/json.h"
#include "json/schema_number.h"
#include "json/schema_ref.h"
#include "json/write.h"

#include <stdio.h>
#include <stdlib.h>

static allm_json *parse(const char *text)
{
    return allm_json_parse(text, ALLM_NUL_ENDED,
                           ALLM(json_opts, .max_depth = 1000000));
}

/* The faults of a value, or the error of the schema; a root. */
static allm_json *faults_of(const char *schema, const char *value)
{
    allm_json *source = parse(schema), *v = parse(value);
    allm_json_schema *s = allm_json_schema_new(source);
    allm_json *faults = allm_json_schema_check(s, v);
    allm_json_schema_free(s);
    allm_json_free(v);
    allm_json_free(source);
    return faults;
}

static const char *text_of(const allm_json *v, const char *key)
{
    return allm_json_text(allm_json_get(v, key), NULL);
}

/* --------------------------------------------------- cases without code --- */

static void check_fault(const allm_json *got, const allm_json *want)
{
    static const char *const members[] = { "path", "keyword", "schema_path",
                                           "message" };
    for (size_t i = 0; i < 4; i++)
        CHECK_TEXT(text_of(got, members[i]),
                   allm_json_text(allm_json_at(want, i), NULL));
}

static void run_case(const allm_json_schema *s, const allm_json *test)
{
    allm_json *faults = allm_json_schema_check(s, allm_json_get(test, "data"));
    const allm_json *errors = allm_json_get(test, "errors");
    size_t count = allm_json_count(faults);
    check_row(text_of(test, "description"));
    CHECK((count == 0) == allm_json_true(allm_json_get(test, "valid")));
    if (errors)
        CHECK_INT(count, allm_json_count(errors));
    for (size_t i = 0; i < allm_json_count(errors); i++)
        check_fault(allm_json_at(faults, i), allm_json_at(errors, i));
    allm_json_free(faults);
}

static void run_group(const allm_json *group)
{
    const allm_json *cases = allm_json_get(group, "tests"), *test = NULL;
    allm_json_schema *s = allm_json_schema_new(allm_json_get(group, "schema"));
    check_row(text_of(group, "description"));
    CHECK(!allm_json_schema_error(s));
    while ((test = allm_json_next(cases, test)))
        run_case(s, test);
    allm_json_schema_free(s);
}

static void run_file(const char *name)
{
    const char *root = getenv("SOURCE_DIR");
    char path[4096];
    struct arena a;
    struct slice text = { NULL, 0 };
    const allm_json *group = NULL;
    snprintf(path, sizeof path, "%s/tests/data/schema/%s", root ? root : ".",
             name);
    arena_init(&a, mem_default());
    CHECK_WHY(file_read(&a, path, 1 << 24, &text) == 0, path);
    allm_json *suite = allm_json_parse(text.ptr, text.len, NULL);
    CHECK(allm_json_count(suite) > 0);
    while ((group = allm_json_next(suite, group)))
        run_group(group);
    allm_json_free(suite);
    arena_release(&a);
}

static void judges_calls_of_tools(void)
{
    run_file("tools.json");
}

static void tells_every_fault(void)
{
    run_file("errors.json");
}

static void knows_its_vocabulary(void)
{
    run_file("vocabulary.json");
}

static void counts_exactly(void)
{
    run_file("numbers.json");
}

/* -------------------------------------------------------- wrong schemas --- */

static void refuses_wrong_schemas(void)
{
    static const struct {
        const char *why, *schema, *path, *reason, *message;
    } rows[] = {
        { "no schema", "5", "", "not_a_schema",
          "schema #: expected a schema: an object, true or false" },
        { "no such type", "{\"type\":\"objekt\"}", "/type", "unknown_type",
          "schema /type: there is no type \"objekt\"" },
        { "no such type in a list", "{\"type\":[\"null\",\"any\"]}", "/type",
          "unknown_type", "schema /type: there is no type \"any\"" },
        { "a type that is no name", "{\"type\":[1]}", "/type", "invalid_type",
          "schema /type: expected the name of a type, or a list of names" },
        { "no types", "{\"type\":[]}", "/type", "empty",
          "schema /type: expected at least one type" },
        { "a bound as text", "{\"minimum\":\"5\"}", "/minimum", "invalid_type",
          "schema /minimum: expected a number" },
        { "draft 4's bound", "{\"exclusiveMinimum\":true}",
          "/exclusiveMinimum", "invalid_type",
          "schema /exclusiveMinimum: expected a number" },
        { "a divisor of zero", "{\"multipleOf\":0}", "/multipleOf",
          "out_of_range", "schema /multipleOf: expected a number greater than "
          "0 whose digits fit 64 bits" },
        { "a negative divisor", "{\"multipleOf\":-1}", "/multipleOf",
          "out_of_range", "schema /multipleOf: expected a number greater than "
          "0 whose digits fit 64 bits" },
        { "a divisor of 20 digits", "{\"multipleOf\":18446744073709551617}",
          "/multipleOf", "out_of_range", "schema /multipleOf: expected a "
          "number greater than 0 whose digits fit 64 bits" },
        { "a negative length", "{\"minLength\":-1}", "/minLength",
          "invalid_type", "schema /minLength: expected an integer of 0 or "
          "more" },
        { "half an item", "{\"maxItems\":1.5}", "/maxItems", "invalid_type",
          "schema /maxItems: expected an integer of 0 or more" },
        { "minContains alone", "{\"minContains\":\"1\"}", "/minContains",
          "invalid_type", "schema /minContains: expected an integer of 0 or "
          "more" },
        { "unique as text", "{\"uniqueItems\":\"yes\"}", "/uniqueItems",
          "invalid_type", "schema /uniqueItems: expected true or false" },
        { "a pattern that is none", "{\"pattern\":\"a(\"}", "/pattern",
          "invalid_pattern", "schema /pattern: \"a(\" cannot be used as a "
          "pattern: \"(\" without \")\" at character 2" },
        { "a pattern of another type", "{\"pattern\":1}", "/pattern",
          "invalid_type", "schema /pattern: expected a string" },
        { "a wrong pattern of names", "{\"patternProperties\":{\"*\":{}}}",
          "/patternProperties/*", "invalid_pattern", "schema "
          "/patternProperties/*: \"*\" cannot be used as a pattern: nothing "
          "to repeat at character 1" },
        { "options that are no list", "{\"enum\":\"a\"}", "/enum",
          "invalid_type", "schema /enum: expected an array" },
        { "draft 3's required", "{\"properties\":{\"a\":{\"required\":true}}}",
          "/properties/a/required", "invalid_type", "schema "
          "/properties/a/required: expected an array of property names" },
        { "required numbers", "{\"required\":[1]}", "/required",
          "invalid_type",
          "schema /required: expected an array of property names" },
        { "properties as a list", "{\"properties\":[]}", "/properties",
          "invalid_type", "schema /properties: expected an object" },
        { "a property that is no schema", "{\"properties\":{\"a\":\"b\"}}",
          "/properties/a", "not_a_schema", "schema /properties/a: expected a "
          "schema: an object, true or false" },
        { "items that are no schema", "{\"items\":3}", "/items",
          "not_a_schema",
          "schema /items: expected a schema: an object, true or false" },
        { "an empty list", "{\"anyOf\":[]}", "/anyOf", "invalid_type",
          "schema /anyOf: expected an array of schemas, not empty" },
        { "a list of other things", "{\"allOf\":[{},1]}", "/allOf/1",
          "not_a_schema",
          "schema /allOf/1: expected a schema: an object, true or false" },
        { "names that depend on nothing",
          "{\"dependentRequired\":{\"a\":\"b\"}}", "/dependentRequired/a",
          "invalid_type",
          "schema /dependentRequired/a: expected an array of property names" },
        { "dependencies", "{\"dependencies\":{\"a\":1}}", "/dependencies/a",
          "not_a_schema", "schema /dependencies/a: expected a schema: an "
          "object, true or false" },
        { "a branch", "{\"if\":{},\"then\":[]}", "/then", "not_a_schema",
          "schema /then: expected a schema: an object, true or false" },
        { "a reference of another type", "{\"$ref\":{}}", "/$ref",
          "invalid_type", "schema /$ref: expected a string" },
        { "a reference to nowhere", "{\"$ref\":\"#/$defs/a\"}", "/$ref",
          "unresolved_ref", "schema /$ref: \"#/$defs/a\" leads nowhere" },
        { "an anchor that is not there", "{\"items\":{\"$ref\":\"#a\"}}",
          "/items/$ref", "unresolved_ref",
          "schema /items/$ref: \"#a\" leads nowhere" },
        { "an index beyond the end",
          "{\"allOf\":[true],\"$ref\":\"#/allOf/1\"}", "/$ref",
          "unresolved_ref", "schema /$ref: \"#/allOf/1\" leads nowhere" },
        { "an index with a zero in front",
          "{\"allOf\":[true],\"$ref\":\"#/allOf/00\"}", "/$ref",
          "unresolved_ref", "schema /$ref: \"#/allOf/00\" leads nowhere" },
        { "a reference to something else",
          "{\"title\":\"x\",\"$ref\":\"#/title\"}", "/title", "not_a_schema",
          "schema /title: expected a schema: an object, true or false" },
        { "another document", "{\"$ref\":\"https://example.com/a.json#/b\"}",
          "/$ref", "remote_ref", "schema /$ref: \"https://example.com/a.json"
          "#/b\" is another document; references must stay within the "
          "schema" },
        { "an $id of another type", "{\"$id\":1}", "/$id", "invalid_type",
          "schema /$id: expected a string" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        allm_json *source = parse(rows[i].schema);
        allm_json_schema *s = allm_json_schema_new(source);
        const allm_error *e = allm_json_schema_error(s);
        check_row(rows[i].why);
        CHECK(e && e->kind == ALLM_ERR_VALIDATION);
        CHECK_TEXT(e ? e->message : NULL, rows[i].message);
        const allm_json *first = e ? allm_json_at(e->errors, 0) : NULL;
        CHECK_TEXT(allm_json_text(allm_json_at(first, 0), NULL), rows[i].path);
        CHECK_TEXT(allm_json_text(allm_json_at(first, 1), NULL),
                   rows[i].reason);
        allm_json_schema_free(s);
        allm_json_free(source);
    }
}

static void names_all_that_is_wrong_with_a_schema(void)
{
    allm_json *source = parse("{\"type\":\"x\",\"items\":{\"minimum\":null},"
                              "\"$ref\":\"#/y\"}");
    allm_json_schema *s = allm_json_schema_new(source);
    const allm_error *e = allm_json_schema_error(s);
    allm_text *t = allm_json_write(e ? e->errors : NULL, 0);
    CHECK_TEXT(e ? e->message : NULL,
               "schema /type: there is no type \"x\" (and 2 more)");
    CHECK_TEXT(allm_text_bytes(t, NULL),
               "[[\"/type\",\"unknown_type\"],"
               "[\"/items/minimum\",\"invalid_type\"],"
               "[\"/$ref\",\"unresolved_ref\"]]");
    allm_text_free(t);
    allm_json_schema_free(s);
    allm_json_free(source);
}

/* RFC 3986, 5.4: how a reference is joined to its base. */
static void joins_uris(void)
{
    static const struct {
        const char *base, *uri, *whole;
    } rows[] = {
        { "http://a/b/c/d;p?q", "g:h", "g:h" },
        { "http://a/b/c/d;p?q", "g", "http://a/b/c/g" },
        { "http://a/b/c/d;p?q", "./g", "http://a/b/c/g" },
        { "http://a/b/c/d;p?q", "g/", "http://a/b/c/g/" },
        { "http://a/b/c/d;p?q", "/g", "http://a/g" },
        { "http://a/b/c/d;p?q", "//g", "http://g" },
        { "http://a/b/c/d;p?q", "?y", "http://a/b/c/d;p?y" },
        { "http://a/b/c/d;p?q", "g?y", "http://a/b/c/g?y" },
        { "http://a/b/c/d;p?q", "", "http://a/b/c/d;p?q" },
        { "http://a/b/c/d;p?q", ".", "http://a/b/c/" },
        { "http://a/b/c/d;p?q", "./", "http://a/b/c/" },
        { "http://a/b/c/d;p?q", "..", "http://a/b/" },
        { "http://a/b/c/d;p?q", "../g", "http://a/b/g" },
        { "http://a/b/c/d;p?q", "../..", "http://a/" },
        { "http://a/b/c/d;p?q", "../../g", "http://a/g" },
        { "http://a/b/c/d;p?q", "../../../g", "http://a/g" },
        { "http://a/b/c/d;p?q", "/./g", "http://a/g" },
        { "http://a/b/c/d;p?q", "g.", "http://a/b/c/g." },
        { "http://a/b/c/d;p?q", "..g", "http://a/b/c/..g" },
        { "http://a/b/c/d;p?q", "./g/.", "http://a/b/c/g/" },
        { "http://a/b/c/d;p?q", "g/../h", "http://a/b/c/h" },
        { "http://a/b/c/d;p?q", "g?y/../x", "http://a/b/c/g?y/../x" },
        { "http://a", "g", "http://a/g" },
        { "", "g", "g" },
        { "", "./g", "g" },
        { "", "/g", "/g" },
        { "x/y", "z", "x/z" },
        { "urn:a:b", "", "urn:a:b" },
        { "urn:a:b", "urn:c", "urn:c" },
    };
    struct arena a;
    arena_init(&a, mem_default());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].uri);
        CHECK_SLICE(ref_join(&a, slice_of(rows[i].base), slice_of(rows[i].uri)),
                    slice_of(rows[i].whole));
    }
    arena_release(&a);
}

/* ------------------------------------------------------------ interface --- */

static void accepts_nothing(void)
{
    allm_json_schema *none = allm_json_schema_new(NULL);
    const allm_error *e = allm_json_schema_error(none);
    CHECK(e && e->kind == ALLM_ERR_VALIDATION);
    allm_json *faults = allm_json_schema_check(none, NULL);
    CHECK(allm_json_error(faults));
    allm_json_free(faults);
    allm_json_schema_free(none);

    CHECK_ALWAYS(allm_json_schema_error(NULL) == status_nomem());
    CHECK_ALWAYS(!allm_json_schema_check(NULL, json_null()));
    allm_json_schema_free(NULL);
}

static void outlives_what_it_was_made_of(void)
{
    allm_json *source = parse("{\"properties\":{\"a\":{\"$ref\":\"#/$defs/b\"}"
                              "},\"$defs\":{\"b\":{\"type\":\"null\"}}}");
    allm_json *value = parse("{\"a\":1}");
    allm_json_schema *s = allm_json_schema_new(source);
    allm_json_free(source);
    allm_json *faults = allm_json_schema_check(s, value);
    allm_json_schema_free(s);
    allm_json_free(value);
    const allm_json *first = allm_json_at(faults, 0);
    CHECK_TEXT(text_of(first, "path"), "/a");
    CHECK_TEXT(text_of(first, "schema_path"), "/$defs/b/type");
    CHECK_TEXT(text_of(first, "message"), "expected null, got integer 1");
    allm_json_free(faults);
}

static void checks_nothing_with_a_broken_schema(void)
{
    allm_json *faults = faults_of("{\"type\":1}", "1");
    const allm_error *e = allm_json_error(faults);
    CHECK_INT(allm_json_type_of(faults), ALLM_JSON_NONE);
    CHECK_TEXT(e ? e->message : NULL, "schema /type: expected the name of a "
                                      "type, or a list of names");
    allm_json_free(faults);
}

static void misses_a_value(void)
{
    allm_json_schema *s = allm_json_schema_new(json_bool(true));
    allm_json *faults = allm_json_schema_check(s, NULL);
    CHECK_INT(allm_json_count(faults), 1);
    CHECK_TEXT(text_of(allm_json_at(faults, 0), "path"), "");
    CHECK_TEXT(text_of(allm_json_at(faults, 0), "keyword"), "no_value");
    allm_json_free(faults);
    allm_json_schema_free(s);
}

static void answers_in_the_arena_of_its_caller(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    allm_json_schema *s = allm_json_schema_new(json_bool(false));
    const allm_json *faults = s ? schema_check(s, json_null(), &a) : NULL;
    allm_json_schema_free(s);
    CHECK_INT(allm_json_count(faults), 1);
    CHECK_TEXT(text_of(allm_json_at(faults, 0), "keyword"), "false");
    arena_release(&a);
}

/* One of each part, small enough to fail at every allocation. */
static void survives_without_memory(void)
{
    allm_json *faults = faults_of(
        "{\"$id\":\"http://a/b\",\"properties\":{\"a\":{\"$ref\":\"#x\"},"
        "\"b\":{\"anyOf\":[{\"type\":\"null\"},{\"pattern\":\"^(?=x)[a-z]\"}]},"
        "\"c\":{\"uniqueItems\":true,\"contains\":{\"enum\":[1,2]}}},"
        "\"patternProperties\":{\"^d\":{\"$ref\":\"c\"}},\"required\":[\"e\"],"
        "\"$defs\":{\"x\":{\"$anchor\":\"x\",\"multipleOf\":0.3},"
        "\"c\":{\"$id\":\"c\",\"minLength\":2}},"
        "\"unevaluatedProperties\":{\"not\":{}}}",
        "{\"a\":0.5,\"b\":\"yz\",\"c\":[1,3,3],\"d\":\"1\",\"f\":null}");
    CHECK_INT(allm_json_count(faults), 6);
    allm_json_free(faults);
}

/* --------------------------------------------------------------- limits --- */

/* The only fault, or the last, has this keyword. */
static void check_last(const allm_json *faults, size_t count,
                       const char *keyword)
{
    const allm_json *last = allm_json_at(faults, allm_json_count(faults) - 1);
    CHECK_INT(allm_json_count(faults), count);
    CHECK_TEXT(text_of(last, "keyword"), keyword);
}

/* `head`, n times `part`, `tail`. */
static struct slice repeat(struct arena *a, const char *head, const char *part,
                           size_t n, const char *tail)
{
    struct buf b;
    buf_init(&b, a, (size_t)1 << 26);
    buf_text(&b, head);
    for (size_t i = 0; i < n; i++)
        buf_text(&b, part);
    buf_text(&b, tail);
    return buf_slice(&b);
}

static void limits_depth(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    struct slice open = repeat(&a, "", "[", 300, "");
    struct slice value = repeat(&a, open.ptr, "]", 300, "");
    allm_json *faults = faults_of("{\"items\":{\"$ref\":\"#\"}}", value.ptr);
    CHECK_WHY(!allm_json_error(faults), "300 levels are fine");
    CHECK_INT(allm_json_count(faults), 0);
    allm_json_free(faults);

    open = repeat(&a, "", "[", 100000, "");
    value = repeat(&a, open.ptr, "]", 100000, "");
    faults = faults_of("{\"items\":{\"$ref\":\"#\"}}", value.ptr);
    check_last(faults, 1, "too_deep");
    allm_json_free(faults);

    open = repeat(&a, "", "{\"not\":", 100000, "{");
    struct slice schema = repeat(&a, open.ptr, "}", 100001, "");
    faults = faults_of(schema.ptr, "1");
    check_last(faults, 1, "too_deep");
    allm_json_free(faults);
    arena_release(&a);
}

/* The reason why a schema is refused is this one. */
static void check_refused(const char *schema, const char *reason)
{
    allm_json *faults = faults_of(schema, "1");
    const allm_error *e = allm_json_error(faults);
    const allm_json *first = e ? allm_json_at(e->errors, 0) : NULL;
    CHECK_TEXT(allm_json_text(allm_json_at(first, 1), NULL), reason);
    allm_json_free(faults);
}

static void limits_names_in_a_schema(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    struct slice many = repeat(&a, "{\"allOf\":[true", ",{\"$anchor\":\"a\"}",
                               10000, "]}");
    check_refused(many.ptr, "too_many_names");
    struct slice path = repeat(&a, "{\"properties\":{\"", "a", 100000,
                               "\":{\"type\":1}}}");
    check_refused(path.ptr, "invalid_type");
    arena_release(&a);
}

static void limits_faults(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    struct slice value = repeat(&a, "[", "1,", 4999, "1]");
    allm_json *faults = faults_of("{\"items\":{\"type\":\"null\"}}", value.ptr);
    check_last(faults, 1001, "too_many_errors");
    CHECK_TEXT(text_of(allm_json_at(faults, 999), "path"), "/999");
    allm_json_free(faults);

    faults = faults_of("{\"items\":{\"anyOf\":[{\"type\":\"null\"},"
                       "{\"minimum\":2}]}}",
                       value.ptr);
    check_last(faults, 1001, "too_many_errors");
    allm_json_free(faults);
    arena_release(&a);
}

/* Both branches go down, so 2^60 ways lead to the end. */
static void limits_work(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    struct slice open = repeat(&a, "", "{\"a\":", 60, "1");
    struct slice value = repeat(&a, open.ptr, "}", 60, "");
    allm_json *faults =
        faults_of("{\"anyOf\":[{\"properties\":{\"a\":{\"$ref\":\"#\"}},"
                  "\"allOf\":[false]},{\"properties\":{\"a\":{\"$ref\":\"#\"}},"
                  "\"allOf\":[false]}]}",
                  value.ptr);
    check_last(faults, 1, "too_complex");
    allm_json_free(faults);

    value = repeat(&a, "\"", "a", 1000000, "\"");
    faults = faults_of("{\"pattern\":\"(a{1,50}){1,90}b\"}", value.ptr);
    check_last(faults, 1, "too_complex");
    allm_json_free(faults);
    arena_release(&a);
}

/* Sizes at which comparing each with each would take minutes. */
static void compares_many_quickly(void)
{
    enum { MANY = 200000 };
    struct arena a;
    struct buf b;
    arena_init(&a, mem_default());
    buf_init(&b, &a, (size_t)1 << 26);
    for (size_t i = 0; i < MANY; i++)
        buf_format(&b, "%c\"item %zu\"", i ? ',' : '[', i);
    buf_text(&b, ",1,1.0]");
    allm_json *faults = faults_of("{\"uniqueItems\":true}", b.ptr);
    CHECK_TEXT(text_of(allm_json_at(faults, 0), "message"),
               "expected items that differ, but 200000 and 200001 are equal: "
               "1.0");
    allm_json_free(faults);

    struct slice schema = repeat(&a, "{\"items\":{\"enum\":", b.ptr, 1, "}}");
    faults = faults_of(schema.ptr, b.ptr);
    CHECK_INT(allm_json_count(faults), 0);
    CHECK(!allm_json_error(faults));
    allm_json_free(faults);
    arena_release(&a);
}

/* ------------------------------------------------------------ by chance --- */

static bool fits(const char *schema, const char *value)
{
    allm_json *faults = faults_of(schema, value);
    bool ok = allm_json_count(faults) == 0;
    CHECK(!allm_json_error(faults));
    allm_json_free(faults);
    return ok;
}

/* A schema around a value, or another schema, as text. */
static const char *around(struct arena *a, const char *head, const char *middle,
                          const char *tail)
{
    return repeat(a, head, middle, 1, tail).ptr;
}

static const char *write(struct arena *a, const allm_json *v)
{
    struct buf b;
    buf_init(&b, a, 1 << 24);
    json_write(&b, v, 0);
    return buf_slice(&b).ptr;
}

static void equals_itself(void)
{
    struct random r = check_random();
    for (int i = 0; i < 300; i++) {
        struct arena a;
        arena_init(&a, mem_default());
        const allm_json *v = random_value(&a, r, random_below(r, 40) + 1);
        const char *text = write(&a, v);
        allm_json *again = parse(text);
        check_row(text);
        CHECK(value_hash(v) == value_hash(again));
        CHECK(fits(around(&a, "{\"const\":", text, "}"), text));
        CHECK(fits(around(&a, "{\"enum\":[0,", text, ",[]]}"), text));
        CHECK(!fits(around(&a, "{\"not\":{\"const\":", text, "}}"), text));
        const char *twice = around(&a, around(&a, "[", text, ","), text, "]");
        CHECK(!fits("{\"uniqueItems\":true}", twice));
        allm_json_free(again);
        arena_release(&a);
    }
}

static const char *const leaves[] = {
    "{}", "true", "false", "{\"type\":\"object\"}", "{\"type\":\"array\"}",
    "{\"type\":[\"integer\",\"null\"]}", "{\"minimum\":2,\"multipleOf\":2}",
    "{\"maximum\":3}", "{\"minLength\":2}", "{\"pattern\":\"^a\"}",
    "{\"required\":[\"a\"]}", "{\"maxProperties\":1}", "{\"minItems\":2}",
    "{\"uniqueItems\":true}", "{\"enum\":[1,\"a\",null]}", "{\"const\":2}",
};

/* Another schema replaces %1. */
static const char *const branches[] = {
    "{\"properties\":{\"a\":%1,\"b\":%1},\"additionalProperties\":%1}",
    "{\"patternProperties\":{\"^a\":%1},\"unevaluatedProperties\":%1}",
    "{\"properties\":{\"b\":%1},\"unevaluatedProperties\":false}",
    "{\"propertyNames\":%1}", "{\"dependentSchemas\":{\"a\":%1}}",
    "{\"items\":%1}", "{\"prefixItems\":[%1],\"items\":%1}",
    "{\"contains\":%1,\"maxContains\":1}", "{\"allOf\":[%1,%1]}",
    "{\"prefixItems\":[%1],\"contains\":%1,\"unevaluatedItems\":%1}",
    "{\"anyOf\":[%1,%1],\"unevaluatedProperties\":%1}",
    "{\"anyOf\":[%1,%1]}", "{\"oneOf\":[%1,%1]}", "{\"not\":%1}",
    "{\"if\":%1,\"then\":%1,\"else\":%1}",
};

static const char *const scalars[] = { "null", "true", "1", "2", "3.5", "-4",
                                       "\"\"", "\"a\"", "\"ab\"", "\"b\"" };

#define PICK(r, list) \
    (list)[random_below((r), sizeof(list) / sizeof *(list))]

static void add_schema(struct buf *b, struct random r, unsigned depth)
{
    if (depth == 0 || random_below(r, 4) == 0) {
        buf_text(b, PICK(r, leaves));
        return;
    }
    for (const char *c = PICK(r, branches); *c; c++) {
        if (c[0] == '%') {
            add_schema(b, r, depth - 1);
            c++;
        } else {
            buf_byte(b, *c);
        }
    }
}

static void add_value(struct buf *b, struct random r, unsigned depth)
{
    static const char *const keys[] = { "\"a\":", "\"b\":", "\"ab\":",
                                        "\"x\":" };
    uint64_t kind = depth ? random_below(r, 3) : 0;
    if (kind == 0) {
        buf_text(b, PICK(r, scalars));
        return;
    }
    buf_byte(b, kind == 1 ? '[' : '{');
    for (uint64_t i = random_below(r, 2), n = random_below(r, 4); i < n; i++) {
        buf_text(b, kind == 1 ? "" : keys[i]);
        add_value(b, r, depth - 1);
        buf_byte(b, i + 1 < n ? ',' : ' ');
    }
    buf_byte(b, kind == 1 ? ']' : '}');
}

/* Every path of a fault leads somewhere. */
static void check_paths(const char *schema, const char *value)
{
    allm_json *faults = faults_of(schema, value);
    allm_json *source = parse(schema), *v = parse(value);
    const allm_json *fault = NULL;
    while ((fault = allm_json_next(faults, fault))) {
        CHECK(allm_json_pointer(v, text_of(fault, "path")));
        CHECK(allm_json_pointer(source, text_of(fault, "schema_path")));
        CHECK(text_of(fault, "message"));
    }
    allm_json_free(v);
    allm_json_free(source);
    allm_json_free(faults);
}

/* The same question, asked in other ways. */
static void obeys_logic(void)
{
    static const struct {
        const char *head, *tail;
        bool same;
    } rows[] = {
        { "{\"not\":", "}", false },
        { "{\"not\":{\"not\":", "}}", true },
        { "{\"allOf\":[true,", "]}", true },
        { "{\"anyOf\":[false,", "]}", true },
        { "{\"oneOf\":[", ",false]}", true },
        { "{\"oneOf\":[true,", "]}", false },
        { "{\"if\":", ",\"else\":false}", true },
        { "{\"if\":", ",\"then\":false}", false },
        { "{\"$ref\":\"#/$defs/s\",\"$defs\":{\"s\":", "}}", true },
    };
    struct random r = check_random();
    for (int i = 0; i < 1000; i++) {
        struct arena a;
        struct buf schema, value;
        arena_init(&a, mem_default());
        buf_init(&schema, &a, 1 << 24);
        buf_init(&value, &a, 1 << 24);
        add_schema(&schema, r, 3);
        add_value(&value, r, 3);
        check_row(around(&a, schema.ptr, "  ", value.ptr));
        bool ok = fits(schema.ptr, value.ptr);
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
            CHECK_WHY(fits(around(&a, rows[k].head, schema.ptr, rows[k].tail),
                           value.ptr) == (ok == rows[k].same),
                      rows[k].head);
        CHECK(fits(around(&a, "{\"items\":", schema.ptr, "}"),
                   around(&a, "[", value.ptr, "]")) == ok);
        CHECK(fits(around(&a, "{\"additionalProperties\":", schema.ptr, "}"),
                   around(&a, "{\"p\":", value.ptr, "}")) == ok);
        check_paths(schema.ptr, value.ptr);
        arena_release(&a);
    }
}

TESTS = {
    TEST_ONCE(judges_calls_of_tools),
    TEST_ONCE(tells_every_fault),
    TEST_ONCE(knows_its_vocabulary),
    TEST_ONCE(counts_exactly),
    TEST(refuses_wrong_schemas),
    TEST(names_all_that_is_wrong_with_a_schema),
    TEST(joins_uris),
    TEST(accepts_nothing),
    TEST(outlives_what_it_was_made_of),
    TEST(checks_nothing_with_a_broken_schema),
    TEST(misses_a_value),
    TEST(answers_in_the_arena_of_its_caller),
    TEST(survives_without_memory),
    TEST_ONCE(limits_depth),
    TEST_ONCE(limits_names_in_a_schema),
    TEST_ONCE(limits_faults),
    TEST_ONCE(limits_work),
    TEST_ONCE(compares_many_quickly),
    TEST_ONCE(equals_itself),
    TEST_ONCE(obeys_logic),
    TESTS_END
};
