/* op_loop.c - steps and chats: step, stream_step, chat, stream */
#include "call.h"
#include "ops.h"
#include "pull.h"
#include "thread_input.h"

static allm_text *result_text(const allm_stream *stream, bool chat)
{
    const allm_step_result *step = allm_stream_step_result(stream);
    const allm_chat_result *whole = allm_stream_chat_result(stream);
    if (chat)
        return whole ? allm_chat_result_json(whole, ALLM_FORM_PLAIN) : NULL;
    return step ? allm_step_result_json(step, ALLM_FORM_PLAIN) : NULL;
}

/* A stream that is not pulled to its end has no result. */
static void report_stream(struct report *r, allm_stream *stream, bool chat,
                          bool streaming, int64_t take)
{
    const allm_error *early = allm_stream_error(stream);
    allm_status status = streaming ? pull_events(r, stream, take, NULL)
                                   : allm_stream_wait(stream);
    allm_text *text = status == ALLM_OK ? result_text(stream, chat) : NULL;
    if (text)
        report_text(r, "result", text);
    allm_text_free(text);
    report_end(r, status < 0 ? allm_stream_error(stream) : early);
}

static void run_loop(struct scenario *s, const allm_json *op, struct report *r,
                     bool chat, bool streaming)
{
    struct call call;
    struct thread_input input;
    int64_t take;
    allm_error *faults = NULL;
    if (!pull_take(s, op, &take) || !thread_input_init(&input, s, op))
        return;
    call_init(&call, s, op);
    allm_stream *stream = (chat ? allm_chat : allm_step)(
        s->engine, thread_input_thread(&input), &call.opts);
    const allm_error *error =
        thread_input_error(&input, allm_stream_error(stream), &faults);
    if (error)
        report_end(r, error);
    else
        report_stream(r, stream, chat, streaming, take);
    allm_stream_free(stream);
    allm_error_free(faults);
    call_release(&call);
    thread_input_release(&input);
}

void op_step(struct scenario *s, const allm_json *op, struct report *r)
{
    run_loop(s, op, r, false, false);
}

void op_stream_step(struct scenario *s, const allm_json *op, struct report *r)
{
    run_loop(s, op, r, false, true);
}

void op_chat(struct scenario *s, const allm_json *op, struct report *r)
{
    run_loop(s, op, r, true, false);
}

void op_stream(struct scenario *s, const allm_json *op, struct report *r)
{
    run_loop(s, op, r, true, true);
}
