/*
 * generate.c - one answer of a model: the machine behind every call
 *
 *      options -> checks -> model -> catalog -> feed
 *
 *      feed --> sink --> on_event --> collect --> filter --> caller
 *        ^                 |
 *        '-- retry --------'   only before any part of an answer arrives
 *
 * Everything that can fail before the network fails in generate_open().  Events
 * are collected before they are filtered, so the response has the whole text
 * even if the caller does not want the deltas.
 */
#include "run/generate.h"

#include "base/quota.h"
#include "base/status.h"
#include "data/error.h"
#include "engine/catalog.h"
#include "engine/retry.h"
#include "run/attempt.h"
#include "run/deadlines.h"
#include "run/refused.h"
#include "run/spans.h"
#include "run/stream.h"

#include <stdint.h>

enum state {
    OPENING,                    /* open an attempt at again_ns */
    RUNNING,
    CLOSING,                    /* the feed has ended; empty the sink */
    ENDED,
    FAILED
};

struct generate {
    struct machine machine;
    struct quota quota;         /* of the two arenas and the feed */
    struct arena events;        /* events since the last pull */
    struct arena attempt;       /* the feed of the current attempt */
    struct allm_sink sink;
    struct feed *feed;
    allm_stream *stream;        /* pulls the machine, and outlives it */
    struct call_plan plan;      /* a reference to the engine; the call's home */
    struct collect *own_collect;    /* made for the first event to fold */
    struct collect *collect;    /* the step's, or own_collect; or NULL */
    struct call_spans *spans;   /* NULL: the engine has no trace function */
    struct pacer_ticket *ticket;    /* NULL: the engine has no pacer */
    enum state state;
    int64_t again_ns;           /* time of the next attempt, if OPENING */
    struct deadlines deadlines;
    bool pulled;                /* timeouts run from the first pull */
    bool over_quota;            /* the answer has used up its memory quota */
    const allm_error *error;
    allm_response *response;
    const char *answer_id;      /* of a task; or NULL */
};

static struct generate *as_generate(struct machine *m)
{
    return (struct generate *)m;
}

static int64_t now_ns(const struct generate *g)
{
    return clock_now_ns(engine_core(g->plan.engine)->clock);
}

static const allm_waker *waker_of(const struct generate *g)
{
    return stream_waker(g->stream);
}

static int64_t total_deadline(const struct generate *g)
{
    return deadlines_total(&g->deadlines, &g->plan.terms);
}

/* ------------------------------------------------------------ attempts --- */

static void close_feed(struct generate *g)
{
    struct feed *f = g->feed;
    g->feed = NULL;
    attempt_close(f);
    if (g->ticket)
        pacer_leave(g->ticket);
}

/* The fold takes over the memory of the attempt, if it borrows from it. */
static void hand_over_attempt(struct generate *g)
{
    if (!g->collect || !g->collect->borrows)
        return;
    quota_let_go(&g->quota, &g->attempt);
    collect_take_over(g->collect, &g->attempt);
}

/* Fail with a copy of this error. */
static void fail_generate(struct generate *g, const allm_error *error)
{
    g->state = FAILED;
    g->error = error_copy(g->plan.home, error);
    close_feed(g);
    hand_over_attempt(g);
    spans_fail(g->spans, g->error);
}

static void fail_with(struct generate *g, allm_status kind, const char *reason,
                      const char *message)
{
    allm_error e = STATUS_ERROR(kind, reason, message);
    fail_generate(g, &e);
}

static const struct trace *current_trace(const struct generate *g)
{
    return g->spans ? &g->spans->trace : NULL;
}

