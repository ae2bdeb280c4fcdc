/*
 * stream.c - send a prompt and print the answer as it arrives
 *
 * The model is scripted, so the example runs without a key.  For a real model,
 * change only MODEL.
 */
#include <allm.h>

#include <stdio.h>
#include <string.h>

#define MODEL "fake:poet"

static const char script[] =
    "{\"script\": ["
    "  [\"reasoning\", \"Something with waves.\"],"
    "  [\"text\", \"The sea \"], [\"text\", \"is never \"],"
    "  [\"text\", \"the same.\"],"
    "  [\"usage\", {\"input_tokens\": 9, \"output_tokens\": 6}],"
    "  [\"finish\", \"stop\"]"
    "]}";

int main(void)
{
    allm_json *opts = allm_json_parse(script, strlen(script), NULL);
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = MODEL, .adapter_opts = opts));
    const allm_message *message = ALLM(message, .role = ALLM_ROLE_USER,
                                       .text = "A line about the sea, please.");
    allm_stream *stream =
        allm_generate(engine,
                      ALLM(request, .message_count = 1, .messages = &message),
                      ALLM(call_opts, .temperature = { 0.7, true },
                           .max_tokens = { 50, true }, .total_ms = 60000));

    const allm_event *event;
    while (allm_stream_next(stream, &event) == ALLM_EVENT)
        if (event->type == ALLM_EV_TEXT_DELTA)
            fwrite(event->text, 1, event->text_len, stdout);
    putchar('\n');

    const allm_response *answer = allm_stream_response(stream);
    if (answer)
        printf("(%s, %d tokens in, %d out)\n",
               answer->finish_reason == ALLM_FINISH_STOP ? "finished"
                                                         : "cut short",
               (int)answer->usage->input_tokens.value,
               (int)answer->usage->output_tokens.value);
    const allm_error *error = allm_stream_error(stream);
    if (error)
        fprintf(stderr, "stream: %s\n", error->message);

    int status = error ? 1 : 0;
    allm_stream_free(stream);
    allm_engine_free(engine);
    allm_json_free(opts);
    return status;
}
