/*
 * follow.c - a stream of the events of a session that any process runs
 *
 *      store's thread: look --> rows of events, records --> event by event
 *            ^                                                   |
 *            '--- changes of the store, or a time to look again -'
 *
 * Invariants
 *   (1) `at` is behind the event that was returned last: a stream that begins
 *       at its cursor is in the same state.
 *   (2) There is at most one look under way; `at` moves only when it is over.
 */
#include "session/follow.h"

#include "base/status.h"
#include "data/decode.h"
#include "data/error.h"
#include "data/event.h"
#include "data/message.h"
#include "data/response.h"
#include "run/refused.h"
#include "run/stream.h"
#include "session/durable.h"
#include "session/live.h"
#include "json/json.h"
#include "json/parse.h"

#include <stdio.h>

/* A holder that is gone is found out by looking again; a store that cannot be
 * reached is tried for some time.  The last events of an operation that has
 * ended are awaited as long as LATE_MS: they may have been lost. */
enum { WAIT_MS = 100, PATIENCE_MS = 10000, LATE_MS = 3000 };

struct follow {
    struct machine machine;
    struct mem mem;
    allm_store *store;              /* kept */
    allm_waker *waker;              /* of the stream */
    struct arena arena;             /* of the name, the error */
    const char *name;
    struct follow_cursor cursor;
    bool one;                       /* ALLM_FOLLOW_ONE */
    struct store_follower follower;
    uint32_t poll_ms;
    int64_t id;
    struct follow_at at;

    struct store_task *task;        /* of the look; or NULL */
    struct follow_read *read;       /* in its arena */
    bool looked;                    /* the look is over */
    struct follow_at before;        /* when it began */
    size_t live_at, record_at;      /* what comes next of it */
    struct live_row row;
    uint64_t number;                /* of the next line in row; 0: no row */
    int64_t again_ns;               /* when to look again */
    int64_t failing_ns;             /* since when looks fail; 0: they do not */
    int64_t waiting_ns;             /* since when events are awaited; or 0 */

    struct allm_home *home;         /* of the event */
    allm_event event;
    char text[48];                  /* its cursor */
    bool ended;
    const allm_error *error;
};

static struct follow *follow_of(struct machine *m)
{
    return (struct follow *)m;
}

static int64_t now_ns(void)
{
    return clock_now_ns(clock_real());
}

/* -------------------------------------------------------------- event --- */

/* The event is ready; (1). */
static allm_status give_event(struct follow *f, uint64_t seq, uint64_t n,
                              allm_event **out)
{
    snprintf(f->text, sizeof f->text, "%llu.%llu", (unsigned long long)seq,
             (unsigned long long)n);
    f->event.cursor = f->text;
    *out = &f->event;
    return ALLM_EVENT;
}

static allm_status end_failed(struct follow *f, const allm_error *error)
{
    f->error = status_retell(&f->arena, error ? error : status_nomem());
    return f->error->kind;
}

/* A new home for the next event; false: out of memory. */
static bool renew_home(struct follow *f)
{
    home_drop(f->home);
    f->home = home_new(f->mem, 0);
    f->event = (allm_event){ .size = sizeof f->event };
    return f->home != NULL;
}

/* ------------------------------------------------------- live events --- */

/* A line that cannot be read is of a newer version: OK, the next one. */
static allm_status read_line(struct follow *f, struct slice line)
{
    struct decoder d;
    const allm_error *error = NULL;
    if (!renew_home(f))
        return end_failed(f, NULL);
    struct arena *a = home_arena(f->home);
    decode_init(&d, f->home, a);
    const allm_json *v = json_parse_loose(a, line, &error);
    const allm_event *event = v ? event_read(&d, v) : NULL;
    if (a->broken || d.error == status_nomem())
        return end_failed(f, NULL);
    if (!event)
        return ALLM_OK;
    f->event = *event;
    return ALLM_EVENT;
}

/* The next event of the open row; OK: it has no more. */
static allm_status next_line(struct follow *f, allm_event **event)
{
    uint64_t head = 0;
    struct slice line;
    while (live_next(&f->row, &head, &line)) {
        uint64_t n = f->number++;
        if (n <= f->at.n)
            continue;
        allm_status status = read_line(f, line);
        if (status < 0)
            return status;
        f->at.n = n;
        if (head > f->at.seq)
            f->at.seq = head;
        if (status == ALLM_EVENT)
            return give_event(f, f->at.op, n, event);
    }
    return ALLM_OK;
}