/* Open an attempt; false: it failed, and the sink has the reason. */
static bool open_feed(struct generate *g)
{
    const struct engine_core *core = engine_core(g->plan.engine);
    const struct feed_env env = { .transport = core->transport,
                                  .net = &core->net,
                                  .clock = core->clock,
                                  .stream = g->stream,
                                  .mem = g->events.mem,
                                  .row = g->plan.row,
                                  .key = g->plan.key,
                                  .connect_ms = g->plan.terms.connect_ms,
                                  .ticket = g->ticket };
    g->plan.call.attempt++;
    sink_init(&g->sink, &g->events, &g->attempt);
    g->feed = attempt_open(&g->attempt, &g->plan.call, &env, &g->sink);
    g->state = g->feed ? RUNNING : g->state;
    deadlines_restart(&g->deadlines, waker_of(g), now_ns(g));
    return g->feed != NULL;
}

/* The feed's error; a default one if the feed has set none. */
static const allm_error *feed_error(const struct generate *g)
{
    static const allm_error silent =
        STATUS_ERROR(ALLM_ERR_ADAPTER, "unknown",
                     "the adapter failed without an error; it should call "
                     "allm_sink_fail() with one");
    static const allm_error foreign =
        STATUS_ERROR(ALLM_ERR_MISUSE, "invalid_event",
                     "the adapter emitted an event that is malformed, or that "
                     "adapters must not emit; allm_adapter.h lists those they "
                     "may");
    static const allm_error large = STATUS_ERROR(
        ALLM_ERR_ADAPTER, "malformed_response",
        "the answer takes more than 256 MiB of memory; request less at once, "
        "or set max_tokens");
    if (g->quota.refused || g->over_quota)
        return &large;
    if (g->sink.failure)
        return g->sink.failure;
    if (g->sink.status == ALLM_ERR_NOMEM)
        return status_nomem();
    return g->sink.status == ALLM_ERR_MISUSE ? &foreign : &silent;
}

/* Schedule another attempt; false: the call must not be retried. */
static bool schedule_retry(struct generate *g, const allm_error *error)
{
    const struct engine_core *core = engine_core(g->plan.engine);
    struct retry_policy policy;
    int64_t delay_ms;
    if (g->sink.final || g->quota.refused || error->kind == ALLM_ERR_MISUSE)
        return false;
    if (retry_policy_read(&policy, engine_record(g->plan.engine)->retry,
                          &g->attempt) || /* the engine checked it */
        !retry_decide(&policy, g->plan.call.attempt, error, core->random,
                      &delay_ms) ||
        clock_after(now_ns(g), delay_ms) >= total_deadline(g))
        return false;
    trace_retry(current_trace(g), g->plan.call.request_id,
                g->plan.call.provider, g->plan.call.attempt, delay_ms,
                error->reason);
    g->state = OPENING;
    g->again_ns = clock_after(now_ns(g), delay_ms);
    arena_reset(&g->attempt);
    return true;
}

static void open_first_attempt(struct generate *g)
{
    g->deadlines.began_ns = now_ns(g);
    if (open_feed(g))
        return;
    const allm_error *error = feed_error(g);
    if (!schedule_retry(g, error))
        fail_generate(g, error);
}

static const struct machine_ops generate_ops;

static struct generate *make_generate(const allm_engine *e,
                                      struct collect *collect,
                                      allm_stream *stream)
{
    struct mem mem = engine_core(e)->mem;
    struct generate *g = mem_alloc(mem, sizeof *g);
    if (!g)
        return NULL;
    *g = (struct generate){ .machine = { &generate_ops } };
    g->plan.engine = allm_engine_keep(e);
    quota_init(&g->quota, mem, engine_core(e)->answer_limit);
    arena_init(&g->events, quota_mem(&g->quota));
    arena_init_sized(&g->attempt, quota_mem(&g->quota), 136);
    sink_init(&g->sink, &g->events, &g->attempt);
    g->plan.home = home_new(mem, 96);
    g->collect = collect;
    g->stream = stream;
    if (g->plan.home)
        return g;
    g->machine.ops->free(&g->machine);
    return NULL;
}

