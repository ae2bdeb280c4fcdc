/* parse.h - read a JSON document into an arena */
#ifndef JSON_PARSE_H
#define JSON_PARSE_H

#include "base/arena.h"

struct json_limits {
    size_t max_bytes;
    uint32_t max_depth;
    bool duplicates;            /* equal keys: the first wins, no error */
    bool loose;                 /* equal keys: the last wins; texts may hold
                                   bytes that are not UTF-8, control characters
                                   and halves of surrogate pairs (as the three
                                   bytes that UTF-8 would make of them); in
                                   keys those become U+FFFD, and a number
                                   behind them keeps the keys apart */
};

/* The defaults, or what the caller set in opts; false: opts are misused. */
bool json_limits_from(struct json_limits *out, const allm_json_opts *opts);

/*
 * The value, in the arena, or NULL and *error (in the arena, too, or the
 * static one for lack of memory) that tells where and why.
 */
const allm_json *json_parse(struct arena *a, struct slice text,
                            struct json_limits limits,
                            const allm_error **error);

/* The same, loose and without other limits than the defaults: providers send
 * all sorts of things. */
const allm_json *json_parse_loose(struct arena *a, struct slice text,
                                  const allm_error **error);

/* Would the reader refuse a document, which was written by us, for its size?
 * NULL, or what it has more of than is taken. */
const char *json_too_much(struct slice text);

/*
 * The same of a text that may stop anywhere: what is there so far, open texts
 * and containers closed.  *complete tells whether it is a whole document.
 * NULL without an error: nothing is there yet.
 */
const allm_json *json_partial(struct arena *a, struct slice text,
                              struct json_limits limits, bool *complete,
                              const allm_error **error);

#endif