static allm_status next_live(struct follow *f, allm_event **event)
{
    const struct follow_read *r = f->read;
    for (; f->live_at < r->live_count; f->live_at++) {
        const struct backend_live *l = &r->live[f->live_at];
        if (!f->number && live_read(l->body, &f->row))
            f->number = l->n;
        allm_status status = next_line(f, event);
        if (status != ALLM_OK)
            return status;
        if (l->n + l->count - 1 > f->at.n)
            f->at.n = l->n + l->count - 1;      /* a mark */
        f->number = 0;
    }
    return ALLM_OK;
}

/* ------------------------------------------------------------ records --- */

static const allm_message *read_message(struct follow *f, struct slice body,
                                        const allm_error **error)
{
    struct decoder d;
    struct arena *a = home_arena(f->home);
    const allm_json *v = durable_unpack(a, &f->read->loaded, body, error);
    decode_init(&d, f->home, a);
    return v ? decode_value(&d, &message_shape, v) : NULL;
}

static allm_status tell_change(struct follow *f, const struct record *r,
                               const struct follow_change *c)
{
    const allm_error *error = NULL;
    const allm_message **list = arena_zero(home_arena(f->home),
                                           (c->count + 1) * sizeof *list);
    for (size_t i = 0; list && i < c->count; i++) {
        list[i] = read_message(f, c->rows[i].body, &error);
        if (!list[i])
            return end_failed(f, error ? error
                                       : durable_unreadable(&f->arena, f->name,
                                                            "a message"));
    }
    f->event = (allm_event){
        .size = sizeof f->event, .type = ALLM_EV_SESSION_CHANGED,
        .record = r->seq, .keep = c->keep, .message_count = c->count,
        .messages = list,
        .status = json_text_at(json_at(r->json, "state"), "status").ptr,
    };
    return list ? ALLM_EVENT : end_failed(f, NULL);
}

/* OK: the answer has nothing to report. */
static allm_status tell_response(struct follow *f, const allm_json *v)
{
    struct decoder d;
    decode_init(&d, f->home, home_arena(f->home));
    const allm_response *r = decode_value(&d, &response_shape,
                                          json_at(v, "response"));
    if (d.error == status_nomem())
        return end_failed(f, NULL);
    if (!r || (!r->message && !r->error))
        return ALLM_OK;
    f->event.type = r->message ? ALLM_EV_MESSAGE_COMPLETED : ALLM_EV_ERROR;
    f->event.message = r->message;
    f->event.finish_reason = r->finish_reason;
    f->event.error = r->message ? NULL : r->error;
    return ALLM_EVENT;
}

static allm_status tell_result(struct follow *f, const allm_json *v)
{
    struct slice content = json_text_at(v, "content");
    f->event.type = ALLM_EV_TOOL_RESULT_ENCODED;
    f->event.id = json_text_at(v, "id").ptr;
    f->event.text = content.ptr ? content.ptr : "";
    f->event.text_len = content.len;
    return f->event.id ? ALLM_EVENT : ALLM_OK;
}

/* What a record becomes where there are no events; OK: nothing. */
static allm_status tell_record(struct follow *f, const struct record *r)
{
    const allm_error *error = NULL;
    bool answer = !strcmp(r->type, "response");
    if (!answer && strcmp(r->type, "result") != 0)
        return ALLM_OK;
    const allm_json *v = durable_value(home_arena(f->home), &f->read->loaded,
                                       r->json, &error);
    if (!v)
        return end_failed(f, error);
    return answer ? tell_response(f, v) : tell_result(f, v);
}

static void pass_record(struct follow *f, const struct record *r)
{
    bool begins = !strcmp(r->type, "begin"), ends = !strcmp(r->type, "end");
    f->at.seq = r->seq;
    if (!follow_is_change(r))
        return;
    f->at.op = begins ? r->seq : 0;
    f->at.n = 0;
    f->ended = f->one && ends;
}

static allm_status next_record(struct follow *f, allm_event **event)
{
    const struct follow_read *r = f->read;
    while (f->record_at < r->record_count) {
        const struct record *x = &r->records[f->record_at];
        const struct follow_change *c = &r->changes[f->record_at];
        if (!renew_home(f))
            return end_failed(f, NULL);
        allm_status status = follow_is_change(x) ? tell_change(f, x, c)
                                                 : tell_record(f, x);
        if (status < 0)
            return status;
        f->record_at++;
        pass_record(f, x);
        if (status == ALLM_EVENT)
            return give_event(f, x->seq, 0, event);
    }
    return ALLM_OK;
}

