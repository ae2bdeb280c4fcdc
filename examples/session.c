/*
 * session.c - a conversation that stops twice and continues from its file
 */
#include <allm.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The model first asks which tea to order, then calls "pay". */
static const char script[] =
    "{\"scripts\": ["
    "  [[\"tool_call\", {\"id\": \"c0\", \"name\": \"choose\","
    "    \"arguments\": {}}], [\"finish\", \"tool_calls\"]],"
    "  [[\"tool_call\", {\"id\": \"c1\", \"name\": \"pay\","
    "    \"arguments\": {\"euro\": 12}}], [\"finish\", \"tool_calls\"]],"
    "  [[\"text\", \"Your Darjeeling is on its way.\"],"
    "   [\"finish\", \"stop\"]]"
    "]}";

static void choose(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    allm_tool_ask(run, "Which tea?", NULL);
}

static allm_engine *new_engine(void)
{
    allm_json *opts = allm_json_parse(script, strlen(script), NULL);
    const allm_tool *tools[] = {
        ALLM(tool, .name = "choose", .description = "Choose a tea",
             .schema_text = "{\"type\": \"object\"}", .call = choose,
             .flags = ALLM_TOOL_INLINE),
        ALLM(tool, .name = "pay", .description = "Pay", .manual = 1,
             .schema_text = "{\"type\": \"object\"}"),
    };
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts,
             .tool_count = 2, .tools = tools));
    allm_json_free(opts);
    return engine;
}

/* Print what the session waits for; then save and load it, as if the program
 * had been restarted. */
static allm_session *put_aside(allm_session *session, const char *path)
{
    static const char *const words[] = { "idle", "awaiting_user",
                                         "awaiting_tools", "completed",
                                         "error" };
    const allm_session_record *now = allm_session_fields(session);
    size_t count = 0;
    const allm_tool_call *const *calls =
        allm_session_pending_tool_calls(session, &count);
    printf("%s\n", words[now->status]);
    if (now->pending_question)
        printf("    question  %s\n", now->pending_question);
    for (size_t i = 0; i < count; i++)
        printf("    call      %s\n", calls[i]->name);
    if (allm_session_save(session, path) != ALLM_OK)
        fprintf(stderr, "%s\n", allm_session_error(session)->message);
    allm_session_free(session);
    return allm_session_load(path, ALLM_SESSION_LOCK);
}

/* Run a stream to its end; true: success. */
static bool run(allm_stream *stream)
{
    bool good = allm_stream_wait(stream) == ALLM_OK;
    if (!good)
        fprintf(stderr, "%s\n", allm_stream_error(stream)->message);
    allm_stream_free(stream);
    return good;
}

int main(void)
{
    char path[] = "/tmp/allm-session-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    allm_engine *engine = new_engine();
    allm_session *session = allm_session_new(NULL);

    bool good = run(allm_session_reply(engine, session, "Tea, please.", NULL));
    session = put_aside(session, path);

    /* The wrong call changes nothing; its error names the right one. */
    allm_stream *wrong = allm_session_start(engine, session, NULL);
    printf("%s\n", allm_stream_error(wrong)->message);
    allm_stream_free(wrong);

    good = run(allm_session_reply(engine, session, "Darjeeling", NULL)) && good;
    session = put_aside(session, path);

    allm_session_submit_tool_result(
        session, ALLM(tool_answer, .tool_call_id = "c1", .text = "paid"));
    good = run(allm_session_continue(engine, session, NULL, NULL)) && good;
    session = put_aside(session, path);
    printf("%s\n", allm_thread_last(allm_session_thread(session))->text);

    allm_session_free(session);
    allm_engine_free(engine);
    unlink(path);
    return good ? 0 : 1;
}
