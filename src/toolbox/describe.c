/*
 * describe.c - what programs say about the tools they are
 *
 *      {"name", "description", "summary", "input_schema", "effect", "timeout",
 *       "output", "needs"}
 *
 * Other members are ignored here, but not in "needs": see needs.c.
 */
#include "toolbox/describe.h"

#include "allm.h"
#include "base/status.h"
#include "toolbox/needs.h"
#include "json/json.h"
#include "json/parse.h"

enum { TOOLS_MOST = 256, TIMEOUT_S = 30, TIMEOUT_MOST_S = 86400 };

struct reader {
    struct allm_home *home;
    struct arena *arena;
    const struct describe_place *place;
    const char *name; /* of the tool, for messages; or "" */
    const allm_error *error;
};

static bool refuse_description(struct reader *r, const char *what)
{
    r->error = status_error(r->arena, ALLM_ERR_VALIDATION, "invalid_tool",
                            "%s%s%s: %s", r->place->where,
                            *r->name ? ": tool " : "", r->name, what);
    return false;
}

static bool is_name(struct slice s)
{
    size_t good = 0;
    while (good < s.len && (slice_alnum(s.ptr[good]) || s.ptr[good] == '_' ||
                            s.ptr[good] == '-'))
        good++;
    return s.len && s.len <= 64 && good == s.len;
}

/* The index of a word; `standard` if the member is absent; -1: unknown. */
static int read_word(const allm_json *value, const char *const *words,
                     int standard)
{
    if (!value)
        return standard;
    for (int i = 0; words[i]; i++)
        if (json_is(value, words[i]))
            return i;
    return -1;
}

static bool read_effect(struct reader *r, const allm_json *o, allm_effect *out)
{
    static const char *const words[] = { "write", "idempotent", "pure", NULL };
    int i = read_word(json_at(o, "effect"), words, 0);
    if (i < 0)
        return refuse_description(r,
                                  "effect must be pure, idempotent or write");
    *out = (allm_effect)i;
    return true;
}

static bool read_output(struct reader *r, const allm_json *o,
                        enum describe_output *out)
{
    static const char *const words[] = { "text", "json", "result", NULL };
    int i = read_word(json_at(o, "output"), words, 0);
    if (i < 0)
        return refuse_description(r, "output must be text, json or result");
    *out = (enum describe_output)i;
    return true;
}

static bool read_timeout(struct reader *r, const allm_json *o, uint32_t *ms)
{
    const allm_json *value = json_at(o, "timeout");
    double s = TIMEOUT_S;
    if (value && (!json_finite(value, &s) || s < 0.1 || s > TIMEOUT_MOST_S))
        return refuse_description(
            r, "timeout must be a number of seconds from 0.1 to "
               "86400");
    *ms = (uint32_t)(s * 1000);
    return true;
}

/* The first of the three names that is present; {"type":"object"} if none. */
static const allm_json *find_schema(const allm_json *o)
{
    const allm_json *v = json_at(o, "input_schema");
    if (!v)
        v = json_at(o, "inputSchema");
    return v ? v : json_at(o, "parameters");
}

static bool check_schema(struct reader *r, const allm_json *schema)
{
    if (!schema)
        return true;
    if (!json_is_type(schema, ALLM_JSON_OBJECT))
        return refuse_description(r, "input_schema must be an object");
    allm_json_schema *compiled = allm_json_schema_new(schema);
    const allm_error *why = allm_json_schema_error(compiled);
    if (why)
        r->error = why->kind == ALLM_ERR_NOMEM
                       ? status_nomem()
                       : status_error(r->arena, ALLM_ERR_VALIDATION,
                                      "invalid_tool",
                                      "%s: tool %s: input_schema: %s",
                                      r->place->where, r->name, why->message);
    allm_json_schema_free(compiled);
    return !r->error;
}

static void free_tool(void *tool)
{
    allm_tool_free(tool);
}

const allm_error *describe_keep_tool(struct allm_home *home, allm_tool *tool)
{
    const allm_error *why = allm_tool_error(tool);
    if (why)
        why = status_retell(home_arena(home), why);
    if (!home_on_free(home, free_tool, tool) && !why)
        why = status_nomem();
    return why;
}

static bool make_tool(struct reader *r, const allm_json *o, uint32_t timeout_ms,
                      allm_effect effect, struct described *out)
{
    const allm_json *schema = find_schema(o);
    out->tool = allm_tool_new(
        ALLM(tool, .name = r->name,
             .description = json_text_at(o, "description").ptr,
             .summary = json_text_at(o, "summary").ptr, .schema = schema,
             .schema_text = schema ? NULL : "{\"type\":\"object\"}",
             .effect = effect, .timeout_ms = timeout_ms,
             .flags = ALLM_TOOL_INLINE | ALLM_TOOL_OWN_TIME));
    r->error = describe_keep_tool(r->home, out->tool);
    return !r->error;
}

static bool read_needs(struct reader *r, const allm_json *o,
                       struct described *out)
{
    out->needs = json_at(o, "needs");
    const allm_error *why = needs_check(r->arena, &out->needs, r->place->dir,
                                        r->place->grants);
    return why ? refuse_description(r, why->message) : true;
}

static bool read_tool(struct reader *r, const allm_json *o,
                      struct described *out)
{
    struct slice name = json_text_at(o, "name");
    uint32_t timeout_ms;
    allm_effect effect;
    r->name = "";
    if (!json_is_type(o, ALLM_JSON_OBJECT))
        return refuse_description(
            r, "the description must be an object, or an array of "
               "objects");
    if (!is_name(name))
        return refuse_description(
            r, "name is required: 1 to 64 letters, digits, _ and -");
    r->name = name.ptr;
    if (!json_text_at(o, "description").len)
        return refuse_description(r, "description is required");
    return read_effect(r, o, &effect) && read_output(r, o, &out->output) &&
           read_timeout(r, o, &timeout_ms) && check_schema(r, find_schema(o)) &&
           read_needs(r, o, out) && make_tool(r, o, timeout_ms, effect, out);
}

static bool read_all(struct reader *r, const allm_json *doc,
                     struct described *list, size_t count)
{
    bool many = json_is_type(doc, ALLM_JSON_ARRAY);
    for (size_t i = 0; i < count; i++) {
        if (!read_tool(r, many ? allm_json_at(doc, i) : doc, &list[i]))
            return false;
        for (size_t k = 0; k < i; k++)
            if (!strcmp(list[k].tool->name, list[i].tool->name))
                return refuse_description(r, "this name is described twice");
    }
    return true;
}

const allm_error *describe_read(struct allm_home *home, struct slice text,
                                const struct describe_place *place,
                                struct described **list, size_t *count)
{
    struct reader r = { .home = home,
                        .arena = home_arena(home),
                        .place = place,
                        .name = "" };
    const allm_error *why;
    struct json_limits limits;
    json_limits_from(&limits, NULL);
    const allm_json *doc = json_parse(r.arena, text, limits, &why);
    if (!doc) {
        refuse_description(&r, why->message);
        return r.error;
    }
    *count = json_is_type(doc, ALLM_JSON_ARRAY) ? allm_json_count(doc) : 1;
    if (*count == 0 || *count > TOOLS_MOST) {
        refuse_description(&r, "the array must have 1 to 256 descriptions");
        return r.error;
    }
    *list = arena_zero(r.arena, *count * sizeof **list);
    if (!*list)
        return status_nomem();
    read_all(&r, doc, *list, *count);
    return r.error;
}