/* Everything that happens before the first pull. */
static const allm_error *plan_call(struct generate *g,
                                   const struct call_spec *spec)
{
    struct call_planning w;
    struct call_plan *p = &g->plan;
    const allm_error *error = call_plan_begin(&w, p, spec);
    if (error)
        return error;
    if (!spec->dry_run &&
        !spans_begin(&g->spans, p->engine, home_arena(p->home), spec->name,
                     p->call.request_id, w.model))
        return status_nomem();
    error = call_plan_check(&w, &g->events, current_trace(g));
    if (!error && !spec->dry_run && !attempt_pace(p, g->stream, &g->ticket))
        return status_nomem();
    return error;
}

struct machine *generate_open(const allm_engine *e,
                              const struct call_spec *spec,
                              struct collect *collect, allm_stream *stream)
{
    struct generate *g = make_generate(e, collect, stream);
    if (!g)
        return NULL;
    g->deadlines.deadline_ns = spec->deadline_ns;
    const allm_error *error = plan_call(g, spec);
    g->again_ns = INT64_MIN;
    if (error)
        fail_generate(g, error);
    else if (!spec->deferred)
        open_first_attempt(g);
    return &g->machine;
}

/* ------------------------------------------------------ pulling events --- */

/* Does an event count as content for the timeouts? */
static bool is_content(allm_event_type type)
{
    return type != ALLM_EV_MESSAGE_STARTED && type != ALLM_EV_RAW_CHUNK &&
           type != ALLM_EV_USAGE;
}

static bool is_wanted(const struct generate *g, allm_event_type type)
{
    switch (type) {
    case ALLM_EV_TEXT_DELTA:      return g->plan.terms.text_deltas;
    case ALLM_EV_TOOL_CALL_DELTA: return g->plan.terms.tool_deltas;
    case ALLM_EV_RAW_CHUNK:       return g->plan.terms.raw_chunks;
    default:                      return true;
    }
}

/* The fold is made on first use, so a waiting stream has none.  NULL: out of
 * memory. */
static struct collect *ensure_collect(struct generate *g)
{
    if (g->collect)
        return g->collect;
    g->own_collect = mem_alloc(g->quota.inner, sizeof *g->own_collect);
    if (!g->own_collect)
        return NULL;
    *g->own_collect = (struct collect){ .home = NULL };
    if (collect_init(g->own_collect, g->plan.home, NULL))
        g->collect = g->own_collect;
    return g->collect;
}

/* May the fold keep the values of this event, and take over their memory? */
static bool may_borrow(const struct generate *g, const allm_event *event)
{
    struct mem mine = g->quota.inner, its = home_mem(g->collect->home);
    return sink_lasts(event) && mine.fn == its.fn && mine.ud == its.ud;
}

static allm_status fold_event(struct generate *g, const allm_event *event)
{
    if (event->type == ALLM_EV_MESSAGE_STARTED)
        return ALLM_OK;         /* nothing to fold */
    struct collect *c = ensure_collect(g);
    if (!c)
        return ALLM_ERR_NOMEM;
    return event->type == ALLM_EV_TOOL_CALL_COMPLETED && may_borrow(g, event)
               ? collect_borrow(c, event)
               : collect_add(c, event);
}

/* Call on_event, fold the event, filter it.  EVENT: deliver it.  OK: drop
 * it. */
static allm_status fold_and_filter(struct generate *g, allm_event *event)
{
    const struct terms *t = &g->plan.terms;
    if (is_content(event->type))
        g->deadlines.has_content = g->deadlines.has_new_content = true;
    if (t->on_event) {
        allm_status status = t->on_event(event, t->on_event_ud);
        if (status < 0) {
            fail_with(g, status, "tap_failed",
                      "on_event ended the call by returning a status below 0; "
                      "return ALLM_OK to continue");
            return status;
        }
    }
    allm_status status = fold_event(g, event);
    if (status == ALLM_ERR_NOMEM)
        fail_generate(g, status_nomem());
    else if (status < 0)
        fail_with(g, status, "invalid_usage",
                  "the adapter emitted a usage with an unknown field; put such "
                  "numbers into extra");
    if (status < 0)
        return status;
    if (event->type == ALLM_EV_ERROR)
        g->error = g->collect->error;
    return is_wanted(g, event->type) ? ALLM_EVENT : ALLM_OK;
}

