/*
 * batch_models.h - the models of a batch, and of "allm mcp"
 *
 * Lines and clients may name different models.  Each is resolved once, with its
 * key and its settings, and has an engine; all engines share a pacer.
 */
#pragma once

#include "cli/ask.h"
#include "cli/target.h"
#include "cli/template_use.h"

struct batch_model {
    struct batch_model *next;
    char *word; /* as the line has it; NULL: the line names none */
    struct target target;
    allm_engine *engine;
    int code;      /* END_DONE, or it cannot be used */
    char why[300]; /* if so */
};

struct batch_models {
    const struct ask *ask;
    const char *system;       /* of -s; or NULL */
    const allm_json *options; /* of -o; or NULL */
    const struct template_use *template; /* or NULL */
    bool no_text; /* they make vectors, not answers */
    bool alone; /* without tools; the engine itself repeats failures */
    allm_pacer *pacer;
    struct taps taps;
    struct batch_model *first;
    size_t count;
};

/* The model that a line names; NULL: the one of the flags. */
const struct batch_model *batch_models_find(struct batch_models *m,
                                            const char *word);
