/* show.c - run a call and print it: as text, events or one JSON document */
#include "cli/show.h"

#include "cli/approvals.h"
#include "cli/chat_usage.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/reword.h"
#include "cli/signals.h"
#include "cli/timing.h"
#include "cli/tool_lines.h"
#include "conf/member.h"

#include <stdio.h>
#include <string.h>

/* Print an error that the stream did not emit as an event. */
static void print_error_event(const allm_error *error)
{
    allm_error *reworded = reword_error(error);
    allm_event *e = allm_event_new(ALLM(event, .type = ALLM_EV_ERROR, .seq = 1,
                                        .error = reworded ? reworded : error));
    print_owned(allm_event_json(e));
    allm_event_free(e);
    allm_error_free(reworded);
}

int show_events(allm_stream *stream)
{
    const allm_event *event;
    bool ended = false;
    while (!print_broken() && allm_stream_next(stream, &event) == ALLM_EVENT) {
        ended = ended || event->type == ALLM_EV_ERROR ||
                event->type == ALLM_EV_MESSAGE_COMPLETED;
        print_owned(allm_stream_event_json(stream));
        print_flush();
    }
    const allm_error *error = allm_stream_error(stream);
    if (error && !ended && !print_broken())
        print_error_event(error);
    return exit_of_error(error);
}

int show_text(allm_stream *stream)
{
    static const struct answer_look look = { .quiet = true };
    answer_run(stream, &look);
    const allm_error *error = allm_stream_error(stream);
    const allm_response *response = allm_stream_response(stream);
    if (!error && response)
        error = response->error;
    if (error)
        reword_print(error);
    return exit_of_error(error);
}

/* The text of the answer; NULL: there is none. */
static const char *text_of(const allm_chat_result *r, size_t *len)
{
    *len = 0;
    return r && r->final_response ? allm_response_text(r->final_response, len)
                                  : NULL;
}

/* Print the text of the answer, or only the code blocks. */
static void print_whole_text(const allm_chat_result *result,
                             const struct show *how)
{
    size_t len;
    const char *text = text_of(result, &len);
    struct answer_look look = how->look;
    struct bytes blocks = { NULL, 0, 0 };
    if (text && how->extract) {
        look.markdown = "off";
        extract_put(&blocks, text, len, how->extract);
        answer_print(bytes_string(&blocks), blocks.len, &look);
    } else if (text) {
        answer_print(text, len, &look);
    }
    bytes_release(&blocks);
}

/* The library's warnings about the answer, a list of names; or NULL. */
static const allm_json *warnings_of(const allm_chat_result *result)
{
    const allm_response *r = result ? result->final_response : NULL;
    return r ? allm_json_get(r->metadata, "warnings") : NULL;
}

static void put_warnings(allm_json_build *b, const allm_chat_result *result)
{
    member_array(b, "warnings");
    for (const allm_json *v = NULL;
         (v = allm_json_next(warnings_of(result), v));)
        allm_json_build_value(b, v);
    allm_json_build_end(b);
}

/* Fields of the last answer, and the usage of all answers. */
static void put_response(allm_json_build *b, const allm_chat_result *result)
{
    static const char *const keys[] = { "model", "finish_reason", "usage",
                                        "request_id" };
    const allm_response *response = result ? result->final_response : NULL;
    allm_usage *usage = chat_usage_total(result);
    allm_json *used =
        usage ? member_parse(allm_usage_json(usage, ALLM_FORM_PLAIN)) : NULL;
    allm_json *plain =
        response ? member_parse(allm_response_json(response, ALLM_FORM_PLAIN))
                 : NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        member_value(b, keys[i],
                     i == 2 && used ? used : allm_json_get(plain, keys[i]));
    allm_json_free(plain);
    allm_json_free(used);
    allm_usage_free(usage);
}

static void put_value(allm_json_build *b, const char *text, size_t len)
{
    allm_json *value = allm_json_parse(text ? text : "", text ? len : 0, NULL);
    member_value(b, "value", allm_json_error(value) ? NULL : value);
    allm_json_free(value);
}

/* The name or file of the session, the cost and the reasoning. */
static void put_facts(allm_json_build *b, const allm_chat_result *result,
                      const struct session *session)
{
    const allm_response *response = result ? result->final_response : NULL;
    allm_usage *usage = chat_usage_total(result);
    member_text_or_null(b, "session", session->path);
    allm_json_build_key(b, "cost");
    if (usage && usage->total_cost.set)
        allm_json_build_number(b, usage->total_cost.value);
    else
        allm_json_build_null(b);
    member_value(b, "reasoning",
                 response
                     ? allm_json_pointer(response->metadata, "/reasoning/text")
                     : NULL);
    allm_usage_free(usage);
}

static void put_call(allm_json_build *b, const allm_tool_call *call)
{
    allm_json_build_object(b);
    member_text_or_null(b, "name", call->name);
    member_bool(b, "ok", !tool_lines_failed(call->id));
    int64_t ms = tool_lines_ms(call->id);
    allm_json_build_key(b, "ms");
    if (ms >= 0)
        allm_json_build_int(b, ms);
    else
        allm_json_build_null(b);
    allm_json_build_end(b);
}

