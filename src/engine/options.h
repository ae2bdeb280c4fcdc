/*
 * options.h - the options of a call: one table of all names
 *
 * Options come as struct members or as data by the same names.  The table
 * says of each name who it is for; the deny-list of resolve_params and the
 * rule that orchestration options never reach an adapter are views of it.
 */
#ifndef ENGINE_OPTIONS_H
#define ENGINE_OPTIONS_H

#include "base/home.h"
#include "base/secret.h"

enum option_scope {
    OPTION_ENGINE,              /* a field of the engine: the deny-list */
    OPTION_LOOP,                /* orchestration */
    OPTION_FILTER,              /* which events are delivered */
    OPTION_CALL,                /* identity and deadlines of the call */
    OPTION_REQUEST,             /* a field of the request */
    OPTION_PROVIDER             /* everything else: goes to the adapter */
};

/* The options of one call, checked, whatever way they came. */
struct options {
    allm_call_opts given;           /* all members that we know */
    const allm_json *all;           /* every option that is data, by name; but
                                       the key */
    const char *model;
    const char *api_key;
    const char *request_id;
    const char *session_id;
    const allm_json *params, *context, *adapter_opts;
    const allm_json *response_format;
    const char *tool_choice;
    const allm_json *tool_choice_map;
    allm_num temperature;
    allm_int max_tokens;
    size_t tool_count;
    const allm_tool *const *tools;
    bool has_tools;
    bool emit_text_deltas, emit_tool_deltas, include_raw_chunks;
    int64_t connect_ms, first_ms, silence_ms, total_ms; /* 0: default */
    int64_t max_turns;              /* 0: not given; so below */
    int mode;                       /* ALLM_MODE_* */
    int on_tool_error;              /* ALLM_TOOL_POLICY_* */
    int64_t tool_timeout_ms, max_concurrency, max_tool_output, max_same_calls;
    bool structured_finalize, live_tool_events, validate_arguments;
    bool validate_output;
    const char *structured_finalize_nudge;  /* NULL: not given */
    allm_int output_retries;
    const char *terminal_tool, *blank_stop_nudge;
    int64_t max_iterations, max_blank_stops, max_repeats;
};

/*
 * Read the options into the home; data are copied, tools, functions and the
 * key are borrowed.  NULL, or the error (MISUSE) that says which option is
 * wrong and what is expected.
 */
const allm_error *options_read(struct options *out, struct allm_home *home,
                               const allm_call_opts *given);

/* Tools that were given as data; they have no functions, so that the caller
 * answers for them.  NULL, or what is wrong. */
const allm_error *options_tools(struct options *o, struct allm_home *home);

/* Filters, deadlines, max_turns and structured_finalize_nudge that o does not
 * set, from the defaults d. */
void options_inherit(struct options *o, const struct options *d);

/* The same for fields of a request, where there is no request. */
void options_inherit_fields(struct options *o, const struct options *d);

/* Copy the key into memory that is wiped, for a call that outlives the function
 * that began it.  NULL, or no memory. */
const allm_error *options_keep_key(struct options *o, struct secret *key,
                                   struct mem mem, struct arena *a);

/* Whom an option is for. */
enum option_scope options_scope(struct slice name);

/* The members of an object whose scope is in the set (1 << OPTION_...). */
const allm_json *options_only(struct arena *a, const allm_json *object,
                              uint32_t scopes);

#endif
