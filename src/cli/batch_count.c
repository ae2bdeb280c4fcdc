/* batch_count.c - count the rows of a batch: progress, summary, exit code */
#include "cli/batch_count.h"

#include "cli/console.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/print.h"
#include "conf/member.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TERMINAL_MS = 100, PIPE_MS = 60000 };

void batch_count_begin(struct batch_count *c, bool quiet, int64_t now_ms)
{
    *c = (struct batch_count){ .quiet = quiet, .began_ms = now_ms,
                               .shown_ms = now_ms };
    c->terminal = isatty(STDERR_FILENO);
}

/* Latencies are counted in buckets that are 5 % wide. */
static int bucket_of(int64_t ms)
{
    double top = 1;
    int i = 0;
    while (i < COUNT_BUCKETS - 1 && (double)ms > top) {
        top *= 1.05;
        i++;
    }
    return i;
}

static int64_t bucket_ms(int bucket)
{
    double top = 1;
    for (int i = 0; i < bucket; i++)
        top *= 1.05;
    return (int64_t)(top + 0.5);
}

void batch_count_row(struct batch_count *c, const struct batch_end *e)
{
    const allm_usage *usage = e->usage;
    /* Rows that were halted are asked again, but with other flags. */
    bool final = batch_row_is_final(e) || e->code == END_ASKED ||
                 e->code == END_LIMIT;
    c->by_code[e->code < COUNT_CODES ? e->code : END_FAILED]++;
    c->final |= final && e->code != END_DONE;
    c->transient |= !final;
    if (!usage)
        return;
    c->latency[bucket_of(e->ms)]++;
    c->most_ms = e->ms > c->most_ms ? e->ms : c->most_ms;
    c->input += (uint64_t)usage->input_tokens.value;
    c->output += (uint64_t)usage->output_tokens.value;
    c->cost += usage->total_cost.set ? usage->total_cost.value : 0;
    c->cost_unknown |= !usage->total_cost.set;
}

static uint64_t count_rows(const struct batch_count *c)
{
    uint64_t n = 0;
    for (int i = 0; i < COUNT_CODES; i++)
        n += c->by_code[i];
    return n;
}

/* The latency that `part` of the rows do not exceed. */
static int64_t latency_of(const struct batch_count *c, double part)
{
    uint64_t all = 0, sum = 0;
    for (int i = 0; i < COUNT_BUCKETS; i++)
        all += c->latency[i];
    for (int i = 0; i < COUNT_BUCKETS; i++) {
        sum += c->latency[i];
        if (all && (double)sum >= part * (double)all)
            return bucket_ms(i) < c->most_ms ? bucket_ms(i) : c->most_ms;
    }
    return 0;
}

/* ------------------------------------------------------------ progress --- */

/* ", 1h02m left", if the size of the input is known. */
static void time_left(const struct batch_count *c, int64_t spent_ms, char *out,
                      size_t size)
{
    *out = 0;
    if (!c->all_bytes || c->bytes <= c->passed || c->bytes >= c->all_bytes)
        return;
    double done = (double)(c->bytes - c->passed);
    double more = (double)(c->all_bytes - c->bytes);
    int64_t s = (int64_t)((double)spent_ms / 1000 * more / done);
    if (s >= 3600)
        snprintf(out, size, ", %" PRId64 "h%02" PRId64 "m left", s / 3600,
                 s / 60 % 60);
    else if (s >= 60)
        snprintf(out, size, ", %" PRId64 "m%02" PRId64 "s left", s / 60,
                 s % 60);
    else
        snprintf(out, size, ", %" PRId64 "s left", s);
}

enum form { FORM_LONG, FORM_SHORT, FORM_SHORTEST };

static size_t format_line(const struct batch_count *c, size_t in_flight,
                          int64_t now_ms, enum form form, char *out,
                          size_t size)
{
    int64_t spent = now_ms - c->began_ms;
    uint64_t rows = count_rows(c), ok = c->by_code[END_DONE];
    char left[64], cost[32] = "cost unknown", tokens[80] = "";
    time_left(c, spent, left, sizeof left);
    if (!c->cost_unknown)
        snprintf(cost, sizeof cost, "$%.4f", c->cost);
    if (form == FORM_LONG)
        snprintf(tokens, sizeof tokens,
                 ", %" PRIu64 " tokens in, %" PRIu64 " out", c->input,
                 c->output);
    else if (form == FORM_SHORT)
        snprintf(tokens, sizeof tokens, ", %" PRIu64 "+%" PRIu64 " tokens",
                 c->input, c->output);
    return (size_t)snprintf(
        out, size,
        "%" PRIu64 " done, %" PRIu64 " failed, %zu in flight, %.1f rows/s%s, "
        "%s%s",
        ok + c->skipped, rows - ok, in_flight,
        spent > 0 ? (double)rows * 1000 / (double)spent : 0.0, tokens,
        form && c->cost_unknown ? "cost ?" : cost, left);
}

