/*
 * hub.c - many streams behind one descriptor: the only place that waits
 *
 *      timers (deadlines) --.
 *      inbox  (other threads)+--> ready list --> allm_hub_wait() returns one
 *      poll   (descriptors) -'
 *
 * The caller pulls the returned stream until it has no more events.  After
 * HUB_VISIT events the stream moves to the end of the ready list, so that a
 * busy stream does not starve the others.
 *
 * Invariants
 *   (1) A stream is in the ready list at most once (seat.ready).
 *   (2) A stream that was returned and has not answered AGAIN is returned
 *       again.
 *   (3) All streams of a hub use one clock, the hub's.
 *   (4) After allm_hub_wait() has returned NULL, the descriptor is readable
 *       when a stream is ready, is rung or is due; so a foreign loop watches
 *       nothing else.
 *   (5) The inbox holds no item of a stream that is gone: whatever may ring has
 *       ended before the stream leaves.
 *   (6) The descriptors are checked again when the streams that were ready at
 *       the last check, or POLL_BATCH of them, were returned: streams that are
 *       ready or were not pulled do not starve the others.
 */
#include "run/hub.h"

#include "base/caller_struct.h"
#include "base/status.h"
#include "loop/poll.h"
#include "loop/workers.h"
#include "net/clients.h"
#include "run/pool.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>

enum { MAX_WORKERS = 1024 };        /* batches have their own limits */
enum { WORKER_LOOK_NS = 1000000 };  /* only with the clock of a test */

struct allm_hub {
    struct mem mem;
    struct clock clock;
    bool has_clock;
    struct poll poll;
    struct timers timers;
    struct inbox *inbox;
    struct workers workers;
    bool has_workers;
    struct clients clients;
    allm_net_opts net;              /* its strings are in net_texts */
    bool has_net;
    struct arena net_texts;
    struct pool_item kept;          /* in the pool of an engine */
    allm_stream *streams;
    size_t count;                   /* streams that have not ended */
    allm_stream *first_ready, *last_ready;
    size_t ready_count;
    size_t turns;                   /* until the descriptors are checked */
    allm_stream *named;             /* returned by the last wait */
    const allm_error *error;        /* the hub cannot be used; static */
    const allm_error *fault;        /* of the last call only; static */
};

/* ---------------------------------------------------------------- life --- */

static const allm_error no_descriptors = STATUS_ERROR(
    ALLM_ERR_ENGINE, "invalid_engine",
    "no descriptors are left for the hub, which needs up to three; "
    "raise the limit (ulimit -n)");

static const allm_error hub_gone = STATUS_ERROR(
    ALLM_ERR_MISUSE, "hub_gone",
    "the hub of this stream was freed before the stream had ended; "
    "free streams first");

static const allm_error seated =
    STATUS_ERROR(ALLM_ERR_MISUSE, "seated",
                 "allm_hub_add: the stream is in a hub already, where it stays "
                 "until it is freed; add each stream once");

static const allm_error pulled = STATUS_ERROR(
    ALLM_ERR_MISUSE, "pulled",
    "allm_hub_add: the stream was pulled before; add it before its "
    "first allm_stream_next or allm_stream_wait");

static const allm_error homeless =
    STATUS_ERROR(ALLM_ERR_MISUSE, "hub_gone",
                 "allm_hub_add: the stream has failed, since the hub it was in "
                 "was freed; make the call anew and add that");

static const allm_error other_clock =
    STATUS_ERROR(ALLM_ERR_MISUSE, "other_clock",
                 "allm_hub_add: the stream's engine goes by another clock than "
                 "the hub; give both the same clock, or use a second hub");

static const allm_error cannot_wait =
    STATUS_ERROR(ALLM_ERR_ENGINE, "cannot_wait",
                 "waiting is not possible: the descriptors do not work any "
                 "more; were they closed, or is this a child process?");

static const allm_error no_size =
    STATUS_ERROR(ALLM_ERR_MISUSE, "struct_size",
                 "allm_hub_new: fill the options with ALLM(hub_opts, ...), and "
                 "those of the network with ALLM(net_opts, ...)");

static allm_hub *hub_alloc(struct mem mem)
{
    allm_hub *h = mem_alloc(mem, sizeof *h);
    if (!h)
        return NULL;
    *h = (allm_hub){ .mem = mem, .clock = clock_real() };
    h->poll.fd = h->poll.timer_fd = -1;
    timers_init(&h->timers, mem);
    clients_init(&h->clients, mem, &h->poll);
    arena_init(&h->net_texts, mem);
    return h;
}

