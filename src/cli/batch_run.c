/*
 * batch_run.c - run the rows of a batch: read lines, send, repeat, write rows
 *
 *      lines --> item --> gather --> stream of one hub --> row of OUT
 *                            ^              |
 *                            '--- again ----'  behind the lines that were not
 *                                              tried yet
 *
 * A request has one item, or as many as the task allows.  One thread waits for
 * the hub, for the input if it is a pipe, and for signals.
 *
 * Invariants
 *   (1) At most `jobs` requests are in flight and at most `jobs` wait to be
 *       tried again, so at most 2 x jobs requests are in memory, and the one
 *       that is gathered.
 *   (2) With --ordered, at most 10 x jobs rows are held back.
 *   (3) What the requests in flight may cost is reserved.
 */
#include "cli/batch_run.h"

#include "cli/batch_models.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/reword.h"
#include "cli/settings.h"
#include "cli/timing.h"
#include "term/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { JOBS = 16, MOST_JOBS = 4096, RETRIES = 5, GRACE_MS = 10000 };

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
    for (int i = 0; i < 2; i++) {
        fcntl(signal_pipe[i], F_SETFL, O_NONBLOCK);
        fcntl(signal_pipe[i], F_SETFD, FD_CLOEXEC);
    }
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a full disk */
    return true;
}

/* An error ends the run with this exit code; it was printed. */
static void fail_run(struct batch_run *r, int code)
{
    r->stop = true;
    if (!r->code)
        r->code = code;
}

/* ---------------------------------------------------------------- rows --- */

static void free_item(struct batch_item *i)
{
    allm_stream_free(i->stream);
    batch_call_release(&i->call);
    bytes_release(&i->done);
    term_free(i);
}

/* After a failure nothing more is written: the next run continues there. */
static void write_item(struct batch_run *r, const struct batch_item *i)
{
    const struct bytes *row = &i->done;
    if (!row->len || r->torn)
        return;
    r->torn = i->first && !r->task->write_first(r, row->ptr, i->first);
    if (r->torn)
        fail_run(r, END_USAGE);
    else if (!batch_out_write(&r->out, row->ptr + i->first,
                              row->len - i->first))
        fail_run(r, r->out.code);
}

static struct batch_item **held_place(const struct batch_run *r,
                                      uint64_t number)
{
    return &r->held[number % r->held_room];
}

/* Write the rows that are next in the order of the input. */
static void write_held(struct batch_run *r)
{
    struct batch_item **at, *i;
    while (r->holding && (i = *(at = held_place(r, r->next_number)))) {
        *at = NULL;
        r->holding--;
        r->next_number++;
        write_item(r, i);
        free_item(i);
    }
}

/* Make room for the row with this number. */
static void grow_held(struct batch_run *r, uint64_t number)
{
    struct batch_run next = { .held_room = r->held_room * 2 + 64 };
    while (number - r->next_number >= next.held_room)
        next.held_room *= 2;
    next.held = term_alloc(next.held_room * sizeof *next.held);
    for (uint64_t n = r->next_number; n < r->next_number + r->held_room; n++)
        *held_place(&next, n) = *held_place(r, n);
    term_free(r->held);
    r->held = next.held;
    r->held_room = next.held_room;
}

static void hold_item(struct batch_run *r, struct batch_item *i)
{
    if (i->number - r->next_number >= r->held_room)
        grow_held(r, i->number);
    *held_place(r, i->number) = i;
    r->holding++;
    write_held(r);
}

/* The row is complete: write it, now or in its turn. */
static void finish_item(struct batch_run *r, struct batch_item *i)
{
    if (r->flags->ordered) {
        allm_stream_free(i->stream);
        i->stream = NULL;
        hold_item(r, i);
        return;
    }
    write_item(r, i);
    free_item(i);
}

/* Nothing is written for this line. */
static void skip_item(struct batch_run *r, struct batch_item *i)
{
    bytes_clear(&i->done);
    finish_item(r, i);
}

