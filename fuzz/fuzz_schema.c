/*
 * fuzz_schema.c - any schema, against any value
 *
 * The input is a JSON document: [schema, value], or a schema that is checked
 * against itself.  The path of every fault exists in the value, and "not"
 * inverts the result.
 */
#include "allm.h"
#include "base/slice.h"
#include "json/build.h"
#include "json/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static const char *text_of(const allm_json *v, const char *key)
{
    return allm_json_text(allm_json_get(v, key), NULL);
}

/* A check that a limit ended has no result. */
static bool was_ended(const allm_json *faults)
{
    static const char *const ends[] = { "endless", "too_deep", "too_complex" };
    const allm_json *fault = NULL;
    while ((fault = allm_json_next(faults, fault)))
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
            if (!strcmp(text_of(fault, "keyword"), ends[i]))
                return true;
    return false;
}

/* Does the pointer lead to a value?  One with a NUL inside cannot be tested. */
static bool leads(const allm_json *v, const allm_json *pointer)
{
    size_t len;
    const char *text = allm_json_text(pointer, &len);
    return text && (strlen(text) < len || allm_json_pointer(v, text));
}

static void check_faults(const allm_json *faults, const allm_json *schema,
                         const allm_json *value)
{
    const allm_json *fault = NULL;
    demand(allm_json_type_of(faults) == ALLM_JSON_ARRAY);
    while ((fault = allm_json_next(faults, fault))) {
        demand(allm_json_count(fault) == 4);
        demand(leads(value, allm_json_get(fault, "path")));
        demand(leads(schema, allm_json_get(fault, "schema_path")));
        demand(*text_of(fault, "message"));
    }
}

static void check_opposite(struct arena *a, const allm_json *schema,
                           const allm_json *value, bool fits)
{
    struct build b;
    build_init(&b, a);
    build_object(&b);
    build_key(&b, SLICE("not"));
    build_value(&b, schema);
    build_end(&b);
    allm_json_schema *s = allm_json_schema_new(build_done(&b));
    if (!allm_json_schema_error(s)) {   /* $ref may not be relocatable */
        allm_json *faults = allm_json_schema_check(s, value);
        demand(was_ended(faults) || (allm_json_count(faults) == 0) != fits);
        allm_json_free(faults);
    }
    allm_json_schema_free(s);
}

static bool has_refs(const uint8_t *data, size_t size)
{
    struct slice text = { (const char *)data, size };
    for (; text.len; text = slice_skip(text, 1))
        if (*text.ptr == '$' || *text.ptr == '\\')
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;               /* a length of 0 would mean "up to the NUL" */
    struct arena a;
    const allm_json_opts opts = { .size = sizeof opts, .max_depth = 10000 };
    allm_json *input = allm_json_parse((const char *)data, size, &opts);
    bool is_pair = allm_json_type_of(input) == ALLM_JSON_ARRAY;
    const allm_json *schema = is_pair ? allm_json_at(input, 0) : input;
    const allm_json *value = is_pair ? allm_json_at(input, 1) : input;
    arena_init(&a, mem_default());
    allm_json_schema *s = allm_json_schema_new(schema);
    if (value && !allm_json_schema_error(s)) {
        allm_json *faults = allm_json_schema_check(s, value);
        check_faults(faults, schema, value);
        if (!has_refs(data, size) && !was_ended(faults))
            check_opposite(&a, schema, value, allm_json_count(faults) == 0);
        allm_json_free(faults);
    } else if (allm_json_schema_error(s)) {
        demand(*allm_json_schema_error(s)->message);
    }
    allm_json_schema_free(s);
    allm_json_free(input);
    arena_release(&a);
    return 0;
}