/* Copies the options of the client.  False: a wrong size, or no memory. */
static bool take_net(allm_hub *h, const allm_net_opts *given)
{
    if (!given)
        return true;
    h->has_net = caller_struct_take(&h->net, sizeof h->net, given);
    h->net.ca_file = arena_text(&h->net_texts, h->net.ca_file);
    h->net.proxy = arena_text(&h->net_texts, h->net.proxy);
    h->net.user_agent = arena_text(&h->net_texts, h->net.user_agent);
    return h->has_net && !h->net_texts.broken;
}

/* 0, or an errno. */
static int open_descriptors(allm_hub *h)
{
    int error = poll_init(&h->poll);
    if (!error)
        error = inbox_new(h->mem, &h->inbox);
    if (!error)
        error = poll_add(&h->poll, wake_fd(inbox_wake(h->inbox)), POLL_READ, h);
    return error;
}

allm_hub *allm_hub_new(const allm_hub_opts *opts)
{
    allm_hub_opts none = { .size = sizeof none };
    bool odd = !caller_struct_take(&none, sizeof none, opts);
    opts = &none;
    allm_hub *h = hub_alloc(mem_from(opts->allocator));
    if (!h)
        return NULL;
    if (opts->clock) {
        h->clock = clock_from(opts->clock);
        h->has_clock = true;
    }
    odd = !take_net(h, opts->net) || odd;
    int error = h->net_texts.broken ? ENOMEM : open_descriptors(h);
    if (error == ENOMEM) {
        allm_hub_free(h);
        return NULL;
    }
    h->error = odd ? &no_size : error ? &no_descriptors : NULL;
    return h;
}

const allm_error *allm_hub_error(const allm_hub *h)
{
    if (!h)
        return status_nomem();
    return h->error ? h->error : h->fault;
}

/* ---------------------------------------------------------- ready list --- */

bool hub_holds(const allm_stream *s, int64_t *again_ns)
{
    const struct machine *m = s->machine;
    if (!s->waker.held || atomic_load(&s->cancelled))
        return false;
    *again_ns = INT64_MAX;
    return m->ops->failed ? !m->ops->failed(m, again_ns) : !m->ops->error(m);
}

static void set_timer(allm_hub *h, allm_stream *s, int64_t again_ns)
{
    if (again_ns == INT64_MAX)
        timers_cancel(&h->timers, &s->seat.timer);
    else
        timers_set(&h->timers, &s->seat.timer, again_ns);   /* has room */
}

/* A held stream is not ready: only its timer is set. */
static void make_ready(allm_hub *h, allm_stream *s)
{
    int64_t again_ns;
    if (s->seat.ready)
        return;
    if (hub_holds(s, &again_ns)) {
        set_timer(h, s, again_ns);
        return;
    }
    s->seat.ready = true;       /* keeps (1) */
    s->seat.next_ready = NULL;
    s->seat.prev_ready = h->last_ready;
    if (h->last_ready)
        h->last_ready->seat.next_ready = s;
    else
        h->first_ready = s;
    h->last_ready = s;
    h->ready_count++;
}

static void remove_ready(allm_hub *h, allm_stream *s)
{
    struct seat *seat = &s->seat;
    if (!seat->ready)
        return;
    if (seat->prev_ready)
        seat->prev_ready->seat.next_ready = seat->next_ready;
    else
        h->first_ready = seat->next_ready;
    if (seat->next_ready)
        seat->next_ready->seat.prev_ready = seat->prev_ready;
    else
        h->last_ready = seat->prev_ready;
    h->ready_count--;
    seat->ready = false;
    seat->next_ready = seat->prev_ready = NULL;
}

static allm_stream *take_ready(allm_hub *h)
{
    allm_stream *s = h->first_ready;
    if (s)
        remove_ready(h, s);
    return s;
}

/* Makes the descriptor readable until the next allm_hub_wait().  Returns 0 or
 * an errno. */
static int show_readable(allm_hub *h)
{
    return poll_set_deadline(&h->poll, 1);
}

/* ------------------------------------------------------------- seating --- */

static void add_stream(allm_hub *h, allm_stream *s, void *tag)
{
    s->seat.hub = h;
    s->seat.tag = tag;
    s->seat.prev = NULL;
    s->seat.next = h->streams;
    if (h->streams)
        h->streams->seat.prev = s;
    h->streams = s;
    h->count++;
    s->seat.alive = true;
    waker_attach(&s->waker, h->inbox);
}

