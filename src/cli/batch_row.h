/* batch_row.h - the row that a batch writes for a call */
#ifndef CLI_BATCH_ROW_H
#define CLI_BATCH_ROW_H

#include "cli/batch_call.h"

/* How a call ended. */
struct batch_end {
    int code;                      /* exit code */
    const char *why;               /* the message of a failure; or NULL */
    const allm_error *error;       /* or NULL */
    const allm_response *response; /* or NULL */
    bool value;                    /* the text is JSON: print it as a value */
    const char *model;
    int64_t ms;
    uint32_t attempts;
};

/* Judge a stream that has ended.  An answer that broke off is transient. */
void batch_row_judge(struct batch_end *e, const allm_stream *stream,
                     allm_status status);

/* Append the row as a line of JSON. */
void batch_row_put(struct bytes *out, const struct batch_call *c,
                   const struct batch_end *e);

#endif
