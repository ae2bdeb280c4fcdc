/*
 * pacer.c - keep calls within the limits of providers
 *
 *      pacer --> lane (provider, key, model) --> tickets that wait
 *                 |-- limit       requests in flight; halved when refused
 *                 |-- cool_ns     nothing is sent before
 *                 |-- quota[2]    what the provider says is left
 *                 '-- rpm, tpm    what the caller allows
 *
 * A quota is what the latest response said: so many are left until a time, then
 * the whole window is.  Requests in flight may not be in that number yet, so
 * those without a response are subtracted.  Responses arrive on many
 * connections, in any order; each counts less than the one before it.  So the
 * latest one is the one with the lowest number, or the one whose request was
 * sent after the latest was read.
 *
 * Invariants
 *   (1) Everything below the lock is accessed only with it held.
 *   (2) A ticket is in the queue of its lane if and only if it is WAITING.
 *   (3) If a lane could send, and tickets wait, one of them has been woken
 *       since then, or knows the time.
 *   (4) No key is stored: a lane is found by a digest.
 *   (5) Requests sent before a window began are not counted in it.
 */
#include "engine/pacer.h"

#include "base/caller_struct.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/nocase.h"
#include "base/sha256.h"
#include "base/status.h"
#include "engine/retry.h"
#include "provider/retry_after.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { MAX_LANES = 1024, REQUESTS = 0, TOKENS = 1, FALLBACK_MS = 1000 };

#define SECOND INT64_C(1000000000)
#define MINUTE (60 * SECOND)

/* What the provider says is left.  until_ns is 0: it has said nothing. */
struct quota_left {
    double left, window;
    int64_t until_ns; /* INT64_MAX: not known */
    double said;      /* by the latest response */
    uint64_t sent_before;   /* the last request before it was read */
    uint64_t since;   /* the last request of the window before this one */
    uint32_t open;    /* later than `since`, without a response */
};

struct pacer_lane {
    struct pacer_lane *next;
    unsigned char id[SHA256_BYTES];
    size_t tickets; /* bound to this lane */
    struct pacer_ticket *first, *last;
    uint32_t in_flight, limit;
    uint32_t answers; /* in this round */
    uint64_t sent;    /* in all */
    int64_t cool_ns, refused_ns;
    int refusals; /* since the last answer */
    struct quota_left quota[2];
    double mean_tokens; /* of a call */
    uint32_t rpm, tpm;
    int64_t slot_ns;   /* of the next request, by rpm */
    double bucket;     /* tokens, by tpm */
    int64_t bucket_ns; /* when it was filled */
};

/* The limits of one provider. */
struct provider_limit {
    struct provider_limit *next;
    size_t size;
    uint32_t rpm, tpm;
    char name[];
};

struct allm_pacer {
    struct mem mem;
    atomic_size_t users;
    allm_pacer_opts opts;
    const allm_error *error; /* static */

    pthread_mutex_t lock;
    struct pacer_lane *lanes; /* the last one used is first */
    size_t lane_count;
    struct provider_limit *limits;
};

/* --------------------------------------------------------------- pacer --- */

static const allm_error bad_opts =
    STATUS_ERROR(ALLM_ERR_MISUSE, "struct_size",
                 "allm_pacer_new: fill in the options with ALLM(pacer_opts, "
                 "...); the header must not be newer than the library");

allm_pacer *allm_pacer_new(const allm_pacer_opts *opts)
{
    allm_pacer_opts mine;
    bool fine = caller_struct_take(&mine, sizeof mine, opts);
    struct mem mem = mem_from(mine.allocator);
    allm_pacer *p = mem_alloc(mem, sizeof *p);
    if (!p)
        return NULL;
    *p = (allm_pacer){ .mem = mem, .opts = mine };
    if (pthread_mutex_init(&p->lock, NULL)) {
        mem_free(mem, p, sizeof *p);
        return NULL;
    }
    atomic_init(&p->users, 1);
    if (!fine)
        p->error = &bad_opts;
    return p;
}

allm_pacer *allm_pacer_keep(allm_pacer *p)
{
    if (p)
        atomic_fetch_add_explicit(&p->users, 1, memory_order_relaxed);
    return p;
}

