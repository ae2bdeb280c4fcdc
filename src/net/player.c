/*
 * player.c - a transport that plays a recording instead of using a network
 *
 *      open  --> request_json_of, request_json_normal
 *            --> the first unplayed exchange with the same request
 *            --> read returns its steps
 *
 * A miss is an exchange, too: its read fails with the reason.  So the error has
 * an owner that no other thread frees.
 *
 * Invariants
 *   (1) Nothing here can open a socket.
 *   (2) The recording does not change once it is read, except `played` and
 *       `left`, which are used only with the lock held.
 *   (3) An exchange is played once.
 */
#include "allm.h"

#include "base/caller_struct.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/secret.h"
#include "base/status.h"
#include "net/differ.h"
#include "net/null_transport.h"
#include "net/recording.h"
#include "net/request_json.h"
#include "json/build.h"
#include "json/json.h"
#include "json/parse.h"
#include "json/write.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>

enum {
    ALL_FLAGS = ALLM_PLAYER_TIMED | ALLM_PLAYER_IN_ORDER,
    SHOWN = 200                 /* bytes of a value or address in a message */
};

/* An exchange that can be played, and its request as it is compared. */
struct piece {
    const struct recorded *recorded;
    const allm_json *normal;
    bool played;
};

struct allm_player {
    struct mem mem;
    struct clock clock;
    struct arena own;
    const char *name;           /* of the file, for messages */
    uint32_t flags;
    const allm_error *error;
    allm_transport transport;
    size_t count;
    struct piece *pieces;

    pthread_mutex_t lock;
    size_t left;
};

struct allm_exchange {
    struct mem mem;
    struct arena arena;         /* wiped: it contains the request */
    const struct recorded *recorded;    /* NULL: a miss */
    size_t at;                  /* of its steps */
    int64_t opened_ns;
    const allm_error *error;    /* of a miss, or of a recording that stops */
};

/* --------------------------------------------------------------- misses --- */

/* Add a value to a message: shortened, or "nothing". */
static void add_value(struct buf *out, struct arena *a, const allm_json *v)
{
    struct buf text = buf_in(a, SIZE_MAX / 2);
    if (v && !json_write(&text, v, 0))
        out->broken = true;
    else if (v)
        buf_format(out, text.len > SHOWN ? "%.*s..." : "%.*s", SHOWN, text.ptr);
    else
        buf_text(out, "nothing");
}

/* The piece that differs least; NULL: none is left. */
static const struct piece *find_nearest(const allm_player *r, struct arena *a,
                                        const allm_json *normal,
                                        struct differ *least)
{
    const struct piece *nearest = NULL;
    for (size_t i = 0; i < r->count; i++) {
        struct differ d;
        const struct piece *p = &r->pieces[i];
        if (p->played || !differ_find(&d, a, p->normal, normal))
            continue;
        if (!nearest || d.count < least->count) {
            nearest = p;
            *least = d;
        }
    }
    return nearest;
}

static void describe_nearest(const allm_player *r, struct buf *out,
                             struct arena *a, const allm_json *normal)
{
    struct differ d = { .count = 0 };
    const struct piece *p = find_nearest(r, a, normal, &d);
    if (!r->count) {
        buf_text(out, "the recording is empty, so every request is refused "
                      "and no network is used");
    } else if (!p) {
        buf_format(out,
                   "every exchange of %s has been played; record again, or use "
                   "a new player for each run",
                   r->name);
    } else {
        buf_format(out,
                   "the nearest request that is left in %s, line %zu, differs "
                   "in %zu place%s, first at %s: recorded ",
                   r->name, p->recorded->line, d.count, d.count == 1 ? "" : "s",
                   buf_slice(&d.path).ptr);
        add_value(out, a, d.want);
        buf_text(out, ", requested ");
        add_value(out, a, d.got);
        buf_text(out, "; record again, correct the file, or match in order");
    }
}

static const allm_error *miss_error(struct arena *a, const char *why)
{
    allm_error *e = status_draft(a, ALLM_ERR_ADAPTER, "no_scripted_response",
                                 "replay miss: %s", why);
    if (e)
        e->metadata = build_one(a, "final", json_bool(true));   /* no retry */
    return e && e->metadata ? e : status_nomem();
}

/* Why nothing is played for this request. */
static const allm_error *explain_miss(const allm_player *r, struct arena *a,
                                      const allm_json *normal)
{
    const char *method = allm_json_text(allm_json_get(normal, "method"), NULL);
    const char *url = allm_json_text(allm_json_get(normal, "url"), NULL);
    struct buf why = buf_in(a, SIZE_MAX / 2);
    buf_format(&why, "%.20s %.*s: ", method, SHOWN, url);
    describe_nearest(r, &why, a, normal);
    return why.broken || a->broken ? status_nomem() : miss_error(a, why.ptr);
}

/* ------------------------------------------------------------- matching --- */

