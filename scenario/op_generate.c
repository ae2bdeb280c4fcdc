/* op_generate.c - one answer of the model, waited for or pulled */
#include "call.h"
#include "engine.h"
#include "ops.h"

/* ----------------------------------------------------------------- request --- */

/* The request in plain form: `request`, or one made of `messages`. */
static allm_json *request_json(struct scenario *s, const allm_json *op)
{
    const allm_json *request = allm_json_get(op, "request");
    const allm_json *messages = allm_json_get(op, "messages");
    if (!request == !messages) {
        scenario_refuse(s, "needs either \"request\" or \"messages\"");
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
 * A request that no struct can hold, such as one with an unknown role.  The
 * engine and the options are looked at first, as in every call: a request
 * without messages gets no further than that.
 */
static void report_unfit(struct scenario *s, struct report *r,
                         const allm_json *plain, const allm_codec *codec,
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

/* ------------------------------------------------------------------ events --- */

/* How often each tag came. */
struct tally {
    uint64_t of[ALLM_EV_USAGE + 1];
};

static void report_tally(struct report *r, const struct tally *t)
{
    allm_json_build_key(r->out, "count");
    allm_json_build_object(r->out);
    for (int i = ALLM_EV_MESSAGE_STARTED; i <= ALLM_EV_USAGE; i++) {
        allm_json_build_key(r->out, allm_event_tag((allm_event_type)i));
        allm_json_build_uint(r->out, t->of[i]);
    }
    allm_json_build_end(r->out);
}

static void report_event(struct report *r, const allm_event *event)
{
    size_t len = 0;
    allm_text *text = allm_event_json(event);
    const char *bytes = allm_text_bytes(text, &len);
    allm_json *v = allm_json_parse(bytes ? bytes : "", len, NULL);
    allm_json_build_value(r->out, v);
    allm_json_free(v);
    allm_text_free(text);
}

/* Pull up to `most` events (negative: all) into lists of the report. */
static allm_status pull(struct report *r, allm_stream *stream, int64_t most)
{
    const allm_event *event;
    allm_status status = ALLM_EVENT;
    struct tally tally = { { 0 } };
    allm_json_build *tags = allm_json_build_new(NULL);
    allm_json_build_array(tags);
    allm_json_build_key(r->out, "events");
    allm_json_build_array(r->out);
    while (most-- != 0) {
        status = allm_stream_next(stream, &event);
        if (status != ALLM_EVENT)
            break;
        tally.of[event->type]++;
        allm_json_build_text(tags, allm_event_tag(event->type), ALLM_NUL_ENDED);
        report_event(r, event);
    }
    allm_json_build_end(r->out);
    allm_json_build_end(tags);
    allm_json *list = allm_json_build_done(tags);
    report_json(r, "tags", list);
    report_tally(r, &tally);
    allm_json_free(list);
    return status;
}

/* --------------------------------------------------------------------- ops --- */

/* `take`: how many events to pull; -1: all. */
static bool read_take(struct scenario *s, const allm_json *op, int64_t *take)
{
    const allm_json *v = allm_json_get(op, "take");
    *take = -1;
    if (!v || (allm_json_int64(v, take) && *take >= 0))
        return true;
    return scenario_refuse(s, "\"take\" must be an integer, not negative");
}

static void report_stream(struct report *r, allm_stream *stream, bool streaming,
                          int64_t take)
{
    const allm_error *early = allm_stream_error(stream);
    allm_status status = streaming ? pull(r, stream, take)
                                   : allm_stream_wait(stream);
    const allm_response *response = allm_stream_response(stream);
    allm_text *text = response ? allm_response_json(response, ALLM_FORM_PLAIN)
                               : NULL;
    if (text)
        report_text(r, "result", text);
    allm_text_free(text);
    report_end(r, status < 0 ? allm_stream_error(stream) : early);
}

static void run(struct scenario *s, const allm_json *op, struct report *r,
                bool streaming)
{
    struct call call;
    int64_t take;
    allm_json *plain = request_json(s, op);
    if (!plain || !read_take(s, op, &take)) {
        allm_json_free(plain);
        return;
    }
    call_init(&call, op);
    allm_codec *codec = engine_decode(plain, "Request");
    const allm_request *request = allm_codec_value(codec, ALLM_TYPE_REQUEST);
    if (request) {
        allm_stream *stream = allm_generate(s->engine, request, &call.opts);
        report_stream(r, stream, streaming, take);
        allm_stream_free(stream);
    } else {
        report_unfit(s, r, plain, codec, &call);
    }
    allm_codec_free(codec);
    call_release(&call);
    allm_json_free(plain);
}

void op_generate(struct scenario *s, const allm_json *op, struct report *r)
{
    run(s, op, r, false);
}

void op_stream_generate(struct scenario *s, const allm_json *op,
                        struct report *r)
{
    run(s, op, r, true);
}