void allm_pacer_free(allm_pacer *p)
{
    if (!p ||
        atomic_fetch_sub_explicit(&p->users, 1, memory_order_acq_rel) != 1)
        return;
    for (struct pacer_lane *l = p->lanes, *next; l; l = next) {
        next = l->next;
        mem_free(p->mem, l, sizeof *l);
    }
    for (struct provider_limit *l = p->limits, *next; l; l = next) {
        next = l->next;
        mem_free(p->mem, l, l->size);
    }
    pthread_mutex_destroy(&p->lock);
    mem_free(p->mem, p, sizeof *p);
}

const allm_error *allm_pacer_error(const allm_pacer *p)
{
    return p ? p->error : status_nomem();
}

/* -------------------------------------------------------------- limits --- */

static struct provider_limit *limit_of(const allm_pacer *p,
                                       const char *provider)
{
    struct provider_limit *l = p->limits;
    while (l && strcmp(l->name, provider) != 0)
        l = l->next;
    return l;
}

static struct provider_limit *add_limit(allm_pacer *p, const char *provider)
{
    size_t len = strlen(provider) + 1, size;
    struct provider_limit *l = mem_add(sizeof *l, len, &size)
                                   ? mem_alloc(p->mem, size)
                                   : NULL;
    if (!l)
        return NULL;
    *l = (struct provider_limit){ .next = p->limits, .size = size };
    memcpy(l->name, provider, len);
    return p->limits = l;
}

allm_status allm_pacer_limit(allm_pacer *p, const char *provider, uint32_t rpm,
                             uint32_t tpm)
{
    if (!p || !provider)
        return p ? ALLM_ERR_MISUSE : ALLM_ERR_NOMEM;
    pthread_mutex_lock(&p->lock);
    struct provider_limit *l = limit_of(p, provider);
    l = l ? l : add_limit(p, provider);
    if (l) {
        l->rpm = rpm;
        l->tpm = tpm;
    }
    pthread_mutex_unlock(&p->lock);
    return l ? ALLM_OK : ALLM_ERR_NOMEM;
}

/* --------------------------------------------------------------- lanes --- */

/* Each part with its length, so that different parts have different digests:
 * keeps (4). */
static void digest_lane(const char *provider, struct slice key,
                        const char *model, unsigned char id[SHA256_BYTES])
{
    struct sha256 sum;
    struct slice part[3] = { slice_of(provider), key, slice_of(model) };
    sha256_init(&sum);
    for (int i = 0; i < 3; i++) {
        uint64_t len = part[i].len;
        sha256_add(&sum, (struct slice){ (const char *)&len, sizeof len });
        if (len)
            sha256_add(&sum, part[i]);
    }
    sha256_done(&sum, id);
}

/* Take a lane out of the list: the one with this id; NULL: the oldest one
 * without tickets. */
static struct pacer_lane *take_lane(allm_pacer *p, const unsigned char *id)
{
    struct pacer_lane **found = NULL;
    for (struct pacer_lane **at = &p->lanes; *at; at = &(*at)->next)
        if (id ? !memcmp((*at)->id, id, SHA256_BYTES) : !(*at)->tickets) {
            found = at;
            if (id)
                break;
        }
    struct pacer_lane *l = found ? *found : NULL;
    if (l)
        *found = l->next;
    return l;
}

static struct pacer_lane *make_lane(allm_pacer *p, const char *provider,
                                    const unsigned char *id)
{
    struct pacer_lane *l = p->lane_count >= MAX_LANES ? take_lane(p, NULL)
                                                      : NULL;
    p->lane_count += !l;
    l = l ? l : mem_alloc(p->mem, sizeof *l);
    if (!l) {
        p->lane_count--;
        return NULL;
    }
    const struct provider_limit *own = provider ? limit_of(p, provider) : NULL;
    *l = (struct pacer_lane){
        .limit = p->opts.max_in_flight ? p->opts.max_in_flight : UINT32_MAX,
        .rpm = own && own->rpm ? own->rpm : p->opts.rpm,
        .tpm = own && own->tpm ? own->tpm : p->opts.tpm,
        .cool_ns = INT64_MIN,
        .refused_ns = INT64_MIN,
        .slot_ns = INT64_MIN,
        .bucket_ns = INT64_MIN,
    };
    memcpy(l->id, id, SHA256_BYTES);
    return l;
}

