/* setup.h - the data that all turns of a step, a chat or an agent share */
#pragma once

#include "allm.h"
#include "base/secret.h"
#include "engine/engine.h"
#include "engine/trace.h"
#include "run/tool_output.h"
#include "tool/encoder.h"
#include "turn/context.h"

struct setup {
    struct mem mem;
    allm_engine *engine;
    struct allm_home *home;     /* owns what has no reference count */
    struct options options;
    struct secret key;          /* the call's, wiped at the end */
    const char *request_id, *model;
    const char *key_prefix;     /* of the keys of tool calls; or NULL */
    size_t tool_count;
    const allm_tool *const *tools;  /* all that can be called */
    size_t wire_count;
    const allm_tool *const *wire;   /* as the model sees them */
    allm_json_schema **schemas; /* of the tools, made on demand */
    const allm_json *provider_options, *adapter_opts;   /* for the adapter */
    struct turn_terms terms;
    enum encoder_style style;
    bool append_answer;         /* append the last answer to the thread, too */
    bool finalize;              /* the request's structured_finalize */
    allm_pipeline *pipeline;    /* NULL: the default one */
    allm_budget *budget;        /* or NULL */
    allm_executor executor;     /* copies of the call's */
    allm_encoder encoder;
    allm_gate gate;
    const allm_journal_replay *replay;  /* for the first turn; or NULL */
    allm_stream *stream;
    allm_waker *waker;
    struct trace trace;
    const allm_json *span_metadata; /* NULL: the engine has no trace function */
    uint32_t max_turns;
    int64_t deadline_ns;        /* by total_ms; INT64_MAX: none */
    struct tool_output tool_output; /* truncated results */
};

/* Read and copy all options, and validate the thread.  Returns NULL, or the
 * error; the caller releases the setup in either case. */
const allm_error *setup_init(struct setup *s, const allm_engine *e,
                             const allm_thread *thread,
                             const allm_call_opts *opts, allm_stream *stream);
void setup_release(struct setup *s);

/* Start the time of the whole call: when the call is made, and again at the
 * first pull. */
void setup_start_time(struct setup *s);

/* The error if the deadline of the whole call has passed; else NULL. */
const allm_error *setup_timeout_error(const struct setup *s);

/* A copy of the error in the setup's home; never NULL. */
const allm_error *setup_copy_error(struct setup *s, const allm_error *error);