/* The calls whose results the chat has. */
static void put_calls(allm_json_build *b, const allm_step_result *step)
{
    for (size_t i = 0; i < step->tool_result_count; i++) {
        const allm_message *m = step->tool_results[i];
        for (size_t k = 0; k < step->response->tool_call_count; k++) {
            const allm_tool_call *call = step->response->tool_calls[k];
            if (m->tool_call_id && !strcmp(call->id, m->tool_call_id))
                put_call(b, call);
        }
    }
}

/* The calls that a rule, or somebody, denied. */
static void put_denied(allm_json_build *b)
{
    struct tool_denied d;
    member_array(b, "denied");
    for (size_t at = 0; tool_lines_denied(&at, &d);) {
        allm_json_build_object(b);
        member_text_or_null(b, "id", d.id);
        member_text_or_null(b, "name", d.name);
        member_text_or_null(b, "why", d.why);
        allm_json_build_end(b);
    }
    allm_json_build_end(b);
}

static void put_timing(allm_json_build *b)
{
    member_object(b, "timing");
    allm_json_build_key(b, "first_ms");
    if (timing_first() >= 0)
        allm_json_build_int(b, timing_first());
    else
        allm_json_build_null(b);
    member_int(b, "total_ms", timing_total());
    allm_json_build_end(b);
}

/* The members that were added to version 1. */
static void put_more(allm_json_build *b, const allm_chat_result *result,
                     const struct session *session)
{
    put_facts(b, result, session);
    member_array(b, "tool_calls");
    for (size_t i = 0; result && i < result->step_count; i++)
        put_calls(b, result->steps[i]);
    allm_json_build_end(b);
    put_denied(b);
    put_timing(b);
    if (result && approvals_count(result->metadata))
        member_value(b, "approvals",
                     allm_json_get(result->metadata, "approvals"));
}

static void print_document(const allm_chat_result *result,
                           const allm_error *error, int code,
                           const struct show *how)
{
    struct bytes blocks = { NULL, 0, 0 };
    size_t len;
    const char *text = text_of(result, &len);
    allm_json *why = error
                         ? member_parse(allm_error_json(error, ALLM_FORM_PLAIN))
                         : NULL;
    allm_json_build *b = member_new_object();
    member_int(b, "version", 1);
    member_bool(b, "ok", code == END_DONE);
    member_int(b, "exit_code", code);
    if (how->extract && code == END_DONE) {
        extract_put(&blocks, text, len, how->extract);
        member_text_n(b, "text", bytes_string(&blocks), blocks.len);
    } else {
        member_text_n(b, "text", text, len);
    }
    if (how->value)
        put_value(b, text, len);
    put_response(b, result);
    member_text_or_null(b, "halted_reason",
                        result ? result->halted_reason : NULL);
    member_value(b, "error", why);
    put_warnings(b, result);
    put_more(b, result, how->session);
    allm_json *document = member_done(b);
    print_json(document, print_is_terminal() ? ALLM_JSON_PRETTY : 0);
    allm_json_free(document);
    allm_json_free(why);
    bytes_release(&blocks);
}

/* " (12 of them cached)", or "". */
static void write_part(char text[64], const allm_int *n, const char *what)
{
    text[0] = 0;
    if (n->set && n->value)
        snprintf(text, 64, " (%lld of them %s)", (long long)n->value, what);
}

/* Print "usage: 12 tokens in, 5 out" on stderr. */
static void print_used(const allm_usage *u)
{
    char cost[64] = "cost unknown", cached[64], thought[64], first[64] = "";
    if (!u)
        return;
    if (u->total_cost.set)
        snprintf(cost, sizeof cost, "$%.6f", u->total_cost.value);
    write_part(cached, &u->cached_input_tokens, "cached");
    write_part(thought, &u->reasoning_tokens, "reasoning");
    if (timing_first() >= 0)
        snprintf(first, sizeof first, "first token after %.2f s, ",
                 (double)timing_first() / 1000);
    if (!u->input_tokens.set && !u->output_tokens.set)
        print_note("usage: not reported, %s%.2f s in total", first,
                   (double)timing_total() / 1000);
    else
        print_note("usage: %lld tokens in%s, %lld out%s, %s, %s%.2f s in total",
                   (long long)u->input_tokens.value, cached,
                   (long long)u->output_tokens.value, thought, cost, first,
                   (double)timing_total() / 1000);
}

/* The model's reason for refusing to answer; NULL: it did not refuse. */
static const char *refusal_of(const allm_chat_result *r)
{
    const allm_response *response = r ? r->final_response : NULL;
    return response ? member_read(response->metadata, "refusal") : NULL;
}

static void report_refusal(const allm_chat_result *r)
{
    const char *why = refusal_of(r);
    print_fault("the answer was refused or filtered%s%s",
                why && *why ? ": " : "", why ? why : "");
}

/* Print the model's question; it can be answered only with a session. */
static void report_question(const char *question, const char *path)
{
    if (path)
        print_fault("the model asks: %s (to answer: allm -S %s \"...\")",
                    question, path);
    else
        print_fault("the model asks: %s (to be able to answer, use -S FILE)",
                    question);
}

