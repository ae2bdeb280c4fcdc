/*
 * recipe.c - a tool composed of others: serial steps, then parallel steps
 *
 *      arguments --recipe--> plan
 *      serial     one step at a time; each sees the results before it
 *      parallel   three at a time; each sees the results of the serial steps
 *      compose    one string from all results
 *
 * Invariants
 *   (1) A step that fails is recorded with its label; the others still run.
 *   (2) Results are in the order of the plan, whichever step ends first.
 *   (3) Steps run directly: a step is never run by a recipe.
 */
#include "tool/recipe.h"

#include "base/buf.h"
#include "data/tool.h"
#include "tool/encoder.h"
#include "tool/executor.h"
#include "tool/plan.h"
#include "json/build.h"
#include "json/json.h"
#include "json/write.h"

#include <stdint.h>

#define NO_LIMIT (SIZE_MAX / 2)

struct step {
    const struct plan_step *plan;
    struct allm_tool_run *run;      /* NULL: not begun, or failed before */
    bool done;
    const allm_json *content;       /* its result, or NULL */
    const allm_json *error;         /* or why it failed */
};

struct recipe {
    struct allm_tool_run *run;      /* of the call that has this recipe */
    struct arena *arena;            /* of run->shared->home */
    struct recipe_opts opts;
    struct allm_plan plan;
    struct step *steps;             /* serial steps first */
    size_t count, serial_count;
    size_t begun, done;
    const allm_json *context;       /* results of serial steps, by tool */
    bool broken;                    /* memory ran out */
};

static bool list_steps(struct recipe *r)
{
    const struct plan_list *lists[] = { &r->plan.serial, &r->plan.parallel };
    size_t at = 0;
    r->serial_count = r->plan.serial.count;
    r->count = r->serial_count + r->plan.parallel.count;
    r->steps = arena_zero(r->arena, (r->count + 1) * sizeof *r->steps);
    for (size_t i = 0; r->steps && i < 2; i++)
        for (struct plan_step *s = lists[i]->first; s; s = s->next)
            r->steps[at++].plan = s;
    return r->steps && !r->plan.broken;
}

struct recipe *recipe_new(struct allm_tool_run *run, const allm_recipe *source,
                          const struct recipe_opts *opts)
{
    struct arena *a = home_arena(run->shared->home);
    struct recipe *r = arena_zero(a, sizeof *r);
    if (!r)
        return NULL;
    r->run = run;
    r->arena = r->plan.arena = a;
    r->opts = *opts;
    r->context = json_empty_object();
    source->fn(&r->plan, run->arguments, source->ud);
    return list_steps(r) ? r : NULL;
}

static void fail_step(struct recipe *r, struct step *s, const char *why)
{
    s->error = build_alone(r->arena, slice_of(why));
    s->done = true;
    r->done++;
    if (!s->error)
        r->broken = true;
}

/* The arguments of a step, in the arena; NULL: the step has failed. */
static const allm_json *make_step_args(struct recipe *r, struct step *s)
{
    const struct plan_step *plan = s->plan;
    if (!plan->args_fn)
        return plan->args;
    allm_json *made = plan->args_fn(r->context, plan->ud);
    const allm_error *error = made ? allm_json_error(made) : NULL;
    const allm_json *args = NULL;
    if (!made)
        fail_step(r, s, "the function for its arguments returned NULL");
    else if (error)
        fail_step(r, s, arena_text(r->arena, error->message));
    else if (allm_json_type_of(made) != ALLM_JSON_OBJECT)
        fail_step(r, s,
                  "the function for its arguments did not return an object");
    else
        args = json_copy(r->arena, made);
    allm_json_free(made);
    if (!args && !s->done)
        r->broken = true;
    return args;
}

static const allm_tool *find_step_tool(const struct recipe *r, const char *name,
                                       const allm_executor *e)
{
    const allm_tool *own = tool_find(r->opts.tool_count, r->opts.tools, name);
    return own ? own : executor_tool(e, name);
}

/* The call of a step, with the id "dispatch_serial_1"; NULL: out of memory. */
static const allm_tool_call *make_step_call(struct recipe *r,
                                            const struct step *s,
                                            const allm_json *args,
                                            const char *phase)
{
    allm_tool_call *call = arena_zero(r->arena, sizeof *call);
    struct buf id = buf_in(r->arena, 64);
    buf_format(&id, "dispatch_%s_%zu", phase, (size_t)(s - r->steps) + 1);
    if (!call || id.broken)
        return NULL;
    call->size = sizeof *call;
    call->id = id.ptr;
    call->name = s->plan->tool;
    call->arguments = args;
    return call;
}

