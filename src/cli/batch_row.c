/*
 * batch_row.c - the row that a batch writes for a call
 *
 * The id comes first and exit_code and sum come last: batch_out.c reads a row
 * from both ends.
 */
#include "cli/batch_row.h"

#include "cli/approvals.h"
#include "cli/batch_models.h"
#include "cli/batch_out.h"
#include "cli/chat_usage.h"
#include "cli/exit.h"
#include "cli/reword.h"
#include "conf/member.h"

#include <time.h>

bool batch_row_is_final(const struct batch_end *e)
{
    return batch_out_is_final(e->code,
                              e->response && e->response->finish_reason ==
                                                 ALLM_FINISH_LENGTH);
}

/* Is there a code block in the answer, if one is wanted? */
static bool has_block(const struct batch_end *e)
{
    const allm_response *r = e->response;
    return !e->extract ||
           (r->output_text && extract_finds(r->output_text, r->output_len));
}

/* Why a chat stopped before its answer; END_DONE: it did not. */
static int judge_halt(struct batch_end *e, const allm_chat_result *chat)
{
    int code = exit_of_chat(chat);
    if (code == END_ASKED && approvals_count(chat->metadata))
        e->why = "a call of a tool waits for approval, and nobody can be asked "
                 "in a batch; allow such calls with --approve TOOL=auto, or "
                 "with --yes those that the sandbox confines";
    else if (code == END_ASKED)
        e->why = "the model asks a question, which nobody can answer in a "
                 "batch";
    else if (code == END_LIMIT)
        e->why = "stopped at a limit; raise it with --max-turns N";
    return code == END_ASKED || code == END_LIMIT ? code : END_DONE;
}

void batch_row_judge(struct batch_end *e, const allm_stream *stream,
                     allm_status status)
{
    e->error = allm_stream_error(stream);
    e->response = status == ALLM_OK ? allm_stream_response(stream) : NULL;
    allm_finish finish = e->response ? e->response->finish_reason
                                     : ALLM_FINISH_NONE;
    const allm_chat_result *chat = status == ALLM_OK
                                       ? allm_stream_chat_result(stream)
                                       : NULL;
    int halt = chat ? judge_halt(e, chat) : END_DONE;
    e->total = chat ? chat_usage_total(chat) : NULL;
    e->usage = e->total ? e->total : e->response ? e->response->usage : NULL;
    if (e->error)
        e->code = exit_of_error(e->error);
    else if (halt != END_DONE)
        e->code = halt;
    else if (!e->response || finish == ALLM_FINISH_ERROR)
        e->code = END_FAILED;
    else if (finish == ALLM_FINISH_LENGTH)
        e->code = END_TRUNCATED;
    else if (finish == ALLM_FINISH_CONTENT_FILTER)
        e->code = END_REFUSED;
    else
        e->code = has_block(e) ? END_DONE : END_TRUNCATED;
    if (e->error && e->code == END_TRUNCATED)
        e->code = END_TRANSIENT;
}

/* A member of a noun in its plain JSON form. */
static void put_noun(allm_json_build *b, const char *key, allm_text *text)
{
    allm_json *value = member_parse(text);
    if (value && !allm_json_error(value))
        member_value(b, key, value);
    allm_json_free(value);
}

static const char *finish_name(allm_finish finish)
{
    static const char *const names[] = { NULL,         "stop",
                                         "length",     "tool_calls",
                                         "content_filter", "error", "other" };
    return names[finish <= ALLM_FINISH_OTHER ? finish : ALLM_FINISH_OTHER];
}

static void put_output(allm_json_build *b, const char *key,
                       const struct batch_end *e)
{
    const allm_response *r = e->response;
    struct bytes blocks = { NULL, 0, 0 };
    const char *text = r->output_text ? r->output_text : "";
    size_t len = r->output_text ? r->output_len : 0;
    allm_json_build_key(b, key);
    if (e->extract && e->code == END_DONE) {
        extract_put(&blocks, text, len, e->extract);
        allm_json_build_text(b, bytes_string(&blocks), blocks.len);
    } else {
        allm_json_build_text(b, text, len);
    }
    bytes_release(&blocks);
}

