/*
 * weather.c - a model that calls a tool until it can answer
 *
 * The model is scripted.  For a real one, set .model = "openai:..." and a key.
 */
#include <allm.h>

#include <stdio.h>
#include <string.h>

static const char script[] =
    "{\"scripts\": ["
    "  [[\"text\", \"Let me look.\"],"
    "   [\"tool_call\", {\"id\": \"c0\", \"name\": \"weather\","
    "    \"arguments\": {\"city\": \"Ulm\"}}],"
    "   [\"finish\", \"tool_calls\"]],"
    "  [[\"text\", \"It is 21 degrees in Ulm.\"], [\"finish\", \"stop\"]]"
    "]}";

/* Runs in a worker thread, so it may block. */
static void weather(allm_tool_run *run, const allm_json *args, void *ud)
{
    char text[64];
    (void)ud;
    const char *city = allm_json_text(allm_json_get(args, "city"), NULL);
    if (!city) {
        allm_tool_fail(run, "which city?");
        return;
    }
    int n = snprintf(text, sizeof text, "{\"city\": \"%s\", \"celsius\": 21}",
                     city);
    allm_tool_text(run, text, (size_t)n);
}

static void show(const allm_event *e)
{
    if (e->type == ALLM_EV_TEXT_DELTA)
        printf("%s\n", e->text);
    else if (e->type == ALLM_EV_TOOL_EXECUTION_STARTED)
        printf("  [%s is called]\n", e->name);
    else if (e->type == ALLM_EV_TOOL_RESULT_ENCODED)
        printf("  [it says %s]\n", e->text);
}

int main(void)
{
    allm_json *opts = allm_json_parse(script, strlen(script), NULL);
    allm_tool *tool = allm_tool_new(
        ALLM(tool, .name = "weather", .description = "The weather in a city",
             .schema_text = "{\"type\": \"object\", \"properties\":"
                            " {\"city\": {\"type\": \"string\"}},"
                            " \"required\": [\"city\"]}",
             .call = weather, .effect = ALLM_EFFECT_PURE));
    const allm_tool *tools = tool;
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts,
             .tool_count = 1, .tools = &tools));
    allm_thread *thread = allm_thread_new(NULL);
    allm_thread_add(thread, ALLM_ROLE_USER, "How warm is it in Ulm?");

    allm_stream *chat = allm_chat(engine, thread, NULL);
    const allm_event *event;
    while (allm_stream_next(chat, &event) == ALLM_EVENT)
        show(event);
    const allm_chat_result *result = allm_stream_chat_result(chat);
    if (result)
        printf("%s after %zu steps, %zu messages\n", result->halted_reason,
               result->step_count, allm_thread_count(result->thread));

    allm_stream_free(chat);
    allm_thread_free(thread);
    allm_engine_free(engine);
    allm_tool_free(tool);
    allm_json_free(opts);
    return 0;
}