static bool piece_matches(const struct piece *p, struct arena *a,
                          const allm_json *normal, bool in_order)
{
    struct differ d;
    if (p->played)
        return false;
    return in_order || (differ_find(&d, a, p->normal, normal) && !d.count);
}

/* With the lock held: keeps (3). */
static const struct recorded *choose_exchange(allm_player *r, struct arena *a,
                                              const allm_json *normal)
{
    bool in_order = r->flags & ALLM_PLAYER_IN_ORDER;
    for (size_t i = 0; i < r->count; i++) {
        struct piece *p = &r->pieces[i];
        if (!piece_matches(p, a, normal, in_order))
            continue;
        p->played = true;
        r->left--;
        return p->recorded;
    }
    return NULL;
}

/* The request as it is compared: written as in a file, then read.  NULL: out of
 * memory. */
static const allm_json *normal_of(struct arena *a, const allm_http_view *view)
{
    const struct json_limits any = { .max_bytes = SIZE_MAX / 2,
                                     .max_depth = 256, .duplicates = true };
    struct request_json_secret secret;
    if (!request_json_secret_of(a, view, &secret))
        return NULL;
    const allm_json *request = request_json_of(a, a, view, &secret);
    struct buf text = buf_in(a, SIZE_MAX / 2);
    if (!request || !json_write(&text, request, 0))
        return NULL;
    request = json_parse(a, buf_slice(&text), any, NULL);
    return request ? request_json_normal(a, request) : NULL;
}

/* Find the exchange to play, or the error.  False: out of memory. */
static bool match_request(allm_player *r, allm_exchange *x,
                          const allm_http_view *view)
{
    const allm_json *normal = normal_of(&x->arena, view);
    if (!normal)
        return false;
    pthread_mutex_lock(&r->lock);
    x->recorded = choose_exchange(r, &x->arena, normal);
    if (!x->recorded)
        x->error = explain_miss(r, &x->arena, normal);
    pthread_mutex_unlock(&r->lock);
    if (x->recorded)
        arena_release(&x->arena);       /* the request is not needed */
    return x->recorded || x->error != status_nomem();
}

/* -------------------------------------------------------------- playing --- */

static void player_close(void *self, allm_exchange *x)
{
    (void)self;
    arena_release(&x->arena);
    mem_free(x->mem, x, sizeof *x);
}

static allm_exchange *player_open(void *self, const allm_http_view *view,
                                  allm_waker *waker, const allm_error **error)
{
    allm_player *r = self;
    (void)waker;                /* no other thread has events */
    *error = r->error;
    if (r->error)
        return NULL;
    *error = status_nomem();
    allm_exchange *x = mem_alloc(r->mem, sizeof *x);
    if (!x)
        return NULL;
    *x = (allm_exchange){ .mem = r->mem };
    arena_init(&x->arena, secret_mem(&x->mem));
    x->opened_ns = clock_now_ns(r->clock);
    bool matched = match_request(r, x, view);
    if (matched && x->recorded && x->recorded->refused)
        *error = x->recorded->refused;
    else if (matched)
        return x;
    player_close(r, x);
    return NULL;
}

/* Have so many milliseconds passed since it was opened? */
static bool is_due(const allm_player *r, const allm_exchange *x, int64_t ms,
                   int64_t *due_ns)
{
    *due_ns = clock_after(x->opened_ns, ms);
    return !(r->flags & ALLM_PLAYER_TIMED) || clock_now_ns(r->clock) >= *due_ns;
}

static allm_status break_off(allm_chunk *out, const allm_error *error)
{
    out->error = error;
    return error->kind;
}

/* The recorded program did not read further. */
static allm_status read_on(const allm_player *r, allm_exchange *x,
                           const struct recording_step *step, allm_chunk *out)
{
    struct buf why;
    if (!x->error) {
        buf_init(&why, &x->arena, SIZE_MAX / 2);
        buf_format(&why,
                   "the recording stops here (%s, line %zu): the recorded "
                   "program closed the connection; record again",
                   r->name, step->line);
        x->error = why.broken ? status_nomem() : miss_error(&x->arena, why.ptr);
    }
    return break_off(out, x->error);
}

static allm_status player_read(void *self, allm_exchange *x, allm_chunk *out)
{
    const allm_player *r = self;
    int64_t due_ns;
    if (!x->recorded)
        return break_off(out, x->error);
    const struct recording_step *step = &x->recorded->steps[x->at];
    bool due = is_due(r, x, step->at_ms, &due_ns);
    out->again_ns = due ? INT64_MAX : due_ns;
    if (!due || step->kind == RECORDING_SILENT)
        return ALLM_AGAIN;
    switch (step->kind) {
    case RECORDING_COMPLETE:
        return ALLM_OK;
    case RECORDING_CLOSED:
        return read_on(r, x, step, out);
    case RECORDING_ERROR:
        return break_off(out, step->error);
    default:
        break;
    }
    out->bytes = step->bytes.ptr;
    out->len = step->bytes.len;
    x->at++;                    /* a chunk is never the last step */
    return ALLM_EVENT;
}