/* The answer fails in the middle: emit an error event, then end. */
static void put_error_event(struct generate *g, const allm_error *error)
{
    g->state = CLOSING;
    allm_event *event = sink_add(&g->sink, ALLM_EV_ERROR);
    if (event)
        event->error = error_copy(g->plan.home, error);
    else
        fail_generate(g, status_nomem());
}

/* If the answer is settled, a timeout ends the wait but is not a failure. */
static bool hurry_feed(struct generate *g)
{
    bool now_only = g->feed && g->feed->settled && !g->feed->hurry;
    if (now_only)
        g->feed->hurry = true;
    return now_only;
}

static void on_deadline(struct generate *g)
{
    allm_error late = status_blank(ALLM_ERR_ADAPTER);
    late.reason = "timeout";
    late.provider = g->plan.call.provider;
    late.message = deadlines_message(&g->deadlines, &g->plan.terms, now_ns(g));
    if (hurry_feed(g))
        return;
    if (g->feed && g->feed->begun) {
        put_error_event(g, &late);
        return;
    }
    close_feed(g);
    if (!schedule_retry(g, &late))
        fail_generate(g, &late); /* No answer began: fail without an event. */
}

/* The feed has nothing yet: wait until the next timeout. */
static allm_status wait_for_feed(struct generate *g, int64_t again,
                                 int64_t *again_ns)
{
    int64_t at = now_ns(g);
    if (g->deadlines.has_new_content)   /* the silence begins now */
        deadlines_restart(&g->deadlines, waker_of(g), at);
    arena_release(&g->events);  /* An idle stream needs no memory for events. */
    int64_t limit = deadlines_next(&g->deadlines, &g->plan.terms, waker_of(g));
    if (at >= limit) {
        on_deadline(g);
        return ALLM_OK;
    }
    *again_ns = again < limit ? again : limit;
    return ALLM_AGAIN;
}

/* The feed failed: emit the error as an event, retry, or fail. */
static void on_feed_failure(struct generate *g)
{
    /* A copy, since its strings may belong to the feed. */
    const allm_error *error = error_copy(g->plan.home, feed_error(g));
    if (g->ticket)
        pacer_done(g->ticket, error, 0, now_ns(g));
    quota_lift(&g->quota);
    if (error->kind == ALLM_ERR_NOMEM || error->kind == ALLM_ERR_MISUSE) {
        fail_generate(g, error);
    } else if (g->feed->begun) {
        put_error_event(g, error);
    } else {
        close_feed(g);
        if (!schedule_retry(g, error))
            fail_generate(g, error);
    }
}

/* Is the answer too large?  What the fold has collected is needed twice more:
 * for the response and for the message in the thread. */
static bool exceeds_quota(const struct generate *g)
{
    size_t fold = g->collect ? collect_held(g->collect) : 0;
    return !g->sink.ended && quota_spent(&g->quota, 3 * fold);
}

/* Has a stream that never waits reached the deadline of the call? */
static bool is_overdue(const struct generate *g)
{
    int64_t last = total_deadline(g);
    return last < INT64_MAX && !g->feed->hurry && now_ns(g) >= last;
}

/* Has the pacer let the attempt start?  AGAIN: not yet. */
static allm_status wait_for_pacer(struct generate *g, int64_t *again_ns)
{
    int64_t at = now_ns(g), last = total_deadline(g), again;
    if (!g->ticket || g->ticket->state == PACER_SENT)
        return ALLM_OK;
    if (attempt_may_start(g->ticket, waker_of(g), at, &again)) {
        deadlines_restart(&g->deadlines, waker_of(g), at);
        return ALLM_OK;
    }
    *again_ns = again < last ? again : last;
    return ALLM_AGAIN;
}

