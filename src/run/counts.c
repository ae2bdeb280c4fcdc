/*
 * counts.c - what turns have counted so far: to the journal, and from a replay
 *
 *      {"tool_calls": 2, "usage": {...}, "output_retries": 0, "same_calls": 1}
 *
 * together with the front's own counts.  The journal has them with each call of
 * the model, so the turns can continue after an interruption as if there had
 * been none.
 */
#include "base/caller_struct.h"
#include "base/status.h"
#include "data/decode.h"
#include "data/encode.h"
#include "data/usage.h"
#include "run/turns.h"
#include "json/build.h"
#include "json/json.h"

bool counts_json(const struct turns *t, struct arena *a, const allm_json **out)
{
    const allm_error *error = NULL;
    if (!t->setup.options.given.journal)
        return true;
    struct build b = build_object_in(a);
    build_uint_at(&b, "tool_calls", t->tool_calls);
    build_value_at(&b, "usage",
                   encode_to_json(a, &usage_shape, &t->usage, ALLM_FORM_TAGGED,
                                  &error));
    build_uint_at(&b, "output_retries", t->output_retries);
    build_uint_at(&b, "same_calls", (uint64_t)t->same_calls);
    if (t->front->count)
        t->front->count(t, &b);
    *out = build_finish(&b);
    return !error && *out;
}

static int64_t read_number(const allm_json *counts, const char *key)
{
    int64_t n;
    return allm_json_int64(allm_json_get(counts, key), &n) && n > 0 ? n : 0;
}

/* The usage of the counts; without one, the sum of the steps. */
static bool restore_usage(struct turns *t, const allm_json *usage)
{
    struct allm_home *home = t->setup.home;
    struct decoder d;
    if (!usage) {
        for (const struct turns_step *s = t->steps; s; s = s->next)
            if (s->step->response)
                usage_sum(&t->usage, s->step->response->usage);
        return true;
    }
    decode_init(&d, home, home_arena(home));
    const allm_usage *u = decode_value(&d, &usage_shape, usage);
    if (u)
        usage_sum(&t->usage, u);
    return u != NULL;
}

static bool restore_steps(struct turns *t, const allm_journal_replay *replay)
{
    struct turns_step **last = &t->steps;
    for (size_t i = 0; i < replay->step_count; i++) {
        struct turns_step *one = arena_zero(home_arena(t->setup.home),
                                            sizeof *one);
        if (!one)
            return false;
        one->step = replay->steps[i];
        *last = t->newest = one;
        last = &one->next;
        t->step_count++;
    }
    t->restored = t->newest;
    return true;
}

/* Keep the results of earlier turns that were cut; they are the caller's, and
 * valid while the stream is made.
 * False: out of memory, or one is not valid. */
static bool restore_outputs(struct turns *t, const allm_journal_replay *replay)
{
    struct tool_output *w = &t->setup.tool_output;
    for (size_t i = 0; i < replay->earlier_count; i++) {
        allm_journal_tool tool;
        if (!replay->earlier || !replay->earlier[i] ||
            !caller_struct_take(&tool, sizeof tool, replay->earlier[i]) ||
            !tool.tool_call_id)
            return false;
        const struct slice text = { tool.content, tool.content_len };
        if (w->max && text.len > w->max &&
            !tool_output_keep(w, tool.tool_call_id, text))
            return false;
    }
    return true;
}

static const allm_error *invalid_replay(struct turns *t, const char *message)
{
    return home_arena(t->setup.home)->broken
               ? status_nomem()
               : turns_error(t, ALLM_ERR_MISUSE, "invalid_option", "%s",
                             message);
}

const allm_error *counts_restore(struct turns *t,
                                 const allm_journal_replay *replay)
{
    const allm_json *counts = replay->counts;
    t->turn = replay->turn;
    if (!restore_steps(t, replay))
        return status_nomem();
    if (!restore_usage(t, allm_json_get(counts, "usage")))
        return invalid_replay(t, "the usage in the counts of replay is not "
                                 "one; pass the counts of the journal");
    if (!restore_outputs(t, replay))
        return invalid_replay(t, "an earlier result of replay has a wrong size "
                                 "or no tool_call_id; fill it with "
                                 "ALLM(journal_tool, ...)");
    t->tool_calls = (uint64_t)read_number(counts, "tool_calls");
    t->output_retries = (uint32_t)read_number(counts, "output_retries");
    t->same_calls = read_number(counts, "same_calls");
    return t->front->restore ? t->front->restore(t, counts) : NULL;
}
