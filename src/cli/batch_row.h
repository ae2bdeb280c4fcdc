/* batch_row.h - the row that a batch writes for a call */
#pragma once

#include "cli/batch_call.h"
#include "cli/extract.h"

/* How a call ended. */
struct batch_end {
    int code;                      /* exit code */
    const char *why;               /* the message of a failure; or NULL */
    const allm_error *error;       /* or NULL */
    const allm_response *response; /* or NULL */
    const allm_embeddings *vectors; /* or NULL */
    const allm_usage *usage;       /* or NULL */
    allm_usage *total;             /* of a chat: the usage of all answers, to be
                                      freed; or NULL */
    bool value;                    /* the text is JSON: print it as a value */
    enum extract extract;          /* which code blocks are the text */
    int64_t ms;
    uint32_t attempts;
};

/* Judge a stream that has ended.  An answer that broke off is transient. */
void batch_row_judge(struct batch_end *e, const allm_stream *stream,
                     allm_status status);

/* Is it an answer, or an error that stays the same if it is asked again? */
bool batch_row_is_final(const struct batch_end *e);

/* Append the row as a line of JSON. */
void batch_row_put(struct bytes *out, const struct batch_call *c,
                   const struct batch_end *e);
/* The same in the format of OpenAI's batches, with exit_code and sum. */
void batch_row_put_openai(struct bytes *out, const struct batch_call *c,
                          const struct batch_end *e);
/* The same for the vector at `index`; apart: it is in another file, and the row
 * has its dims. */
void batch_row_put_vector(struct bytes *out, const struct batch_call *c,
                          const struct batch_end *e, size_t index, bool apart);