/* Print why the call did not end normally. */
static void report_outcome(const allm_chat_result *r, const allm_error *error,
                           int code, const char *path)
{
    if (error)
        print_fault("%s", error->message);
    else if (code == END_TRUNCATED && exit_of_chat(r) == END_DONE)
        print_fault("there is no code block in the answer:");
    else if (code == END_TRUNCATED)
        print_fault("the answer was truncated at the token limit; raise it "
                    "with --max-tokens N");
    else if (code == END_REFUSED)
        report_refusal(r);
    else if (code == END_ASKED && r && r->pending_question)
        report_question(r->pending_question, path);
    else if (code == END_ASKED && r && approvals_count(r->metadata))
        approvals_report(r->metadata, path);
    else if (code == END_ASKED)
        print_fault("the model called tools that this program cannot run");
    else if (code == END_LIMIT && r && r->halted_reason &&
             !strcmp(r->halted_reason, "budget"))
        print_fault("stopped before the call costs more than --max-cost");
    else if (code == END_LIMIT)
        print_fault("stopped at a limit (%s); raise it with --max-turns N",
                    r && r->halted_reason ? r->halted_reason : "none");
    else if (code != END_DONE)
        print_fault("stopped: %s",
                    r && r->halted_reason ? r->halted_reason : "no answer");
}

/* An ignored option is always reported, other warnings only if `all`. */
static void print_warnings(const allm_chat_result *r, bool all)
{
    for (const allm_json *v = NULL; (v = allm_json_next(warnings_of(r), v));) {
        const char *word = allm_json_text(v, NULL);
        if (word && !strcmp(word, "sampling_ignored"))
            print_note("the temperature was not sent: this model does not "
                       "support it, or not together with top_p");
        else if (word && all)
            print_note("warning: %s", word);
    }
}

static const allm_error *error_of(const allm_stream *stream,
                                  const allm_chat_result *r)
{
    const allm_error *error = allm_stream_error(stream);
    if (!error && r)
        error = r->error;
    if (!error && r && r->final_response)
        error = r->final_response->error;
    return error;
}

/* Print an answer on stderr of which nothing was extracted. */
static void print_answer_aside(const allm_chat_result *r)
{
    size_t len;
    const char *text = text_of(r, &len);
    if (text && len)
        print_aside(text, len);
}

/* Print everything that follows the answer.  A session that was not saved has
 * been reported. */
static void show_end(const allm_chat_result *r, const allm_error *error,
                     const struct show *how, int code, bool saved)
{
    bool silent = how->form == SHOW_JSON || how->form == SHOW_EVENTS ||
                  (how->chat && code == END_ASKED) || !saved ||
                  code > END_SIGNAL || print_broken();
    if (how->form == SHOW_WHOLE && (code == END_DONE || !how->extract))
        print_whole_text(r, how);
    if (how->form == SHOW_JSON)
        print_document(r, error, code, how);
    if (!silent)
        report_outcome(r, error, code, how->session->path);
    if (!silent && how->extract && code != END_DONE)
        print_answer_aside(r);
    if (how->form == SHOW_STREAM || how->form == SHOW_WHOLE)
        print_warnings(r, how->verbose);
    if (how->usage) {
        allm_usage *usage = chat_usage_total(r);
        print_used(usage);
        allm_usage_free(usage);
    }
}

/* Is a code block wanted, but the answer has none? */
static bool lacks_block(const allm_chat_result *r, const struct show *how)
{
    size_t len;
    const char *text = text_of(r, &len);
    return how->extract && how->form != SHOW_EVENTS &&
           !(text && extract_finds(text, len));
}

static int finish_chat(allm_stream *stream, const struct show *how, int signal)
{
    const allm_chat_result *r = allm_stream_chat_result(stream);
    const allm_error *error = error_of(stream, r);
    int code = error ? exit_of_error(error) : exit_of_chat(r);
    if (code == END_DONE && refusal_of(r))
        code = END_REFUSED;
    if (error && !signal && how->try_next && how->try_next(how->ud, error))
        return SHOW_AGAIN;
    bool saved = !r || session_save(how->session) == END_DONE;
    if (!saved)
        code = END_SESSION;
    if (signal)
        code = END_SIGNAL + signal;
    if (code == END_DONE && lacks_block(r, how))
        code = END_TRUNCATED;
    allm_error *reworded = reword_error(error);
    show_end(r, reworded ? reworded : error, how, code, saved);
    allm_error_free(reworded);
    return code;
}

int show_chat(allm_stream *stream, const struct show *how)
{
    int key = 0;
    signals_watch(stream);
    if (how->form == SHOW_EVENTS)
        show_events(stream);
    else if (how->form == SHOW_STREAM)
        key = answer_run(stream, &how->look);
    else
        key = answer_wait(stream);
    int signal = signals_unwatch();
    if (!signal)
        signal = key;
    if (print_broken()) { /* output pipe closed: stop the call */
        allm_stream_cancel(stream);
        allm_stream_wait(stream);
    }
    return finish_chat(stream, how, signal);
}
