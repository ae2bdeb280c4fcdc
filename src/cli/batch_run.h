/*
 * batch_run.h - run the rows of a batch: read lines, send, repeat, write rows
 *
 * The commands batch and embed share everything but three functions: how a line
 * is read, which stream answers it, and how its row is written.
 */
#pragma once

#include "cli/batch_call.h"
#include "cli/batch_count.h"
#include "cli/batch_lines.h"
#include "cli/batch_out.h"
#include "cli/batch_row.h"
#include "cli/batch_shard.h"
#include "cli/cost.h"
#include "cli/flags.h"

struct batch_flags {
    const char *out, *shard, *changed, *summary;
    uint32_t jobs, rpm, tpm, retry;
    bool lines, ordered, quiet, openai;
    double max_cost;
};

/* The rows of these flags; AT(member) is the offset of a member. */
#define BATCH_FLAGS(AT)                                                        \
    { 'O', "--out", FLAG_TEXT, AT(out), "FILE",                                \
      "where rows go; a file continues, %s is the shard", FILL_FILE,           \
      .use = FLAG_MOST },                                                      \
    { 'j', "--jobs", FLAG_NUMBER, AT(jobs), "N",                               \
      "requests in flight; 16", .setting = "batch.jobs", .use = FLAG_MOST },   \
    { 0, "--lines", FLAG_SWITCH, AT(lines), NULL, "each line is a text",       \
      .use = FLAG_MOST },                                                      \
    { 0, "--ordered", FLAG_SWITCH, AT(ordered), NULL,                          \
      "write the rows in the order of the input" },                            \
    { 0, "--shard", FLAG_TEXT, AT(shard), "I/N",                               \
      "only part I of N; auto: by the scheduler", .use = FLAG_MOST },          \
    { 0, "--rpm", FLAG_NUMBER, AT(rpm), "N", "requests per minute" },          \
    { 0, "--tpm", FLAG_NUMBER, AT(tpm), "N", "tokens per minute" },            \
    { 0, "--retry", FLAG_NUMBER, AT(retry), "N",                               \
      "how often to repeat a transient failure; 5", .setting = "retry" },      \
    { 0, "--max-cost", FLAG_COST, AT(max_cost), "USD",                         \
      "stop before this amount is exceeded", .setting = "max_cost",            \
      .use = FLAG_MOST },                                                      \
    { 0, "--changed", FLAG_CHOICE, AT(changed), "ask|keep",                    \
      "a line that changed: ask again, or keep its row", FILL_WORDS,           \
      "ask|keep" },                                                            \
    { 0, "--summary", FLAG_TEXT, AT(summary), "FILE",                          \
      "write counts, cost and latencies as JSON", FILL_FILE,                   \
      .use = FLAG_MOST },                                                      \
    { 'q', "--quiet", FLAG_SWITCH, AT(quiet), NULL, "no progress on stderr",   \
      .use = FLAG_MOST }

/* A line, from when it is read until its row is written. */
struct batch_item {
    struct batch_item *next; /* in a queue */
    struct batch_item *more; /* the next one in the same request */
    uint64_t number, offset; /* number: in the order of the input */
    size_t len;              /* of the line */
    struct batch_call call;
    struct bytes done; /* its row, while it is held back */
    size_t first;      /* the bytes before it that go to another file */

    /* Of the first one of a request: */
    uint32_t attempts;
    int64_t began_ms, again_ms; /* again: not before */
    double reserved;            /* US dollars */
    allm_stream *stream;
};

struct batch_run;

/* What a command does with its lines. */
struct batch_task {
    /* Read a line into the item's call. */
    void (*read)(struct batch_run *run, struct batch_item *item,
                 const char *line, size_t len);
    /* Open the stream of a request.  NULL: out of memory. */
    allm_stream *(*open)(struct batch_run *run, const struct batch_item *first);
    /* Judge a stream that has ended. */
    void (*judge)(struct batch_run *run, struct batch_end *end,
                  const allm_stream *stream, allm_status status);
    /* Append the row of the item; it is the one at `index` of its request.
     * False: it cannot be written; an error was printed. */
    bool (*put)(struct batch_run *run, struct batch_item *item, size_t index,
                struct batch_end *end);
    /* Write the bytes that come before a row to another file; NULL: there are
     * none.  False: an error was printed. */
    bool (*write_first)(struct batch_run *run, const char *bytes, size_t len);
};

struct batch_run {
    /* The command sets these first. */
    const struct batch_flags *flags;
    const struct batch_task *task;
    void *state;                  /* of the command */
    size_t most_items, most_bytes; /* of a request; 0: no limit of bytes */
    bool usage;                   /* print a line of totals */

    struct batch_shard shard;
    struct batch_lines lines;
    struct batch_out out;
    struct batch_count count;
    allm_hub *hub;
    /* private */
    struct batch_item *again, **again_end; /* requests to be tried again */
    struct batch_item *gather, **gather_end; /* the next request */
    size_t gathered, gathered_bytes;
    struct batch_item *ahead;  /* was read, but did not fit */
    struct batch_item *broke;  /* a request that waits for its money */
    struct batch_item **held;  /* finished, at their number % held_room */
    size_t held_room;
    size_t in_flight, waiting, holding, jobs;
    uint64_t read_count, next_number;
    uint32_t retries;
    struct cost_limit cost;
    bool input_ended, limit, stop; /* stop: start nothing more */
    bool torn;                     /* the other file cannot be written */
    int code;                      /* of an error that ends the run */
    int64_t stop_ms;               /* when rows in flight are given up */
};

/* Choose the shard; *name is OUT with the shard in it, or NULL.  False: an
 * error was printed. */
bool batch_run_shard(struct batch_run *r, const char **name);
/* Open the event loop, and read the settings of the run; the lines and OUT are
 * open.  END_DONE, or an exit code after an error was printed. */
int batch_run_open(struct batch_run *r);
/* Run all rows, and write the summary.  Returns the exit code. */
int batch_run(struct batch_run *r);

/* How many requests may be in flight: -j, or the setting. */
uint32_t batch_run_jobs(const struct batch_flags *f);
