/*
 * batch_row.c - the row that a batch writes for a call
 *
 * The id comes first and exit_code and sum come last: batch_out.c reads a row
 * from both ends.
 */
#include "cli/batch_row.h"

#include "cli/exit.h"
#include "cli/reword.h"

#include <string.h>

void batch_row_judge(struct batch_end *e, const allm_stream *stream,
                     allm_status status)
{
    e->error = allm_stream_error(stream);
    e->response = status == ALLM_OK ? allm_stream_response(stream) : NULL;
    allm_finish finish = e->response ? e->response->finish_reason
                                     : ALLM_FINISH_NONE;
    if (e->error)
        e->code = exit_of_error(e->error);
    else if (!e->response || finish == ALLM_FINISH_ERROR)
        e->code = END_FAILED;
    else if (finish == ALLM_FINISH_LENGTH)
        e->code = END_TRUNCATED;
    else
        e->code = finish == ALLM_FINISH_CONTENT_FILTER ? END_REFUSED : END_DONE;
    if (e->error && e->code == END_TRUNCATED)
        e->code = END_TRANSIENT;
}

static void put_text(allm_json_build *b, const char *key, const char *text)
{
    if (!text)
        return;
    allm_json_build_key(b, key);
    allm_json_build_text(b, text, ALLM_NUL_ENDED);
}

static void put_number(allm_json_build *b, const char *key, int64_t n)
{
    allm_json_build_key(b, key);
    allm_json_build_int(b, n);
}

/* A member of a noun in its plain JSON form. */
static void put_noun(allm_json_build *b, const char *key, allm_text *text)
{
    size_t len = 0;
    const char *bytes = allm_text_bytes(text, &len);
    allm_json *value = bytes ? allm_json_parse(bytes, len, NULL) : NULL;
    if (value && !allm_json_error(value)) {
        allm_json_build_key(b, key);
        allm_json_build_value(b, value);
    }
    allm_json_free(value);
    allm_text_free(text);
}

static const char *finish_name(allm_finish finish)
{
    static const char *const names[] = { NULL,         "stop",
                                         "length",     "tool_calls",
                                         "content_filter", "error", "other" };
    return names[finish <= ALLM_FINISH_OTHER ? finish : ALLM_FINISH_OTHER];
}

/* The text of the answer, or its value. */
static void put_answer(allm_json_build *b, const struct batch_end *e)
{
    const allm_response *r = e->response;
    allm_json *value = e->value && r->output_text
                           ? allm_json_parse(r->output_text, r->output_len,
                                             NULL)
                           : NULL;
    bool use = value && !allm_json_error(value);
    allm_json_build_key(b, use ? "value" : "text");
    if (use)
        allm_json_build_value(b, value);
    else
        allm_json_build_text(b, r->output_text ? r->output_text : "",
                             r->output_text ? r->output_len : 0);
    allm_json_free(value);
}

static void put_response(allm_json_build *b, const struct batch_end *e)
{
    const allm_response *r = e->response;
    if (!r)
        return;
    put_answer(b, e);
    put_text(b, "model", e->model);
    put_text(b, "finish_reason", finish_name(r->finish_reason));
    put_noun(b, "usage", allm_usage_json(r->usage, ALLM_FORM_PLAIN));
    allm_json_build_key(b, "cost");
    if (r->usage && r->usage->total_cost.set)
        allm_json_build_number(b, r->usage->total_cost.value);
    else
        allm_json_build_null(b);
}

static void put_failure(allm_json_build *b, const struct batch_end *e)
{
    allm_error *said = e->error ? reword_error(e->error) : NULL;
    const char *message = said ? said->message : e->why;
    if (e->code == END_DONE)
        return;
    if (!message && e->code == END_TRUNCATED)
        message = "the answer reached the limit of its length; raise "
                  "max_tokens";
    if (!message && e->code == END_REFUSED)
        message = "the provider refused or filtered the answer";
    allm_json_build_key(b, "error");
    allm_json_build_object(b);
    put_text(b, "reason", e->error ? e->error->reason : NULL);
    put_text(b, "message", message ? message : "the call failed");
    allm_json_build_end(b);
    allm_error_free(said);
}

void batch_row_put(struct bytes *out, const struct batch_call *c,
                   const struct batch_end *e)
{
    size_t len = 0;
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    put_text(b, "id", c->id);
    allm_json_build_key(b, "ok");
    allm_json_build_bool(b, e->code == END_DONE);
    put_response(b, e);
    put_number(b, "ms", e->ms);
    put_number(b, "attempts", e->attempts);
    put_failure(b, e);
    put_number(b, "exit_code", e->code);
    put_text(b, "sum", c->sum);
    allm_json_build_end(b);
    allm_json *row = allm_json_build_done(b);
    allm_text *text = allm_json_write(row, 0);
    const char *bytes = allm_text_bytes(text, &len);
    if (bytes) {
        bytes_add(out, bytes, len);
        bytes_byte(out, '\n');
    }
    allm_text_free(text);
    allm_json_free(row);
}
