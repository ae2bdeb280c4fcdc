/* batch_count.h - count the rows of a batch: progress, summary, exit code */
#pragma once

#include "cli/batch_row.h"

enum { COUNT_CODES = 16, COUNT_BUCKETS = 400 };

struct batch_count {
    uint64_t by_code[COUNT_CODES]; /* rows of this run, by exit code */
    bool final, transient; /* there are rows with such an error */
    uint64_t skipped;              /* done by an earlier run */
    uint64_t input, output;        /* tokens */
    double cost;
    bool cost_unknown; /* of at least one row */
    uint32_t latency[COUNT_BUCKETS]; /* of rows with an answer */
    int64_t most_ms, began_ms, shown_ms;
    uint64_t bytes, all_bytes; /* of the input; 0: not known */
    uint64_t passed;           /* bytes of lines that were done */
    bool quiet, terminal, drawn;
    size_t width; /* of the line on a terminal */
};

void batch_count_begin(struct batch_count *c, bool quiet, int64_t now_ms);
/* A row has ended. */
void batch_count_row(struct batch_count *c, const struct batch_end *e);
/* Draw the line of progress, if it is time.  Returns when to call again, in
 * milliseconds; -1: not before a row has ended. */
int batch_count_show(struct batch_count *c, size_t in_flight, int64_t now_ms);
/* Erase or end the line of progress, and print the last one; `always`: also if
 * none was printed. */
void batch_count_end(struct batch_count *c, bool always, int64_t now_ms);
/* Write the summary as JSON.  False: an error was printed. */
bool batch_count_write(const struct batch_count *c, const char *path,
                       int64_t now_ms);
/* By the outcomes: 0, 1, 3 or 8. */
int batch_count_exit(const struct batch_count *c, bool limit);
