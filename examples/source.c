/*
 * source.c - your own model, in the same process
 *
 * An adapter that produces its events itself is a table of three functions.
 * This one spells the last word of the question backwards, a letter at a time.
 * The library adds the rest: options, deadlines, results, hubs.
 */
#include <allm.h>

#include <stdio.h>
#include <string.h>

struct speller {
    const char *word;
    size_t left;                /* letters to emit */
    bool over;
};

static allm_status open_speller(void *state, const allm_call *call,
                                allm_sink *sink)
{
    struct speller *s = state;
    const allm_request *r = call->request;
    const char *text = r->messages[r->message_count - 1]->text;
    const char *space = text ? strrchr(text, ' ') : NULL;
    if (!text || !*text)
        return allm_sink_fail(sink,
                              ALLM(error, .kind = ALLM_ERR_ADAPTER,
                                   .reason = "invalid_request",
                                   .message = "say something to be spelled"),
                              true);
    s->word = space ? space + 1 : text;
    s->left = strlen(s->word);
    return ALLM_OK;
}

static allm_status next_letter(void *state, const allm_call *call,
                               allm_sink *sink, int64_t *again_ns)
{
    /* The event must stay valid until the next call: not on the stack. */
    static const allm_message said = { .size = sizeof said,
                                       .role = ALLM_ROLE_ASSISTANT,
                                       .text = "" };
    struct speller *s = state;
    (void)call;
    (void)again_ns;
    if (s->over)
        return ALLM_OK;
    if (s->left) {
        s->left--;
        return allm_sink_put(sink,
                             ALLM(event, .type = ALLM_EV_TEXT_DELTA,
                                  .text = s->word + s->left, .text_len = 1)) < 0
                   ? ALLM_ERR_NOMEM
                   : ALLM_EVENT;
    }
    s->over = true;
    return allm_sink_put(sink, ALLM(event, .type = ALLM_EV_MESSAGE_COMPLETED,
                                    .message = &said,
                                    .finish_reason = ALLM_FINISH_STOP)) < 0
               ? ALLM_ERR_NOMEM
               : ALLM_EVENT;
}

int main(void)
{
    static const allm_adapter speller = { .size = sizeof speller,
                                          .name = "speller",
                                          .state_size = sizeof(struct speller),
                                          .open = open_speller,
                                          .next = next_letter };
    allm_engine *engine =
        allm_engine_new(ALLM(engine_opts, .adapter_table = &speller));
    const allm_message *message = ALLM(message, .role = ALLM_ROLE_USER,
                                       .text = "Please spell stressed");
    allm_stream *stream = allm_generate(
        engine, ALLM(request, .message_count = 1, .messages = &message), NULL);
    int status = allm_stream_wait(stream) == ALLM_OK ? 0 : 1;
    const allm_response *answer = allm_stream_response(stream);
    const allm_error *error = allm_stream_error(stream);
    puts(error ? error->message : answer ? answer->output_text : "no memory");
    allm_stream_free(stream);
    allm_engine_free(engine);
    return status;
}