/* Make the streams ready for which a waker has rung. */
static void read_inbox(allm_hub *h)
{
    struct inbox_item *item = inbox_take(h->inbox);
    while (item) {
        struct inbox_item *next = item->next;
        allm_stream *s = (allm_stream *)(void *)((char *)item -
                                                 offsetof(allm_stream, waker) -
                                                 offsetof(allm_waker, item));
        waker_unposted(&s->waker);
        waker_clear(&s->waker);
        if (s->seat.alive)
            make_ready(h, s);
        item = next;
    }
}

/* The stream has ended. */
static void retire_stream(allm_hub *h, allm_stream *s)
{
    timers_cancel(&h->timers, &s->seat.timer);
    remove_ready(h, s);
    if (h->named == s)
        h->named = NULL;
    if (s->seat.alive)
        h->count--;
    s->seat.alive = false;
}

static void remove_stream(allm_hub *h, allm_stream *s)
{
    retire_stream(h, s);
    if (s->seat.prev)
        s->seat.prev->seat.next = s->seat.next;
    else
        h->streams = s->seat.next;
    if (s->seat.next)
        s->seat.next->seat.prev = s->seat.prev;
    s->seat.hub = NULL;
}

const allm_transport *hub_transport(allm_stream *s, const allm_net_opts *opts)
{
    allm_hub *h = s->seat.hub;
    const allm_net_opts *net = h->has_net ? &h->net : opts;
    const struct client_opts how = {
        .ca_file = net ? net->ca_file : NULL,
        .proxy = net ? net->proxy : NULL,
        .user_agent = net ? net->user_agent : NULL,
        .max_idle_ms = net ? net->max_idle_ms : 0,
        .max_connections = net ? net->max_connections : 0,
        .http2 = net && net->http2,
        .public_only = (net && net->public_only) || (opts && opts->public_only),
    };
    return clients_transport(&h->clients, &how);
}

struct workers *hub_workers(allm_stream *s, bool make)
{
    allm_hub *h = s->seat.hub;
    if (!h || (!h->has_workers && !make))
        return NULL;
    if (!h->has_workers)
        workers_init(&h->workers, h->mem, MAX_WORKERS, WORKERS_IDLE_NS,
                     "allm-tool");
    h->has_workers = true;
    return &h->workers;
}

static void free_hub(allm_hub *h)
{
    if (h->has_workers)
        workers_release(&h->workers);
    clients_release(&h->clients);
    arena_release(&h->net_texts);
    if (h->inbox)
        inbox_close(h->inbox);
    inbox_drop(h->inbox);
    timers_release(&h->timers);
    poll_release(&h->poll);
    mem_free(h->mem, h, sizeof *h);
}

/* ----------------------------------------------------------- kept hubs --- */

/* Threads that still ring for the stream that left must not reach the next
 * one.  False: no memory. */
static bool change_inbox(allm_hub *h)
{
    struct inbox *fresh = inbox_replace(h->inbox);
    if (fresh)
        h->inbox = fresh;
    return fresh != NULL;
}

static void free_kept(struct pool_item *item)
{
    free_hub((allm_hub *)(void *)((char *)item - offsetof(allm_hub, kept)));
}

/* False: it has no connections, or enough hubs are kept. */
static bool keep_hub(allm_attachments *a, allm_hub *h)
{
    h->kept = (struct pool_item){ .clock = h->clock, .free = free_kept };
    return a && h->clients.first && change_inbox(h) &&
           pool_put(a, h->mem, &h->kept);
}

static allm_hub *take_kept(allm_attachments *a, struct clock clock)
{
    struct pool_item *item = a ? pool_take(a, clock) : NULL;
    return item ? (allm_hub *)(void *)((char *)item - offsetof(allm_hub, kept))
                : NULL;
}

void hub_leave(allm_stream *s)
{
    allm_hub *h = s->seat.hub;
    if (!h)
        return;
    read_inbox(h);              /* removes its item: (5) */
    remove_stream(h, s);
    if (s->seat.private && !keep_hub(s->attachments, h))
        free_hub(h);
    else if (s->seat.private)
        s->seat.private = false;
    else if (h->first_ready)
        show_readable(h);       /* the inbox has been read; keeps (4) */
}

void hub_done(allm_stream *s)
{
    if (s->seat.hub && s->seat.private)
        hub_leave(s);           /* later rings find the inbox closed */
    else if (s->seat.hub)
        retire_stream(s->seat.hub, s);
}

