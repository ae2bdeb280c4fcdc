/*
 * ask_user.c - a tool that asks the user: the chat stops with a question
 */
#include <allm.h>

#include <stdio.h>
#include <string.h>

static const char script[] =
    "{\"scripts\": ["
    "  [[\"tool_call\", {\"id\": \"c0\", \"name\": \"book\","
    "    \"arguments\": {}}], [\"finish\", \"tool_calls\"]],"
    "  [[\"text\", \"Booked for Friday.\"], [\"finish\", \"stop\"]]"
    "]}";

static void book(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    allm_json *opts = allm_json_parse("{\"choices\": [\"Thursday\","
                                      " \"Friday\"]}",
                                      ALLM_NUL_ENDED, NULL);
    allm_tool_ask(run, "Which day?", opts);
    allm_json_free(opts);
}

int main(void)
{
    allm_json *opts = allm_json_parse(script, strlen(script), NULL);
    const allm_tool *tool = ALLM(tool, .name = "book",
                                 .description = "Book a table",
                                 .schema_text = "{\"type\": \"object\"}",
                                 .call = book, .flags = ALLM_TOOL_INLINE);
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts,
             .tool_count = 1, .tools = &tool));
    allm_thread *thread = allm_thread_new(NULL);
    allm_thread_add(thread, ALLM_ROLE_USER, "Book a table.");

    allm_stream *chat = allm_chat(engine, thread, NULL);
    allm_stream_wait(chat);
    const allm_chat_result *result = allm_stream_chat_result(chat);
    printf("%s: %s\n", result->halted_reason, result->pending_question);
    allm_text *choices = allm_json_write(
        allm_json_pointer(result->metadata, "/ask_user_opts/choices"), 0);
    printf("choices: %s\n", allm_text_bytes(choices, NULL));
    allm_text_free(choices);

    /* The question is the last message; append the answer. */
    allm_thread *more = allm_thread_copy(result->thread);
    allm_thread_add(more, ALLM_ROLE_USER, "Friday");
    allm_stream *again = allm_chat(engine, more, NULL);
    allm_stream_wait(again);
    result = allm_stream_chat_result(again);
    for (size_t i = 0; i < allm_thread_count(result->thread); i++)
        printf("%zu [%s]\n", i, allm_thread_at(result->thread, i)->text);

    allm_stream_free(again);
    allm_thread_free(more);
    allm_stream_free(chat);
    allm_thread_free(thread);
    allm_engine_free(engine);
    allm_json_free(opts);
    return 0;
}