static void end_item(struct batch_run *r, struct batch_item *i, size_t index,
                     struct batch_end *e)
{
    if (!r->task->put(r, i, index, e)) {
        fail_run(r, END_USAGE);
        skip_item(r, i);
        return;
    }
    batch_count_row(&r->count, e);
    finish_item(r, i);
}

static void refuse_item(struct batch_run *r, struct batch_item *i, int code,
                        const char *why)
{
    struct batch_end e = { .code = code, .why = why };
    end_item(r, i, 0, &e);
}

/* ------------------------------------------------------------- request --- */

/* Write the rows of a request that has ended. */
static void end_request(struct batch_run *r, struct batch_item *first,
                        struct batch_end *e)
{
    size_t index = 0;
    allm_stream *stream = first->stream; /* the rows borrow from it */
    first->stream = NULL;
    e->attempts = first->attempts;
    e->ms = timing_now() - first->began_ms;
    for (struct batch_item *i = first, *more; i; i = more) {
        struct batch_end own = *e;
        more = i->more;
        end_item(r, i, index++, &own);
    }
    allm_stream_free(stream);
}

/* Try a request again, behind the others. */
static void queue_request(struct batch_run *r, struct batch_item *first)
{
    allm_stream_free(first->stream);
    first->stream = NULL;
    first->next = NULL;
    *r->again_end = first;
    r->again_end = &first->next;
    r->waiting++;
}

/* The provider rejects a request with several items, perhaps because of one of
 * them: send both halves alone. */
static void split_request(struct batch_run *r, struct batch_item *first)
{
    size_t count = 0;
    struct batch_item *last = first;
    for (const struct batch_item *i = first; i; i = i->more)
        count++;
    for (size_t n = 1; n < count / 2; n++)
        last = last->more;
    struct batch_item *second = last->more;
    last->more = NULL;
    second->began_ms = first->began_ms;
    first->again_ms = second->again_ms = 0;
    first->attempts = second->attempts = 0;
    queue_request(r, first);
    queue_request(r, second);
}

/* How long to wait before the next attempt, in milliseconds; the pacer knows
 * when a provider that refused can be asked again. */
static int64_t pause_before(const struct batch_item *first,
                            const struct batch_end *e)
{
    const char *reason = e->error ? e->error->reason : NULL;
    uint32_t shift = first->attempts < 6 ? first->attempts - 1 : 6;
    return reason && !strcmp(reason, "rate_limited") ? 0 : 500 << shift;
}

/* A key that is missing is missing for all rows.  A 403 may be about one of
 * them, if others were answered. */
static bool needs_key(const struct batch_run *r, const struct batch_end *e)
{
    bool answered = r->count.by_code[END_DONE];
    return e->code == END_KEY && e->error &&
           !(answered && e->error->http_status.value == 403);
}

/* Ask again, or write the rows. */
static void continue_request(struct batch_run *r, struct batch_item *first,
                             struct batch_end *e)
{
    if (e->code == END_TRANSIENT && first->attempts <= r->retries && !r->stop) {
        first->again_ms = timing_now() + pause_before(first, e);
        queue_request(r, first);
        return;
    }
    if (e->code != END_DONE && batch_row_is_final(e) && first->more &&
        !r->stop) {
        split_request(r, first);
        return;
    }
    if (!r->stop && needs_key(r, e)) {
        reword_print(e->error);
        fail_run(r, END_KEY);
    }
    end_request(r, first, e);
}

static void judge_request(struct batch_run *r, struct batch_item *first,
                          allm_status status)
{
    struct batch_end e = { .code = END_DONE };
    r->task->judge(r, &e, first->stream, status);
    cost_settle(&r->cost, first->reserved, e.usage);
    first->reserved = 0;
    continue_request(r, first, &e);
    allm_usage_free(e.total);
}

static void drop_request(struct batch_run *r, struct batch_item *first)
{
    for (struct batch_item *i = first, *more; i; i = more) {
        more = i->more;
        skip_item(r, i);
    }
}

