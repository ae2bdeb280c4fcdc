/*
 * checks.c - one dialect of a real server, looked at through the public API
 *
 * usage: real_checks PROVIDER BASE_URL MODEL [CHECK...]
 *
 * A small model answers with nonsense, so the checks are about the protocol:
 * text arrives in pieces, tokens are counted, limits hold, a forced tool runs,
 * a schema is obeyed, the conversation goes on, many streams run at once.
 * Each check prints a line; the last line counts them.
 */
#include <allm.h>

#include <stdio.h>
#include <string.h>

enum { STREAMS = 20, LIMIT = 24 };

struct server {
    const char *provider;
    allm_engine *engine;
};

static const char person_schema[] =
    "{\"type\": \"json_schema\", \"json_schema\": {\"name\": \"person\","
    " \"strict\": true, \"schema\": {\"type\": \"object\", \"properties\":"
    " {\"name\": {\"type\": \"string\", \"maxLength\": 20},"
    "  \"age\": {\"type\": \"integer\", \"minimum\": 0, \"maximum\": 99}},"
    " \"required\": [\"name\", \"age\"], \"additionalProperties\": false}}}";

/* ------------------------------------------------------------- helpers --- */

/* Explain a failed expectation; the value is the verdict of the check. */
static bool expect(bool holds, const char *what, const allm_stream *stream)
{
    if (holds)
        return true;
    const allm_error *error = allm_stream_error(stream);
    printf("#   expected: %s%s%s\n", what, error ? "; the call says: " : "",
           error ? error->message : "");
    return false;
}

static allm_thread *thread_of(const char *words)
{
    allm_thread *thread = allm_thread_new(NULL);
    allm_thread_add(thread, ALLM_ROLE_USER, words);
    return thread;
}

static allm_stream *ask(const struct server *server, const char *words,
                        int64_t max_tokens)
{
    const allm_message *message = ALLM(message, .role = ALLM_ROLE_USER,
                                       .text = words);
    return allm_generate(
        server->engine, ALLM(request, .message_count = 1, .messages = &message),
        ALLM(call_opts, .max_tokens = { max_tokens, true }));
}

/* -------------------------------------------------------------- checks --- */

static bool streams_text(const struct server *server)
{
    char text[4096] = "";
    size_t len = 0, pieces = 0;
    const allm_event *event;
    allm_stream *stream = ask(server, "Tell me about the sea.", LIMIT);
    while (allm_stream_next(stream, &event) == ALLM_EVENT)
        if (event->type == ALLM_EV_TEXT_DELTA &&
            len + event->text_len < sizeof text) {
            memcpy(text + len, event->text, event->text_len + 1);
            len += event->text_len;
            pieces++;
        }
    const char *whole = allm_response_text(allm_stream_response(stream), NULL);
    bool ok = expect(pieces > 1, "several pieces of text", stream) &&
              expect(whole && !strcmp(whole, text),
                     "the pieces add up to the response", stream);
    allm_stream_free(stream);
    return ok;
}

static bool counts_tokens(const struct server *server)
{
    allm_stream *stream = ask(server, "Tell me about the sea.", LIMIT);
    allm_stream_wait(stream);
    const allm_response *response = allm_stream_response(stream);
    const allm_usage *usage = response ? response->usage : NULL;
    bool ok = expect(usage && usage->input_tokens.value > 0, "input tokens",
                     stream) &&
              expect(usage->output_tokens.value > 0 &&
                         usage->output_tokens.value <= LIMIT,
                     "1 to 24 output tokens", stream);
    allm_stream_free(stream);
    return ok;
}

static bool stops_at_the_limit(const struct server *server)
{
    allm_stream *stream = ask(server, "Count from 1 to 1000.", 5);
    allm_stream_wait(stream);
    const allm_response *response = allm_stream_response(stream);
    bool ok = expect(response && response->finish_reason == ALLM_FINISH_LENGTH,
                     "finish reason length", stream);
    allm_stream_free(stream);
    return ok;
}

static bool obeys_a_schema(const struct server *server)
{
    allm_json *format = allm_json_parse(person_schema, sizeof person_schema - 1,
                                        NULL);
    allm_thread *thread = thread_of("Invent a person.");
    allm_stream *stream = allm_chat(server->engine, thread,
                                    ALLM(call_opts, .response_format = format,
                                         .validate_output = 1,
                                         .max_tokens = { 200, true }));
    allm_stream_wait(stream);
    const allm_chat_result *result = allm_stream_chat_result(stream);
    bool ok = expect(result && !strcmp(result->halted_reason, "completed"),
                     "an answer that fits the schema", stream);
    allm_stream_free(stream);
    allm_thread_free(thread);
    allm_json_free(format);
    return ok;
}

static bool continues(const struct server *server)
{
    allm_thread *thread = thread_of("My name is Ada.");
    allm_stream *first = allm_chat(
        server->engine, thread, ALLM(call_opts, .max_tokens = { LIMIT, true }));
    allm_stream_wait(first);
    const allm_chat_result *result = allm_stream_chat_result(first);
    bool ok = expect(result && allm_thread_count(result->thread) == 2,
                     "a first answer in the thread", first);
    allm_thread *second = ok ? allm_thread_copy(result->thread) : NULL;
    allm_thread_add(second, ALLM_ROLE_USER, "What is my name?");
    allm_stream *stream = allm_chat(
        server->engine, second, ALLM(call_opts, .max_tokens = { LIMIT, true }));
    allm_stream_wait(stream);
    result = allm_stream_chat_result(stream);
    ok = ok && expect(result && allm_thread_count(result->thread) == 4,
                      "a second answer in the thread", stream);
    allm_stream_free(stream);
    allm_thread_free(second);
    allm_stream_free(first);
    allm_thread_free(thread);
    return ok;
}