/* The text of the answer, or its value. */
static void put_answer(allm_json_build *b, const struct batch_end *e)
{
    const allm_response *r = e->response;
    allm_json *value = e->value && r->output_text
                           ? allm_json_parse(r->output_text, r->output_len,
                                             NULL)
                           : NULL;
    if (value && !allm_json_error(value)) {
        member_value(b, "value", value);
    } else {
        put_output(b, "text", e);
    }
    allm_json_free(value);
}

/* The calls that the model makes of tools that are not ours. */
static void put_calls(allm_json_build *b, const allm_response *r)
{
    if (!r->tool_call_count)
        return;
    member_array(b, "tool_calls");
    for (size_t i = 0; i < r->tool_call_count; i++) {
        allm_json_build_object(b);
        member_text(b, "id", r->tool_calls[i]->id);
        member_text(b, "name", r->tool_calls[i]->name);
        member_value(b, "arguments", r->tool_calls[i]->arguments);
        allm_json_build_end(b);
    }
    allm_json_build_end(b);
}

static void put_cost(allm_json_build *b, const allm_usage *usage)
{
    put_noun(b, "usage", allm_usage_json(usage, ALLM_FORM_PLAIN));
    allm_json_build_key(b, "cost");
    if (usage && usage->total_cost.set)
        allm_json_build_number(b, usage->total_cost.value);
    else
        allm_json_build_null(b);
}

static void put_response(allm_json_build *b, const struct batch_call *c,
                         const struct batch_end *e)
{
    if (e->response) {
        put_answer(b, e);
        put_calls(b, e->response);
    }
    if (c->model)
        member_text(b, "model", c->model->target.name);
    if (!e->response)
        return;
    member_text(b, "finish_reason", finish_name(e->response->finish_reason));
    put_cost(b, e->usage);
}

/* The object of an error; its reason has this key. */
static void put_reason(allm_json_build *b, const struct batch_end *e,
                       const char *key)
{
    allm_error *said = e->error ? reword_error(e->error) : NULL;
    const char *message = said       ? said->message
                          : e->error ? e->error->message
                                     : e->why;
    if (!message && e->code == END_TRUNCATED && !batch_row_is_final(e))
        message = "the answer has no code block";
    if (!message && e->code == END_TRUNCATED)
        message = "the answer reached the limit of its length; raise "
                  "max_tokens";
    if (!message && e->code == END_REFUSED)
        message = "the provider refused or filtered the answer";
    allm_json_build_object(b);
    member_text(b, key, e->error ? e->error->reason : NULL);
    member_text(b, "message", message ? message : "the call failed");
    if (e->error && e->error->errors)
        member_value(b, "errors", e->error->errors); /* with their places */
    allm_json_build_end(b);
    allm_error_free(said);
}

static void put_failure(allm_json_build *b, const struct batch_end *e)
{
    if (e->code == END_DONE)
        return;
    allm_json_build_key(b, "error");
    put_reason(b, e, "reason");
}

/* The end of a row: the same for all commands. */
static void put_end(allm_json_build *b, const struct batch_call *c,
                    const struct batch_end *e)
{
    member_int(b, "ms", e->ms);
    member_int(b, "attempts", e->attempts);
    put_failure(b, e);
    member_int(b, "exit_code", e->code);
    member_text(b, "sum", c->sum);
    allm_json_build_end(b);
}

static allm_json_build *begin_row(const struct batch_call *c,
                                  const struct batch_end *e)
{
    allm_json_build *b = member_new_object();
    member_text(b, "id", c->id);
    member_bool(b, "ok", e->code == END_DONE);
    return b;
}

static void write_row(struct bytes *out, allm_json_build *b)
{
    allm_json *row = allm_json_build_done(b);
    if (member_append(out, allm_json_write(row, 0)))
        bytes_byte(out, '\n');
    allm_json_free(row);
}

void batch_row_put(struct bytes *out, const struct batch_call *c,
                   const struct batch_end *e)
{
    allm_json_build *b = begin_row(c, e);
    put_response(b, c, e);
    put_end(b, c, e);
    write_row(out, b);
}

/* A float with the nine digits that identify it, so that it is not written with
 * the seventeen of a double. */
