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
    bool begun;
};

/* Write name(arguments) of every call into one string. */
static struct slice write_calls(const allm_response *r, struct arena *a)
{
    struct buf text = buf_in(a, SIZE_MAX / 2);
    for (size_t i = 0; i < r->tool_call_count; i++) {
        buf_text(&text, r->tool_calls[i]->name);
        buf_byte(&text, '(');
        json_write(&text, r->tool_calls[i]->arguments, 0);
        buf_byte(&text, ')');
    }
    return text.broken ? (struct slice){ NULL, 0 } : buf_slice(&text);
}

/* Take the calls of the last turn with any from a replay. */
static void restore_calls(struct repeat *r, const struct turns *t)
{
    const allm_response *last = NULL;
    for (const struct turns_step *s = t->steps; t->restored && s; s = s->next) {
        if (s->step->response && s->step->response->tool_call_count)
            last = s->step->response;
        if (s == t->restored)
            break;
    }
    if (last)
        r->calls = write_calls(last, &r->memory);
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
    struct slice now = write_calls(c->response, c->arena);
    if (!now.ptr)
        return ALLM_ERR_NOMEM;
    if (!r->begun) {
        arena_init(&r->memory, t->mem);
        restore_calls(r, t);
    }
    r->begun = true;
    t->same_calls = now.len && slice_eq(now, r->calls) ? t->same_calls + 1 : 1;
    arena_reset(&r->memory);
    r->calls = (struct slice){ arena_copy(&r->memory, now), now.len };
    if (!r->calls.ptr)
        return ALLM_ERR_NOMEM;
    if (t->same_calls >= max) {
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
