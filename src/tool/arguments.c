/* arguments.c - are the arguments of a call what its tool can take? */
#include "tool/arguments.h"

#include "base/buf.h"
#include "json/json.h"
#include "json/parse.h"
#include "json/schema.h"
#include "json/write.h"

enum { TEXT_LIMIT = 1 << 20, FAULTS_TOLD = 8 };

static bool blank(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!strchr(" \t\r\n", text.ptr[i]))
            return false;
    return true;
}

/* The schema at the end, so that the model can do better. */
static struct outcome refuse(struct arena *a, const allm_tool *tool,
                             struct slice what)
{
    struct buf out;
    buf_init(&out, a, TEXT_LIMIT);
    if (tool && tool->schema)
        json_write(&out, tool->schema, 0);
    return outcome_failed(
        a, "invalid_arguments", "%.*s%s%s", (int)what.len, what.ptr,
        out.len ? "; the arguments must be a JSON object by this schema: "
                : "; the arguments must be a JSON object",
        out.len ? out.ptr : "");
}

/* The advice at the end of the message is for programmers, not for models. */
static struct outcome refuse_text(struct arena *a, const allm_tool *tool,
                                  const allm_error *error)
{
    struct buf what;
    const char *advice = strstr(error->message, "; ");
    for (const char *next = advice; next; next = strstr(next + 1, "; "))
        advice = next;
    buf_init(&what, a, TEXT_LIMIT);
    buf_format(&what, "the arguments are not JSON: %.*s",
               advice ? (int)(advice - error->message)
                      : (int)strlen(error->message),
               error->message);
    return refuse(a, tool, buf_slice(&what));
}

static const char *type_word(const allm_json *v)
{
    static const char *const words[] = {
        "nothing", "null",   "a boolean", "a number", "a number",
        "a number", "a text", "an array",  "an object",
    };
    return words[allm_json_type_of(v)];
}

static struct outcome refuse_type(struct arena *a, const allm_tool *tool,
                                  const allm_json *v)
{
    struct buf what;
    buf_init(&what, a, TEXT_LIMIT);
    buf_format(&what, "the arguments are %s", type_word(v));
    return refuse(a, tool, buf_slice(&what));
}

static struct outcome refuse_faults(struct arena *a, const allm_tool *tool,
                                    const allm_json *faults)
{
    struct buf what;
    size_t i = 0, count = allm_json_count(faults);
    buf_init(&what, a, TEXT_LIMIT);
    buf_text(&what, "the arguments do not fit the schema:");
    for (const allm_json *f = NULL;
         i < FAULTS_TOLD && (f = allm_json_next(faults, f)); i++) {
        const char *path = allm_json_text(allm_json_get(f, "path"), NULL);
        buf_format(&what, "%s %s%s%s", i ? ";" : "", path ? path : "",
                   path && *path ? ": " : "",
                   allm_json_text(allm_json_get(f, "message"), NULL));
    }
    if (count > i)
        buf_format(&what, "; and %zu more", count - i);
    return refuse(a, tool, buf_slice(&what));
}

/* False: *why. */
static bool read_raw(struct arena *a, const allm_tool_call *call,
                     const allm_tool *tool, const allm_json **out,
                     struct outcome *why)
{
    struct json_limits limits;
    const allm_error *error;
    struct slice raw = { call->raw_arguments, call->raw_len };
    json_limits_from(&limits, NULL);
    *out = json_parse(a, raw, limits, &error);
    if (!*out)
        *why = error->kind == ALLM_ERR_NOMEM
                   ? (struct outcome){ .kind = OUTCOME_NOMEM }
                   : refuse_text(a, tool, error);
    return *out != NULL;
}

/* A schema that is in error itself checks nothing. */
static bool fits(struct arena *a, const allm_tool *tool, const allm_json *args,
                 struct outcome *why)
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
        *why = refuse_faults(a, tool, faults);
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
    /* Adapters leave {} where the text made no sense: so ask the text. */
    if (empty && raw.ptr && !blank(raw) && !read_raw(a, call, tool, &args, why))
        return false;
    if (!args || allm_json_type_of(args) == ALLM_JSON_NULL)
        args = json_empty_object();
    if (allm_json_type_of(args) != ALLM_JSON_OBJECT) {
        *why = refuse_type(a, tool, args);
        return false;
    }
    *out = args;
    return !by_schema || !tool || !tool->schema || fits(a, tool, args, why);
}