static double nine_digits(float x)
{
    double scale = 1, most = x < 0 ? -(double)x : (double)x;
    while (most * scale < 1e8 && scale < 1e22) /* exact up to 1e22 */
        scale *= 10;
    if (most * scale >= 1e15)
        return (double)x;
    double half = x < 0 ? -0.5 : 0.5;
    double short_form = (double)(int64_t)((double)x * scale + half) / scale;
    return (float)short_form == x ? short_form : (double)x;
}

static void put_vector(allm_json_build *b, const float *vector, size_t count)
{
    member_array(b, "embedding");
    for (size_t i = 0; i < count; i++)
        allm_json_build_number(b, nine_digits(vector[i]));
    allm_json_build_end(b);
}

void batch_row_put_vector(struct bytes *out, const struct batch_call *c,
                          const struct batch_end *e, size_t index, bool apart)
{
    const allm_embeddings *v = e->vectors;
    allm_json_build *b = begin_row(c, e);
    if (v && apart)
        member_int(b, "dims", (int64_t)v->dimensions);
    else if (v)
        put_vector(b, v->vectors[index], v->dimensions);
    if (v) {
        member_text(b, "model", c->model->target.name);
        put_cost(b, e->usage);
    }
    put_end(b, c, e);
    write_row(out, b);
}

/* -------------------------------------------------------------- OpenAI --- */

static void put_function(allm_json_build *b, const allm_tool_call *call)
{
    allm_text *text = allm_json_write(call->arguments, 0);
    allm_json_build_object(b);
    member_text(b, "id", call->id);
    member_text(b, "type", "function");
    member_object(b, "function");
    member_text(b, "name", call->name);
    member_text(b, "arguments", allm_text_bytes(text, NULL));
    allm_json_build_end(b);
    allm_json_build_end(b);
    allm_text_free(text);
}

static void put_functions(allm_json_build *b, const allm_response *r)
{
    if (!r->tool_call_count)
        return;
    member_array(b, "tool_calls");
    for (size_t i = 0; i < r->tool_call_count; i++)
        put_function(b, r->tool_calls[i]);
    allm_json_build_end(b);
}

static void put_message(allm_json_build *b, const struct batch_end *e)
{
    const allm_response *r = e->response;
    member_array(b, "choices");
    allm_json_build_object(b);
    member_int(b, "index", 0);
    member_object(b, "message");
    member_text(b, "role", "assistant");
    put_output(b, "content", e);
    put_functions(b, r);
    allm_json_build_end(b);
    member_text(b, "finish_reason", finish_name(r->finish_reason));
    allm_json_build_end(b);
    allm_json_build_end(b);
}

static void put_tokens(allm_json_build *b, const allm_usage *u)
{
    int64_t total = 0;
    if (!u || !allm_usage_total(u, &total))
        return;
    member_object(b, "usage");
    member_int(b, "prompt_tokens", u->input_tokens.value);
    member_int(b, "completion_tokens", u->output_tokens.value);
    member_int(b, "total_tokens", total);
    allm_json_build_end(b);
}

static void put_body(allm_json_build *b, const struct batch_end *e)
{
    allm_json_build_object(b);
    member_int(b, "status_code", 200);
    member_text(b, "request_id", e->response->id);
    member_object(b, "body");
    member_text(b, "id", e->response->id);
    member_text(b, "object", "chat.completion");
    member_int(b, "created", (int64_t)time(NULL));
    member_text(b, "model", e->response->model);
    put_message(b, e);
    put_tokens(b, e->usage);
    allm_json_build_end(b);
    allm_json_build_end(b);
}

void batch_row_put_openai(struct bytes *out, const struct batch_call *c,
                          const struct batch_end *e)
{
    allm_json_build *b = member_new_object();
    member_text(b, "id", c->id);
    member_text(b, "custom_id", c->id);
    allm_json_build_key(b, "response");
    if (e->response)
        put_body(b, e);
    else
        allm_json_build_null(b);
    allm_json_build_key(b, "error");
    if (e->response)
        allm_json_build_null(b);
    else
        put_reason(b, e, "code");
    member_int(b, "exit_code", e->code);
    member_text(b, "sum", c->sum);
    allm_json_build_end(b);
    write_row(out, b);
}
