/*
 * adapter.c - the adapter for streamGenerateContent: decodes its responses
 *
 *      data: {"candidates": [{"content": {"parts": [...]}}],
 *             "usageMetadata": {...}, "modelVersion", "responseId"}
 *      ...
 *      data: {"candidates": [{"finishReason": "STOP"}], ...}
 *
 *   (1) A finishReason is not the end: parts and another finishReason may
 *       follow.
 *   (2) The response ends at the end of the body, if there was a finishReason
 *       or a blockReason.
 *   (3) An error ends the response wherever it occurs.
 *   (4) If a proxy drops "alt=sse", the body is a list of the same objects.
 *   (5) Only the first candidate is read.
 */
#include "provider/dialects.h"

#include "provider/explain.h"
#include "provider/gemini/encode.h"
#include "provider/gemini/error.h"
#include "provider/gemini/field.h"
#include "provider/gemini/finish.h"
#include "provider/gemini/losses.h"
#include "provider/gemini/parts.h"
#include "provider/gemini/usage.h"
#include "json/json.h"

/* The state of one response; initially zero. */
struct gemini {
    struct answer answer;
    struct gemini_parts parts;
    struct gemini_usage usage;
    bool has_candidate;         /* a candidate arrived */
    bool has_frame;             /* a complete frame arrived */
    bool last_cut;              /* the last frame is incomplete */
};

/* -------------------------------------------------------------- notes --- */

static void note_add(struct gemini *c, const char *key, const allm_json *v)
{
    bool empty = !v || json_is_type(v, ALLM_JSON_NULL) ||
                 (json_is_type(v, ALLM_JSON_TEXT) && !json_slice(v).len) ||
                 ((json_is_type(v, ALLM_JSON_OBJECT) ||
                   json_is_type(v, ALLM_JSON_ARRAY)) &&
                  !allm_json_count(v));
    if (!empty)
        answer_note(&c->answer, key, v);
}

static void list_gather(struct gemini *c, const char *key,
                        const allm_json *list)
{
    if (json_is_type(list, ALLM_JSON_ARRAY))
        answer_gather(&c->answer, key, list);
}

/* --------------------------------------------------------- candidates --- */

static void read_finish(struct gemini *c, const allm_json *candidate)
{
    struct answer *a = &c->answer;
    struct slice reason = gemini_finish_word(
        gemini_field(candidate, "finishReason"), a->sink->arena);
    bool is_unspecified = slice_is(reason, GEMINI_FINISH_VAGUE);
    if (!reason.len || (is_unspecified && a->finish != ALLM_FINISH_NONE))
        return;
    answer_finish(a, gemini_finish_of(reason), reason);
    if (!is_unspecified &&
        (!answer_is_empty(a) || a->finish != ALLM_FINISH_STOP))
        allm_sink_settle(a->sink);
}

static void read_notes(struct gemini *c, const allm_json *candidate)
{
    const allm_json *citations = gemini_field(candidate, "citationMetadata");
    const allm_json *logprobs = gemini_field(candidate, "logprobsResult");
    list_gather(c, "citations", allm_json_get(citations, "citations"));
    list_gather(c, "citations", gemini_field(citations, "citationSources"));
    list_gather(c, "logprobs", gemini_field(logprobs, "chosenCandidates"));
    list_gather(c, "top_logprobs", gemini_field(logprobs, "topCandidates"));
    note_add(c, "safety_ratings", gemini_field(candidate, "safetyRatings"));
    note_add(c, "grounding_metadata",
             gemini_field(candidate, "groundingMetadata"));
    note_add(c, "url_context_metadata",
             gemini_field(candidate, "urlContextMetadata"));
    note_add(c, "finish_message", gemini_field(candidate, "finishMessage"));
}

/* Does the candidate have more than the usual members? */
static bool has_notes(const struct json_view *candidate)
{
    size_t usual_count = json_in(candidate, SLICE("content")) != NULL;
    usual_count += json_in(candidate, SLICE("index")) != NULL;
    return allm_json_count(candidate->object) > usual_count;
}

static void read_candidate(struct gemini *c, const struct json_view *candidate)
{
    const allm_json *content = json_in(candidate, SLICE("content"));
    const allm_json *parts = json_at(content, "parts");
    c->has_candidate = true;
    answer_start(&c->answer);
    if (json_is_type(parts, ALLM_JSON_ARRAY))
        for (const allm_json *p = NULL; (p = allm_json_next(parts, p));)
            gemini_parts_read(&c->parts, p);
    if (!has_notes(candidate))
        return;                 /* usually all frames but the last */
    read_notes(c, candidate->object);
    read_finish(c, candidate->object);
}