/* The key of a step: that of the call, and the number of the step. */
static const char *make_step_key(struct recipe *r, const struct step *s)
{
    struct buf key;
    if (!r->run->key)
        return NULL;
    buf_init(&key, r->arena, SIZE_MAX / 2);
    buf_text(&key, r->run->key);
    buf_format(&key, "/%zu", (size_t)(s - r->steps) + 1);
    if (key.broken)
        r->broken = true;
    return key.ptr;
}

static void begin_step(struct recipe *r, struct step *s)
{
    bool known, serial = (size_t)(s - r->steps) < r->serial_count;
    const char *phase = serial ? "serial" : "parallel";
    const allm_json *args = make_step_args(r, s);
    const allm_executor *e = executor_pick(r->opts.executor, s->plan->tool,
                                           &known);
    if (!args)
        return;
    if (!known) {
        fail_step(r, s, DETAIL_NO_EXECUTOR);
        return;
    }
    const allm_tool_call *call = make_step_call(r, s, args, phase);
    if (call)
        s->run = run_new(r->run->shared, call, args,
                         find_step_tool(r, s->plan->tool, e), e);
    if (!s->run) {
        r->broken = true;
        return;
    }
    s->run->key = make_step_key(r, s);
    if (r->opts.trace)
        r->opts.trace(r->opts.trace_ud, call, s->plan->label, phase);
    run_start(s->run);
}

/* Record the outcome of a step: keeps (1). */
static void end_step(struct recipe *r, struct step *s)
{
    const struct outcome *o = &s->run->outcome;
    switch (o->kind) {
    case OUTCOME_RESULT:
        s->content = o->value;
        break;
    case OUTCOME_QUESTION:
    case OUTCOME_HALT:
        s->error = build_alone(
            r->arena, SLICE("a step of a plan can neither ask the user "
                            "nor halt the chat"));
        break;
    case OUTCOME_FAILURE:
        s->error = o->value
                       ? o->value
                       : build_alone(r->arena, slice_of(o->detail ? o->detail
                                                                  : o->reason));
        break;
    case OUTCOME_NONE:
    case OUTCOME_NOMEM:
        r->broken = true;
        break;
    }
    s->done = true;
    r->done++;
    if (!s->content && !s->error)
        r->broken = true;
}

/* Show a serial result to the steps that follow, under its tool's name. */
static void add_context(struct recipe *r, const struct step *s)
{
    if (!s->content)
        return;
    r->context = json_set(r->arena, r->context, slice_of(s->plan->tool),
                          s->content);
    if (!r->context)
        r->broken = true;
}

/* Poll a step that has begun; true: it is done now. */
static bool poll_step(struct recipe *r, struct step *s, int64_t *again_ns)
{
    if (s->done || !s->run)
        return false;
    if (run_poll(s->run, r->opts.timeout_ns, again_ns) != ALLM_EVENT)
        return false;
    end_step(r, s);
    if ((size_t)(s - r->steps) < r->serial_count)
        add_context(r, s);
    return true;
}

/* May the next step begin? */
static bool may_begin_step(const struct recipe *r)
{
    if (r->begun < r->serial_count)
        return r->begun == r->done;
    if (r->done < r->serial_count)
        return false;
    return r->begun - r->done < RECIPE_PARALLEL;
}

/* Begin the steps that may begin and poll the others; true: all are done. */
static bool advance_steps(struct recipe *r, int64_t *again_ns)
{
    bool moved = true;
    while (moved && !r->broken && r->done < r->count) {
        moved = false;
        while (!r->broken && r->begun < r->count && may_begin_step(r)) {
            begin_step(r, &r->steps[r->begun++]);
            moved = true;
        }
        *again_ns = INT64_MAX;
        for (size_t i = 0; !r->broken && i < r->begun; i++)
            moved |= poll_step(r, &r->steps[i], again_ns);
    }
    return r->done == r->count;
}

/* Write the heading before the first item, the separator before the others. */
static void write_head(struct buf *out, size_t *items, const char *title,
                       const char *between)
{
    if ((*items)++)
        buf_text(out, between);
    else
        buf_format(out, "%s## %s\n\n", out->len ? "\n\n" : "", title);
}

static void write_serial(struct buf *out, const struct recipe *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->serial_count; i++) {
        if (!r->steps[i].content)
            continue;
        write_head(out, &n, "Sequential Results", "\n\n");
        buf_format(out, "### Step %zu: %s\n", n, r->steps[i].plan->label);
        encoder_write(out, r->steps[i].content);
    }
}

static void write_parallel(struct buf *out, const struct recipe *r)
{
    size_t n = 0;
    for (size_t i = r->serial_count; i < r->count; i++) {
        if (!r->steps[i].content)
            continue;
        write_head(out, &n, "Additional Results", "\n\n");
        buf_format(out, "### %s\n", r->steps[i].plan->label);
        encoder_write(out, r->steps[i].content);
    }
}

