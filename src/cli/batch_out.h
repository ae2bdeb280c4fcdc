/*
 * batch_out.h - the rows of a batch: OUT, and what it already has
 *
 * OUT is a file of JSON lines.  Each row is written by one write(), so after a
 * crash only the last line can be incomplete; it is cut off.  The index has 24
 * bytes for each row that is done, in a table of which a fifth is empty.
 */
#pragma once

#include "allm.h"

struct done_row; /* 24 bytes */

struct batch_out {
    int fd;
    int first_fd;     /* a file that is synced before it; 0: none */
    const char *path; /* NULL: standard output */
    int code;         /* of a failure; an error was printed */
    int64_t synced_ms;
    bool unsynced;
    struct done_row *rows;
    size_t count, cap;
    uint64_t ok; /* rows that were ok when it was opened */
    bool found_error; /* the row of batch_out_find has an error */
};

enum batch_known {
    BATCH_NEW,
    BATCH_DONE,    /* it has a row with this sum */
    BATCH_CHANGED, /* its row has another sum */
    BATCH_TWICE    /* the id came before in this run */
};

/* Open and lock OUT, and read the rows that it has; `in` is the descriptor of
 * the input.  END_DONE, or an exit code after an error was printed. */
int batch_out_open(struct batch_out *o, const char *path, int in);
/* Sync and close it.  False: it failed. */
bool batch_out_close(struct batch_out *o);

/* Is this id done?  From now on it counts as seen. */
enum batch_known batch_out_find(struct batch_out *o, const char *id, size_t len,
                                const char sum[17]);

/* A number for each id, instead of its sum. */
uint64_t *batch_out_slot(struct batch_out *o, const char *id, size_t len);

/* Write a row that ends with a line feed.  False: it failed. */
bool batch_out_write(struct batch_out *o, const char *row, size_t len);
/* Sync what was written, if a second has passed.  False: it failed. */
bool batch_out_sync(struct batch_out *o, int64_t now_ms);

/* Is a row with this exit code final?  length: the answer reached its limit. */
bool batch_out_is_final(int exit_code, bool length);
