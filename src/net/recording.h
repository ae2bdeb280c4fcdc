/* recording.h - the file format of a recording: read and checked */
#ifndef NET_RECORDING_H
#define NET_RECORDING_H

#include "allm.h"
#include "base/arena.h"

#define RECORDING_FIRST "{\"allm_recording\": 1}\n"

enum {
    RECORDING_LIMIT = 256 * 1024 * 1024,        /* bytes of a file */
    RECORDING_LONGEST_MS = 1 << 30              /* of an exchange: 12 days */
};

/* How an exchange goes on. */
enum recording_kind {
    RECORDING_CHUNK,
    RECORDING_COMPLETE,         /* the body has ended */
    RECORDING_CLOSED,           /* the reader hung up: he had enough */
    RECORDING_SILENT,           /* nothing came any more, and he hung up */
    RECORDING_ERROR             /* it broke */
};

struct recording_step {
    enum recording_kind kind;
    size_t line;
    int64_t at_ms;              /* since the exchange was opened */
    struct slice bytes;
    const allm_error *error;
};

/* When the connection was made, in milliseconds; or: */
enum { RECORDING_AT_ONCE = -1, RECORDING_NEVER = -2 };

struct recorded {
    struct recorded *next;
    size_t line;                /* where it begins, from 1 */
    const allm_json *request;
    int64_t connect_ms;
    const allm_error *refused;  /* it could not be opened; no steps then */
    bool answered;
    allm_http_head head;
    size_t count;
    struct recording_step *steps;       /* the last one ends it */
};

/*
 * Read a file's text; `name` is for messages.  The exchanges, in order (*first
 * NULL: there is none), or why it is refused, with the line: ALLM_ERR_STORE,
 * "invalid_recording".
 */
const allm_error *recording_read(struct arena *a, struct slice text,
                                 const char *name, struct recorded **first);

#endif