static void write_errors(struct buf *out, const struct recipe *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (!r->steps[i].error)
            continue;
        write_head(out, &n, "Errors", "\n");
        buf_format(out, "- **%s**: ", r->steps[i].plan->label);
        json_write(out, r->steps[i].error, 0);
    }
}

static struct outcome join_results(struct recipe *r)
{
    struct buf out = buf_in(r->arena, NO_LIMIT);
    write_serial(&out, r);
    write_parallel(&out, r);
    write_errors(&out, r);
    if (!out.len)
        buf_text(&out, "No results produced.");
    struct outcome o = { .kind = OUTCOME_RESULT };
    o.value = out.broken ? NULL : build_alone(r->arena, buf_slice(&out));
    if (!o.value)
        o.kind = OUTCOME_NOMEM;
    return o;
}

/* {"label", "tool", "content" or "error"} of each step in from..end-1 that has
 * the last member. */
static void build_list(struct build *b, const struct recipe *r, size_t from,
                       size_t end, bool errors)
{
    build_array(b);
    for (size_t i = from; i < end; i++) {
        const struct step *s = &r->steps[i];
        const allm_json *v = errors ? s->error : s->content;
        if (!v)
            continue;
        build_object(b);
        build_text_at(b, "label", slice_of(s->plan->label));
        build_text_at(b, "tool", slice_of(s->plan->tool));
        build_key(b, errors ? SLICE("error") : SLICE("content"));
        build_value(b, v);
        build_end(b);
    }
    build_end(b);
}

static const allm_json *build_results(const struct recipe *r)
{
    struct build b = build_object_in(r->arena);
    build_key(&b, SLICE("serial"));
    build_list(&b, r, 0, r->serial_count, false);
    build_key(&b, SLICE("parallel"));
    build_list(&b, r, r->serial_count, r->count, false);
    build_key(&b, SLICE("errors"));
    build_list(&b, r, 0, r->count, true);
    return build_finish(&b);
}

/* May compose() end like this?  If not, the tool itself runs. */
static bool is_composition(const struct outcome *o)
{
    if (o->kind == OUTCOME_RESULT)
        return json_slice(o->value).len > 0 &&
               allm_json_type_of(o->value) == ALLM_JSON_TEXT;
    return o->kind == OUTCOME_QUESTION || o->kind == OUTCOME_HALT ||
           o->kind == OUTCOME_NOMEM;
}

/* A failure whose text the encoder does not change. */
static struct outcome verbatim_failure(struct recipe *r, const struct buf *text)
{
    struct outcome o = outcome_reported(
        text->broken ? NULL : build_alone(r->arena, buf_slice(text)));
    o.verbatim = true;
    return o;
}

/* compose() failed.  The steps have run, so the tool itself must not run. */
static struct outcome compose_failure(struct recipe *r,
                                      const struct outcome *why)
{
    struct buf text = buf_in(r->arena, NO_LIMIT);
    buf_text(&text, "Dispatch pipeline error: ");
    if (why->value)
        encoder_write(&text, why->value);
    else
        buf_text(&text, why->detail ? why->detail : why->reason);
    return verbatim_failure(r, &text);
}

static struct outcome compose_results(struct recipe *r)
{
    const allm_json *all = build_results(r);
    struct allm_tool_run *run = all ? run_new(r->run->shared, r->run->call, all,
                                              r->run->tool, NULL)
                                    : NULL;
    if (!run)
        return (struct outcome){ .kind = OUTCOME_NOMEM };
    run->key = r->run->key;
    run->is_callback = run->busy = true;
    r->plan.compose(run, all, r->plan.compose_ud);
    if (run->outcome.kind == OUTCOME_FAILURE)
        return compose_failure(r, &run->outcome);
    return is_composition(&run->outcome)
               ? run->outcome
               : (struct outcome){ .kind = OUTCOME_NONE };
}

static struct outcome plan_failure(struct recipe *r)
{
    struct buf text = buf_in(r->arena, NO_LIMIT);
    buf_format(&text, "Recipe evaluation error: %s", r->plan.failed);
    return verbatim_failure(r, &text);
}

allm_status recipe_poll(struct recipe *r, struct outcome *out,
                        int64_t *again_ns)
{
    int64_t again = INT64_MAX;
    if (r->plan.failed) {
        *out = plan_failure(r);
        return ALLM_EVENT;
    }
    bool all = advance_steps(r, &again);
    if (r->broken) {
        *out = (struct outcome){ .kind = OUTCOME_NOMEM };
        return ALLM_EVENT;
    }
    if (!all) {
        if (again < *again_ns)
            *again_ns = again;
        return ALLM_AGAIN;
    }
    *out = r->plan.compose ? compose_results(r) : join_results(r);
    return ALLM_EVENT;
}

void recipe_abandon(struct recipe *r)
{
    for (size_t i = 0; i < r->begun; i++)
        if (r->steps[i].run && !r->steps[i].done)
            run_abandon(r->steps[i].run);
}
