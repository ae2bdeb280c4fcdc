/*
 * tool_output.c - the full text of truncated tool results
 *
 * A long result would fill the model's context window.  The model sees only its
 * beginning and its end, and gets a tool that reads any part of it.  The texts
 * live as long as the call.
 */
#include "run/tool_output.h"

#include "data/tool.h"
#include "json/build.h"
#include "json/json.h"

struct tool_output_text {
    struct tool_output_text *next;
    const char *call_id;
    struct slice text;
};

bool tool_output_keep(void *ud, const char *call_id, struct slice text)
{
    struct tool_output *w = ud;
    struct arena *a = home_arena(w->home);
    struct tool_output_text *t = arena_zero(a, sizeof *t);
    if (!t)
        return false;
    t->call_id = arena_text(a, call_id);
    t->text = (struct slice){ arena_copy(a, text), text.len };
    if (!t->call_id || !t->text.ptr)
        return false;
    t->next = w->texts;         /* The newest text of an id is found first. */
    w->texts = t;
    return true;
}

const char *tool_output_find(const struct tool_output *w, const char *call_id,
                             size_t *len)
{
    for (const struct tool_output_text *t = w->texts; t; t = t->next)
        if (!strcmp(t->call_id, call_id)) {
            *len = t->text.len;
            return t->text.ptr;
        }
    return NULL;
}

/* A number of the arguments, or the default. */
static size_t number_or_default(const allm_json *args, const char *name,
                                size_t other)
{
    int64_t n;
    return allm_json_int64(allm_json_get(args, name), &n) && n >= 0 ? (size_t)n
                                                                    : other;
}

static bool inside_character(const char *text, size_t at, size_t len)
{
    return at < len && ((unsigned char)text[at] & 0xc0) == 0x80;
}

static void read_tool_output(allm_tool_run *run, const allm_json *args,
                             void *ud)
{
    const struct tool_output *w = ud;
    const char *id = allm_json_text(allm_json_get(args, "tool_call_id"), NULL);
    size_t len = 0;
    const char *text = id ? tool_output_find(w, id, &len) : NULL;
    if (!text) {
        allm_tool_fail(run, "no result of that call was truncated; truncated "
                            "results say so");
        return;
    }
    size_t from = number_or_default(args, "offset", 0);
    size_t n = number_or_default(args, "length", w->max);
    from = from < len ? from : len;
    n = n < w->max ? n : w->max;
    n = n < len - from ? n : len - from;
    while (from && inside_character(text, from, len))
        from--;                 /* at most three bytes; n does not grow */
    while (n && inside_character(text, from + n, len))
        n--;
    allm_tool_text(run, text + from, n);
}

/* The metadata mark it as built in: its own function runs it, whatever the
 * executor. */
const allm_tool *tool_output_tool(struct tool_output *w)
{
    const allm_json *metadata = build_one_text(home_arena(w->home),
                                               "allm_builtin",
                                               SLICE(TOOL_OUTPUT_NAME));
    if (!metadata)
        return NULL;
    return shape_copy(
        w->home, &tool_shape,
        ALLM(tool, .name = TOOL_OUTPUT_NAME,
             .description = "Read a part of a tool result that was too long "
                            "and has been cut.",
             .schema_text = "{\"type\":\"object\",\"properties\":{"
                            "\"tool_call_id\":{\"type\":\"string\"},"
                            "\"offset\":{\"type\":\"integer\",\"minimum\":0},"
                            "\"length\":{\"type\":\"integer\",\"minimum\":1}},"
                            "\"required\":[\"tool_call_id\"]}",
             .call = read_tool_output, .ud = w, .effect = ALLM_EFFECT_PURE,
             .metadata = metadata, .flags = ALLM_TOOL_INLINE),
        NULL);
}
