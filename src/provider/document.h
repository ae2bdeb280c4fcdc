/*
 * document.h - answers that are one document: what dialects of tasks share
 *
 * The result is put as one raw_chunk; in which form, run/embed.c and its
 * sisters say.
 */
#ifndef PROVIDER_DOCUMENT_H
#define PROVIDER_DOCUMENT_H

#include "provider/answer.h"

/*
 * The document of a frame, for a decode() that begins with it: an error in it
 * is told, as is a frame that is no object.  NULL: there is nothing more to
 * do, return *status.
 */
const allm_json *document_open(struct answer *a, const allm_call *call,
                               const allm_frame *frame, allm_sink *sink,
                               allm_status *status);

/* The result, which lives as long as the frame's document; then answer_close()
 * ends it all. */
void document_result(struct answer *a, const allm_json *result);

/* The finish() of such dialects. */
allm_status document_finish(void *answer, const allm_call *call,
                            allm_sink *sink);

#endif