/* Tell the pacer how the answer ended, and what it used. */
static void settle_pacer(struct generate *g)
{
    const allm_usage *u = g->collect ? g->collect->usage : NULL;
    if (g->ticket)
        pacer_done(g->ticket, g->error,
                   u ? u->input_tokens.value + u->output_tokens.value : 0,
                   now_ns(g));
}

/* Pull the feed; OK: the sink has events, or the state has changed. */
static allm_status pull_feed(struct generate *g, int64_t *again_ns)
{
    int64_t again = INT64_MAX;
    arena_reset(&g->events);    /* The caller no longer borrows them. */
    sink_init(&g->sink, &g->events, &g->attempt);
    if (is_overdue(g)) {
        on_deadline(g);
        return ALLM_OK;
    }
    if (wait_for_pacer(g, again_ns) == ALLM_AGAIN)
        return ALLM_AGAIN;
    allm_status status = g->feed->ops->next(g->feed, &g->sink, &again);
    g->deadlines.has_new_content |= g->feed->fresh;
    g->feed->fresh = false;
    if (status == ALLM_AGAIN && !g->sink.first)
        return wait_for_feed(g, again, again_ns);
    if (status == ALLM_OK) {
        g->state = CLOSING;     /* Pending events may point into the feed. */
    } else if (status < 0) {
        on_feed_failure(g);
    } else if (exceeds_quota(g)) {
        g->over_quota = true;
        on_feed_failure(g);
    }
    return ALLM_OK;
}

static bool is_task(const struct generate *g)
{
    const allm_call *c = &g->plan.call;
    return c->embed || c->image || c->moderation;
}

/* The answer has ended: make the response and end the spans. */
static void complete_answer(struct generate *g)
{
    if (g->feed && is_task(g)) {
        struct arena *a = home_arena(g->plan.home);
        g->answer_id = arena_text(a, g->feed->answer_id);
        if (g->feed->answer_id && !g->answer_id) {
            fail_generate(g, status_nomem());
            return;
        }
    }
    settle_pacer(g);
    close_feed(g);
    hand_over_attempt(g);
    arena_release(&g->attempt); /* The fold has the answer now. */
    struct collect *c = ensure_collect(g);
    if (c && g->plan.ref && collect_usage(c))
        catalog_costs(c->usage, g->plan.ref);
    if (c)
        g->response = collect_response(c, g->plan.call.request_id);
    if (!g->response) {
        fail_generate(g, status_nomem());
        return;
    }
    g->state = ENDED;
    if (g->own_collect)
        collect_drop_texts(g->own_collect);
    spans_end(g->spans, g->response);
}

static allm_status reopen_feed(struct generate *g, int64_t *again_ns)
{
    int64_t at = now_ns(g), last = total_deadline(g);
    if (at >= last) {           /* The caller held the stream for too long. */
        on_deadline(g);
        return ALLM_OK;
    }
    bool held = waker_of(g)->held;
    if (held || at < g->again_ns) {
        *again_ns = held ? last : g->again_ns;
        return ALLM_AGAIN;
    }
    arena_reset(&g->events);
    if (!open_feed(g)) {
        const allm_error *error = feed_error(g);
        if (!schedule_retry(g, error))
            fail_generate(g, error);
    }
    return ALLM_OK;
}

static allm_status advance_generate(struct generate *g, int64_t *again_ns)
{
    if (!g->pulled) {
        g->deadlines.began_ns = now_ns(g);
        deadlines_restart(&g->deadlines, waker_of(g), g->deadlines.began_ns);
    }
    g->pulled = true;
    switch (g->state) {
    case OPENING:
        return reopen_feed(g, again_ns);
    case RUNNING:
        return pull_feed(g, again_ns);
    case CLOSING:
        complete_answer(g);
        return ALLM_OK;
    case ENDED:
    case FAILED:
        break;
    }
    return ALLM_OK;
}