bool pacer_bind(struct pacer_ticket *t, allm_pacer *p, const char *provider,
                struct slice key, const char *model)
{
    unsigned char id[SHA256_BYTES];
    digest_lane(provider, key, model, id);
    pthread_mutex_lock(&p->lock);
    struct pacer_lane *l = take_lane(p, id);
    l = l ? l : make_lane(p, provider, id);
    if (l) {
        l->next = p->lanes;
        p->lanes = l;
        l->tickets++;
        t->pacer = allm_pacer_keep(p);
        t->lane = l;
    }
    pthread_mutex_unlock(&p->lock);
    return l != NULL;
}

void pacer_release(struct pacer_ticket *t)
{
    allm_pacer *p = t->pacer;
    if (!p)
        return;
    pacer_leave(t);
    pthread_mutex_lock(&p->lock);
    t->lane->tickets--;
    pthread_mutex_unlock(&p->lock);
    t->pacer = NULL;
    allm_pacer_free(p);
}

/* --------------------------------------------------------------- queue --- */

static void enqueue_ticket(struct pacer_ticket *t)
{
    struct pacer_lane *l = t->lane;
    t->state = PACER_WAITING;
    t->next = NULL;
    t->prev = l->last;
    *(l->last ? &l->last->next : &l->first) = t;
    l->last = t;
}

static void dequeue_ticket(struct pacer_ticket *t)
{
    struct pacer_lane *l = t->lane;
    *(t->prev ? &t->prev->next : &l->first) = t->next;
    *(t->next ? &t->next->prev : &l->last) = t->prev;
    t->next = t->prev = NULL;
    t->state = PACER_IDLE;
}

/* Wake the first one that waits; it then asks: keeps (3). */
static void wake_first(const struct pacer_lane *l)
{
    if (l->first && l->first->ring)
        l->first->ring(l->first->waker);
}

/* ------------------------------------------------------------ decision --- */

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A window begins: keeps (5). */
static void begin_window(struct quota_left *q, uint64_t sent)
{
    q->left = q->said = q->window;
    q->until_ns = INT64_MAX;
    q->sent_before = q->since = sent;
    q->open = 0;
}

/* When this quota allows a request that needs `amount`. */
static int64_t quota_time(const struct pacer_lane *l, struct quota_left *q,
                          double amount, int64_t now)
{
    if (!q->until_ns)
        return now;
    if (now >= q->until_ns)
        begin_window(q, l->sent);
    if (q->left >= amount || (q->until_ns == INT64_MAX && !l->in_flight))
        return now;
    return q->until_ns;
}

/* When the slot of the next request is.  Slots that were missed are kept for a
 * tenth of a second, so that late timers cost nothing. */
static int64_t slot_time(const struct pacer_lane *l, int64_t now)
{
    return l->rpm && l->slot_ns > now ? l->slot_ns : now;
}

static void take_slot(struct pacer_lane *l, int64_t now)
{
    if (l->rpm)
        l->slot_ns = later(l->slot_ns, now - SECOND / 10) + MINUTE / l->rpm;
}

/* A bucket holds ten seconds' worth of tokens. */
static int64_t bucket_time(struct pacer_lane *l, int64_t now)
{
    double full = l->tpm / 6.0;
    double need = l->mean_tokens < full ? l->mean_tokens : full;
    if (!l->tpm)
        return now;
    if (l->bucket_ns == INT64_MIN)
        l->bucket = full;
    else
        l->bucket += (double)(now - l->bucket_ns) * l->tpm / (double)MINUTE;
    l->bucket = l->bucket < full ? l->bucket : full;
    l->bucket_ns = now;
    if (l->bucket >= need)
        return now;
    return now + (int64_t)((need - l->bucket) * (double)MINUTE / l->tpm) + 1;
}

