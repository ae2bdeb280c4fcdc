/* batch_call.h - a line of a batch as a request */
#ifndef CLI_BATCH_CALL_H
#define CLI_BATCH_CALL_H

#include "allm.h"
#include "cli/batch_lines.h"

/* What all lines of a run share. */
struct batch_rules {
    const char *system;       /* or NULL */
    const allm_json *options; /* of -o; or NULL */
    const allm_json *format;  /* response_format; or NULL */
    bool lines;               /* each line is a prompt */
    const char *model;        /* of lines that name none */
};

/* A request; code is END_DONE, or `why` says what is wrong with the line. */
struct batch_call {
    char *id;
    char sum[17];
    char model[256]; /* as written; "" if the line names none */
    allm_json *options;
    allm_codec *codec; /* of the request */
    int code;
    char why[300];
};

/* Read a line.  The id is "@OFFSET" if the line has none. */
void batch_call_read(struct batch_call *c, const struct batch_rules *rules,
                     const char *line, size_t len, uint64_t offset);
void batch_call_release(struct batch_call *c);

const allm_request *batch_call_request(const struct batch_call *c);

#endif
