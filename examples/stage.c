/*
 * stage.c - your own stage in the turn of an agent
 *
 * It runs before dispatch and removes calls that this user may not make; the
 * model gets the reason.
 */
#include <allm.h>

#include <stdio.h>
#include <string.h>

static const char script[] =
    "{\"scripts\": ["
    "  [[\"tool_call\", {\"id\": \"c0\", \"name\": \"read\","
    "    \"arguments\": {}}],"
    "   [\"tool_call\", {\"id\": \"c1\", \"name\": \"delete\","
    "    \"arguments\": {}}], [\"finish\", \"tool_calls\"]],"
    "  [[\"text\", \"I may only read.\"], [\"finish\", \"stop\"]]"
    "]}";

static void done(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    allm_tool_text(run, ud, strlen(ud));
}

static allm_status only_reading(allm_context *c, void *ud)
{
    size_t count, kept = 0;
    const allm_tool_call *const *calls = allm_context_tool_calls(c, &count);
    const allm_tool_call **may = allm_context_alloc(c,
                                                    (count + 1) * sizeof *may);
    (void)ud;
    if (!may)
        return ALLM_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(calls[i]->name, "read"))
            may[kept++] = calls[i];
        else
            allm_context_add_result(c, calls[i], "Error: you may only read",
                                    ALLM_NUL_ENDED, true);
    }
    allm_context_note(c, "only_reading", NULL);
    return allm_context_set_tool_calls(c, kept, may);
}

static void watch(const allm_context *c, void *ud)
{
    allm_text *trace = allm_json_write(allm_context_trace(c), 0);
    (void)ud;
    printf("turn %u: %s\n", (unsigned)allm_context_iteration(c),
           allm_text_bytes(trace, NULL));
    allm_text_free(trace);
}

int main(void)
{
    char text[] = "42 lines";
    allm_json *opts = allm_json_parse(script, strlen(script), NULL);
    const allm_tool *tools[] = {
        ALLM(tool, .name = "read", .description = "", .schema_text = "{}",
             .call = done, .ud = text, .flags = ALLM_TOOL_INLINE),
        ALLM(tool, .name = "delete", .description = "", .schema_text = "{}",
             .call = done, .ud = text, .flags = ALLM_TOOL_INLINE),
    };
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts,
             .tool_count = 2, .tools = tools));
    allm_pipeline *stock = allm_pipeline_new();
    allm_pipeline *mine = allm_pipeline_insert(
        stock, "dispatch",
        ALLM(stage, .name = "only_reading", .run = only_reading));
    allm_thread *thread = allm_thread_new(NULL);
    allm_thread_add(thread, ALLM_ROLE_USER, "Clean up.");

    allm_stream *agent =
        allm_agent(engine, thread,
                   ALLM(agent_opts, .on_iteration = watch,
                        .call = ALLM(call_opts, .pipeline = mine)));
    allm_stream_wait(agent);
    const allm_agent_result *result = allm_stream_agent_result(agent);
    for (size_t i = 0; i < allm_thread_count(result->messages); i++)
        printf("  [%s]\n", allm_thread_at(result->messages, i)->text);
    printf("%s: %s\n", result->reason, result->response->output_text);

    allm_stream_free(agent);
    allm_thread_free(thread);
    allm_pipeline_free(mine);
    allm_pipeline_free(stock);
    allm_engine_free(engine);
    allm_json_free(opts);
    return 0;
}