static allm_status generate_next(struct machine *m, allm_event **event,
                                 int64_t *again_ns)
{
    struct generate *g = as_generate(m);
    for (;;) {
        if (g->state == FAILED)
            return g->error->kind;
        *event = sink_take(&g->sink);
        if (*event) {
            allm_status status = fold_and_filter(g, *event);
            *again_ns = MACHINE_BUSY;   /* if the event was dropped */
            return status == ALLM_OK ? ALLM_AGAIN : status;
        }
        if (g->state == ENDED)
            return ALLM_OK;
        if (advance_generate(g, again_ns) == ALLM_AGAIN)
            return ALLM_AGAIN;
    }
}

/* ------------------------------------------------ stopping and results --- */

static void generate_stop(struct machine *m, bool cancelled)
{
    struct generate *g = as_generate(m);
    close_feed(g);
    if (g->state == ENDED || g->state == FAILED)
        return;
    if (cancelled)
        g->error = &error_cancelled;
    sink_init(&g->sink, &g->events,
              &g->attempt);     /* pending events are dropped */
    complete_answer(g);
}

static void generate_free(struct machine *m)
{
    struct generate *g = as_generate(m);
    struct mem mem = g->quota.inner;
    close_feed(g);
    if (g->ticket)
        pacer_release(g->ticket);
    call_plan_release(&g->plan);
    spans_end(g->spans, NULL);
    allm_response_free(g->response);
    if (g->own_collect && g->own_collect->home)
        collect_release(g->own_collect);
    mem_free(mem, g->own_collect, sizeof *g->own_collect);
    arena_release(&g->attempt);
    arena_release(&g->events);
    home_drop(g->plan.home);
    allm_engine_free(g->plan.engine);
    mem_free(mem, g, sizeof *g);
}

static const allm_error *generate_error(const struct machine *m)
{
    return ((const struct generate *)m)->error;
}

static bool has_error_event(const struct allm_sink *sink)
{
    const struct sink_item *i = sink->first;
    while (i && i->event.type != ALLM_EV_ERROR)
        i = i->next;
    return i != NULL;
}

/* A timeout does not fail a settled answer; it only ends the wait. */
static bool generate_failed(const struct machine *m, int64_t *again_ns)
{
    const struct generate *g = (const struct generate *)m;
    if (g->error || has_error_event(&g->sink))
        return true;
    if (!g->pulled || (g->state != OPENING && g->state != RUNNING))
        return false;
    bool settled = g->feed && g->feed->settled;
    *again_ns = settled ? INT64_MAX : total_deadline(g);
    if (*again_ns != INT64_MAX && now_ns(g) >= *again_ns)
        return true;
    return g->feed && g->feed->ops->failed &&
           g->feed->ops->failed(g->feed, again_ns);
}

static const allm_response *generate_response(const struct machine *m)
{
    return ((const struct generate *)m)->response;
}

const char *generate_answer_id(const struct machine *m)
{
    return ((const struct generate *)m)->answer_id;
}

static const char *generate_request_id(const struct machine *m)
{
    return ((const struct generate *)m)->plan.call.request_id;
}

static const struct machine_ops generate_ops = {
    .next = generate_next,
    .stop = generate_stop,
    .free = generate_free,
    .error = generate_error,
    .failed = generate_failed,
    .response = generate_response,
    .request_id = generate_request_id,
};

allm_stream *allm_generate(const allm_engine *e, const allm_request *r,
                           const allm_call_opts *opts)
{
    if (!e || !r)
        return refused_missing(e, "invalid_request", "request");
    allm_stream *s = stream_for(e);
    if (!s)
        return NULL;
    const struct call_spec spec = { .name = "generate", .request = r,
                                    .call_opts = opts };
    return stream_begin(s, generate_open(e, &spec, NULL, s));
}
