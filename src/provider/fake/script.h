/* script.h - what a script of the fake may say */
#ifndef PROVIDER_FAKE_SCRIPT_H
#define PROVIDER_FAKE_SCRIPT_H

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
    FAKE_ERROR,                 /* ["error", anything], ["error", r, {}]; the
                                   others with options follow it */
    FAKE_ERROR_EVENT,           /* ["error_event", reason, {fields}] */
    FAKE_STREAM_ERROR,          /* ["stream_error", reason, {fields}] */
    FAKE_PREFLIGHT_ERROR,       /* ["preflight_error", reason, {fields}] */
    FAKE_OK,                    /* ["ok", {fields of a response}] */
    FAKE_UNKNOWN
};

/* One entry, read apart; value and opts (of errors) are NULL where there are
 * none. */
struct fake_entry {
    enum fake_tag tag;
    const allm_json *value, *opts;
};

struct fake_entry fake_entry_read(const allm_json *entry);

/*
 * The list of calls, or the one call, that adapter_opts describe.  NULL in
 * both: they have none.
 */
struct fake_script {
    const allm_json *calls;     /* a list of lists of entries */
    const allm_json *only;      /* or a list of entries */
};

/* Check everything but the entries; NULL, or an error (MISUSE) in the arena
 * that says what to do. */
const allm_error *fake_script_read(struct fake_script *out, struct arena *a,
                                   const allm_json *adapter_opts);

/* Check the entries of one call, or of all. */
const allm_error *fake_script_check_call(struct arena *a,
                                         const allm_json *entries,
                                         size_t number);
const allm_error *fake_script_check(struct arena *a,
                                    const struct fake_script *s);

/* The entries of a call; NULL: the script has no further one. */
const allm_json *fake_script_call(const struct fake_script *s, uint64_t index);

/* A member of an object; NULL: it is missing, or null. */
const allm_json *fake_given(const allm_json *object, const char *key);

/* The text of a whole response in one entry; NULL: it has none. */
const allm_json *fake_response_text(const allm_json *response);

/*
 * Values of entries as structs that borrow from the script.  NULL, or what was
 * expected instead, as the end of a sentence.
 */
const char *fake_read_usage(const allm_json *map, allm_usage *out);
const char *fake_read_error(const struct fake_entry *entry, allm_error *out);
const char *fake_read_finish(const allm_json *word, allm_finish *out);
const char *fake_read_delay(const allm_json *ms, int64_t *out);

#endif