/* The hub is freed: the stream fails from now on. */
static void orphan_stream(allm_stream *s)
{
    if (!s->ended) {
        s->machine->ops->stop(s->machine, true);
        s->error = &hub_gone;
        s->status = ALLM_ERR_MISUSE;
        s->ended = true;
        s->borrowed = NULL;
    }
    hub_leave(s);
}

void allm_hub_free(allm_hub *h)
{
    if (!h)
        return;
    while (h->streams)
        orphan_stream(h->streams);
    free_hub(h);
}

/* Why the hub rejects this stream; NULL: it accepts it. */
static const allm_error *refuse_stream(allm_hub *h, const allm_stream *s)
{
    if (!s)
        return status_nomem();
    if (s->seat.hub)
        return &seated;
    if (s->pulled)
        return &pulled;
    if (s->ended)
        return &homeless;
    if (h->has_clock && !clock_is(h->clock, s->clock))
        return &other_clock;    /* keeps (3) */
    if (!timers_reserve(&h->timers, h->count + 1))
        return status_nomem();
    return show_readable(h) ? &no_descriptors : NULL;    /* keeps (4) */
}

allm_status allm_hub_add(allm_hub *h, allm_stream *s, void *tag)
{
    if (!h)
        return ALLM_ERR_NOMEM;
    if (h->error)
        return h->error->kind;
    h->fault = refuse_stream(h, s);
    if (h->fault)
        return h->fault->kind;
    h->clock = s->clock;
    h->has_clock = true;
    add_stream(h, s, tag);
    make_ready(h, s);
    return ALLM_OK;
}

void hub_rest(allm_stream *s, int64_t again_ns, bool more)
{
    allm_hub *h = s->seat.hub;
    s->seat.visit = 0;
    if (h->named == s)
        h->named = NULL;
    if (more || waker_clear(&s->waker))
        make_ready(h, s);
    else
        set_timer(h, s, again_ns);
}

void hub_hold(allm_stream *s)
{
    allm_hub *h = s->seat.hub;
    remove_ready(h, s);
    if (h->named == s)
        h->named = NULL;
    make_ready(h, s);
    show_readable(h);           /* the deadline may have changed; (4) */
}

/* ------------------------------------------------------------- waiting --- */

static void read_timers(allm_hub *h)
{
    int64_t now = clock_now_ns(h->clock);
    struct timer *t;
    while ((t = timers_pop(&h->timers, now)))
        make_ready(h, (allm_stream *)(void *)((char *)t -
                                              offsetof(allm_stream, seat) -
                                              offsetof(struct seat, timer)));
}

/* Process everything that is ready now, without waiting. */
static void process_ready(allm_hub *h)
{
    struct poll_ready ready;
    wake_mute(inbox_wake(h->inbox));    /* until read_inbox() */
    while (poll_next(&h->poll, &ready)) {
        struct poll_handler *who = ready.tag;
        if (ready.tag == h)     /* another thread rang */
            wake_readable(inbox_wake(h->inbox));
        else
            who->ready(who, ready.what);
    }
    clients_timeout(&h->clients);
    read_inbox(h);
    read_timers(h);
}

/* The next deadline by the real clock, for the descriptor. */
static int64_t real_deadline(allm_hub *h)
{
    int64_t due, client = clients_due(&h->clients);
    if (h->first_ready)
        return clock_now_ns(clock_real());
    if (!timers_next(&h->timers, &due))
        return client == INT64_MAX ? POLL_NEVER : client;
    int64_t left = clock_between(clock_now_ns(h->clock), due);
    int64_t at = clock_add(clock_now_ns(clock_real()), left > 0 ? left : 0);
    return at < client ? at : client;
}

/* Is something running that the clock of a test must not skip? */
static bool is_busy(const allm_hub *h)
{
    return (h->has_workers && workers_busy(&h->workers)) ||
           clients_open(&h->clients);
}

/* How long to wait, in nanoseconds, if the next deadline is `left` away (< 0:
 * there is none). */
static int64_t wait_limit(const allm_hub *h, int64_t left, bool busy)
{
    int64_t client = clients_due(&h->clients);
    /* Time stands while a function runs, and nobody rings when the last thread
     * has come to rest. */
    if (busy && h->clock.sleep_until)
        left = WORKER_LOOK_NS;
    if (client == INT64_MAX)
        return left;
    int64_t real = client - clock_now_ns(clock_real());
    real = real > 0 ? real : 0;
    return left < 0 || real < left ? real : left;
}