/* On a terminal the line replaces the one before: spaces hide its end, also
 * where no escape sequence is wanted.  It must not be wrapped, unless it is
 * the last one. */
static void draw_line(struct batch_count *c, size_t in_flight, int64_t now_ms,
                      bool last)
{
    char text[800], line[320];
    bool cut = c->terminal && !last;
    size_t columns = cut ? console_columns(STDERR_FILENO) : sizeof line;
    size_t most = columns ? columns - 1 : 79, len = most + 1;
    for (enum form f = FORM_LONG; f <= FORM_SHORTEST && len > most; f++)
        len = format_line(c, in_flight, now_ms, f, line, sizeof line);
    int width = c->width < most ? (int)c->width : (int)most;
    int n = c->terminal ? snprintf(text, sizeof text, "\r%-*.*s", width,
                                   (int)most, line)
                        : snprintf(text, sizeof text, "allm: %s\n", line);
    output_write(STDERR_FILENO, text, (size_t)n);
    c->width = len < most ? len : most;
    c->drawn = true;
}

int batch_count_show(struct batch_count *c, size_t in_flight, int64_t now_ms)
{
    int64_t next = c->shown_ms + (c->terminal ? TERMINAL_MS : PIPE_MS);
    if (c->quiet)
        return -1;
    if (now_ms < next)
        return (int)(next - now_ms);
    c->shown_ms = now_ms;
    draw_line(c, in_flight, now_ms, false);
    return c->terminal ? TERMINAL_MS : PIPE_MS;
}

void batch_count_end(struct batch_count *c, bool always, int64_t now_ms)
{
    if (!always && (c->quiet || !(c->drawn || c->terminal)))
        return;
    draw_line(c, 0, now_ms, true);
    if (c->terminal)
        output_write(STDERR_FILENO, "\n", 1);
}

/* ------------------------------------------------------------- summary --- */

static void put_count(allm_json_build *b, const char *key, uint64_t n)
{
    allm_json_build_key(b, key);
    allm_json_build_uint(b, n);
}

static void put_outcomes(const struct batch_count *c, allm_json_build *b)
{
    char code[8];
    member_object(b, "exit_codes");
    for (int i = 0; i < COUNT_CODES; i++)
        if (c->by_code[i]) {
            snprintf(code, sizeof code, "%d", i);
            put_count(b, code, c->by_code[i]);
        }
    allm_json_build_end(b);
}

static allm_json *make_summary(const struct batch_count *c, int64_t now_ms)
{
    uint64_t rows = count_rows(c), ok = c->by_code[END_DONE];
    allm_json_build *b = member_new_object();
    put_count(b, "rows", rows);
    put_count(b, "ok", ok);
    put_count(b, "failed", rows - ok);
    put_count(b, "skipped", c->skipped);
    put_outcomes(c, b);
    put_count(b, "input_tokens", c->input);
    put_count(b, "output_tokens", c->output);
    allm_json_build_key(b, "cost");
    if (c->cost_unknown)
        allm_json_build_null(b);
    else
        allm_json_build_number(b, c->cost);
    member_object(b, "latency_ms");
    put_count(b, "p50", (uint64_t)latency_of(c, 0.50));
    put_count(b, "p95", (uint64_t)latency_of(c, 0.95));
    put_count(b, "max", (uint64_t)c->most_ms);
    allm_json_build_end(b);
    put_count(b, "total_ms", (uint64_t)(now_ms - c->began_ms));
    return member_done(b);
}

bool batch_count_write(const struct batch_count *c, const char *path,
                       int64_t now_ms)
{
    size_t len = 0;
    allm_json *summary = make_summary(c, now_ms);
    allm_text *text = allm_json_write(summary, ALLM_JSON_PRETTY);
    const char *bytes = allm_text_bytes(text, &len);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int error = fd < 0 ? errno : bytes ? output_write(fd, bytes, len) : ENOMEM;
    if (!error)
        error = output_write(fd, "\n", 1);
    if (fd >= 0)
        close(fd);
    if (error)
        print_fault("cannot write the summary to %s: %s", path,
                    strerror(error));
    allm_text_free(text);
    allm_json_free(summary);
    return !error;
}

int batch_count_exit(const struct batch_count *c, bool limit)
{
    return limit          ? END_LIMIT
           : c->transient ? END_TRANSIENT
           : c->final     ? END_FAILED
                          : END_DONE;
}
