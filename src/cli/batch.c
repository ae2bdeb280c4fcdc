/*
 * batch.c - allm batch: JSON lines in, JSON lines out
 *
 *      lines --> row --> stream of one hub --> row of OUT
 *                 ^            |
 *                 '-- retry ---'  behind the lines that were not tried yet
 *
 * One thread waits for the hub, for the input if it is a pipe, and for signals.
 *
 * Invariants
 *   (1) At most `jobs` rows are in flight and at most `jobs` wait to be tried
 *       again, so at most 2 x jobs lines are in memory.
 *   (2) With --ordered, at most 10 x jobs rows are held back.
 *   (3) What the rows in flight may cost is reserved.
 */
#include "cli/ask.h"
#include "cli/batch_count.h"
#include "cli/batch_out.h"
#include "cli/batch_row.h"
#include "cli/batch_shard.h"
#include "cli/catalog.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/opts.h"
#include "cli/print.h"
#include "cli/schema_file.h"
#include "cli/target.h"
#include "term/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { JOBS = 16, MOST_JOBS = 4096, RETRIES = 5, GRACE_MS = 10000 };

static struct settings {
    const char *out, *shard, *changed, *summary;
    uint32_t jobs, rpm, tpm, retry;
    bool lines, ordered, quiet;
    double max_cost;
} settings;

#define AT(member) offsetof(struct settings, member)

static const struct flag flags[] = {
    { 'O', "--out", FLAG_TEXT, AT(out), "FILE",
      "where rows go; a file continues, %s is the shard", FILL_FILE,
      .use = FLAG_MOST },
    { 'j', "--jobs", FLAG_NUMBER, AT(jobs), "N",
      "requests in flight; 16", .setting = "batch.jobs", .use = FLAG_MOST },
    { 0, "--lines", FLAG_SWITCH, AT(lines), NULL, "each line is a prompt",
      .use = FLAG_MOST },
    { 0, "--ordered", FLAG_SWITCH, AT(ordered), NULL,
      "write the rows in the order of the input" },
    { 0, "--shard", FLAG_TEXT, AT(shard), "I/N",
      "only part I of N; auto: by the scheduler", .use = FLAG_MOST },
    { 0, "--rpm", FLAG_NUMBER, AT(rpm), "N", "requests per minute" },
    { 0, "--tpm", FLAG_NUMBER, AT(tpm), "N", "tokens per minute" },
    { 0, "--retry", FLAG_NUMBER, AT(retry), "N",
      "how often to repeat a transient failure; 5", .setting = "retry" },
    { 0, "--max-cost", FLAG_COST, AT(max_cost), "USD",
      "stop before this amount is exceeded", .setting = "max_cost",
      .use = FLAG_MOST },
    { 0, "--changed", FLAG_CHOICE, AT(changed), "ask|keep",
      "a line that changed: ask again, or keep its row", FILL_WORDS,
      "ask|keep" },
    { 0, "--summary", FLAG_TEXT, AT(summary), "FILE",
      "write counts, cost and latencies as JSON", FILL_FILE,
      .use = FLAG_MOST },
    { 'q', "--quiet", FLAG_SWITCH, AT(quiet), NULL, "no progress on stderr",
      .use = FLAG_MOST },
    { .name = NULL },
};

/* A line, from when it is read until its row is written. */
struct row {
    struct row *next;
    uint64_t number, offset; /* number: in the order of the input */
    char *line;
    size_t len;
    uint32_t attempts;
    int64_t began_ms, again_ms; /* again: not before */
    double reserved;
    struct batch_call call;
    char model[256];
    allm_stream *stream;
    struct bytes done; /* its row, while it is held back */
};

struct batch {
    const struct ask *ask;
    struct batch_rules rules;
    struct batch_lines lines;
    struct batch_out out;
    struct batch_count count;
    struct target target;
    struct opts options;
    allm_json *format;
    allm_pacer *pacer;
    allm_engine *engine;
    allm_hub *hub;
    struct row *again, **again_end; /* wait to be tried again */
    struct row *held;               /* finished, by number */
    size_t in_flight, waiting, holding;
    uint64_t read_count, next_number;
    double cost, reserved;
    bool input_ended, limit, stop; /* stop: start nothing more */
    int code;                      /* of an error that ends the run */
    int64_t stop_ms;               /* when rows in flight are given up */
};

/* ------------------------------------------------------------- signals --- */

static int signal_pipe[2];
static volatile sig_atomic_t signal_received, signal_count;

static void on_signal(int number)
{
    int error = errno;
    signal_received = number;
    signal_count++;
    (void)!write(signal_pipe[1], "", 1);
    errno = error;
}

