/*
 * fake.c - test your own program with a scripted model
 *
 * The function under test calls a model and counts the words of its answer.
 * No network, no key, no delay: the adapter "fake" plays a script.
 */
#include <allm.h>

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------ the program to test --- */

/* The number of words of the answer; -1: the model failed. */
static int count_words(const allm_engine *engine, const char *question)
{
    const allm_message *message = ALLM(message, .role = ALLM_ROLE_USER,
                                       .text = question);
    allm_stream *stream = allm_generate(
        engine, ALLM(request, .message_count = 1, .messages = &message), NULL);
    const allm_event *event;
    int words = 0;

    while (allm_stream_next(stream, &event) == ALLM_EVENT)
        if (event->type == ALLM_EV_TEXT_DELTA)
            words++;
    const allm_error *error = allm_stream_error(stream);
    if (error)
        printf("  (%s)\n", error->message);
    allm_stream_free(stream);
    return error ? -1 : words;
}

/* ----------------------------------------------------------- its test --- */

static const char script[] =
    "{\"record\": true, \"scripts\": ["
    "  [[\"text\", \"one \"], [\"text\", \"two\"], [\"finish\", \"stop\"]],"
    "  [[\"text\", \"half\"], [\"error\", \"rate_limited\"]],"
    "  [[\"preflight_error\", \"authentication_failed\","
    "    {\"message\": \"no such key\"}]]"
    "]}";

int main(void)
{
    allm_json *opts = allm_json_parse(script, strlen(script), NULL);
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts));
    allm_json_free(opts);

    printf("an answer: %d\n", count_words(engine, "Count!"));
    printf("broken off: %d\n", count_words(engine, "Again!"));
    printf("refused: %d\n", count_words(engine, "Once more!"));
    printf("script used up: %d\n", count_words(engine, "And now?"));

    allm_json *seen = allm_fake_requests(engine);
    printf("%d calls, %d streams released, the second asked: %s\n",
           (int)allm_fake_calls(engine), (int)allm_fake_released(engine),
           allm_json_text(allm_json_pointer(seen, "/1/messages/0/content"),
                          NULL));
    allm_json_free(seen);
    allm_engine_free(engine);
    return 0;
}
