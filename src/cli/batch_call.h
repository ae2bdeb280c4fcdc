/* batch_call.h - a line of a batch as a request */
#pragma once

#include "allm.h"
#include "cli/batch_lines.h"

struct batch_model;
struct batch_models;
struct template_use;

/* What all lines of a run share. */
struct batch_rules {
    struct batch_models *models;
    const allm_json *format; /* response_format; or NULL */
    bool lines;              /* each line is a prompt, or a text */
    uint32_t dims;           /* of vectors; 0: the model's */
    const struct template_use *template; /* or NULL */
};

/* A request; code is END_DONE, or `why` says what is wrong with the line. */
struct batch_call {
    char *id;
    char sum[17];
    const struct batch_model *model; /* NULL: the line is not usable */
    allm_json *options;
    allm_codec *codec; /* of the request */
    char *text;        /* of a line to embed, instead of the request */
    int code;
    bool fatal; /* what is wrong is so for all lines, and was printed */
    char why[300];
};

/* Read a line.  The id is "@OFFSET" if the line has none. */
void batch_call_read(struct batch_call *c, const struct batch_rules *rules,
                     const char *line, size_t len, uint64_t offset);
/* The same for a line to embed. */
void batch_call_read_text(struct batch_call *c, const struct batch_rules *rules,
                          const char *line, size_t len, uint64_t offset);
void batch_call_release(struct batch_call *c);

const allm_request *batch_call_request(const struct batch_call *c);
