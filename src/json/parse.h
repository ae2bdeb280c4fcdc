/* parse.h - read a JSON document into an arena */
#pragma once

#include "base/arena.h"

struct json_limits {
    size_t max_bytes;
    uint32_t max_depth;
    bool duplicates;            /* equal keys: the first wins, no error */
    bool comments;              /* comments, and a comma before a bracket */
    bool loose;                 /* equal keys: the last wins; strings may hold
                                   bytes that are not UTF-8, control characters
                                   and lone surrogates (as the three bytes that
                                   UTF-8 would encode them with); in keys those
                                   become U+FFFD, and a number after them keeps
                                   the keys distinct */
};

/* The defaults, or what the caller set in opts; false: opts are misused. */
bool json_limits_from(struct json_limits *out, const allm_json_opts *opts);

/*
 * The value, in the arena, or NULL and *error, which says where and why.  The
 * error is in the arena, or the static one if out of memory.  `error` may be
 * NULL.
 */
const allm_json *json_parse(struct arena *a, struct slice text,
                            struct json_limits limits,
                            const allm_error **error);

/* The same with the default limits; loose: providers send all kinds of
 * documents. */
const allm_json *json_parse_strict(struct arena *a, struct slice text,
                                   const allm_error **error);
const allm_json *json_parse_loose(struct arena *a, struct slice text,
                                  const allm_error **error);

/* Would the reader reject a document, which we wrote, for its size?  NULL, or
 * what it has too much of. */
const char *json_too_much(struct slice text);

/*
 * The same for a text that may be cut off anywhere: the value so far, with
 * open strings and containers closed. *complete says whether it is a whole
 * document.  NULL without an error: there is no value yet.
 */
const allm_json *json_partial(struct arena *a, struct slice text,
                              struct json_limits limits, bool *complete,
                              const allm_error **error);