/* What a request may cost at most; -1: an error was printed. */
static double cost_of(const struct batch_item *first)
{
    double all = 0;
    for (const struct batch_item *i = first; i; i = i->more) {
        double cost = cost_at_most(&i->call.model->target, i->call.options,
                                   i->len, !i->call.text);
        if (cost < 0) {
            print_fault("--max-cost: the price of %s is not known",
                        i->call.model->target.name);
            return -1;
        }
        all += cost;
    }
    return all;
}

/* Is the money reserved?  If not now, the request waits for those in flight. */
static bool has_money(struct batch_run *r, struct batch_item *first)
{
    double most = r->cost.most > 0 ? cost_of(first) : 0;
    if (most >= 0 && cost_reserve(&r->cost, most)) {
        first->reserved = most;
        return true;
    }
    if (most >= 0 && r->in_flight) {
        r->broke = first;
        return false;
    }
    if (most < 0)
        fail_run(r, END_USAGE);
    else
        r->limit = r->stop = true;
    drop_request(r, first);
    return false;
}

static void send_request(struct batch_run *r, struct batch_item *first)
{
    if (!has_money(r, first))
        return;
    if (!first->began_ms)
        first->began_ms = timing_now();
    first->attempts++;
    first->stream = r->task->open(r, first);
    if (!first->stream ||
        allm_hub_add(r->hub, first->stream, first) != ALLM_OK) {
        judge_request(r, first, ALLM_ERR_NOMEM);
        return;
    }
    r->in_flight++;
}

/* ------------------------------------------------------------- reading --- */

static void report_changed(struct batch_run *r, const struct batch_item *i)
{
    print_fault("the line of id \"%.200s\" is not the one that %s has a row "
                "for; --changed ask asks again, --changed keep keeps the row",
                i->call.id, r->out.path);
    fail_run(r, END_USAGE);
}

/* Is the line to be sent, or does OUT have its row? */
static bool is_wanted(struct batch_run *r, const struct batch_item *i)
{
    const char *changed = r->flags->changed;
    enum batch_known known = batch_out_find(&r->out, i->call.id,
                                            strlen(i->call.id), i->call.sum);
    if (known == BATCH_TWICE) {
        print_note("the id \"%.200s\" at byte %llu came before; the line is "
                   "left out",
                   i->call.id, (unsigned long long)i->offset);
        r->count.by_code[END_USAGE]++;
        r->count.final = true;
        return false;
    }
    if (known == BATCH_CHANGED && !changed) {
        report_changed(r, i);
        return false;
    }
    bool keep = known == BATCH_DONE ||
                (known == BATCH_CHANGED && !strcmp(changed, "keep"));
    r->count.skipped += keep;
    r->count.passed += keep ? i->len + 1 : 0;
    r->count.final |= keep && r->out.found_error;
    return !keep;
}

/* Make a line an item; NULL: it needs no request. */
static struct batch_item *read_item(struct batch_run *r,
                                    const struct batch_line *line)
{
    struct batch_item *i = term_alloc(sizeof *i);
    i->number = r->read_count++;
    i->offset = line->offset;
    i->len = line->len;
    r->count.bytes = line->offset - r->lines.begin;
    r->task->read(r, i, line->ptr ? line->ptr : "", line->len);
    if (line->too_long) {
        i->call.code = END_USAGE;
        snprintf(i->call.why, sizeof i->call.why,
                 "the line is longer than 64 MB");
    }
    if (i->call.fatal)
        fail_run(r, i->call.code);
    if (r->stop || !is_wanted(r, i)) {
        skip_item(r, i);
        return NULL;
    }
    if (i->call.code == END_DONE)
        return i;
    refuse_item(r, i, i->call.code, i->call.why);
    return NULL;
}

/* Add an item to the next request.  False: it does not fit. */
static bool add_item(struct batch_run *r, struct batch_item *i)
{
    if (r->gathered && r->most_bytes &&
        r->gathered_bytes + i->len > r->most_bytes)
        return false;
    *r->gather_end = i;
    r->gather_end = &i->more;
    r->gathered++;
    r->gathered_bytes += i->len;
    return true;
}