static bool player_ready(void *self, allm_exchange *x)
{
    int64_t due_ns;
    const struct recorded *is = x->recorded;
    if (!is || is->connect_ms == RECORDING_AT_ONCE)
        return true;
    return is->connect_ms != RECORDING_NEVER &&
           is_due(self, x, is->connect_ms, &due_ns);
}

static const allm_http_head *player_head(void *self, allm_exchange *x)
{
    (void)self;
    return x->recorded && x->recorded->answered ? &x->recorded->head : NULL;
}

/* --------------------------------------------------------------- making --- */

static const allm_error *refuse_player(allm_player *r, const char *reason,
                                       const char *sentence)
{
    return status_error(&r->own, ALLM_ERR_MISUSE, reason, "%s", sentence);
}

static const allm_error *load_recording(allm_player *r, const char *path,
                                        struct slice *text)
{
    int why = file_read(&r->own, path, RECORDING_LIMIT, text);
    if (!why)
        return NULL;
    if (why == ENOMEM)
        return status_nomem();
    return status_error(&r->own, ALLM_ERR_STORE, "unreadable_recording",
                        "the recording \"%s\" cannot be read (%s); record it "
                        "first, or check the path",
                        path, file_error_words(why));
}

static bool set_pieces(allm_player *r, const struct recorded *first)
{
    for (const struct recorded *x = first; x; x = x->next)
        r->count++;
    r->pieces = arena_zero(&r->own, r->count * sizeof *r->pieces);
    struct piece *p = r->pieces;
    for (const struct recorded *x = first; p && x; x = x->next, p++) {
        p->recorded = x;
        p->normal = request_json_normal(&r->own, x->request);
        if (!p->normal)
            return false;
    }
    r->left = r->count;
    return p != NULL;
}

static const allm_error *take_opts(allm_player *r, const char *path,
                                   const allm_player_opts *o)
{
    struct slice text = SLICE(RECORDING_FIRST);
    struct recorded *first;
    const allm_error *error = NULL;
    r->flags = o->flags;
    if (o->flags & ~(uint32_t)ALL_FLAGS)
        return refuse_player(r, "invalid_options",
                             "flags has an unknown bit; use ALLM_PLAYER_*");
    if (path && o->text)
        return refuse_player(r, "invalid_options",
                             "a player reads a file or a string, not both");
    r->name = arena_text(&r->own, path ? path : "the recording");
    if (!r->name)
        return status_nomem();
    if (path)
        error = load_recording(r, path, &text);
    else if (o->text)
        text = o->text_len ? (struct slice){ o->text, o->text_len }
                           : slice_of(o->text);
    if (!error)
        error = recording_read(&r->own, text, r->name, &first);
    if (!error && !set_pieces(r, first))
        error = status_nomem();
    return error;
}

static allm_player *player_alloc(struct mem mem, const allm_clock *clock)
{
    allm_player *r = mem_alloc(mem, sizeof *r);
    if (!r)
        return NULL;
    *r = (allm_player){ .mem = mem, .clock = clock_from(clock) };
    r->transport = (allm_transport){ .size = sizeof r->transport,
                                     .self = r,
                                     .open = player_open,
                                     .read = player_read,
                                     .ready = player_ready,
                                     .head = player_head,
                                     .close = player_close };
    arena_init(&r->own, mem);
    if (pthread_mutex_init(&r->lock, NULL) == 0)
        return r;
    mem_free(mem, r, sizeof *r);
    return NULL;
}

allm_player *allm_player_new(const char *path, const allm_player_opts *given)
{
    allm_player_opts o;
    bool taken = caller_struct_take(&o, sizeof o, given);
    allm_player *r = player_alloc(mem_from(o.allocator), o.clock);
    if (!r)
        return NULL;
    r->error =
        taken ? take_opts(r, path, &o)
              : refuse_player(r, "struct_size",
                              "fill the options with ALLM(player_opts, ...)");
    if (r->error != status_nomem())
        return r;
    allm_player_free(r);
    return NULL;
}

const allm_error *allm_player_error(const allm_player *r)
{
    return r ? r->error : status_nomem();
}

const allm_transport *allm_player_transport(const allm_player *r)
{
    return r ? &r->transport : &null_transport;
}

/* The lock changes, also that of a const player. */
static allm_player *as_mutable(const allm_player *r)
{
    return (allm_player *)(uintptr_t)r;
}

size_t allm_player_left(const allm_player *r)
{
    if (!r)
        return 0;
    pthread_mutex_lock(&as_mutable(r)->lock);
    size_t left = r->left;
    pthread_mutex_unlock(&as_mutable(r)->lock);
    return left;
}

void allm_player_free(allm_player *r)
{
    if (!r)
        return;
    arena_release(&r->own);
    pthread_mutex_destroy(&r->lock);
    mem_free(r->mem, r, sizeof *r);
}
