/*
 * tool.c - the calls by which a tool's function answers
 *
 * Each of them claims the run, creates the outcome in the run's memory, and
 * publishes it.
 */
#include "tool/compact.h"
#include "tool/run.h"
#include "json/build.h"
#include "json/json.h"

#include "base/text.h"

/* Claim the run; false: the caller returns *status. */
static bool claim_run(allm_tool_run *r, allm_status *status)
{
    enum run_claim got = r ? run_claim(r) : RUN_DROPPED;
    *status = !r                 ? ALLM_ERR_NOMEM
              : got == RUN_TWICE ? ALLM_ERR_MISUSE
                                 : ALLM_OK;
    return r && got == RUN_MINE;
}

static allm_status publish_outcome(allm_tool_run *r, struct outcome o)
{
    bool complete = !r->memory.broken && o.kind != OUTCOME_NOMEM;
    if (!complete)
        o = (struct outcome){ .kind = OUTCOME_NOMEM };
    run_publish(r, o);
    return complete ? ALLM_OK : ALLM_ERR_NOMEM;
}

static struct outcome invalid_return(struct arena *a, const char *what)
{
    return outcome_failed(a, FAILURE_RETURN, "%s", what);
}

/* Copy a value of the caller; NULL means JSON null.  Returns NULL and sets *why
 * if the value is not valid; leaves *why alone if memory runs out. */
static const allm_json *copy_value(struct arena *a, const allm_json *value,
                                   struct outcome *why)
{
    if (!value)
        return json_null();
    if (allm_json_type_of(value) == ALLM_JSON_NONE) {
        const allm_error *error = allm_json_error(value);
        *why = outcome_failed(a, FAILURE_ENCODING, "%s",
                              error ? error->message
                                    : "the value is not a JSON value");
        return NULL;
    }
    return json_copy(a, value);
}

allm_status run_answer(struct allm_tool_run *r, const allm_json *value,
                       const allm_json *images)
{
    allm_status status;
    if (!claim_run(r, &status))
        return status;
    struct outcome o = { .kind = OUTCOME_NOMEM };
    const allm_json *mine = copy_value(&r->memory, value, &o);
    if (mine)
        o = (struct outcome){ .kind = OUTCOME_RESULT, .value = mine,
                              .images = json_copy(&r->memory, images) };
    return publish_outcome(r, o);
}

allm_status allm_tool_ok(allm_tool_run *r, const allm_json *value)
{
    return run_answer(r, value, NULL);
}

allm_status allm_tool_text(allm_tool_run *r, const char *text, size_t len)
{
    allm_status status;
    if (!claim_run(r, &status))
        return status;
    if (!text)
        return publish_outcome(
            r, invalid_return(&r->memory,
                              "allm_tool_text() needs a string, but got NULL"));
    return publish_outcome(
        r, (struct outcome){
               .kind = OUTCOME_RESULT,
               .value = build_alone_copy(&r->memory, slice_given(text, len)),
           });
}

allm_status allm_tool_fail(allm_tool_run *r, const char *text)
{
    allm_status status;
    if (!claim_run(r, &status))
        return status;
    if (!text)
        text = DETAIL_NO_REASON;
    return publish_outcome(
        r, outcome_reported(build_alone_copy(&r->memory, slice_of(text))));
}

allm_status allm_tool_ask(allm_tool_run *r, const char *question,
                          const allm_json *opts)
{
    allm_status status;
    if (!claim_run(r, &status))
        return status;
    if (!question)
        return publish_outcome(
            r,
            invalid_return(&r->memory,
                           "allm_tool_ask() needs a question, but got NULL"));
    if (opts && allm_json_type_of(opts) != ALLM_JSON_OBJECT)
        return publish_outcome(
            r, invalid_return(&r->memory,
                              "the opts of allm_tool_ask() must be an object"));
    return publish_outcome(r, outcome_question(arena_text(&r->memory, question),
                                               json_copy(&r->memory, opts)));
}

allm_status allm_tool_halt(allm_tool_run *r, const char *reason,
                           const allm_json *value)
{
    allm_status status;
    if (!claim_run(r, &status))
        return status;
    if (r->is_verdict)          /* reason and value are ignored */
        return publish_outcome(r, (struct outcome){ .kind = OUTCOME_HALT });
    struct outcome o = { .kind = OUTCOME_NOMEM };
    const allm_json *mine = copy_value(&r->memory, value, &o);
    if (mine)
        o = outcome_halt(&r->memory, arena_text(&r->memory, reason), mine);
    return publish_outcome(r, o);
}

allm_status allm_tool_raise(allm_tool_run *r, const char *text)
{
    allm_status status;
    if (!claim_run(r, &status))
        return status;
    return publish_outcome(r, outcome_failed(&r->memory, FAILURE_RAISED, "%s",
                                             text ? text : "no reason given"));
}

allm_tool_run *allm_tool_defer(allm_tool_run *r)
{
    if (!r)
        return NULL;
    pthread_mutex_lock(&r->shared->lock);
    bool may = !r->answered && !r->deferred && !r->later && !r->is_callback;
    if (may)
        r->deferred = true;
    pthread_mutex_unlock(&r->shared->lock);
    if (may)
        batch_shared_keep(r->shared);
    return may ? r : NULL;
}

allm_status allm_tool_later(allm_tool_run *r, uint32_t ms, allm_tool_fn fn,
                            void *ud)
{
    if (!r)
        return ALLM_ERR_NOMEM;
    int64_t now = clock_now_ns(r->shared->env.clock);
    pthread_mutex_lock(&r->shared->lock);
    bool may = fn && !r->answered && !r->later && !r->is_callback;
    if (may) {
        r->later_ns = clock_after(now, ms);
        r->later_ud = ud;
        r->later = fn;
        if (!r->busy)
            batch_shared_ring(r->shared);
    }
    pthread_mutex_unlock(&r->shared->lock);
    return may ? ALLM_OK : ALLM_ERR_MISUSE;
}

bool allm_tool_cancelled(const allm_tool_run *r)
{
    if (!r || atomic_load(&r->shared->closed))
        return true;
    pthread_mutex_lock(&r->shared->lock);
    bool abandoned = r->abandoned;
    pthread_mutex_unlock(&r->shared->lock);
    return abandoned;
}

allm_status allm_tool_on_cancel(allm_tool_run *r, allm_tool_cancel_fn fn,
                                void *ud)
{
    if (!r)
        return ALLM_ERR_NOMEM;
    pthread_mutex_lock(&r->shared->lock);
    bool over = r->abandoned || atomic_load(&r->shared->closed);
    bool may = fn && !r->answered && !r->on_cancel && !r->is_callback;
    if (may && over) {
        fn(ud);
    } else if (may) {
        r->on_cancel_ud = ud;
        r->on_cancel = fn;
    }
    pthread_mutex_unlock(&r->shared->lock);
    return may ? ALLM_OK : ALLM_ERR_MISUSE;
}

allm_text *allm_tool_help(size_t count, const allm_tool *const *tools,
                          const allm_json *arguments)
{
    allm_text *text = text_begin(mem_default(), 1024);
    if (!text)
        return NULL;
    return text_finish(text,
                       compact_help(text_arena(text), count, tools, arguments));
}
