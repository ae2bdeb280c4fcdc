/*
 * repeat.c - a policy: stop a model that repeats the same calls
 *
 * The calls of a turn are compared with those of the previous turn by name and
 * arguments, not by id.  After max_same_calls equal turns in a row the chat
 * halts with "repeated_calls", since the results would be the same, too.
 */
#include "base/buf.h"
#include "run/turns.h"
#include "json/write.h"

struct repeat {
    struct arena memory;        /* owns the calls of the previous turn */
    struct slice calls;
    int64_t count;
    bool begun;
};

/* Write name(arguments) of every call into one string. */
static struct slice write_calls(const allm_context *c, struct arena *a)
{
    const allm_response *r = c->response;
    struct buf text;
    buf_init(&text, a, SIZE_MAX / 2);
    for (size_t i = 0; i < r->tool_call_count; i++) {
        buf_text(&text, r->tool_calls[i]->name);
        buf_byte(&text, '(');
        json_write(&text, r->tool_calls[i]->arguments, 0);
        buf_byte(&text, ')');
    }
    return text.broken ? (struct slice){ NULL, 0 } : buf_slice(&text);
}

static allm_status compare_calls(void *state, const allm_loop_view *view,
                                 const allm_context *c, allm_verdict *v,
                                 void *ud)
{
    struct repeat *r = state;
    struct turns *t = ud;
    int64_t max = t->setup.options.max_same_calls;
    (void)view;
    if (!max || v->decision != ALLM_DECISION_CONTINUE)
        return ALLM_OK;
    struct slice now = write_calls(c, c->arena);
    if (!now.ptr)
        return ALLM_ERR_NOMEM;
    r->count = now.len && slice_eq(now, r->calls) ? r->count + 1 : 1;
    if (!r->begun)
        arena_init(&r->memory, t->mem);
    r->begun = true;
    arena_reset(&r->memory);
    r->calls = (struct slice){ arena_copy(&r->memory, now), now.len };
    if (!r->calls.ptr)
        return ALLM_ERR_NOMEM;
    if (r->count >= max) {
        v->decision = ALLM_DECISION_HALT;
        v->reason = "repeated_calls";
    }
    return ALLM_OK;
}

static void release_calls(void *state, void *ud)
{
    struct repeat *r = state;
    (void)ud;
    if (r->begun)
        arena_release(&r->memory);
}

const allm_policy repeat_policy = {
    .size = sizeof repeat_policy,
    .name = "repeat",
    .state_size = sizeof(struct repeat),
    .after_turn = compare_calls,
    .close = release_calls,
};
