/* call.c - read the options of a call from a scenario */
#include "call.h"

#include "engine.h"

#include <string.h>

/* Remove an option that the library gets in a struct instead of JSON. */
static void drop_option(struct call *c, const char *key)
{
    allm_json *rest = allm_json_set(c->json, key, NULL);
    allm_json_free(c->json);
    c->json = rest;
}

static void read_tools(struct call *c, struct scenario *s,
                       const allm_json *options)
{
    const allm_json *tools = allm_json_get(options, "tools");
    char why[256];
    if (allm_json_type_of(tools) != ALLM_JSON_ARRAY ||
        !engine_tools(s, &c->tools, tools, why, sizeof why))
        return;
    c->opts.tools = c->tools.tool;
    c->opts.tool_count = c->tools.count;
    drop_option(c, "tools");
}

static void answer_failure(allm_tool_run *run, const allm_error *error,
                           void *ud)
{
    struct call *c = ud;
    c->runs->callback++;
    if (c->replacement)
        allm_tool_ok(run, c->replacement);
    else if (!strcmp(c->callback, "halt"))
        allm_tool_halt(run, "halt", NULL);
    else if (!strcmp(c->callback, "raise"))
        allm_tool_raise(run, "the callback of the scenario raises");
    (void)error;                /* "invalid": do not answer */
}

static bool is_callback(const char *word)
{
    return word && (!strcmp(word, "halt") || !strcmp(word, "raise") ||
                    !strcmp(word, "invalid"));
}

static void read_error_policy(struct call *c, const allm_json *options)
{
    const allm_json *policy = allm_json_get(options, "on_tool_error");
    if (allm_json_type_of(policy) != ALLM_JSON_OBJECT)
        return;
    c->replacement = allm_json_get(policy, "replace");
    c->callback = allm_json_text(allm_json_get(policy, "callback"), NULL);
    if (!c->replacement && !is_callback(c->callback))
        return;
    c->opts.on_tool_error = ALLM_TOOL_POLICY_CALLBACK;
    c->opts.on_tool_error_fn = answer_failure;
    c->opts.on_tool_error_ud = c;
    drop_option(c, "on_tool_error");
}

/* The library calls it after every step that does not end the chat, so the
 * number of calls is the number of the step. */
static bool should_halt(const allm_step_result *step, void *ud)
{
    struct call *c = ud;
    uint64_t last = 0, index = c->steps++;
    const char *text = allm_json_text(allm_json_get(c->halt_when, "text"),
                                      NULL);
    const char *answer = step->response ? step->response->output_text : NULL;
    if (text)
        return answer && strstr(answer, text);
    return allm_json_uint64(allm_json_get(c->halt_when, "step"), &last) &&
           index >= last;
}

static void read_halt_when(struct call *c, const allm_json *options)
{
    const allm_json *when = allm_json_get(options, "halt_when");
    uint64_t n = 0;
    if (allm_json_type_of(when) != ALLM_JSON_OBJECT ||
        (allm_json_type_of(allm_json_get(when, "text")) != ALLM_JSON_TEXT &&
         !allm_json_uint64(allm_json_get(when, "step"), &n)))
        return;
    c->halt_when = when;
    c->opts.halt_when = should_halt;
    c->opts.halt_when_ud = c;
    drop_option(c, "halt_when");
}

void call_init(struct call *c, struct scenario *s, const allm_json *op)
{
    const allm_json *options = allm_json_get(op, "opts");
    *c = (struct call){ .opts = { .size = sizeof c->opts }, .runs = &s->runs };
    c->json = options ? allm_json_copy(options) : NULL;
    if (allm_json_type_of(options) == ALLM_JSON_OBJECT) {
        read_tools(c, s, options);
        read_error_policy(c, options);
        read_halt_when(c, options);
    }
    c->opts.json = c->json;
    c->opts.gate = allm_toolbox_gate(s->toolbox);
}

void call_release(struct call *c)
{
    engine_tools_release(&c->tools);
    allm_json_free(c->json);
}