static void weather(allm_tool_run *run, const allm_json *args, void *ud)
{
    bool *ran = ud;
    *ran = allm_json_text(allm_json_get(args, "city"), NULL);
    allm_tool_text(run, "21 degrees", 10);
}

/* The tool's result goes back to the server with the next question. */
static bool answers_after(const struct server *server,
                          const allm_step_result *step, const allm_tool *tool)
{
    allm_stream *stream = allm_chat(server->engine, step->thread,
                                    ALLM(call_opts, .tool_count = 1,
                                         .tools = &tool, .tool_choice = "none",
                                         .max_tokens = { LIMIT, true }));
    allm_stream_wait(stream);
    const allm_chat_result *result = allm_stream_chat_result(stream);
    bool ok = expect(result && !allm_stream_error(stream) &&
                         allm_thread_count(result->thread) == 4,
                     "an answer to the tool's result", stream);
    allm_stream_free(stream);
    return ok;
}

static bool runs_a_forced_tool(const struct server *server)
{
    bool ran = false;
    allm_tool *owned = allm_tool_new(
        ALLM(tool, .name = "weather", .description = "The weather in a city",
             .schema_text = "{\"type\": \"object\", \"properties\":"
                            " {\"city\": {\"type\": \"string\","
                            " \"maxLength\": 20}}, \"required\": [\"city\"]}",
             .call = weather, .ud = &ran));
    const allm_tool *tool = owned;
    allm_thread *thread = thread_of("How warm is it in Ulm?");
    allm_stream *stream =
        allm_step(server->engine, thread,
                  ALLM(call_opts, .tool_count = 1, .tools = &tool,
                       .tool_choice = "required", .max_tokens = { 200, true }));
    allm_stream_wait(stream);
    const allm_step_result *step = allm_stream_step_result(stream);
    bool ok = expect(step && ran, "the tool ran with a city", stream) &&
              expect(allm_thread_count(step->thread) == 3,
                     "a call and its result in the thread", stream) &&
              answers_after(server, step, tool);
    allm_stream_free(stream);
    allm_thread_free(thread);
    allm_tool_free(owned);
    return ok;
}

static bool runs_many_streams(const struct server *server)
{
    allm_stream *streams[STREAMS], *stream;
    const allm_event *event;
    void *tag;
    size_t complete = 0;
    allm_hub *hub = allm_hub_new(NULL);
    for (size_t i = 0; i < STREAMS; i++) {
        streams[i] = ask(server, "Say something.", 8);
        allm_hub_add(hub, streams[i], NULL);
    }
    while ((stream = allm_hub_wait(hub, -1, &tag)))
        while (allm_stream_next(stream, &event) == ALLM_EVENT)
            ;
    for (size_t i = 0; i < STREAMS; i++)
        complete += !allm_stream_error(streams[i]) &&
                    allm_stream_response(streams[i]);
    bool ok = expect(complete == STREAMS, "20 complete answers", streams[0]);
    for (size_t i = 0; i < STREAMS; i++)
        allm_stream_free(streams[i]);
    allm_hub_free(hub);
    return ok;
}

static bool embeds(const struct server *server)
{
    static const char *const texts[] = { "the sea", "the ocean", "a tax form" };
    allm_stream *stream =
        allm_embed(server->engine,
                   ALLM(embed_request, .input_count = 3, .inputs = texts),
                   NULL);
    bool ok = expect(allm_stream_wait(stream) == ALLM_OK, "vectors", stream);
    const allm_embeddings *e = ok ? allm_stream_embeddings(stream) : NULL;
    ok = ok &&
         expect(e->count == 3 && e->dimensions > 100, "three long vectors",
                stream) &&
         expect(allm_embed_cosine(e->vectors[0], e->vectors[1], e->dimensions) >
                    allm_embed_cosine(e->vectors[0], e->vectors[2],
                                      e->dimensions),
                "the sea nearer to the ocean than to a tax form", stream);
    allm_stream_free(stream);
    return ok;
}

static const struct check {
    const char *name;
    bool (*run)(const struct server *);
} checks[] = {
    { "text", streams_text },
    { "usage", counts_tokens },
    { "length", stops_at_the_limit },
    { "schema", obeys_a_schema },
    { "second turn", continues },
    { "forced tool", runs_a_forced_tool },
    { "20 streams", runs_many_streams },
    { "embeddings", embeds },
};

/* ----------------------------------------------------------------- main --- */

/* Is the check asked for?  Without names: all but embeddings. */
static bool wanted(const char *name, int count, char *const *names)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(name, names[i]))
            return true;
    return !count && strcmp(name, "embeddings") != 0;
}

static allm_engine *engine_of(const char *provider, const char *url,
                              const char *model)
{
    char spelling[256];
    snprintf(spelling, sizeof spelling, "%s:%s", provider, model);
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    allm_json_build_key(b, "base_url");
    allm_json_build_text(b, url, strlen(url));
    allm_json_build_end(b);
    allm_json *opts = allm_json_build_done(b);
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = spelling, .adapter_opts = opts));
    allm_json_free(opts);
    return engine;
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    if (argc < 4) {
        fprintf(stderr, "usage: %s PROVIDER BASE_URL MODEL [CHECK...]\n",
                argv[0]);
        return 2;
    }
    struct server server = { argv[1], engine_of(argv[1], argv[2], argv[3]) };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (!wanted(checks[i].name, argc - 4, argv + 4))
            continue;
        bool ok = checks[i].run(&server);
        printf("%s - %s: %s\n", ok ? "ok" : "not ok", server.provider,
               checks[i].name);
        passed += ok;
        failed += !ok;
    }
    allm_engine_free(server.engine);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
