/*
 * approval.c - a tool that needs a person's approval: it is marked manual
 *
 * The chat stops when the model calls "pay".  The program asks the user,
 * appends the result, and continues with the same thread.
 */
#include <allm.h>

#include <stdio.h>
#include <string.h>

static const char script[] =
    "{\"scripts\": ["
    "  [[\"tool_call\", {\"id\": \"c0\", \"name\": \"pay\","
    "    \"arguments\": {\"euro\": 20}}], [\"finish\", \"tool_calls\"]],"
    "  [[\"text\", \"Paid, thank you.\"], [\"finish\", \"stop\"]]"
    "]}";

/* A real program would ask a person here. */
static bool allowed(const allm_tool_call *call)
{
    int64_t euro = 0;
    allm_json_int64(allm_json_get(call->arguments, "euro"), &euro);
    printf("pay %d euro? yes\n", (int)euro);
    return true;
}

/* Answer every call of the last response. */
static void answer(allm_thread *thread, const allm_chat_result *result)
{
    const allm_response *response = result->final_response;
    for (size_t i = 0; i < response->tool_call_count; i++) {
        const allm_tool_call *call = response->tool_calls[i];
        allm_message *m = allm_message_from_result(
            call->id, allowed(call) ? "{\"paid\": true}"
                                    : "{\"error\": \"not allowed\"}");
        allm_thread_append(thread, m);
        allm_message_free(m);
    }
}

/* Run one chat; the caller frees the thread it returns. */
static allm_thread *go_on(const allm_engine *engine, allm_thread *thread,
                          bool *waits)
{
    allm_stream *chat = allm_chat(engine, thread, NULL);
    allm_thread_free(thread);
    *waits = false;
    if (allm_stream_wait(chat) < 0) {
        allm_stream_free(chat);
        return NULL;
    }
    const allm_chat_result *result = allm_stream_chat_result(chat);
    allm_thread *next = allm_thread_copy(result->thread);
    printf("chat: %s\n", result->halted_reason);
    if (!strcmp(result->halted_reason, "manual_tool_calls")) {
        answer(next, result);
        *waits = true;
    }
    allm_stream_free(chat);
    return next;
}

int main(void)
{
    allm_json *opts = allm_json_parse(script, strlen(script), NULL);
    const allm_tool *pay =
        ALLM(tool, .name = "pay", .description = "Send money",
             .schema_text = "{\"type\": \"object\"}", .manual = 1);
    allm_engine *engine = allm_engine_new(ALLM(engine_opts, .model = "fake:m",
                                               .adapter_opts = opts,
                                               .tool_count = 1, .tools = &pay));
    allm_thread *thread = allm_thread_new(NULL);
    bool waits = true;
    allm_thread_add(thread, ALLM_ROLE_USER, "Pay the bill.");
    while (waits && thread)
        thread = go_on(engine, thread, &waits);

    printf("%s\n", allm_thread_last(thread)->text);
    allm_thread_free(thread);
    allm_engine_free(engine);
    allm_json_free(opts);
    return 0;
}