static bool watch_signals(void)
{
    struct sigaction action = { .sa_handler = on_signal };
    if (pipe(signal_pipe))
        return false;
    for (int i = 0; i < 2; i++)
        fcntl(signal_pipe[i], F_SETFL, O_NONBLOCK);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return true;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static size_t jobs(void)
{
    uint32_t n = settings.jobs ? settings.jobs : JOBS;
    return n < MOST_JOBS ? n : MOST_JOBS;
}

static void fail_batch(struct batch *b, int code)
{
    b->stop = true;
    if (!b->code)
        b->code = code;
}

/* ---------------------------------------------------------------- rows --- */

static void free_row(struct row *r)
{
    allm_stream_free(r->stream);
    batch_call_release(&r->call);
    bytes_release(&r->done);
    term_free(r->line);
    term_free(r);
}

static void write_bytes(struct batch *b, const struct bytes *row)
{
    if (row->len && !batch_out_write(&b->out, row->ptr, row->len))
        fail_batch(b, b->out.path ? END_USAGE : END_SIGNAL + SIGPIPE);
}

/* Write the rows that are next in the order of the input. */
static void write_held(struct batch *b)
{
    while (b->held && b->held->number == b->next_number) {
        struct row *r = b->held;
        b->held = r->next;
        b->holding--;
        b->next_number++;
        write_bytes(b, &r->done);
        free_row(r);
    }
}

static void hold_row(struct batch *b, struct row *r)
{
    struct row **at = &b->held;
    while (*at && (*at)->number < r->number)
        at = &(*at)->next;
    r->next = *at;
    *at = r;
    b->holding++;
    write_held(b);
}

/* The row is complete: write it, now or in its turn. */
static void finish_row(struct batch *b, struct row *r)
{
    if (settings.ordered) {
        allm_stream_free(r->stream);
        r->stream = NULL;
        hold_row(b, r);
        return;
    }
    write_bytes(b, &r->done);
    free_row(r);
}

static void end_row(struct batch *b, struct row *r, struct batch_end *e)
{
    e->attempts = r->attempts;
    e->value = b->format != NULL;
    e->model = r->model;
    e->ms = now_ms() - r->began_ms;
    batch_row_put(&r->done, &r->call, e);
    batch_count_row(&b->count, e->code, e->ms,
                    e->response ? e->response->usage : NULL);
    finish_row(b, r);
}

static void refuse_row(struct batch *b, struct row *r, int code,
                       const char *why)
{
    struct batch_end e = { .code = code, .why = why };
    end_row(b, r, &e);
}

/* Nothing is written for this line. */
static void skip_row(struct batch *b, struct row *r)
{
    bytes_clear(&r->done);
    finish_row(b, r);
}

/* ---------------------------------------------------------------- cost --- */

/* The price of a million tokens; -1: not known. */
static double price_of(const allm_model_ref *ref, const char *kind)
{
    const allm_json *price = ref ? allm_json_get(ref->pricing, kind) : NULL;
    return price ? allm_json_number(price) : -1;
}

/* The tokens that an answer may have: max_tokens, else the model's limit. */
static double most_tokens(const struct row *r, const allm_model_ref *ref)
{
    enum { UNLIMITED = 8192 };
    static const char *const names[] = { "max_tokens", "max_output_tokens",
                                         "max_completion_tokens" };
    int64_t n;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (allm_json_int64(allm_json_get(r->call.options, names[i]), &n))
            return (double)n;
    if (allm_json_int64(allm_json_get(ref->limits, "output"), &n))
        return (double)n;
    return UNLIMITED;
}

/* Reserve what a call may cost: keeps (3).  False: it would be too much. */
static bool reserve_cost(struct batch *b, struct row *r)
{
    if (!(settings.max_cost > 0))
        return true;
    const allm_model_ref *ref = allm_catalog_find(b->target.catalog, r->model);
    double in = price_of(ref, "input"), out = price_of(ref, "output");
    if (in < 0 || out < 0) {
        print_fault("--max-cost: the price of %s is not known", r->model);
        fail_batch(b, END_USAGE);
        return false;
    }
    r->reserved = (in * (double)r->len / 2 + out * most_tokens(r, ref)) / 1e6;
    if (b->cost + b->reserved + r->reserved > settings.max_cost)
        return false;
    b->reserved += r->reserved;
    return true;
}

static void settle_cost(struct batch *b, struct row *r, const allm_usage *usage)
{
    b->reserved -= r->reserved;
    if (usage && usage->total_cost.set)
        b->cost += usage->total_cost.value;
    r->reserved = 0;
}

/* ------------------------------------------------------------ starting --- */

/* "provider:model" of a row.  False: there is no such model. */
static bool choose_model(struct batch *b, struct row *r)
{
    const char *name = *r->call.model ? r->call.model : b->target.model;
    const allm_model_ref *ref =
        strchr(name, ':') ? NULL : allm_catalog_find(b->target.catalog, name);
    int n = ref ? snprintf(r->model, sizeof r->model, "%s:%s", ref->provider,
                           ref->id)
                : snprintf(r->model, sizeof r->model, "%s", name);
    return (ref || strchr(name, ':')) && n > 0 && (size_t)n < sizeof r->model;
}

static allm_stream *open_stream(struct batch *b, const struct row *r)
{
    const allm_request *request = batch_call_request(&r->call);
    allm_call_opts opts = { .size = sizeof opts,
                            .model = r->model,
                            .json = r->call.options,
                            .total_ms = b->ask->timeout_ms,
                            .hide_text_deltas = 1,
                            .response_format = b->format,
                            .validate_output = b->format != NULL };
    if (!b->format)
        return allm_generate(b->engine, request, &opts);
    allm_thread *thread = allm_thread_new(NULL);
    allm_thread_append_all(thread, request->message_count, request->messages);
    allm_stream *s = allm_chat(b->engine, thread, &opts);
    allm_thread_free(thread);
    return s;
}

/* A key that is missing is missing for all rows. */
static void retry_or_end(struct batch *b, struct row *r, allm_status status)
{
    uint32_t retries = settings.retry ? settings.retry : RETRIES;
    struct batch_end e = { .code = END_DONE };
    batch_row_judge(&e, r->stream, status);
    settle_cost(b, r, e.response ? e.response->usage : NULL);
    if (e.code == END_TRANSIENT && r->attempts <= retries && !b->stop) {
        bool paced = e.error && e.error->reason &&
                     !strcmp(e.error->reason, "rate_limited");
        uint32_t shift = r->attempts < 6 ? r->attempts - 1 : 6;
        r->again_ms = now_ms() + (paced ? 0 : 500 << shift);
        allm_stream_free(r->stream);
        r->stream = NULL;
        batch_call_release(&r->call);
        r->call = (struct batch_call){ .id = NULL };
        r->next = NULL;
        *b->again_end = r;
        b->again_end = &r->next;
        b->waiting++;
        return;
    }
    if (e.code == END_KEY && e.error) {
        print_fault("%s", e.error->message);
        fail_batch(b, END_KEY);
    }
    end_row(b, r, &e);
}

static void start_call(struct batch *b, struct row *r)
{
    if (!choose_model(b, r)) {
        refuse_row(b, r, END_REQUEST, "unknown model; write PROVIDER:MODEL");
        return;
    }
    if (!reserve_cost(b, r)) {
        b->limit |= !b->code;
        b->stop = true;
        skip_row(b, r);
        return;
    }
    r->attempts++;
    r->stream = open_stream(b, r);
    if (!r->stream || allm_hub_add(b->hub, r->stream, r) != ALLM_OK) {
        retry_or_end(b, r, ALLM_ERR_NOMEM);
        return;
    }
    b->in_flight++;
}

static void report_changed(struct batch *b, const struct row *r)
{
    print_fault("the line of id \"%.200s\" is not the one that %s has a row "
                "for; --changed ask asks again, --changed keep keeps the row",
                r->call.id, b->out.path);
    fail_batch(b, END_USAGE);
}

/* Is the row to be sent?  The first attempt looks into OUT. */
static bool is_wanted(struct batch *b, const struct row *r)
{
    if (r->attempts)
        return true;
    enum batch_known known = batch_out_find(&b->out, r->call.id,
                                            strlen(r->call.id), r->call.sum);
    if (known == BATCH_TWICE) {
        print_note("the id \"%.200s\" at byte %llu came before; the line is "
                   "left out",
                   r->call.id, (unsigned long long)r->offset);
        b->count.by_code[END_USAGE]++;
        return false;
    }
    if (known == BATCH_CHANGED && !settings.changed) {
        report_changed(b, r);
        return false;
    }
    bool keep = known == BATCH_DONE ||
                (known == BATCH_CHANGED && !strcmp(settings.changed, "keep"));
    b->count.skipped += keep;
    return !keep;
}

static void start_row(struct batch *b, struct row *r)
{
    if (!r->began_ms)
        r->began_ms = now_ms();
    batch_call_read(&r->call, &b->rules, r->line, r->len, r->offset);
    if (!is_wanted(b, r))
        skip_row(b, r);
    else if (r->call.code != END_DONE)
        refuse_row(b, r, r->call.code, r->call.why);
    else
        start_call(b, r);
}

/* ------------------------------------------------------------- reading --- */

static struct row *take_line(struct batch *b, const struct batch_line *line)
{
    struct row *r = term_alloc(sizeof *r);
    r->number = b->read_count++;
    r->offset = line->offset;
    r->line = term_copy(line->ptr ? line->ptr : "", line->len);
    r->len = line->len;
    b->count.bytes = line->offset;
    return r;
}

/* The first row that waits and is due; NULL: there is none. */
static struct row *take_again(struct batch *b, int64_t now)
{
    struct row **at = &b->again;
    while (*at && (*at)->again_ms > now)
        at = &(*at)->next;
    struct row *r = *at;
    if (!r)
        return NULL;
    *at = r->next;
    if (b->again_end == &r->next)
        b->again_end = at;
    b->waiting--;
    return r;
}

/* The next row to start; NULL: there is none at the moment. */
static struct row *take_row(struct batch *b, int64_t now)
{
    struct batch_line line;
    struct row *r = b->waiting >= jobs() ? take_again(b, now) : NULL;
    if (r || b->waiting >= jobs() || b->input_ended)
        return r ? r : take_again(b, now);
    switch (batch_lines_next(&b->lines, &line)) {
    case BATCH_LINE:
        r = take_line(b, &line);
        if (!line.too_long)
            return r;
        batch_call_read(&r->call, &b->rules, "", 0, line.offset);
        refuse_row(b, r, END_USAGE, "the line is longer than 64 MB");
        return take_row(b, now);
    case BATCH_FAILED:
        fail_batch(b, END_USAGE);
        return NULL;
    case BATCH_END:
        b->input_ended = true;
        break;
    case BATCH_LATER:
        break;
    }
    return take_again(b, now);
}

static void start_rows(struct batch *b)
{
    int64_t now = now_ms();
    struct row *r;
    while (!b->stop && b->in_flight < jobs() && b->holding < 10 * jobs() &&
           !signal_count && (r = take_row(b, now)))
        start_row(b, r);
}

/* ------------------------------------------------------------- waiting --- */

static int sooner(int a, int64_t b)
{
    int64_t least = b < 0 ? 0 : b < 60000 ? b : 60000;
    return a < 0 || least < a ? (int)least : a;
}

/* How long to wait at most, in milliseconds; -1: no limit. */
static int wait_time(struct batch *b, int64_t now)
{
    int ms = allm_hub_timeout(b->hub);
    int show = batch_count_show(&b->count, b->in_flight, now);
    ms = show >= 0 ? sooner(ms, show) : ms;
    for (const struct row *r = b->again; r && !b->stop; r = r->next)
        if (r->again_ms > now) /* those that are due wait for a place */
            ms = sooner(ms, r->again_ms - now);
    if (b->out.unsynced && b->out.path)
        ms = sooner(ms, b->out.synced_ms + 1000 - now);
    return b->stop_ms ? sooner(ms, b->stop_ms - now) : ms;
}

static void wait_for_news(struct batch *b)
{
    int64_t now = now_ms();
    bool reads = !b->input_ended && !b->stop && b->in_flight < jobs() &&
                 b->waiting < jobs() && b->holding < 10 * jobs();
    struct pollfd fds[3] = { { .fd = allm_hub_fd(b->hub), .events = POLLIN },
                             { .fd = signal_pipe[0], .events = POLLIN },
                             { .fd = reads ? b->lines.fd : -1,
                               .events = POLLIN } };
    char drop[16];
    poll(fds, 3, wait_time(b, now));
    while (read(signal_pipe[0], drop, sizeof drop) > 0)
        continue;
    batch_out_sync(&b->out, now_ms());
}

/* Take what the streams have. */
static void pull_streams(struct batch *b)
{
    void *tag;
    allm_stream *s;
    while ((s = allm_hub_wait(b->hub, 0, &tag))) {
        allm_status status;
        const allm_event *event;
        while ((status = allm_stream_next(s, &event)) == ALLM_EVENT)
            continue;
        if (status == ALLM_AGAIN)
            continue;
        b->in_flight--;
        retry_or_end(b, tag, status);
        start_rows(b);
    }
}

/* Ctrl-C: rows in flight get ten seconds; twice: none. */
static bool gives_up(struct batch *b)
{
    if (!signal_count)
        return false;
    if (!b->stop_ms) {
        b->stop_ms = now_ms() + GRACE_MS;
        print_note("interrupted: %zu rows in flight get 10 s; again to stop "
                   "at once",
                   b->in_flight);
    }
    b->stop = true;
    return signal_count > 1 || now_ms() >= b->stop_ms;
}

static void run_rows(struct batch *b)
{
    for (;;) {
        start_rows(b);
        bool more = !b->stop && (!b->input_ended || b->waiting);
        if ((!more && !b->in_flight) || gives_up(b))
            break;
        wait_for_news(b);
        pull_streams(b);
    }
}

/* --------------------------------------------------------------- setup --- */

static allm_engine *make_engine(struct batch *b)
{
    allm_json *once = allm_json_parse("false", ALLM_NUL_ENDED, NULL);
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = b->target.model, .keys = b->target.keys,
             .catalog = b->target.catalog, .retry = once, .pacer = b->pacer));
    allm_json_free(once);
    return engine;
}