static struct batch_item *take_gathered(struct batch_run *r)
{
    struct batch_item *first = r->gather;
    r->gather = NULL;
    r->gather_end = &r->gather;
    r->gathered = r->gathered_bytes = 0;
    if (r->ahead) {
        struct batch_item *i = r->ahead;
        r->ahead = NULL;
        add_item(r, i);
    }
    return first;
}

/* Read lines until a request is complete; NULL: it is not yet. */
static struct batch_item *gather_request(struct batch_run *r)
{
    struct batch_line line;
    enum batch_found found = BATCH_LINE;
    while (!r->stop && !signal_count && r->gathered < r->most_items &&
           r->holding < 10 * r->jobs * r->most_items &&
           (found = batch_lines_next(&r->lines, &line)) == BATCH_LINE) {
        struct batch_item *i = read_item(r, &line);
        if (i && !add_item(r, i)) {
            r->ahead = i;
            return take_gathered(r);
        }
    }
    if (found == BATCH_FAILED)
        fail_run(r, END_USAGE);
    r->input_ended |= found == BATCH_END;
    if (r->stop) {
        drop_request(r, take_gathered(r));
        return NULL;
    }
    /* A pipe that pauses: send what there is, if nothing else is going on. */
    bool wait = found == BATCH_LATER && r->in_flight;
    return r->gathered == r->most_items || !wait ? take_gathered(r) : NULL;
}

/* The first request that waits and is due; NULL: there is none. */
static struct batch_item *take_again(struct batch_run *r, int64_t now)
{
    struct batch_item **at = &r->again;
    while (*at && (*at)->again_ms > now)
        at = &(*at)->next;
    struct batch_item *first = *at;
    if (!first)
        return NULL;
    *at = first->next;
    if (r->again_end == &first->next)
        r->again_end = at;
    r->waiting--;
    return first;
}

/* The next request to send; NULL: there is none at the moment. */
static struct batch_item *take_request(struct batch_run *r, int64_t now)
{
    struct batch_item *first = r->broke;
    r->broke = NULL;
    if (!first && r->waiting < r->jobs && (!r->input_ended || r->gathered))
        first = gather_request(r);
    return first || r->stop ? first : take_again(r, now);
}

static bool can_start(const struct batch_run *r)
{
    return !r->stop && !signal_count && r->in_flight < r->jobs &&
           r->holding < 10 * r->jobs * r->most_items;
}

static void start_requests(struct batch_run *r)
{
    int64_t now = timing_now();
    struct batch_item *first;
    while (can_start(r) && (first = take_request(r, now))) {
        send_request(r, first);
        if (r->broke)
            break;
    }
}

/* ------------------------------------------------------------- waiting --- */

static int sooner(int a, int64_t b)
{
    int64_t least = b < 0 ? 0 : b < 60000 ? b : 60000;
    return a < 0 || least < a ? (int)least : a;
}

/* How long to wait at most, in milliseconds; -1: no limit. */
static int wait_time(struct batch_run *r, int64_t now)
{
    int ms = allm_hub_timeout(r->hub);
    int show = batch_count_show(&r->count, r->in_flight, now);
    ms = show >= 0 ? sooner(ms, show) : ms;
    for (const struct batch_item *i = r->again; i && !r->stop; i = i->next)
        if (i->again_ms > now) /* those that are due wait for a place */
            ms = sooner(ms, i->again_ms - now);
    if (r->out.unsynced && r->out.path)
        ms = sooner(ms, r->out.synced_ms + 1000 - now);
    return r->stop_ms ? sooner(ms, r->stop_ms - now) : ms;
}

static void wait_for_news(struct batch_run *r)
{
    int64_t now = timing_now();
    bool reads = !r->input_ended && !r->broke && can_start(r) &&
                 r->waiting < r->jobs;
    struct pollfd fds[3] = { { .fd = allm_hub_fd(r->hub), .events = POLLIN },
                             { .fd = signal_pipe[0], .events = POLLIN },
                             { .fd = reads ? r->lines.fd : -1,
                               .events = POLLIN } };
    char drop[16];
    poll(fds, 3, wait_time(r, now));
    while (read(signal_pipe[0], drop, sizeof drop) > 0)
        continue;
    if (!batch_out_sync(&r->out, timing_now()))
        fail_run(r, r->out.code);
}

