/*
 * stream.c - a call in progress, pulled alone or in a hub
 *
 * The machine makes the events.  The stream numbers them and lets the caller
 * borrow them.  It waits for the machine itself, or lets its hub wait, and it
 * remembers how it ended.
 *
 * Invariants
 *   (1) The caller borrows an event until the next call on the stream.
 *   (2) After the end, next() always returns the same status.
 *   (3) The machine is stopped once: at the end, on cancel, or on free.
 */
#include "run/stream.h"

#include "base/attachment.h"
#include "base/status.h"
#include "engine/engine.h"
#include "run/hub.h"
#include "tool/batch.h"

static const allm_error reentered =
    STATUS_ERROR(ALLM_ERR_MISUSE, "reentered",
                 "allm_stream_next was called inside a callback of the same "
                 "stream; call it after the callback has returned");

/* ------------------------------------------------------------ lifetime --- */

allm_stream *stream_new(struct mem mem, struct clock clock,
                        allm_attachments *attachments)
{
    allm_stream *s = mem_alloc(mem, sizeof *s);
    if (!s)
        return NULL;
    *s = (allm_stream){ .mem = mem, .clock = clock };
    atomic_init(&s->cancelled, false);
    waker_init(&s->waker);
    if (attachments)
        s->attachments = attachment_keep(attachments);
    return s;
}

allm_stream *stream_for(const allm_engine *e)
{
    const struct engine_core *core = e ? engine_core(e) : NULL;
    return core ? stream_new(core->mem, core->clock, core->attachments)
                : stream_new(mem_default(), clock_real(), NULL);
}

allm_waker *stream_waker(allm_stream *s)
{
    return &s->waker;
}

const allm_transport *stream_transport(allm_stream *s,
                                       const allm_net_opts *opts)
{
    if (!s->seat.hub && hub_adopt(s))
        return NULL;
    return hub_transport(s, opts);
}

bool stream_is_one_of_many(const allm_stream *s)
{
    enum { MANY = 64 };
    return allm_hub_count(s->seat.hub) >= MANY;
}

void stream_ring(void *waker)
{
    allm_waker_ring(waker);
}

struct workers *stream_workers(void *stream, bool make)
{
    allm_stream *s = stream;
    if (!s->seat.hub && (!make || hub_adopt(s)))
        return NULL;
    return hub_workers(s, make);
}

allm_stream *stream_begin(allm_stream *s, struct machine *m)
{
    s->machine = m;
    if (m)
        return s;
    allm_stream_free(s);
    return NULL;
}

struct machine *stream_machine(const allm_stream *s)
{
    return s->machine;
}

void stream_wrap(allm_stream *s, struct machine *outer)
{
    s->machine = outer;
}

void allm_stream_free(allm_stream *s)
{
    if (!s)
        return;
    if (s->in_next) {           /* a callback called us: free it later */
        s->free_later = true;
        return;
    }
    if (s->machine)             /* while its hub and workers exist */
        s->machine->ops->free(s->machine);  /* keeps (3); it no longer rings */
    hub_leave(s);
    if (s->attachments)
        attachment_drop(s->attachments);
    waker_release(&s->waker);
    mem_free(s->mem, s, sizeof *s);
}

static void end_stream(allm_stream *s, allm_status status)
{
    s->ended = true;
    s->status = status;
    s->borrowed = NULL;
    hub_done(s);
}

/* ------------------------------------------------------ pulling events --- */

static bool in_hub(const allm_stream *s)
{
    return s->seat.hub && !s->seat.private;
}

/* Stop the machine; every later call returns this error. */
static allm_status abort_stream(allm_stream *s, const allm_error *why)
{
    s->machine->ops->stop(s->machine, true);
    s->error = why;
    end_stream(s, why->kind);
    return s->status;
}

/* Nothing before again_ns: yield to the hub, or wait here.  OK: continue. */
static allm_status wait_or_yield(allm_stream *s, int64_t again_ns)
{
    if (in_hub(s)) {
        hub_rest(s, again_ns, false);
        return ALLM_AGAIN;
    }
    const allm_error *why = s->seat.hub ? NULL : hub_adopt(s);
    if (!why)
        why = hub_await(s, again_ns);
    return why ? abort_stream(s, why) : ALLM_OK;
}

static allm_status yield_held(allm_stream *s, int64_t again_ns)
{
    if (in_hub(s))
        hub_rest(s, again_ns, false);
    return ALLM_AGAIN;
}

static const allm_response *response_of(const struct machine *m)
{
    return m->ops->response ? m->ops->response(m) : NULL;
}

static bool has_result(const struct machine *m)
{
    return response_of(m) ||
           (m->ops->result && (m->ops->result(m, MACHINE_STEP) ||
                               m->ops->result(m, MACHINE_CHAT)));
}

static allm_status cancel_now(allm_stream *s)
{
    const struct machine_ops *ops = s->machine->ops;
    ops->stop(s->machine, true);
    end_stream(s,
               has_result(s->machine) ? ALLM_OK : ops->error(s->machine)->kind);
    return s->status;
}