/* When the next request may be sent; INT64_MAX: after an answer. */
static int64_t next_time(struct pacer_lane *l, int64_t now)
{
    if (l->in_flight >= l->limit)
        return INT64_MAX;
    int64_t at = later(now, l->cool_ns);
    at = later(at, quota_time(l, &l->quota[REQUESTS], 1, now));
    at = later(at, quota_time(l, &l->quota[TOKENS], l->mean_tokens, now));
    at = later(at, slot_time(l, now));
    return later(at, bucket_time(l, now));
}

/* Count the request of this ticket. */
static void send_ticket(struct pacer_ticket *t, int64_t now)
{
    struct pacer_lane *l = t->lane;
    t->state = PACER_SENT;
    t->sent_ns = now;
    t->tokens = l->mean_tokens;
    t->answered = false;
    t->number = ++l->sent;
    l->in_flight++;
    l->quota[REQUESTS].open++;
    l->quota[TOKENS].open++;
    l->quota[REQUESTS].left -= 1;
    l->quota[TOKENS].left -= t->tokens;
    l->bucket -= t->tokens;
    take_slot(l, now);
}

bool pacer_ask(struct pacer_ticket *t, int64_t now_ns, int64_t *again_ns)
{
    if (!t->pacer || t->state == PACER_SENT)
        return true;
    pthread_mutex_lock(&t->pacer->lock);
    struct pacer_lane *l = t->lane;
    int64_t at = next_time(l, now_ns);
    bool goes = at <= now_ns;
    if (goes) {
        if (t->state == PACER_WAITING)
            dequeue_ticket(t);
        send_ticket(t, now_ns);
        wake_first(l);
    } else {
        if (t->state == PACER_IDLE)
            enqueue_ticket(t);
        /* The others are woken; in case the first never asks, they look. */
        *again_ns = l->first == t ? at : clock_after(now_ns, FALLBACK_MS);
    }
    pthread_mutex_unlock(&t->pacer->lock);
    return goes;
}

/* ------------------------------------------------------------- answers --- */

/* A response to the ticket has begun, or none will. */
static void close_ticket(struct pacer_ticket *t)
{
    struct pacer_lane *l = t->lane;
    for (int i = 0; i <= TOKENS && !t->answered; i++)
        l->quota[i].open -= t->number > l->quota[i].since;
    t->answered = true;
}

/* The ticket is no longer in flight. */
static void retire_ticket(struct pacer_ticket *t)
{
    t->state = PACER_IDLE;
    t->lane->in_flight--;
    close_ticket(t);
}

/* A refusal counts once for all requests that were in flight at the time. */
static void slow_down(const struct pacer_ticket *t, const allm_error *error,
                      int64_t now)
{
    enum { FIRST_MS = 1000, DOUBLINGS = 5, LONGEST_MS = 30000 };
    struct pacer_lane *l = t->lane;
    int64_t ms = error->retry_after_ms.set ? error->retry_after_ms.value : 0;
    ms = ms < RETRY_AFTER_CAP_MS ? ms : RETRY_AFTER_CAP_MS;
    if (t->sent_ns > l->refused_ns) {
        uint32_t most = l->in_flight + 1 < l->limit ? l->in_flight + 1
                                                    : l->limit;
        int64_t wait = FIRST_MS * (INT64_C(1) << l->refusals);
        l->limit = most > 1 ? most / 2 : 1;
        l->refusals += l->refusals < DOUBLINGS;
        l->refused_ns = now;
        l->answers = 0;
        ms = ms > 0 ? ms : wait < LONGEST_MS ? wait : LONGEST_MS;
    }
    l->cool_ns = later(l->cool_ns, clock_after(now, ms));
}

/* After as many answers as may be in flight, one more may. */
static void speed_up(struct pacer_lane *l, uint32_t most)
{
    l->refusals = 0;
    if (l->limit == UINT32_MAX || ++l->answers < l->limit)
        return;
    l->answers = 0;
    if (!most || l->limit < most)
        l->limit++;
}

static void settle_tokens(struct pacer_ticket *t, int64_t tokens)
{
    struct pacer_lane *l = t->lane;
    if (tokens <= 0)
        return;
    l->bucket += t->tokens - (double)tokens;
    l->mean_tokens = l->mean_tokens > 0
                         ? l->mean_tokens * 0.9 + (double)tokens * 0.1
                         : (double)tokens;
}

