/*
 * document.h - answers that are one document: what dialects of tasks share
 *
 * The result is put as one raw_chunk; in which form, run/embed.c and its
 * sisters say.
 */
#ifndef PROVIDER_DOCUMENT_H
#define PROVIDER_DOCUMENT_H

#include "provider/answer.h"
#include "provider/extra.h"

/* The row of a dialect whose state is an answer. */
#define DOCUMENT_ADAPTER(name_, encode_, decode_, explain_, header, prefix) \
    { .size = sizeof(allm_adapter), .name = (name_), \
      .state_size = sizeof(struct answer), .framing = ALLM_FRAMING_WHOLE, \
      .encode = (encode_), .decode = (decode_), .finish = document_finish, \
      .explain = (explain_), .auth_header = (header), .auth_prefix = (prefix) }

/*
 * The document of a frame, for a decode() that begins with it: an error in it
 * is told, as is a frame that is no object.  NULL: there is nothing more to
 * do, return *status.
 */
const allm_json *document_open(struct answer *a, const allm_call *call,
                               const allm_frame *frame, allm_sink *sink,
                               allm_status *status);

/* For a decode(): read the document of a frame; what document_open() reports is
 * returned instead. */
typedef allm_status document_reader(struct answer *a,
                                    const allm_json *document);
allm_status document_decode(struct answer *a, const allm_call *call,
                            const allm_frame *frame, allm_sink *sink,
                            document_reader *read);

/* Begin the body of a request: an open object with the model, unless an option
 * has its name. */
void document_begin(const struct extra *x, allm_http *http, struct emit *e);

/* Write "input": a list of strings. */
void document_write_inputs(struct emit *e, const char *const *inputs,
                           size_t count);

/* The result, which lives as long as the frame's document; then answer_close()
 * ends it all. */
void document_result(struct answer *a, const allm_json *result);

/* The finish() of such dialects. */
allm_status document_finish(void *answer, const allm_call *call,
                            allm_sink *sink);

#endif