static allm_status pull_event(allm_stream *s, const allm_event **event)
{
    allm_event *made = NULL;
    allm_status status;
    do {
        int64_t again_ns = INT64_MAX;
        if (atomic_load(&s->cancelled))
            return cancel_now(s);
        if (hub_holds(s, &again_ns))
            return yield_held(s, again_ns);
        if (in_hub(s) && s->seat.visit >= HUB_VISIT) {
            hub_rest(s, 0, true);
            return ALLM_AGAIN;
        }
        status = s->machine->ops->next(s->machine, &made, &again_ns);
        if (status == ALLM_AGAIN && again_ns == MACHINE_BUSY) {
            s->seat.visit++;    /* counts although no event is delivered */
            status = ALLM_OK;
        } else if (status == ALLM_AGAIN)
            status = wait_or_yield(s, again_ns);
        else if (status != ALLM_EVENT) {
            end_stream(s, status);
            return status;
        }
    } while (status == ALLM_OK);
    if (status == ALLM_EVENT) {
        made->seq = ++s->seq;
        s->seat.visit++;
        s->borrowed = *event = made;
    }
    return status;
}

allm_status allm_stream_next(allm_stream *s, const allm_event **event)
{
    const allm_event *ignored;
    if (!s)
        return ALLM_ERR_NOMEM;
    if (!event)
        event = &ignored;
    *event = NULL;
    if (s->in_next) {
        s->error = &reentered;
        return ALLM_ERR_MISUSE;
    }
    s->borrowed = NULL;
    s->pulled = true;
    if (s->ended)
        return s->status;       /* keeps (2) */
    s->in_next = true;
    allm_status status = pull_event(s, event);
    s->in_next = false;
    if (s->error == &reentered)
        s->error = NULL;        /* It was for the callback. */
    if (s->free_later) {         /* A callback freed the stream: free it now. */
        allm_stream_free(s);
        *event = NULL;
        return ALLM_ERR_MISUSE;
    }
    return status;
}

/* If this is the first call on the stream, the machine may replace its
 * status. */
allm_status allm_stream_wait(allm_stream *s)
{
    const allm_event *event;
    allm_status status;
    bool blocking = s && !s->pulled;
    while ((status = allm_stream_next(s, &event)) == ALLM_EVENT)
        ;
    if (blocking && status == ALLM_AGAIN)
        s->pulled = false;      /* in a hub: the next call may be either */
    if (blocking && status == ALLM_OK && s->machine->ops->blocked)
        status = s->status = s->machine->ops->blocked(s->machine);
    return status;
}

void allm_stream_cancel(allm_stream *s)
{
    if (!s)
        return;
    atomic_store(&s->cancelled, true);
    allm_waker_ring(&s->waker);
}

void allm_stream_hold(allm_stream *s, bool hold)
{
    if (!s || s->ended || s->waker.held == hold)
        return;
    waker_hold(&s->waker, hold, clock_now_ns(s->clock));
    if (in_hub(s))
        hub_hold(s);
}

/* ------------------------------------------------------------- results --- */

const allm_error *allm_stream_error(const allm_stream *s)
{
    if (!s)
        return status_nomem();
    return s->error ? s->error : s->machine->ops->error(s->machine);
}

const allm_response *allm_stream_response(const allm_stream *s)
{
    return s && s->ended && s->status == ALLM_OK ? response_of(s->machine)
                                                 : NULL;
}

/* The result of this kind, if the machine has ended well and has one. */
static const void *machine_result_of(const allm_stream *s,
                                     enum machine_result which)
{
    if (!s || !s->ended || s->status != ALLM_OK || !s->machine->ops->result)
        return NULL;
    return s->machine->ops->result(s->machine, which);
}

const allm_step_result *allm_stream_step_result(const allm_stream *s)
{
    return machine_result_of(s, MACHINE_STEP);
}

const allm_chat_result *allm_stream_chat_result(const allm_stream *s)
{
    return machine_result_of(s, MACHINE_CHAT);
}

const allm_agent_result *allm_stream_agent_result(const allm_stream *s)
{
    return machine_result_of(s, MACHINE_AGENT);
}

/* The result of a task with this name. */
static const void *task_result_of(const allm_stream *s, const char *name)
{
    const struct task_result *r = machine_result_of(s, MACHINE_TASK);
    return r && !strcmp(r->name, name) ? r->value : NULL;
}

const allm_embeddings *allm_stream_embeddings(const allm_stream *s)
{
    return task_result_of(s, "embed");
}

const allm_image_response *allm_stream_image_response(const allm_stream *s)
{
    return task_result_of(s, "image");
}

const allm_moderations *allm_stream_moderations(const allm_stream *s)
{
    return task_result_of(s, "moderate");
}

const allm_json *allm_stream_models(const allm_stream *s)
{
    return task_result_of(s, "models");
}

const allm_message *allm_stream_tool_message(const allm_stream *s, size_t index)
{
    const struct tool_result *r = batch_at(machine_result_of(s, MACHINE_BATCH),
                                           index);
    return r && r->done ? r->message : NULL;
}

const allm_json *allm_stream_tool_halt(const allm_stream *s)
{
    return machine_result_of(s, MACHINE_BATCH_HALT);
}

const allm_error *allm_stream_tool_error(const allm_stream *s)
{
    const struct tool_result *halt =
        batch_halt(machine_result_of(s, MACHINE_BATCH));
    return halt ? halt->error : NULL;
}

const char *allm_stream_tool_output(const allm_stream *s,
                                    const char *tool_call_id, size_t *len)
{
    size_t ignored;
    return s && tool_call_id && s->machine->ops->output
               ? s->machine->ops->output(s->machine, tool_call_id,
                                         len ? len : &ignored)
               : NULL;
}

const char *allm_stream_request_id(const allm_stream *s)
{
    return s && s->machine->ops->request_id
               ? s->machine->ops->request_id(s->machine)
               : NULL;
}

allm_text *allm_stream_event_json(const allm_stream *s)
{
    return s && s->borrowed ? allm_event_json(s->borrowed) : NULL;
}