static int open_files(struct batch *b, int argc, char **argv)
{
    static char name[4096];
    struct batch_shard shard;
    const char *in = argc ? argv[0] : NULL;
    if (argc > 1) {
        print_fault("batch takes one input, but got \"%.100s\", too", argv[1]);
        return END_USAGE;
    }
    if (!batch_shard_read(&shard, settings.shard) ||
        (settings.out &&
         !batch_shard_name(&shard, settings.out, name, sizeof name)) ||
        !batch_lines_open(&b->lines, in, shard.number, shard.of))
        return END_USAGE;
    return batch_out_open(&b->out, settings.out ? name : NULL, b->lines.fd);
}

static int prepare_batch(struct batch *b, int argc, char **argv)
{
    const struct ask *a = b->ask;
    print_silence(settings.quiet);
    if (!opts_read(&b->options, &a->options) ||
        !schema_file_read(a->schema, &b->format))
        return END_USAGE;
    int code = open_files(b, argc, argv);
    if (code == END_DONE)
        code = target_choose(&b->target, a->model);
    if (code != END_DONE)
        return code;
    b->rules = (struct batch_rules){ .system = a->system,
                                     .options = b->options.json,
                                     .format = b->format,
                                     .lines = settings.lines,
                                     .model = b->target.model };
    b->pacer = allm_pacer_new(ALLM(pacer_opts, .rpm = settings.rpm,
                                   .tpm = settings.tpm,
                                   .max_in_flight = (uint32_t)jobs()));
    b->engine = make_engine(b);
    b->hub = allm_hub_new(NULL);
    if (watch_signals() && !allm_hub_error(b->hub))
        return END_DONE;
    print_fault("cannot start the event loop; are there descriptors left?");
    return END_FAILED;
}