/* Find the first candidate.  False: it is not in this frame. */
static bool find_candidate(const struct gemini *c,
                           const struct json_view *frame,
                           struct json_view *candidate)
{
    const allm_json *list = json_in(frame, SLICE("candidates"));
    if (!json_is_type(list, ALLM_JSON_ARRAY))
        return false;
    for (const allm_json *e = NULL; (e = allm_json_next(list, e));) {
        int64_t index = 0;
        if (!json_is_type(e, ALLM_JSON_OBJECT))
            continue;
        sink_view(c->answer.sink, e, candidate);
        json_int64(json_in(candidate, SLICE("index")), &index);
        if (index == 0)
            return true;
    }
    return false;
}

/* Handle a prompt that was blocked. */
static void read_block(struct gemini *c, const allm_json *feedback)
{
    struct answer *a = &c->answer;
    struct slice reason = gemini_finish_block(
        gemini_field(feedback, "blockReason"), c->answer.sink->arena);
    note_add(c, "prompt_feedback", feedback);
    if (!reason.len || slice_is(reason, GEMINI_FINISH_NO_BLOCK) ||
        c->has_candidate)
        return;
    answer_start(a);
    answer_finish(a, ALLM_FINISH_CONTENT_FILTER, reason);
    allm_sink_settle(a->sink);
}

/* ------------------------------------------------------------ the end --- */

static void settle_usage(struct gemini *c)
{
    struct answer *a = &c->answer;
    if (!c->usage.any)
        return;
    allm_usage ours = gemini_usage_read(&c->usage, a->sink->arena);
    if (a->sink->arena->broken)
        a->sink->status = ALLM_ERR_NOMEM;
    answer_usage(a, &ours);
}

/* Report which parts of the schemas were not sent. */
static void emit_losses(struct gemini *c)
{
    struct answer *a = &c->answer;
    const allm_json *list = json_empty_array();
    if (!gemini_losses_list(a->call, a->sink->arena, &list))
        a->sink->status = ALLM_ERR_NOMEM;
    answer_gather(a, "schema_losses", list);
}

static allm_status response_complete(struct gemini *c)
{
    struct answer *a = &c->answer;
    gemini_parts_end(&c->parts);
    answer_settle(a);
    settle_usage(c);
    emit_losses(c);
    answer_state(a, gemini_parts_state(&c->parts));
    return answer_close(a);
}

static allm_status response_truncate(struct gemini *c, const char *message)
{
    settle_usage(c);
    return answer_truncated(&c->answer, message);
}

static allm_status response_malformed(struct gemini *c, const char *message)
{
    settle_usage(c);
    return answer_malformed(&c->answer, message);
}

/* The body has ended.  If there are complete frames without a candidate, the
 * response is malformed rather than truncated. */
static allm_status response_end(struct gemini *c)
{
    if (c->answer.finish != ALLM_FINISH_NONE)
        return response_complete(c);
    if (c->has_frame && !c->has_candidate && !c->last_cut)
        return response_malformed(
            c, "the response has no candidates, and no reason why");
    return response_truncate(
        c, answer_is_empty(&c->answer)
               ? "the response ended before any content arrived"
               : "the response is incomplete: it has no finish reason");
}

static allm_status response_fail(struct gemini *c, const allm_json *document)
{
    settle_usage(c);
    return answer_fail_as(&c->answer, document, gemini_error_read);
}

/* ------------------------------------------------------------- frames --- */

static bool is_error(const struct json_view *frame)
{
    const allm_json *error = json_in(frame, SLICE("error"));
    return json_is_type(error, ALLM_JSON_OBJECT) || json_slice(error).len;
}

static void read_facts(struct gemini *c, const struct json_view *frame,
                       const allm_json *usage)
{
    struct answer *a = &c->answer;
    if (!a->id)
        answer_id(a, json_slice(gemini_in(frame, GEMINI_NAME("responseId",
                                                             "response_id"))));
    if (!a->model)
        answer_model(a, json_slice(
                            gemini_in(frame, GEMINI_NAME("modelVersion",
                                                         "model_version"))));
    if (!gemini_usage_add(&c->usage, a->life, usage))
        a->sink->status = ALLM_ERR_NOMEM;
}

static allm_status read_frame(struct gemini *c, const allm_json *v)
{
    struct json_view frame, candidate;
    c->has_frame = true;
    if (!json_is_type(v, ALLM_JSON_OBJECT))
        return response_malformed(
            c, "a frame of the response is not a JSON object");
    sink_view(c->answer.sink, v, &frame);
    const allm_json *usage =
        gemini_in(&frame, GEMINI_NAME("usageMetadata", "usage_metadata"));
    const allm_json *feedback =
        gemini_in(&frame, GEMINI_NAME("promptFeedback", "prompt_feedback"));
    bool has_candidate = find_candidate(c, &frame, &candidate);
    read_facts(c, &frame, usage);
    if (is_error(&frame))
        return response_fail(c, v);
    if (has_candidate)
        read_candidate(c, &candidate);
    if (json_is_type(feedback, ALLM_JSON_OBJECT))
        read_block(c, feedback);
    if (!has_candidate && !usage && !feedback)
        allm_sink_idle(c->answer.sink);
    return ALLM_OK;
}

