/* op_generate.c - one answer of the model: generate, stream_generate */
#include "call.h"
#include "engine.h"
#include "ops.h"
#include "pull.h"

/* The request in plain form: `request`, or one built from `messages`. */
static allm_json *request_json(struct scenario *s, const allm_json *op)
{
    const allm_json *request = allm_json_get(op, "request");
    const allm_json *messages = allm_json_get(op, "messages");
    if (!request == !messages) {
        scenario_reject(s, "needs either \"request\" or \"messages\"");
        return NULL;
    }
    if (request)
        return allm_json_copy(request);
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    allm_json_build_key(b, "messages");
    allm_json_build_value(b, messages);
    allm_json_build_end(b);
    return allm_json_build_done(b);
}

/*
 * Report a request that cannot be decoded, such as one with an unknown role.
 * As in every call, errors of the engine and the options come first; a request
 * without messages finds them and nothing else.
 */
static void report_invalid_request(struct scenario *s, struct report *r,
                                   const allm_json *plain,
                                   const allm_codec *codec,
                                   const struct call *call)
{
    allm_stream *stream = allm_generate(s->engine,
                                        ALLM(request, .message_count = 0),
                                        &call->opts);
    const allm_error *error = allm_stream_error(stream);
    allm_error *faults = allm_validate_json("request", plain);
    if (error && error->kind == ALLM_ERR_VALIDATION)
        error = faults ? faults : allm_codec_error(codec);
    report_end(r, error);
    allm_error_free(faults);
    allm_stream_free(stream);
}

static void report_stream(struct report *r, allm_stream *stream, bool streaming,
                          int64_t take)
{
    const allm_error *early = allm_stream_error(stream);
    allm_status status = streaming ? pull_events(r, stream, take, NULL)
                                   : allm_stream_wait(stream);
    const allm_response *response = allm_stream_response(stream);
    allm_text *text = response ? allm_response_json(response, ALLM_FORM_PLAIN)
                               : NULL;
    if (text)
        report_text(r, "result", text);
    allm_text_free(text);
    report_end(r, status < 0 ? allm_stream_error(stream) : early);
}

static void run_generate(struct scenario *s, const allm_json *op,
                         struct report *r, bool streaming)
{
    struct call call;
    int64_t take;
    allm_json *plain = request_json(s, op);
    if (!plain || !pull_take(s, op, &take)) {
        allm_json_free(plain);
        return;
    }
    call_init(&call, s, op);
    allm_codec *codec = engine_decode(plain, "Request");
    const allm_request *request = allm_codec_value(codec, ALLM_TYPE_REQUEST);
    if (request) {
        allm_stream *stream = allm_generate(s->engine, request, &call.opts);
        report_stream(r, stream, streaming, take);
        allm_stream_free(stream);
    } else {
        report_invalid_request(s, r, plain, codec, &call);
    }
    allm_codec_free(codec);
    call_release(&call);
    allm_json_free(plain);
}

void op_generate(struct scenario *s, const allm_json *op, struct report *r)
{
    run_generate(s, op, r, false);
}

void op_stream_generate(struct scenario *s, const allm_json *op,
                        struct report *r)
{
    run_generate(s, op, r, true);
}
