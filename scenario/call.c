/* call.c - the options of one call, as a scenario writes them */
#include "call.h"

#include "engine.h"

void call_init(struct call *c, const allm_json *op)
{
    const allm_json *given = allm_json_get(op, "opts");
    const allm_json *tools = allm_json_get(given, "tools");
    char why[256];
    *c = (struct call){ .opts = { .size = sizeof c->opts } };
    bool typed = allm_json_type_of(tools) == ALLM_JSON_ARRAY &&
                 engine_tools(&c->tools, tools, why, sizeof why);
    if (typed) {
        c->opts.tools = c->tools.tool;
        c->opts.tool_count = c->tools.count;
        c->json = allm_json_set(given, "tools", NULL);
    } else if (given) {
        c->json = allm_json_copy(given);
    }
    c->opts.json = c->json;
}

void call_release(struct call *c)
{
    engine_tools_release(&c->tools);
    allm_json_free(c->json);
}