/* --------------------------------------------------------------- look --- */

static bool is_late(const struct follow *f)
{
    return f->waiting_ns && now_ns() >= clock_after(f->waiting_ns, LATE_MS);
}

static allm_status begin_look(struct follow *f)
{
    f->task = store_task_new(f->store);
    struct arena *a = f->task ? store_task_arena(f->task) : NULL;
    f->read = f->task ? arena_zero(a, sizeof *f->read) : NULL;
    if (!f->read)
        return end_failed(f, NULL);
    *f->read = (struct follow_read){ .id = f->id, .cursor = f->cursor,
                                     .at = f->at, .late = is_late(f),
                                     .name = arena_text(a, f->name) };
    if (!f->read->name)
        return end_failed(f, NULL);
    f->looked = false;
    store_task_start(f->task, follow_look, f->read, f->waker);
    return ALLM_OK;
}

static void end_look(struct follow *f, int64_t again_ms)
{
    store_task_free(f->task);
    f->task = NULL;
    f->again_ns = again_ms ? clock_after(now_ns(), again_ms) : INT64_MAX;
}

static bool is_transient(const allm_error *error)
{
    return !strcmp(error->reason, "store_unreachable") ||
           !strcmp(error->reason, "store_busy");
}

/* A look has failed: try again for some time. */
static allm_status miss_look(struct follow *f, const allm_error *error)
{
    int64_t now = now_ns();
    if (!f->failing_ns)
        f->failing_ns = now;
    if (!is_transient(error) || now >= clock_after(f->failing_ns, PATIENCE_MS))
        return end_failed(f, error);
    end_look(f, WAIT_MS);
    return ALLM_OK;
}

/* OK: the look is over, or there is none; AGAIN: it is under way. */
static allm_status poll_look(struct follow *f)
{
    const allm_error *error = NULL;
    if (!f->task || f->looked)
        return ALLM_OK;
    if (!store_task_done(f->task, &error))
        return ALLM_AGAIN;
    if (error)
        return miss_look(f, error);
    f->failing_ns = 0;
    f->id = f->read->id;
    f->at = f->before = f->read->at;
    f->looked = true;
    f->live_at = f->record_at = 0;
    f->number = 0;
    return ALLM_OK;
}

static bool has_moved(const struct follow *f)
{
    return f->at.seq != f->before.seq || f->at.n != f->before.n ||
           f->at.op != f->before.op;
}

/* The next event of the look; OK: it has no more. */
static allm_status pull_look(struct follow *f, allm_event **event)
{
    allm_status status = next_live(f, event);
    if (status == ALLM_OK)
        status = next_record(f, event);
    if (status != ALLM_OK)
        return status;
    int64_t wait_ms = f->read->waits ? WAIT_MS : 0;
    if (f->poll_ms)
        wait_ms = f->poll_ms;
    bool moved = has_moved(f);
    if (moved || !f->read->waits)
        f->waiting_ns = 0;
    else if (!f->waiting_ns)
        f->waiting_ns = now_ns();
    end_look(f, wait_ms);
    if (moved)
        f->again_ns = INT64_MIN;        /* there may be more */
    return ALLM_OK;
}

/* ------------------------------------------------------------ machine --- */

static allm_status follow_next(struct machine *m, allm_event **event,
                               int64_t *again_ns)
{
    struct follow *f = follow_of(m);
    for (;;) {
        if (f->error)
            return f->error->kind;
        if (f->ended)
            return ALLM_OK;
        allm_status status = poll_look(f);
        *again_ns = INT64_MAX;
        if (status != ALLM_OK)
            return status;
        if (f->task && (status = pull_look(f, event)) != ALLM_OK)
            return status;
        bool news = store_follower_news(f->store, &f->follower);
        if (!news && now_ns() < f->again_ns) {
            *again_ns = f->again_ns;
            return ALLM_AGAIN;
        }
        status = begin_look(f);
        if (status != ALLM_OK)
            return status;
    }
}

static void follow_stop(struct machine *m, bool cancelled)
{
    struct follow *f = follow_of(m);
    if (cancelled && !f->error && !f->ended)
        f->error = &error_cancelled;
}

