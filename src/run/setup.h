/* setup.h - what all turns of a step, a chat or an agent share */
#ifndef RUN_SETUP_H
#define RUN_SETUP_H

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
    struct allm_home *home;         /* owns what is not counted */
    struct options options;
    struct secret key;              /* the call's, wiped at the end */
    const char *request_id, *model;
    size_t tool_count;
    const allm_tool *const *tools;  /* of the engine, the call, the executor */
    size_t wire_count;
    const allm_tool *const *wire;   /* as the model sees them */
    allm_json_schema **schemas;     /* of the tools, on demand */
    const allm_json *provider_options, *adapter_opts;   /* the adapter's */
    struct turn_terms terms;
    enum encoder_style style;
    bool append_answer;               /* the last answer is appended, too */
    bool finalize;                  /* the request's structured_finalize */
    allm_pipeline *pipeline;        /* NULL: the stock one */
    allm_budget *budget;            /* or NULL */
    allm_executor executor;         /* copies of what the call has given */
    allm_encoder encoder;
    const allm_journal_replay *replay;      /* for the first turn; or NULL */
    allm_stream *stream;
    allm_waker *waker;
    struct trace trace;
    const allm_json *span_metadata;         /* metadata of spans; NULL: none wanted */
    uint32_t max_turns;
    int64_t deadline_ns;                /* when total_ms is over; INT64_MAX: never */
    struct tool_output tool_output;             /* results that were cut */
};

/* Read and keep all that is given.  NULL, or what is wrong; in either case it
 * must be released.  The thread is checked, too. */
const allm_error *setup_init(struct setup *s, const allm_engine *e,
                             const allm_thread *thread,
                             const allm_call_opts *opts, allm_stream *stream);
void setup_release(struct setup *s);

/* The time of the whole call begins: when it is made, and anew when it is
 * pulled for the first time. */
void setup_start_time(struct setup *s);

/* Is that time over?  The error to end with; NULL: no. */
const allm_error *setup_timeout_error(const struct setup *s);

/* An error of the setup's home, kept; never NULL. */
const allm_error *setup_copy_error(struct setup *s, const allm_error *error);

/* Tell the journal, if there is one; < 0: it does not want to. */
allm_status setup_journal(const struct setup *s,
                          const allm_journal_entry *entry);

#endif
