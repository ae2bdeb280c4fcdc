/*
 * recipe.c - a tool that is composed of other tools
 *
 * "brief" has no function of its own.  Its recipe first finds the place, then
 * runs weather and news in parallel, and joins their results to one text: for
 * the model, it is the result of one call.
 */
#include <allm.h>

#include <stdio.h>
#include <string.h>

/* ----------------------------------------- the tools, as one executor --- */

/* Runs every tool; here they know only one city. */
static void execute(void *self, const allm_tool *tool, allm_tool_run *run,
                    const allm_json *args)
{
    const char *name = allm_tool_run_call(run)->name;
    const char *place = allm_json_text(allm_json_get(args, "place"), NULL);
    char text[100];

    (void)self;
    (void)tool;
    printf("  running %s\n", name);
    if (!strcmp(name, "locate")) {
        allm_tool_text(run, "Ulm", 3);
    } else if (!strcmp(name, "weather")) {
        snprintf(text, sizeof text, "fog in %s", place ? place : "nowhere");
        allm_tool_text(run, text, ALLM_NUL_ENDED);
    } else {
        allm_tool_fail(run, "the newspaper is closed today");
    }
}

/* Build the arguments of a step from the results of the serial steps. */
static allm_json *at_the_place(const allm_json *serial, void *ud)
{
    allm_json_build *b = allm_json_build_new(NULL);

    (void)ud;
    allm_json_build_object(b);
    allm_json_build_key(b, "place");
    allm_json_build_value(b, allm_json_get(serial, "locate"));
    allm_json_build_end(b);
    return allm_json_build_done(b);
}

static void plan_brief(allm_plan *plan, const allm_json *args, void *ud)
{
    (void)ud;
    allm_plan_serial(plan, "locate", "Where", args);
    allm_plan_parallel_fn(plan, "weather", "Weather", at_the_place, NULL);
    allm_plan_parallel_fn(plan, "news", "News", at_the_place, NULL);
}

static void find_recipe(void *self, const char *name, allm_recipe *out)
{
    (void)self;
    if (!strcmp(name, "brief"))
        out->fn = plan_brief;
}

/* ------------------------------------------------------------- a call --- */

int main(void)
{
    const allm_executor executor = {
        .size = sizeof executor,
        .execute = execute,
        .recipe = find_recipe,
        .flags = ALLM_EXECUTOR_INLINE,  /* it never blocks */
    };
    allm_tool *tool = allm_tool_new(
        ALLM(tool, .name = "brief", .description = "What is up today.",
             .schema_text = "{\"type\": \"object\"}"));
    allm_json *args = allm_json_parse("{\"who\": \"me\"}", ALLM_NUL_ENDED,
                                      NULL);
    allm_tool_call *call = allm_tool_call_new(
        ALLM(tool_call, .id = "call_1", .name = "brief", .arguments = args));
    allm_engine *engine = allm_engine_new(ALLM(engine_opts, .model = "fake:m"));

    /* Run the call, as a chat would. */
    const allm_tool *tools[] = { tool };
    const allm_tool_call *calls[] = { call };
    allm_stream *stream = allm_tool_calls(engine, 1, calls,
                                          ALLM(tool_calls_opts, .tool_count = 1,
                                               .tools = tools,
                                               .executor = &executor));
    const allm_event *event;
    while (allm_stream_next(stream, &event) == ALLM_EVENT)
        printf("%s\n", allm_event_tag(event->type));
    const allm_message *message = allm_stream_tool_message(stream, 0);
    printf("\n%s\n", message ? message->text : "out of memory");

    allm_stream_free(stream);
    allm_engine_free(engine);
    allm_tool_call_free(call);
    allm_json_free(args);
    allm_tool_free(tool);
    return 0;
}
