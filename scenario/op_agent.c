/* op_agent.c - the operation agent_loop */
#include "call.h"
#include "ops.h"
#include "thread_input.h"

#include <string.h>

/* A member of a JSON text as a member of the object being built. */
static void add_text(allm_json_build *b, const char *key, allm_text *text,
                     const char *member)
{
    size_t len = 0;
    const char *bytes = allm_text_bytes(text, &len);
    allm_json *v = bytes ? allm_json_parse(bytes, len, NULL) : NULL;
    const allm_json *part = member ? allm_json_get(v, member) : v;
    allm_json_build_key(b, key);
    if (part)
        allm_json_build_value(b, part);
    else
        allm_json_build_null(b);
    allm_json_free(v);
    allm_text_free(text);
}

/* {"response", "messages", "usage", "iterations", "metadata"} */
static void report_result(struct report *r, const allm_agent_result *v)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    add_text(b, "response",
             v->response ? allm_response_json(v->response, ALLM_FORM_PLAIN)
                         : NULL,
             NULL);
    add_text(b, "messages", allm_thread_json(v->messages, ALLM_FORM_PLAIN),
             "messages");
    add_text(b, "usage", allm_usage_json(v->usage, ALLM_FORM_PLAIN), NULL);
    allm_json_build_key(b, "iterations");
    allm_json_build_uint(b, v->iterations);
    allm_json_build_key(b, "tool_calls");
    allm_json_build_uint(b, v->tool_calls);
    allm_json_build_key(b, "reason");
    allm_json_build_text(b, v->reason, ALLM_NUL_ENDED);
    allm_json_build_key(b, "metadata");
    if (v->metadata)
        allm_json_build_value(b, v->metadata);
    else
        allm_json_build_null(b);
    allm_json_build_end(b);
    allm_json *all = allm_json_build_done(b);
    report_json(r, "result", all);
    allm_json_free(all);
}

/*
 * Report the loop's reason; the error of the model or of a stage becomes the
 * cause.
 */
static void report_error(struct report *r, const allm_error *error,
                         const char *reason)
{
    size_t len = 0;
    if (!error || !reason || !strcmp(error->reason, reason)) {
        report_end(r, error);
        return;
    }
    allm_text *text = allm_error_json(error, ALLM_FORM_PLAIN);
    const char *bytes = allm_text_bytes(text, &len);
    allm_json *cause = bytes ? allm_json_parse(bytes, len, NULL) : NULL;
    report_end(r, ALLM(error, .kind = ALLM_ERR_ENGINE, .reason = reason,
                       .message = error->message, .cause = cause));
    allm_json_free(cause);
    allm_text_free(text);
}

/* Append the trace of a turn. */
static void add_trace(allm_json_build *b, const allm_json *trace)
{
    for (const allm_json *e = NULL; (e = allm_json_next(trace, e));)
        allm_json_build_value(b, e);
}

static void on_iteration(const allm_context *c, void *ud)
{
    add_trace(ud, allm_context_trace(c));
}

static void report_trace(struct report *r, allm_json_build *b,
                         const allm_agent_result *v)
{
    if (v && !strcmp(v->reason, "pipeline_error"))
        add_trace(b, v->trace);         /* on_iteration was not called */
    allm_json_build_end(b);
    allm_json *trace = allm_json_build_done(b);
    report_json(r, "trace", trace);
    allm_json_free(trace);
}

static void report_agent(struct report *r, allm_stream *stream,
                         allm_json_build *trace)
{
    allm_status status = allm_stream_wait(stream);
    const allm_agent_result *v = status == ALLM_OK
                                     ? allm_stream_agent_result(stream)
                                     : NULL;
    if (v)
        report_result(r, v);
    report_trace(r, trace, v);
    if (v)
        report_error(r, v->error, v->reason);
    else
        report_end(r, allm_stream_error(stream));
}

void op_agent_loop(struct scenario *s, const allm_json *op, struct report *r)
{
    struct call call;
    struct thread_input input;
    allm_error *faults = NULL;
    if (!thread_input_init(&input, s, op))
        return;
    call_init(&call, s, op);
    allm_json_build *trace = allm_json_build_new(NULL);
    allm_json_build_array(trace);
    allm_stream *stream = allm_agent(s->engine, thread_input_thread(&input),
                                     ALLM(agent_opts, .call = &call.opts,
                                          .on_iteration = on_iteration,
                                          .on_iteration_ud = trace));
    const allm_error *error =
        thread_input_error(&input, allm_stream_error(stream), &faults);
    if (error) {
        report_end(r, error);
        allm_json_free(allm_json_build_done(trace));
    } else {
        report_agent(r, stream, trace);
    }
    allm_stream_free(stream);
    allm_error_free(faults);
    call_release(&call);
    thread_input_release(&input);
}
