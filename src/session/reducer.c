/* reducer.c - build a session record from the events of a stream */
#include "allm.h"

#include "base/caller_struct.h"
#include "base/status.h"
#include "data/chat_result.h"
#include "data/event.h"
#include "data/session_record.h"
#include "data/step_result.h"
#include "run/collect.h"
#include "session/approve.h"
#include "session/project.h"

struct allm_reducer {
    struct mem mem;
    struct collect fold;
    struct arena scratch;           /* holds the error and the input */
    const allm_error *error;
    allm_reducer_mode mode;
    const char *input;
    allm_session_record *before;
    bool decided;                   /* its calls were decided later */
    bool pulled;                    /* an event was added */
    /* the result, until the next event */
    bool done;
    allm_session_record *session;
    allm_chat_result *chat;
    allm_step_result *step;
    allm_reduced out;
};

static void drop_result(allm_reducer *r)
{
    allm_session_record_free(r->session);
    allm_chat_result_free(r->chat);
    allm_step_result_free(r->step);
    r->session = NULL;
    r->chat = NULL;
    r->step = NULL;
    r->done = false;
}

static const allm_error *read_opts(allm_reducer *r,
                                   const allm_reducer_opts *given)
{
    allm_reducer_opts opts;
    bool known = caller_struct_take(&opts, sizeof opts, given) &&
                 (opts.mode == ALLM_REDUCER_CHAT ||
                  opts.mode == ALLM_REDUCER_STEP);
    if (!known)
        return status_error(
            &r->scratch, ALLM_ERR_MISUSE, "wrong_mode",
            "allm_reducer_new: the mode must be ALLM_REDUCER_CHAT or "
            "ALLM_REDUCER_STEP; fill in the options with "
            "ALLM(reducer_opts, ...)");
    r->mode = opts.mode;
    r->input = arena_text(&r->scratch, opts.input);
    return opts.input && !r->input ? status_nomem() : NULL;
}

/* Start the fold with the thread of the record. */
static const allm_error *begin_fold(allm_reducer *r,
                                    const allm_session_record *before)
{
    struct allm_home *home = home_new(r->mem, 0);
    const allm_error *error = NULL;
    r->before = before
                    ? shape_keep(&session_record_shape, before, r->mem,
                                 &r->scratch, &error)
                    : allm_session_record_new(ALLM(session_record, .id = NULL));
    if (!home || !r->before) {
        home_drop(home);
        return error ? error : status_nomem();
    }
    /* The events of calls that were decided later begin with their answer. */
    r->decided = r->mode == ALLM_REDUCER_CHAT && approve_ready(r->before);
    allm_thread *first = r->decided ? approve_thread_before(r->before->thread)
                                    : allm_thread_copy(r->before->thread);
    bool made = first && collect_init(&r->fold, home, first);
    allm_thread_free(first);
    home_drop(home);                /* the fold holds a reference */
    return made ? NULL : status_nomem();
}

allm_reducer *allm_reducer_new(const allm_session_record *before,
                               const allm_reducer_opts *opts)
{
    struct mem mem = mem_default();
    allm_reducer *r = mem_alloc(mem, sizeof *r);
    if (!r)
        return NULL;
    *r = (allm_reducer){ .mem = mem };
    arena_init(&r->scratch, mem);
    r->error = read_opts(r, opts);
    if (!r->error)
        r->error = begin_fold(r, before);
    return r;
}

const allm_error *allm_reducer_error(const allm_reducer *r)
{
    if (!r || r->fold.broken)
        return status_nomem();
    return r->error;
}

void allm_reducer_free(allm_reducer *r)
{
    if (!r)
        return;
    drop_result(r);
    allm_session_record_free(r->before);
    if (r->fold.home)
        collect_release(&r->fold);
    arena_release(&r->scratch);
    mem_free(r->mem, r, sizeof *r);
}

allm_status allm_reducer_add(allm_reducer *r, const allm_event *event)
{
    if (!r || !event)
        return ALLM_ERR_NOMEM;
    if (r->error)
        return r->error->kind;
    const allm_error *error = NULL;
    struct arena scratch = arena_in(r->mem);
    allm_event *mine = shape_keep(&event_shape, event, r->mem, &scratch,
                                  &error);
    allm_status status = mine ? collect_add(&r->fold, mine) : error->kind;
    r->pulled = true;
    allm_event_free(mine);
    arena_release(&scratch);
    drop_result(r);
    return status;
}

static void reduce_chat(allm_reducer *r)
{
    r->chat = collect_chat_result(&r->fold);
    if (r->chat)
        r->session = project_chat(r->before, r->chat, r->input);
    if (r->decided && r->pulled)
        r->session = approve_consume(r->session, NULL);
}

static void reduce_step(allm_reducer *r)
{
    const struct collect_step *first = collect_first_step(&r->fold);
    if (first) {
        r->step = allm_step_result_new(first->step);
        r->session = project_step(r->before, first->step, first->halt);
        return;
    }
    if (r->fold.error) {            /* it failed: a chat's result */
        reduce_chat(r);
        return;
    }
    r->chat = allm_chat_result_new(ALLM(chat_result, .thread = r->fold.thread,
                                        .halted_reason = HALTED_CANCELLED));
    r->session = project_cancelled(r->before, r->input);
}

const allm_reduced *allm_reducer_finalize(allm_reducer *r)
{
    if (!r || r->error || r->fold.broken)
        return NULL;
    if (r->done)
        return &r->out;
    if (r->mode == ALLM_REDUCER_CHAT)
        reduce_chat(r);
    else
        reduce_step(r);
    if (!r->session || (!r->chat && !r->step)) {
        drop_result(r);
        return NULL;
    }
    r->out = (allm_reduced){ .size = sizeof r->out, .session = r->session,
                             .chat = r->chat, .step = r->step };
    r->done = true;
    return &r->out;
}
