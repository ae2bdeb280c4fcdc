/* recording.h - the file format of a recording: read and checked */
#pragma once

#include "allm.h"
#include "base/arena.h"

#define RECORDING_FIRST "{\"allm_recording\": 1}\n"

enum {
    RECORDING_LIMIT = 256 * 1024 * 1024,        /* bytes of a file */
    RECORDING_LONGEST_MS = 1 << 30              /* of an exchange: 12 days */
};

/* How an exchange continues. */
enum recording_kind {
    RECORDING_CHUNK,
    RECORDING_COMPLETE,         /* the body has ended */
    RECORDING_CLOSED,           /* the reader closed it */
    RECORDING_SILENT,           /* closed after nothing more came */
    RECORDING_ERROR             /* the connection broke */
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
 * Read the text of a file; `name` is for messages.  Sets *first to the list of
 * exchanges, NULL if there are none.  Returns NULL, or why the text is
 * rejected, with the line: ALLM_ERR_STORE, "invalid_recording".
 */
const allm_error *recording_read(struct arena *a, struct slice text,
                                 const char *name, struct recorded **first);