/* False, and the hub's error says so: waiting is not possible. */
static bool wait_for_poll(allm_hub *h, int64_t timeout_ns)
{
    if (poll_wait(&h->poll, timeout_ns) == 0)
        return true;
    h->fault = &cannot_wait;
    return false;
}

/* Wait once, at most until `until` of the hub's clock; *last: that time has
 * passed, and the descriptors were only checked.  False: it cannot wait. */
static bool wait_once(allm_hub *h, int64_t until, bool *last)
{
    int64_t due = INT64_MAX, now = clock_now_ns(h->clock);
    timers_next(&h->timers, &due);
    h->turns = 0;
    *last = now >= until;
    if (*last)
        return wait_for_poll(h, 0);
    int64_t next = due < until ? due : until;
    bool busy = is_busy(h);
    if (!busy && h->has_workers) {
        read_inbox(h);          /* jobs that were handed back */
        if (h->first_ready)
            return true;
    }
    if (!busy && h->clock.sleep_until && next != INT64_MAX &&
        h->clock.sleep_until(h->clock.ud, next))
        return true;
    poll_set_deadline(&h->poll, POLL_NEVER);
    int64_t left = next == INT64_MAX ? -1 : clock_between(now, next);
    return wait_for_poll(h, wait_limit(h, left, busy));
}

static int64_t limit_of(const allm_hub *h, int timeout_ms)
{
    return timeout_ms < 0 ? INT64_MAX
                          : clock_after(clock_now_ns(h->clock), timeout_ms);
}

static allm_stream *name_first(allm_hub *h, void **tag)
{
    if (!h->turns)
        h->turns = h->ready_count < POLL_BATCH ? h->ready_count : POLL_BATCH;
    h->turns--;
    allm_stream *s = h->named = take_ready(h);
    s->seat.visit = 0;
    if (tag)
        *tag = s->seat.tag;
    return s;
}

allm_stream *allm_hub_wait(allm_hub *h, int timeout_ms, void **tag)
{
    if (!h || h->error)
        return NULL;
    int64_t until = limit_of(h, timeout_ms);
    allm_stream *unread = h->named;
    bool last = false;
    h->named = NULL;
    h->fault = NULL;
    if ((unread || h->first_ready) && !h->turns && clients_open(&h->clients))
        poll_wait(&h->poll, 0);         /* the loop below does not wait; (6) */
    do {
        process_ready(h);
        if (unread)
            make_ready(h, unread);      /* after the others; keeps (2) */
        unread = NULL;
        if (h->first_ready)
            return name_first(h, tag);
    } while (!last && h->count && wait_once(h, until, &last));
    poll_set_deadline(&h->poll, real_deadline(h));
    return NULL;
}

int allm_hub_fd(const allm_hub *h)
{
    return h && !h->error ? poll_fd(&h->poll) : -1;
}

int allm_hub_timeout(const allm_hub *h)
{
    int64_t due, left = -1;
    if (!h || h->error)
        return -1;
    if (h->first_ready || h->named)
        return 0;
    if (timers_next(&h->timers, &due)) {
        left = clock_between(clock_now_ns(h->clock), due);
        left = left > 0 ? left : 0;
    }
    left = wait_limit(h, left, false);
    if (left < 0)
        return -1;
    int64_t ms = left / 1000000 + (left % 1000000 != 0);
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

size_t allm_hub_count(const allm_hub *h)
{
    return h ? h->count : 0;
}

/* -------------------------------------------------------- lone streams --- */

const allm_error *hub_adopt(allm_stream *s)
{
    allm_hub *h = take_kept(s->attachments, s->clock);
    if (h) {
        s->seat.private = true;
        add_stream(h, s, NULL);
        return NULL;
    }
    h = hub_alloc(s->mem);
    int error = h ? open_descriptors(h) : ENOMEM;
    if (!error && !timers_reserve(&h->timers, 1))
        error = ENOMEM;
    if (error) {
        allm_hub_free(h);
        return error == ENOMEM ? status_nomem() : &no_descriptors;
    }
    h->clock = s->clock;
    h->has_clock = true;
    s->seat.private = true;
    add_stream(h, s, NULL);
    return NULL;
}

const allm_error *hub_await(allm_stream *s, int64_t again_ns)
{
    hub_rest(s, again_ns, false);
    return allm_hub_wait(s->seat.hub, -1, NULL) ? NULL : &cannot_wait;
}
