/* call.c - the options of one call, as a scenario writes them */
#include "call.h"

#include "engine.h"

#include <string.h>

/* The library gets the option in another way, not as data. */
static void drop(struct call *c, const char *key)
{
    allm_json *rest = allm_json_set(c->json, key, NULL);
    allm_json_free(c->json);
    c->json = rest;
}

static void take_tools(struct call *c, struct scenario *s,
                       const allm_json *given)
{
    const allm_json *tools = allm_json_get(given, "tools");
    char why[256];
    if (allm_json_type_of(tools) != ALLM_JSON_ARRAY ||
        !engine_tools(s, &c->tools, tools, why, sizeof why))
        return;
    c->opts.tools = c->tools.tool;
    c->opts.tool_count = c->tools.count;
    drop(c, "tools");
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
    (void)error;                /* "invalid": no answer */
}

static bool is_callback(const char *word)
{
    return word && (!strcmp(word, "halt") || !strcmp(word, "raise") ||
                    !strcmp(word, "invalid"));
}

static void take_policy(struct call *c, const allm_json *given)
{
    const allm_json *policy = allm_json_get(given, "on_tool_error");
    if (allm_json_type_of(policy) != ALLM_JSON_OBJECT)
        return;
    c->replacement = allm_json_get(policy, "replace");
    c->callback = allm_json_text(allm_json_get(policy, "callback"), NULL);
    if (!c->replacement && !is_callback(c->callback))
        return;
    c->opts.on_tool_error = ALLM_TOOL_POLICY_CALLBACK;
    c->opts.on_tool_error_fn = answer_failure;
    c->opts.on_tool_error_ud = c;
    drop(c, "on_tool_error");
}

/* It is asked after every step that does not end the chat by itself, so the
 * number of questions is the number of the step. */
static bool shall_halt(const allm_step_result *step, void *ud)
{
    struct call *c = ud;
    uint64_t last = 0, index = c->steps++;
    const char *text = allm_json_text(allm_json_get(c->halt_when, "text"),
                                      NULL);
    const char *said = step->response ? step->response->output_text : NULL;
    if (text)
        return said && strstr(said, text);
    return allm_json_uint64(allm_json_get(c->halt_when, "step"), &last) &&
           index >= last;
}

static void take_halt_when(struct call *c, const allm_json *given)
{
    const allm_json *when = allm_json_get(given, "halt_when");
    uint64_t n = 0;
    if (allm_json_type_of(when) != ALLM_JSON_OBJECT ||
        (allm_json_type_of(allm_json_get(when, "text")) != ALLM_JSON_TEXT &&
         !allm_json_uint64(allm_json_get(when, "step"), &n)))
        return;
    c->halt_when = when;
    c->opts.halt_when = shall_halt;
    c->opts.halt_when_ud = c;
    drop(c, "halt_when");
}

void call_init(struct call *c, struct scenario *s, const allm_json *op)
{
    const allm_json *given = allm_json_get(op, "opts");
    *c = (struct call){ .opts = { .size = sizeof c->opts }, .runs = &s->runs };
    c->json = given ? allm_json_copy(given) : NULL;
    if (allm_json_type_of(given) == ALLM_JSON_OBJECT) {
        take_tools(c, s, given);
        take_policy(c, given);
        take_halt_when(c, given);
    }
    c->opts.json = c->json;
}

void call_release(struct call *c)
{
    engine_tools_release(&c->tools);
    allm_json_free(c->json);
}