/* Take what the streams have. */
static void pull_streams(struct batch_run *r)
{
    void *tag;
    allm_stream *s;
    while ((s = allm_hub_wait(r->hub, 0, &tag))) {
        allm_status status;
        const allm_event *event;
        while ((status = allm_stream_next(s, &event)) == ALLM_EVENT)
            continue;
        if (status == ALLM_AGAIN)
            continue;
        r->in_flight--;
        judge_request(r, tag, status);
        start_requests(r);
    }
}

/* Ctrl-C: rows in flight get ten seconds; twice: none. */
static bool gives_up(struct batch_run *r)
{
    if (!signal_count)
        return false;
    if (!r->stop_ms) {
        r->stop_ms = timing_now() + GRACE_MS;
        print_note("interrupted: %zu requests in flight get 10 s; again to "
                   "stop at once",
                   r->in_flight);
    }
    r->stop = true;
    return signal_count > 1 || timing_now() >= r->stop_ms;
}

static void run_requests(struct batch_run *r)
{
    for (;;) {
        start_requests(r);
        bool more = !r->stop &&
                    (!r->input_ended || r->waiting || r->broke || r->gathered);
        if ((!more && !r->in_flight) || gives_up(r))
            break;
        wait_for_news(r);
        pull_streams(r);
    }
}

/* --------------------------------------------------------------- setup --- */

uint32_t batch_run_jobs(const struct batch_flags *f)
{
    uint32_t n = f->jobs ? f->jobs : settings_count("batch.jobs", JOBS);
    return n < 1 ? 1 : n < MOST_JOBS ? n : MOST_JOBS;
}

bool batch_run_shard(struct batch_run *r, const char **name)
{
    static char path[4096];
    const struct batch_flags *f = r->flags;
    *name = f->out ? path : NULL;
    if (f->jobs > MOST_JOBS)
        return print_fault("-j is at most %d", MOST_JOBS);
    return batch_shard_read(&r->shard, f->shard) &&
           (!f->out || batch_shard_name(&r->shard, f->out, path, sizeof path));
}

int batch_run_open(struct batch_run *r)
{
    const struct batch_flags *f = r->flags;
    r->jobs = batch_run_jobs(f);
    r->retries = f->retry ? f->retry : settings_count("retry", RETRIES);
    r->cost.most = f->max_cost > 0 ? f->max_cost
                                   : settings_number("max_cost", 0);
    r->most_items = r->most_items ? r->most_items : 1;
    r->again_end = &r->again;
    r->gather_end = &r->gather;
    batch_count_begin(&r->count, f->quiet, timing_now());
    r->count.all_bytes = batch_lines_size(&r->lines);
    r->hub = allm_hub_new(NULL);
    if (watch_signals() && !allm_hub_error(r->hub))
        return END_DONE;
    print_fault("cannot start the event loop; are there descriptors left?");
    return END_FAILED;
}

/* What to do about rows that failed, in this run or an earlier one. */
static void note_failed(int code)
{
    if (code == END_TRANSIENT)
        print_note("some rows failed for now; with -O the same command asks "
                   "for them again");
    else if (code == END_FAILED)
        print_note("some rows failed: those with \"ok\":false say why");
}

int batch_run(struct batch_run *r)
{
    run_requests(r);
    int64_t now = timing_now();
    batch_count_end(&r->count, r->usage, now);
    if (!batch_out_close(&r->out))
        fail_run(r, r->out.code);
    int code = r->code ? r->code : batch_count_exit(&r->count, r->limit);
    if (!r->code)
        note_failed(code);
    if (signal_count)
        code = END_SIGNAL + signal_received;
    if (r->limit)
        print_note("stopped: the next row could exceed --max-cost");
    if (r->flags->summary &&
        !batch_count_write(&r->count, r->flags->summary, now))
        code = END_USAGE;
    return code;
}
