/*
 * document.h - responses that are one JSON document, for dialects of tasks
 *
 * The result is emitted as one raw_chunk.  run/embed.c and the other tasks in
 * run/ define its form.
 */
#pragma once

#include "provider/answer.h"
#include "provider/extra.h"

typedef allm_status document_reader(struct answer *a,
                                    const allm_json *document);

/*
 * A decode() that calls `read` with the document of a frame.  A document that
 * is an error, or not an object, fails the response.
 */
allm_status document_decode(struct answer *a, const allm_call *call,
                            const allm_frame *frame, allm_sink *sink,
                            document_reader *read);

/* Define NAME_adapter, whose state is a struct answer; `read` is as above. */
#define DOCUMENT_ADAPTER(NAME, encode_, read, explain_, header, prefix) \
    static allm_status NAME##_decode(void *state, const allm_call *call, \
                                     const allm_frame *frame, allm_sink *sink) \
    { \
        return document_decode(state, call, frame, sink, (read)); \
    } \
    const allm_adapter NAME##_adapter = { \
        .size = sizeof(allm_adapter), \
        .name = #NAME, \
        .state_size = sizeof(struct answer), \
        .framing = ALLM_FRAMING_WHOLE, \
        .encode = (encode_), \
        .decode = NAME##_decode, \
        .finish = document_finish, \
        .explain = (explain_), \
        .auth_header = (header), \
        .auth_prefix = (prefix), \
    }

/* Begin the body of a request: an open object with the model, unless an option
 * has its name. */
void document_begin(const struct extra *x, allm_http *http, struct emit *e);

/* Write "input": a list of strings. */
void document_write_inputs(struct emit *e, const char *const *inputs,
                           size_t count);

/* Emit the result, which lives as long as the frame's document.  The caller
 * calls answer_close() after it. */
void document_result(struct answer *a, const allm_json *result);

/* A whole response of a model without a server: the result, the model of the
 * call, and the end.  Returns a status for next(). */
allm_status document_answer(struct answer *a, const allm_json *result);

/* The finish() of such dialects. */
allm_status document_finish(void *answer, const allm_call *call,
                            allm_sink *sink);