static bool is_refusal(const allm_error *e)
{
    int64_t status = e && e->http_status.set ? e->http_status.value : 0;
    return e && (status == 429 || status == 529 ||
                 (e->reason && !strcmp(e->reason, "rate_limited")));
}

void pacer_done(struct pacer_ticket *t, const allm_error *error, int64_t tokens,
                int64_t now_ns)
{
    if (!t->pacer || t->state != PACER_SENT)
        return;
    pthread_mutex_lock(&t->pacer->lock);
    struct pacer_lane *l = t->lane;
    retire_ticket(t);
    settle_tokens(t, tokens);
    if (is_refusal(error))
        slow_down(t, error, now_ns);
    else if (!error)
        speed_up(l, t->pacer->opts.max_in_flight);
    wake_first(l);
    pthread_mutex_unlock(&t->pacer->lock);
}

void pacer_leave(struct pacer_ticket *t)
{
    if (!t->pacer || t->state == PACER_IDLE)
        return;
    pthread_mutex_lock(&t->pacer->lock);
    if (t->state == PACER_WAITING)
        dequeue_ticket(t);
    else
        retire_ticket(t);
    wake_first(t->lane);
    pthread_mutex_unlock(&t->pacer->lock);
}

/* ------------------------------------------------------------- headers --- */

/* The names that providers use; "x-ratelimit-" is OpenAI's, Groq's and that of
 * most others. */
static const struct quota_names {
    int kind;
    const char *limit, *left, *reset;
} quota_names[] = {
    { REQUESTS, "x-ratelimit-limit-requests", "x-ratelimit-remaining-requests",
      "x-ratelimit-reset-requests" },
    { TOKENS, "x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens",
      "x-ratelimit-reset-tokens" },
    { REQUESTS, "anthropic-ratelimit-requests-limit",
      "anthropic-ratelimit-requests-remaining",
      "anthropic-ratelimit-requests-reset" },
    { TOKENS, "anthropic-ratelimit-tokens-limit",
      "anthropic-ratelimit-tokens-remaining",
      "anthropic-ratelimit-tokens-reset" },
};

/* The value of a header; { NULL, 0 }: it is not there. */
static struct slice header_value(const char *const *header, size_t count,
                                 const char *name)
{
    return slice_of(nocase_header(header, count, name));
}

/* A whole number; -1: it is not one. */
static double read_count(struct slice s)
{
    double n = 0;
    if (!s.len || s.len > 15)
        return -1;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return -1;
        n = n * 10 + (s.ptr[i] - '0');
    }
    return n;
}

/* Learn one quota from the response to request `number` of the lane. */
static void learn_quota(struct pacer_lane *l, const struct quota_names *n,
                        const char *const *header, size_t count,
                        uint64_t number, int64_t now_ns, int64_t unix_ms)
{
    int64_t ms;
    struct quota_left *q = &l->quota[n->kind];
    double left = read_count(header_value(header, count, n->left));
    double all = read_count(header_value(header, count, n->limit));
    struct slice reset = header_value(header, count, n->reset);
    if (left < 0 || !reset.ptr || !retry_after_reset(reset, unix_ms, &ms) ||
        number <= q->since)
        return;
    if (number > q->sent_before || left < q->said) {
        q->window = all > left ? all : left + 1;
        q->said = left;
        q->sent_before = l->sent;
        q->until_ns = clock_after(now_ns, ms);
    }
    double others = n->kind == TOKENS ? q->open * l->mean_tokens : q->open;
    q->left = q->said > others ? q->said - others : 0;
}

void pacer_learn(struct pacer_ticket *t, const char *const *header,
                 size_t count, int64_t now_ns, int64_t unix_ms)
{
    if (!t->pacer || t->state != PACER_SENT)
        return;
    pthread_mutex_lock(&t->pacer->lock);
    struct pacer_lane *l = t->lane;
    close_ticket(t);
    for (size_t i = 0; i < sizeof quota_names / sizeof *quota_names; i++)
        learn_quota(l, &quota_names[i], header, count, t->number, now_ns,
                    unix_ms);
    if (next_time(l, now_ns) <= now_ns)
        wake_first(l);
    pthread_mutex_unlock(&t->pacer->lock);
}