static void follow_free(struct machine *m)
{
    struct follow *f = follow_of(m);
    struct mem mem = f->mem;
    store_unfollow(f->store, &f->follower);
    store_task_free(f->task);
    home_drop(f->home);
    arena_release(&f->arena);
    store_drop(f->store);
    mem_free(mem, f, sizeof *f);
}

static const allm_error *follow_error(const struct machine *m)
{
    return ((const struct follow *)m)->error;
}

static const struct machine_ops follow_ops = {
    .next = follow_next,
    .stop = follow_stop,
    .free = follow_free,
    .error = follow_error,
};

/* ------------------------------------------------------------ opening --- */

/* Digits; how many; 0 if there are none, or too many. */
static size_t read_number(const char *text, uint64_t *out)
{
    size_t i = 0;
    *out = 0;
    while (slice_digit(text[i]) && i < 19)
        *out = 10 * *out + (uint64_t)(text[i++] - '0');
    return i;
}

static bool read_cursor(const char *text, struct follow_cursor *out)
{
    *out = (struct follow_cursor){ .given = text != NULL };
    if (!text)
        return true;
    size_t used = read_number(text, &out->seq);
    out->dotted = used && text[used] == '.';
    if (out->dotted) {
        size_t digits = read_number(text + used + 1, &out->n);
        used = digits ? used + 1 + digits : 0;
    }
    return used && !text[used] && (out->seq || !out->n);
}

static const allm_error *refuse(struct arena *a, allm_store *s,
                                const char *name, const char *cursor,
                                uint32_t flags, struct follow_cursor *out)
{
    const allm_error *error = store_usable(s, a);
    if (!error)
        error = store_check_name(a, name);
    if (!error && flags & ~(uint32_t)ALLM_FOLLOW_ONE)
        error = status_error(a, ALLM_ERR_MISUSE, "invalid_options",
                             "allm_store_follow: the only flag is "
                             "ALLM_FOLLOW_ONE");
    if (!error && !read_cursor(cursor, out))
        error = status_error(a, ALLM_ERR_MISUSE, "invalid_cursor",
                             "a cursor is \"SEQ\" or \"SEQ.N\", two numbers; "
                             "pass one that an event had, or none");
    return error;
}

static struct machine *make_follow(allm_store *s, const char *name,
                                   const struct follow_cursor *cursor,
                                   uint32_t flags, allm_waker *waker)
{
    struct mem mem = store_mem(s);
    struct follow *f = mem_alloc(mem, sizeof *f);
    if (!f)
        return NULL;
    *f = (struct follow){ .machine = { &follow_ops }, .mem = mem,
                          .store = store_keep(s), .waker = waker,
                          .cursor = *cursor, .again_ns = INT64_MIN,
                          .one = flags & ALLM_FOLLOW_ONE };
    arena_init(&f->arena, mem);
    f->name = arena_text(&f->arena, name);
    store_follow(s, &f->follower, waker, &f->poll_ms);
    if (f->name)
        return &f->machine;
    follow_free(&f->machine);
    return NULL;
}

struct start {
    const char *name;
    struct follow_cursor *cursor;
};

/* Without a cursor: before the operation that is open, or behind the last. */
static const allm_error *find_start(struct backend *b, struct arena *a,
                                    void *ud)
{
    struct start *start = ud;
    struct backend_row row;
    bool found = false;
    const allm_error *error = b->ops->find(b, a, start->name, true, &row,
                                           &found);
    if (!error && found)
        *start->cursor = (struct follow_cursor){
            .given = true, .seq = row.open ? row.open - 1 : row.head,
        };
    return error;
}

allm_stream *follow_stream(allm_store *s, const char *name, const char *cursor,
                           uint32_t flags)
{
    struct follow_cursor at;
    struct arena a = arena_in(store_mem(s));
    const allm_error *error = refuse(&a, s, name, cursor, flags, &at);
    if (!error && !at.given)    /* what fails, the first look tries again */
        (void)store_call(s, find_start, &a, &(struct start){ name, &at });
    allm_stream *stream = error ? refused_stream(NULL, error)
                                : stream_new(store_mem(s), clock_real(), NULL);
    if (!error && stream)
        stream = stream_begin(stream, make_follow(s, name, &at, flags,
                                                  stream_waker(stream)));
    arena_release(&a);
    return stream;
}
