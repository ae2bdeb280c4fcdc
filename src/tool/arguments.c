/* arguments.c - check the arguments of a tool call */
#include "tool/arguments.h"

#include "base/buf.h"
#include "json/json.h"
#include "json/parse.h"
#include "json/schema.h"
#include "json/write.h"

enum { TEXT_LIMIT = 1 << 20, FAULTS_SHOWN = 8 };

static bool is_blank_text(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!strchr(" \t\r\n", text.ptr[i]))
            return false;
    return true;
}

/* Adds the schema, so that the model can correct its call. */
static struct outcome invalid_arguments(struct arena *a, const allm_tool *tool,
                                        struct slice what)
{
    struct buf out = buf_in(a, TEXT_LIMIT);
    if (tool && tool->schema)
        json_write(&out, tool->schema, 0);
    return outcome_failed(
        a, FAILURE_ARGUMENTS, "%.*s%s%s", (int)what.len, what.ptr,
        out.len
            ? "; the arguments must be a JSON object that follows this schema: "
            : "; the arguments must be a JSON object",
        out.len ? out.ptr : "");
}

/* Drops the advice at the end of the message: it is for programmers. */
static struct outcome invalid_json(struct arena *a, const allm_tool *tool,
                                   const allm_error *error)
{
    const char *advice = strstr(error->message, "; ");
    for (const char *next = advice; next; next = strstr(next + 1, "; "))
        advice = next;
    struct buf what = buf_in(a, TEXT_LIMIT);
    buf_format(&what, "the arguments are not JSON: %.*s",
               advice ? (int)(advice - error->message)
                      : (int)strlen(error->message),
               error->message);
    return invalid_arguments(a, tool, buf_slice(&what));
}

static const char *type_name(const allm_json *v)
{
    static const char *const names[] = {
        "nothing", "null",   "a boolean", "a number", "a number",
        "a number", "a string", "an array",  "an object",
    };
    return names[allm_json_type_of(v)];
}

static struct outcome invalid_type(struct arena *a, const allm_tool *tool,
                                   const allm_json *v)
{
    struct buf what = buf_in(a, TEXT_LIMIT);
    buf_format(&what, "the arguments are %s", type_name(v));
    return invalid_arguments(a, tool, buf_slice(&what));
}

static struct outcome invalid_by_schema(struct arena *a, const allm_tool *tool,
                                        const allm_json *faults)
{
    size_t i = 0, count = allm_json_count(faults);
    struct buf what = buf_in(a, TEXT_LIMIT);
    buf_text(&what, "the arguments do not follow the schema:");
    for (const allm_json *f = NULL;
         i < FAULTS_SHOWN && (f = allm_json_next(faults, f)); i++) {
        const char *path = allm_json_text(allm_json_get(f, "path"), NULL);
        buf_format(&what, "%s %s%s%s", i ? ";" : "", path ? path : "",
                   path && *path ? ": " : "",
                   allm_json_text(allm_json_get(f, "message"), NULL));
    }
    if (count > i)
        buf_format(&what, "; and %zu more", count - i);
    return invalid_arguments(a, tool, buf_slice(&what));
}

/* Parse the text of the arguments; false: *why is the outcome. */
static bool parse_raw(struct arena *a, const allm_tool_call *call,
                      const allm_tool *tool, const allm_json **out,
                      struct outcome *why)
{
    const allm_error *error;
    struct slice raw = { call->raw_arguments, call->raw_len };
    *out = json_parse_strict(a, raw, &error);
    if (!*out)
        *why = error->kind == ALLM_ERR_NOMEM
                   ? (struct outcome){ .kind = OUTCOME_NOMEM }
                   : invalid_json(a, tool, error);
    return *out != NULL;
}

/* A schema that is itself invalid accepts everything. */
static bool follows_schema(struct arena *a, const allm_tool *tool,
                           const allm_json *args, struct outcome *why)
{
    allm_json_schema *schema = allm_json_schema_new(tool->schema);
    const allm_json *faults = NULL;
    bool usable = schema && !allm_json_schema_error(schema);
    if (usable)
        faults = schema_check(schema, args, a);
    bool broken = !schema || (usable && !faults);
    allm_json_schema_free(schema);
    if (broken)
        *why = (struct outcome){ .kind = OUTCOME_NOMEM };
    else if (allm_json_count(faults))
        *why = invalid_by_schema(a, tool, faults);
    return !broken && allm_json_count(faults) == 0;
}

bool arguments_check(struct arena *a, const allm_tool_call *call,
                     const allm_tool *tool, bool by_schema,
                     const allm_json **out, struct outcome *why)
{
    const allm_json *args = call->arguments;
    struct slice raw = { call->raw_arguments, call->raw_len };
    bool empty = !args || (allm_json_type_of(args) == ALLM_JSON_OBJECT &&
                           allm_json_count(args) == 0);
    /* Adapters set {} for text that they cannot parse, so check the text. */
    if (empty && raw.ptr && !is_blank_text(raw) &&
        !parse_raw(a, call, tool, &args, why))
        return false;
    if (!args || allm_json_type_of(args) == ALLM_JSON_NULL)
        args = json_empty_object();
    if (allm_json_type_of(args) != ALLM_JSON_OBJECT) {
        *why = invalid_type(a, tool, args);
        return false;
    }
    *out = args;
    return !by_schema || !tool || !tool->schema ||
           follows_schema(a, tool, args, why);
}
