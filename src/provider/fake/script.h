/* script.h - read and check scripts */
#pragma once

#include "base/arena.h"

enum fake_tag {
    FAKE_TEXT,                  /* ["text", s], ["text_delta", s] */
    FAKE_REASONING,             /* ["reasoning", s] */
    FAKE_TOOL_CALL,             /* ["tool_call", {id, name, ...}] */
    FAKE_TOOL_CALL_DELTA,       /* ["tool_call_delta", {id, ...}] */
    FAKE_USAGE,                 /* ["usage", {fields of a usage}] */
    FAKE_RAW_CHUNK,             /* ["raw_chunk", anything] */
    FAKE_FINISH,                /* ["finish", reason] */
    FAKE_DELAY,                 /* ["delay", ms], ["sleep", ms] */
    FAKE_ERROR,                 /* ["error", anything], ["error", r, {}]; all
                                   tags from here may have options */
    FAKE_ERROR_EVENT,           /* ["error_event", reason, {fields}] */
    FAKE_STREAM_ERROR,          /* ["stream_error", reason, {fields}] */
    FAKE_PREFLIGHT_ERROR,       /* ["preflight_error", reason, {fields}] */
    FAKE_OK,                    /* ["ok", {fields of a response}] */
    FAKE_UNKNOWN
};

/* An entry.  value, and opts of errors, are NULL if absent. */
struct fake_entry {
    enum fake_tag tag;
    const allm_json *value, *opts;
};

struct fake_entry fake_entry_read(const allm_json *entry);

/*
 * The list of calls, or the single call, in adapter_opts.  Both are NULL if
 * there is none.
 */
struct fake_script {
    const allm_json *calls;     /* a list of lists of entries */
    const allm_json *only;      /* or a list of entries */
};

/* Check everything except the entries.  Returns NULL, or a MISUSE error in the
 * arena. */
const allm_error *fake_script_read(struct fake_script *out, struct arena *a,
                                   const allm_json *adapter_opts);

/* Check the entries of one call, or of all. */
const allm_error *fake_script_check_call(struct arena *a,
                                         const allm_json *entries,
                                         size_t number);
const allm_error *fake_script_check(struct arena *a,
                                    const struct fake_script *s);

/* The entries of a call; NULL: the script has ended. */
const allm_json *fake_script_call(const struct fake_script *s, uint64_t index);

/* A member of an object; NULL if it is missing or null. */
const allm_json *fake_member(const allm_json *object, const char *key);

/* The text of a response in one entry; NULL if there is none. */
const allm_json *fake_response_text(const allm_json *response);

/*
 * Read values of entries into structs, which borrow from the script.  Returns
 * NULL, or what is expected instead, to complete the error message.
 */
const char *fake_read_usage(const allm_json *map, allm_usage *out);
const char *fake_read_error(const struct fake_entry *entry, allm_error *out);
const char *fake_read_finish(const allm_json *name, allm_finish *out);
const char *fake_read_delay(const allm_json *ms, int64_t *out);
