/*
 * approval.c - a decision about one call, which a gate makes at once or later
 *
 * The answer is published under the lock of the batch, together with the ring
 * that wakes the thread that pulls; whoever answers first decides.
 */
#include "tool/approval.h"

#include "data/metadata.h"
#include "json/build.h"
#include "json/json.h"

static void release_memory(void *arg)
{
    struct allm_approval *a = arg;
    arena_release(&a->memory);
    if (a->held)
        home_drop(a->held);
}

struct allm_approval *approval_new(struct batch_shared *d,
                                   const allm_tool_call *call,
                                   const allm_json *arguments)
{
    struct allm_approval *a = arena_zero(home_arena(d->home), sizeof *a);
    if (!a)
        return NULL;
    a->shared = d;
    a->call = call;
    a->arguments = arguments;
    a->session_id = d->session_id;
    a->verdict = VERDICT_WAITING;
    arena_init(&a->memory, d->env.mem);
    if (!home_on_free(d->home, release_memory, a))
        return NULL;
    batch_shared_keep(d);
    return a;
}

bool approval_set_reach(struct allm_approval *a, const allm_json *reach)
{
    a->reach = json_copy(&a->memory, reach);
    return a->reach != NULL;
}

void approval_on_allowed(struct allm_approval *a, approval_allowed_fn fn,
                         void *ud, struct allm_home *home)
{
    a->on_allowed = fn;
    a->on_allowed_ud = ud;
    a->held = home_keep(home);
}

enum verdict approval_verdict(const struct allm_approval *a)
{
    pthread_mutex_lock(&a->shared->lock);
    enum verdict v = a->verdict;
    pthread_mutex_unlock(&a->shared->lock);
    return v;
}

/* The text is copied under the lock, because the arena serves one thread. */
static allm_status set_verdict(allm_approval *a, enum verdict v,
                               const char *why)
{
    struct batch_shared *d = a->shared;
    allm_status status = ALLM_ERR_MISUSE;
    pthread_mutex_lock(&d->lock);
    if (a->verdict == VERDICT_WAITING) {
        a->verdict = v;
        a->why = arena_text(&a->memory, why);
        batch_shared_ring(d);
        status = why && !a->why ? ALLM_ERR_NOMEM : ALLM_OK;
    }
    pthread_mutex_unlock(&d->lock);
    return status;
}

allm_status allm_approval_allow(allm_approval *a, allm_approval_scope scope)
{
    if (!a || (unsigned)scope > ALLM_APPROVAL_ALWAYS ||
        approval_verdict(a) != VERDICT_WAITING)
        return ALLM_ERR_MISUSE;
    allm_status stored = a->on_allowed
                             ? a->on_allowed(a->on_allowed_ud, a, scope)
                             : ALLM_OK;
    allm_status status = set_verdict(a, VERDICT_ALLOWED, NULL);
    return status == ALLM_OK ? stored : status;
}

allm_status allm_approval_deny(allm_approval *a, const char *why)
{
    return a ? set_verdict(a, VERDICT_DENIED, why) : ALLM_ERR_MISUSE;
}

allm_status allm_approval_leave(allm_approval *a)
{
    return a ? set_verdict(a, VERDICT_LEFT, NULL) : ALLM_ERR_MISUSE;
}

const allm_tool_call *allm_approval_call(const allm_approval *a)
{
    return a ? a->call : NULL;
}

const allm_json *allm_approval_reach(const allm_approval *a)
{
    return a ? a->reach : NULL;
}

void allm_approval_free(allm_approval *a)
{
    if (!a)
        return;
    set_verdict(a, VERDICT_LEFT, NULL); /* unless it was answered */
    batch_shared_drop(a->shared);
}

static void write_member(struct build *b, struct slice name,
                         const allm_json *value)
{
    build_key(b, name);
    build_value(b, value ? value : json_null());
}

static void write_approval(struct build *b, const struct allm_approval *a)
{
    build_object(b);
    build_text_at(b, "id", slice_of(a->call->id));
    build_text_at(b, "name", slice_of(a->call->name));
    write_member(b, SLICE("arguments"), a->arguments);
    write_member(b, SLICE("reach"), a->reach);
    build_end(b);
}

const allm_json *approval_metadata(struct arena *a, size_t count,
                                   const struct allm_approval *const *left)
{
    struct build b = build_object_in(a);
    build_array_at(&b, METADATA_APPROVALS);
    for (size_t i = 0; i < count; i++)
        write_approval(&b, left[i]);
    build_end(&b);
    return build_finish(&b);
}