/* Keeps (4). */
static allm_status read_list(struct gemini *c, const allm_json *list)
{
    allm_status status = ALLM_OK;
    for (const allm_json *e = NULL;
         status == ALLM_OK && !c->answer.over && (e = allm_json_next(list, e));)
        status = read_frame(c, e);
    return status;
}

static allm_status read_document(struct gemini *c, const allm_json *all)
{
    bool list = json_is_type(all, ALLM_JSON_ARRAY);
    allm_status status = list ? read_list(c, all) : read_frame(c, all);
    if (status != ALLM_OK || c->answer.over)
        return status;
    if (c->answer.finish != ALLM_FINISH_NONE)
        return response_complete(c);
    if (!c->has_candidate)
        return explain_message(all)
                   ? response_fail(c, all)
                   : response_malformed(
                         c, "the response is a JSON document without "
                            "candidates, and without a reason why");
    return list ? response_end(c) : response_complete(c);
}

/* Parse a list whose closing bracket is missing; NULL: it is not one. */
static const allm_json *close_list(struct gemini *c, struct slice data)
{
    if (data.len && data.ptr[data.len - 1] == ',')
        data.len--;
    struct buf text = buf_in(c->answer.sink->arena, SIZE_MAX / 2);
    buf_add(&text, data);
    buf_byte(&text, ']');
    if (text.broken)
        c->answer.sink->status = ALLM_ERR_NOMEM;
    return text.broken ? NULL
                       : allm_sink_parse(c->answer.sink, text.ptr, text.len);
}

/* Handle a body that is not JSON: truncated, or something else.  The complete
 * elements of a truncated list count as they do in a stream. */
static allm_status reject_document(struct gemini *c, struct slice data)
{
    const allm_json *list = close_list(c, data);
    const allm_json *part = list ? NULL : answer_part(&c->answer, data);
    if (c->answer.sink->status < 0)
        return c->answer.sink->status;
    if (list)
        return read_document(c, list);
    if (!part)
        return answer_not_json(&c->answer, data);
    size_t n = json_is_type(part, ALLM_JSON_ARRAY) ? allm_json_count(part) : 0;
    for (size_t i = 0; i + 1 < n && !c->answer.over; i++)
        read_frame(c, allm_json_at(part, i));
    if (c->answer.over)
        return ALLM_OK;
    return c->answer.finish != ALLM_FINISH_NONE
               ? response_complete(c)
               : response_truncate(
                     c, "the response ended in the middle of its JSON "
                        "document");
}

static allm_status frame_parse(struct gemini *c, const allm_frame *frame)
{
    struct answer *a = &c->answer;
    struct slice data =
        slice_trim((struct slice){ frame->data, frame->data_len });
    struct slice name = { frame->name, frame->name_len };
    if (slice_starts(data, SLICE("[DONE]")))
        return response_end(c);
    if (!data.len)
        return ALLM_OK;
    const allm_json *v = sink_parse_frame(a->sink, data);
    if (a->sink->status < 0)
        return a->sink->status;
    c->last_cut = !v && frame->cut;
    if (c->last_cut)
        return ALLM_OK;         /* gemini_finish() decides */
    if (slice_is(name, "error"))
        return response_fail(c, answer_error_text(a, data, v));
    if (!v && frame->whole)
        return reject_document(c, data);
    if (frame->whole)
        return read_document(c, v);
    if (json_is_type(v, ALLM_JSON_NULL))
        return ALLM_OK;
    return json_is_type(v, ALLM_JSON_ARRAY) ? read_list(c, v)
                                            : read_frame(c, v);
}

/* Both public functions begin with this. */
static bool decode_begin(struct gemini *c, const allm_call *call,
                         allm_sink *sink)
{
    c->parts.answer = &c->answer;
    return answer_open(&c->answer, call, sink);
}

static allm_status gemini_decode(void *state, const allm_call *call,
                                 const allm_frame *frame, allm_sink *sink)
{
    struct gemini *c = state;
    return decode_begin(c, call, sink) ? frame_parse(c, frame) : ALLM_OK;
}

static allm_status gemini_finish(void *state, const allm_call *call,
                                 allm_sink *sink)
{
    struct gemini *c = state;
    return decode_begin(c, call, sink) ? response_end(c) : ALLM_OK;
}

const allm_adapter gemini_adapter = {
    .size = sizeof(allm_adapter),
    .name = "gemini",
    .state_size = sizeof(struct gemini),
    .framing = ALLM_FRAMING_SSE,
    .encode = gemini_encode,
    .decode = gemini_decode,
    .finish = gemini_finish,
    .explain = gemini_error_explain,
    .needs_finalize = gemini_needs_finalize,
    .auth_header = "x-goog-api-key",
};
