/*
 * refused.c - a stream for a call that is rejected before it begins
 *
 * A call with a NULL engine, for example, has no engine to allocate from.  The
 * caller still gets a stream, whose error is the reason.
 */
#include "run/refused.h"

#include "base/home.h"
#include "base/status.h"
#include "data/error.h"
#include "engine/engine.h"
#include "run/stream.h"

struct refused {
    struct machine machine;
    struct mem mem;
    struct allm_home *home;     /* of the error */
    const allm_error *error;
};

static const struct refused *as_refused(const struct machine *m)
{
    return (const struct refused *)m;
}

static allm_status refused_next(struct machine *m, allm_event **event,
                                int64_t *again_ns)
{
    *event = NULL;
    *again_ns = 0;
    return as_refused(m)->error->kind;
}

static void refused_stop(struct machine *m, bool cancelled)
{
    (void)m;
    (void)cancelled;
}

static void refused_free(struct machine *m)
{
    struct refused *r = (struct refused *)m;
    struct mem mem = r->mem;
    home_drop(r->home);
    mem_free(mem, r, sizeof *r);
}

static const allm_error *refused_error(const struct machine *m)
{
    return as_refused(m)->error;
}

static const struct machine_ops refused_ops = {
    .next = refused_next,
    .stop = refused_stop,
    .free = refused_free,
    .error = refused_error,
};

allm_stream *refused_stream(const allm_engine *e, const allm_error *error)
{
    struct mem mem = e ? engine_core(e)->mem : mem_default();
    allm_stream *stream = stream_for(e);
    struct refused *r = stream ? mem_alloc(mem, sizeof *r) : NULL;
    if (!stream)
        return NULL;
    if (r) {
        *r = (struct refused){ .machine = { &refused_ops }, .mem = mem,
                               .home = home_new(mem, 512) };
        r->error = r->home ? error_copy(r->home, error) : status_nomem();
    }
    return stream_begin(stream, r ? &r->machine : NULL);
}

allm_stream *refused_missing(const allm_engine *e, const char *reason,
                             const char *name)
{
    static const allm_error no_engine =
        STATUS_ERROR(ALLM_ERR_ENGINE, "invalid_engine",
                     "the engine is NULL; create one with allm_engine_new(), "
                     "which returns NULL only if it is out of memory");
    if (!e)
        return refused_stream(NULL, &no_engine);
    struct arena a = arena_in(engine_core(e)->mem);
    const struct path argument = PATH_KEY(NULL, name);
    allm_stream *s = refused_stream(
        e, error_validation_at(&a, reason, &argument, "invalid_type"));
    arena_release(&a);
    return s;
}
