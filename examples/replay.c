/*
 * replay.c - replay recorded exchanges instead of using a network
 *
 * An adapter for a small invented protocol, and a recording of two exchanges
 * with its server: one answer in pieces, one error.  The bytes arrive in the
 * recorded pieces.  A request that was not recorded fails; nothing here uses a
 * network.
 */
#include <allm.h>

#include <stdio.h>
#include <string.h>

/* -------------------------------------------------------- the adapter --- */

static allm_status encode(const allm_call *call, allm_http *out)
{
    char body[256];
    const allm_request *r = call->request;
    int len = snprintf(body, sizeof body, "{\"model\":\"%s\",\"say\":\"%s\"}",
                       call->model, r->messages[r->message_count - 1]->text);
    allm_http_url(out, "https://echo.example/v1/say");
    allm_http_header(out, "content-type", "application/json");
    allm_http_body(out, body, (size_t)len);
    return ALLM_OK;
}

static allm_status decode(void *state, const allm_call *call,
                          const allm_frame *frame, allm_sink *sink)
{
    size_t len;
    const allm_json *v = allm_sink_parse(sink, frame->data, frame->data_len);
    const char *word = allm_json_text(allm_json_get(v, "word"), &len);
    (void)state;
    (void)call;
    return word ? allm_sink_put(sink, ALLM(event, .type = ALLM_EV_TEXT_DELTA,
                                           .text = word, .text_len = len))
                : ALLM_OK;
}

static allm_status finish(void *state, const allm_call *call, allm_sink *sink)
{
    static const allm_message said = { .size = sizeof said,
                                       .role = ALLM_ROLE_ASSISTANT,
                                       .text = "" };
    (void)state;
    (void)call;
    return allm_sink_put(sink, ALLM(event, .type = ALLM_EV_MESSAGE_COMPLETED,
                                    .message = &said,
                                    .finish_reason = ALLM_FINISH_STOP));
}

static const allm_adapter echo = { .size = sizeof echo,
                                   .name = "echo",
                                   .framing = ALLM_FRAMING_SSE,
                                   .encode = encode,
                                   .decode = decode,
                                   .finish = finish };

/* -------------------------------------------------------- the program --- */

static void say(const allm_engine *engine, const char *what)
{
    const allm_message *message = ALLM(message, .role = ALLM_ROLE_USER,
                                       .text = what);
    allm_stream *stream = allm_generate(
        engine, ALLM(request, .message_count = 1, .messages = &message), NULL);
    const allm_event *event;
    printf("%s:", what);
    while (allm_stream_next(stream, &event) == ALLM_EVENT)
        if (event->type == ALLM_EV_TEXT_DELTA)
            printf(" [%.*s]", (int)event->text_len, event->text);
    const allm_error *error = allm_stream_error(stream);
    printf("%s%s\n", error ? " " : "", error ? error->message : "");
    allm_stream_free(stream);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "examples/replay.recording";
    allm_player *replay = allm_player_new(path, NULL);
    const allm_error *error = allm_player_error(replay);
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = "echo:parrot", .adapter_table = &echo,
             .transport = allm_player_transport(replay)));

    if (!error) {
        say(engine, "Hello");
        say(engine, "Less");
        say(engine, "More");
        printf("exchanges left: %d\n", (int)allm_player_left(replay));
        say(engine, "More");
    }
    puts(error ? error->message : "no network was used");
    allm_engine_free(engine);
    allm_player_free(replay);
    return error ? 1 : 0;
}