static int finish_batch(struct batch *b)
{
    int64_t now = now_ms();
    batch_count_end(&b->count, now);
    int code = b->code ? b->code : batch_count_exit(&b->count, b->limit);
    if (signal_count)
        code = END_SIGNAL + signal_received;
    if (b->limit)
        print_note("stopped: the next row could exceed --max-cost");
    if (settings.summary &&
        !batch_count_write(&b->count, settings.summary, now))
        code = END_USAGE;
    return code;
}

static int run_batch_command(int argc, char **argv)
{
    static struct ask a;
    static struct batch b;
    if (!command_read(command_find("batch"), &settings, &a, &argc, argv))
        return END_USAGE;
    b.ask = &a;
    b.again_end = &b.again;
    b.out.fd = -1;
    int code = prepare_batch(&b, argc, argv);
    batch_count_begin(&b.count, settings.quiet, now_ms());
    if (code == END_DONE) {
        run_rows(&b);
        code = finish_batch(&b);
    }
    batch_out_close(&b.out); /* the end of the process frees the rest */
    return code;
}

const struct command batch_command = {
    .name = "batch",
    .usage = "[FLAG...] [IN.jsonl|-] [-O OUT.jsonl]",
    .summary = "run many prompts: JSON lines in, JSON lines out",
    .more = "A line is {\"id\", \"prompt\"}, {\"id\", \"messages\"} or a line "
            "of an OpenAI batch.\nIf OUT exists, what it lacks is requested.  "
            "See allm-batch(7).\n",
    .examples = "allm batch -m openai:gpt-5-mini in.jsonl -O out.jsonl\n"
                "allm batch --lines -j 64 prompts.txt -O out.jsonl\n"
                "allm batch --shard auto in.jsonl -O out-%s.jsonl\n",
    .args = { FILL_FILE, FILL_FILE, FILL_FILE },
    .flags = flags,
    .shared = ask_flags,
    .shared_use = FLAG_BATCH,
    .group = GROUP_TALK,
    .run = run_batch_command,
};
