/* feed_source.c - a feed whose adapter produces the events itself */
#include "run/feed_source.h"

#include "base/status.h"
#include "provider/redact.h"

static const allm_error no_event = STATUS_ERROR(
    ALLM_ERR_MISUSE, "invalid_event",
    "the adapter's next() returned an unknown status, or ALLM_EVENT without "
    "an event; return ALLM_AGAIN or ALLM_OK if there is no event");

static allm_status source_next(struct feed *f, struct allm_sink *sink,
                               int64_t *again_ns)
{
    allm_status status = f->adapter->next(f->state, f->call, sink, again_ns);
    f->begun = true;
    if (status >= 0 && sink->failure)
        status = sink->failure->kind;
    if (sink->status < 0)
        return sink->status;
    bool invalid = status > ALLM_AGAIN ||
                   (status == ALLM_EVENT && !sink->first);
    return invalid ? allm_sink_fail(sink, &no_event, true) : status;
}

static void source_close(struct feed *f)
{
    if (f->adapter->close)
        f->adapter->close(f->state, f->call);
}

static const struct feed_ops source_ops = { source_next, NULL, source_close };

struct feed *feed_source(struct arena *a, const allm_adapter *adapter,
                         const allm_call *call, struct allm_sink *sink)
{
    struct feed *f = arena_zero(a, sizeof *f);
    void *state = arena_zero(a, adapter->state_size + 1);
    if (!f || !state) {
        sink->status = ALLM_ERR_NOMEM;
        return NULL;
    }
    *f = (struct feed){ .ops = &source_ops,
                        .adapter = adapter,
                        .call = call,
                        .state = state };
    allm_status status = adapter->open ? adapter->open(state, call, sink)
                                       : ALLM_OK;
    if (status >= 0 && !sink->failure && sink->status >= 0)
        return f;
    if (sink->failure)          /* Its strings may belong to the adapter. */
        sink->failure = redact_error(sink->arena, sink->failure,
                                     (struct slice){ NULL, 0 });
    if (status >= 0)
        source_close(f);   /* The adapter has opened, but reported a failure. */
    else if (sink->status == ALLM_OK)
        sink->status = status;
    return NULL;
}
