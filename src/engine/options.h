/*
 * options.h - read and check the options of a call, from one table of names
 *
 * Options are struct members, or JSON members with the same names.  The table
 * has the scope of each name.  It is the source of the deny-list of
 * resolve_params, and of the rule that orchestration options never reach an
 * adapter.
 */
#pragma once

#include "base/home.h"
#include "base/secret.h"

enum option_scope {
    OPTION_ENGINE,              /* a field of the engine: the deny-list */
    OPTION_LOOP,                /* orchestration */
    OPTION_FILTER,              /* which events are emitted */
    OPTION_CALL,                /* identity and timeouts of the call */
    OPTION_REQUEST,             /* a field of the request */
    OPTION_PROVIDER             /* all others: passed to the adapter */
};

/* The options of one call, checked. */
struct options {
    allm_call_opts given;           /* all members that this library knows */
    const allm_json *all;           /* every option that is data, by name,
                                       except the key */
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
    int64_t max_turns;              /* 0: not set; likewise below */
    int mode;                       /* ALLM_MODE_* */
    int on_tool_error;              /* ALLM_TOOL_POLICY_* */
    int64_t tool_timeout_ms, max_concurrency, max_tool_output, max_same_calls;
    bool structured_finalize, live_tool_events, validate_arguments;
    bool validate_output;
    const char *structured_finalize_nudge;  /* NULL: not set */
    allm_int output_retries;
    const char *terminal_tool, *blank_stop_nudge;
    int64_t max_iterations, max_blank_stops, max_repeats;
};

/*
 * Read the options into the home.  Data is copied; tools, functions and the key
 * are borrowed.  Returns NULL, or a MISUSE error that says which option is
 * wrong and what is expected.
 */
const allm_error *options_read(struct options *out, struct allm_home *home,
                               const allm_call_opts *given);

/* Decode tools that are data.  They have no functions, so the caller runs them.
 * Returns NULL, or an error. */
const allm_error *options_tools(struct options *o, struct allm_home *home);

/* Set the filters, timeouts, max_turns and structured_finalize_nudge that o
 * does not set from the defaults d. */
void options_inherit(struct options *o, const struct options *d);

/* The same for the fields of a request, for calls without a request. */
void options_inherit_fields(struct options *o, const struct options *d);

/* Copy the key into memory that is wiped, for a call that outlives the function
 * that started it.  Returns NULL, or the out-of-memory error. */
const allm_error *options_keep_key(struct options *o, struct secret *key,
                                   struct mem mem, struct arena *a);

/* A number of the options for a field of 32 bits. */
static inline uint32_t options_small(int64_t n)
{
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/* The scope of an option; unknown names belong to the provider. */
enum option_scope options_scope(struct slice name);

/* The members of an object whose scope is in the set (1 << OPTION_...). */
const allm_json *options_only(struct arena *a, const allm_json *object,
                              uint32_t scopes);
