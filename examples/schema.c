/*
 * schema.c - check the arguments of a call against the tool's schema
 *
 * A JSON Schema describes the arguments of a tool to the model.  The same
 * schema, compiled once, checks what the model sends.
 */
#include <allm.h>
#include <stdio.h>

static const char wants[] =
    "{\"type\": \"object\","
    " \"properties\": {"
    "   \"city\": {\"type\": \"string\", \"minLength\": 1},"
    "   \"days\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 14},"
    "   \"unit\": {\"enum\": [\"celsius\", \"fahrenheit\"]}},"
    " \"required\": [\"city\"], \"additionalProperties\": false}";

static const char *const calls[] = {
    "{\"city\": \"Ulm\", \"days\": 3}",
    "{\"city\": \"Ulm\", \"days\": 3.0, \"unit\": \"celsius\"}",
    "{\"days\": 30, \"unit\": \"kelvin\", \"when\": \"now\"}",
};

static void check(const allm_json_schema *schema, const char *call)
{
    allm_json *arguments = allm_json_parse(call, ALLM_NUL_ENDED, NULL);
    allm_json *faults = allm_json_schema_check(schema, arguments);
    const allm_error *error = allm_json_error(faults);
    const char *verdict = allm_json_count(faults) ? "refused" : "good";

    printf("%s: %s\n", call, error ? error->message : verdict);
    for (const allm_json *f = NULL; (f = allm_json_next(faults, f));)
        printf("    at \"%s\": %s (%s)\n",
               allm_json_text(allm_json_get(f, "path"), NULL),
               allm_json_text(allm_json_get(f, "message"), NULL),
               allm_json_text(allm_json_get(f, "keyword"), NULL));
    allm_json_free(faults);
    allm_json_free(arguments);
}

int main(void)
{
    allm_tool *tool = allm_tool_new(
        ALLM(tool, .name = "weather", .description = "The weather to come.",
             .schema_text = wants, .effect = ALLM_EFFECT_PURE));
    allm_json_schema *schema = allm_json_schema_new(tool ? tool->schema : NULL);
    const allm_error *error = allm_tool_error(tool);
    if (!error)
        error = allm_json_schema_error(schema);

    if (error)
        fprintf(stderr, "%s\n", error->message);
    for (size_t i = 0; !error && i < sizeof calls / sizeof *calls; i++)
        check(schema, calls[i]);
    int status = error ? 1 : 0;
    allm_json_schema_free(schema);
    allm_tool_free(tool);
    return status;
}
