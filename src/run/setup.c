/*
 * setup.c - the data that all turns of a step, a chat or an agent share
 *
 * A call continues after the function that started it has returned, so this
 * file copies the caller's options, key, tools and tables.  They are read once;
 * every turn borrows them.
 */
#include "run/setup.h"

#include "base/caller_struct.h"
#include "base/status.h"
#include "data/error.h"
#include "data/response.h"
#include "data/step_result.h"
#include "data/tool.h"
#include "data/validate.h"
#include "run/call_plan.h"
#include "run/resolve.h"
#include "run/spans.h"
#include "run/stream.h"
#include "tool/compact.h"
#include "tool/executor.h"
#include "json/build.h"
#include "json/json.h"

enum { MAX_TURNS = 8 };

static const allm_error *option_error(struct setup *s, const char *message)
{
    return status_error(home_arena(s->home), ALLM_ERR_MISUSE, "invalid_option",
                        "%s", message);
}

const allm_error *setup_copy_error(struct setup *s, const allm_error *error)
{
    return error_copy(s->home, error);
}

/* ---------------------------------------------------------------- time --- */

void setup_start_time(struct setup *s)
{
    s->deadline_ns = call_plan_deadline_ns(s->engine, &s->options);
}

const allm_error *setup_timeout_error(const struct setup *s)
{
    static const allm_error late = STATUS_ERROR(
        ALLM_ERR_ADAPTER, "timeout",
        "the call did not complete in time; raise total_ms to wait "
        "longer");
    bool over = s->deadline_ns < INT64_MAX &&
                clock_now_ns(engine_core(s->engine)->clock) >= s->deadline_ns;
    return over ? &late : NULL;
}

/* --------------------------------------------------------------- tools --- */

/* If results are limited, offer the model a tool that reads the rest. */
static bool add_tool_output(struct setup *s)
{
    struct arena *a = home_arena(s->home);
    size_t n = s->tool_count, max = (size_t)s->options.max_tool_output;
    if (!max)
        return true;
    s->tool_output = (struct tool_output){ .home = s->home, .max = max };
    if (tool_find(n, s->tools, TOOL_OUTPUT_NAME))
        return true;            /* The caller's own tool does it. */
    const allm_tool **all = arena_alloc(a, (n + 2) * sizeof *all);
    if (!all)
        return false;
    if (n)
        memcpy(all, s->tools, n * sizeof *all);
    all[n] = tool_output_tool(&s->tool_output);
    s->tools = all;
    s->tool_count = n + 1;
    return all[n] != NULL;
}

static const allm_error *read_tools(struct setup *s)
{
    struct arena *a = home_arena(s->home);
    const struct options *o = &s->options;
    if (!engine_tools(s->engine, o, a, &s->tool_count, &s->tools) ||
        !(s->tools = executor_tools(o->given.executor, a, s->tools,
                                    &s->tool_count)))
        return status_nomem();
    bool callers = o->has_tools || o->given.executor;
    const allm_error *error =
        callers ? resolve_copy_tools(s->home, s->tool_count, &s->tools) : NULL;
    if (error)
        return error;
    if (!add_tool_output(s))
        return status_nomem();
    s->options.tools = NULL;    /* They are merged now. */
    s->options.tool_count = 0;
    s->options.has_tools = false;
    if (!compact_wire(a, s->tool_count, s->tools, o->tool_choice,
                      o->tool_choice_map, &s->wire_count, &s->wire))
        return status_nomem();
    if (!s->wire)              /* An empty list, so the engine's is not used. */
        s->wire = arena_zero(a, sizeof *s->wire);
    s->schemas = arena_zero(a, (s->tool_count + 1) * sizeof *s->schemas);
    return s->schemas && s->wire ? NULL : status_nomem();
}

/* ------------------------------------------------------------- options --- */

static const allm_error *store_key(struct setup *s)
{
    return options_keep_key(&s->options, &s->key, s->mem, home_arena(s->home));
}

/* Functions and tables cannot be set in JSON. */
static const allm_error *reject_functions(struct setup *s)
{
    static const char *const names[] = { "halt_when", "on_iteration",
                                         "pipeline",  "policies",
                                         "budget",    "journal",
                                         "replay",    "key_prefix",
                                         "tool_executor",
                                         "tool_result_encoder" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!allm_json_get(s->options.all, names[i]))
            continue;
        return status_error(
            home_arena(s->home), ALLM_ERR_MISUSE, "invalid_option",
            "option %s cannot be set in json; set it in the struct", names[i]);
    }
    return NULL;
}

static const allm_error *read_policies(struct setup *s)
{
    allm_call_opts *o = &s->options.given;
    struct arena *a = home_arena(s->home);
    const allm_policy **list = arena_zero(a,
                                          (o->policy_count + 1) * sizeof *list);
    if (o->policy_count && !o->policies)
        return option_error(s, "policies is NULL, but policy_count is not 0; "
                               "set both");
    for (size_t i = 0; list && i < o->policy_count; i++) {
        allm_policy *mine = arena_zero(a, sizeof *mine);
        if (!mine)
            return status_nomem();
        if (!o->policies[i] ||
            !caller_struct_take(mine, sizeof *mine, o->policies[i]))
            return option_error(
                s, "the size of a policy is wrong; fill it with ALLM(policy, "
                   "...)");
        list[i] = mine;
    }
    o->policies = list;
    return list ? NULL : status_nomem();
}

static const allm_error *read_adapter_options(struct setup *s)
{
    return call_plan_options(s->engine, &s->options, home_arena(s->home),
                             &s->provider_options, &s->adapter_opts);
}

/* The executor, the encoder and the gate: the call's, or the engine's. */
static const allm_error *read_tables(struct setup *s)
{
    allm_call_opts *o = &s->options.given;
    const struct engine_core *core = engine_core(s->engine);
    if (!caller_struct_take(&s->executor, sizeof s->executor, o->executor))
        return option_error(
            s, "the size of the executor is wrong; fill it with ALLM(executor, "
               "...)");
    if (!caller_struct_take(&s->encoder, sizeof s->encoder, o->encoder))
        return option_error(
            s, "the size of the encoder is wrong; fill it with ALLM(encoder, "
               "...)");
    if (!caller_struct_take(&s->gate, sizeof s->gate, o->gate))
        return option_error(
            s, "the size of the gate is wrong; fill it with ALLM(gate, ...)");
    o->executor = o->executor ? &s->executor : core->executor;
    o->encoder = o->encoder ? &s->encoder : core->encoder;
    o->gate = o->gate ? &s->gate : core->gate;
    return NULL;
}

/* Hold references to the pipeline and the budget. */
static const allm_error *read_handles(struct setup *s)
{
    allm_call_opts *o = &s->options.given;
    if (o->pipeline && allm_pipeline_error(o->pipeline))
        return allm_pipeline_error(o->pipeline);
    if (o->budget && allm_budget_error(o->budget))
        return allm_budget_error(o->budget);
    s->pipeline = allm_pipeline_keep(o->pipeline);
    s->budget = allm_budget_keep(o->budget);
    s->terms.budget = s->budget;
    return NULL;
}

/* ------------------------------------------------- replay of a journal --- */

static const allm_journal_tool *copy_tool_result(
    struct setup *s, const allm_journal_tool *caller_tool)
{
    struct arena *a = home_arena(s->home);
    allm_journal_tool *t = arena_zero(a, sizeof *t);
    if (!t || !caller_tool || !caller_struct_take(t, sizeof *t, caller_tool) ||
        !t->tool_call_id)
        return NULL;
    struct slice text = { t->content, t->content_len };
    if (!text.len)
        text = slice_of(t->content);
    t->tool_call_id = arena_text(a, t->tool_call_id);
    t->content = arena_copy(a, text.ptr ? text : SLICE(""));
    t->content_len = text.len;
    t->reason = arena_text(a, t->reason);
    t->value = json_copy(a, t->value);
    return a->broken ? NULL : t;
}

static const allm_error *copy_steps(struct setup *s, allm_journal_replay *r)
{
    const allm_error *error = NULL;
    const allm_step_result **steps =
        arena_zero(home_arena(s->home), (r->step_count + 1) * sizeof *steps);
    if (r->step_count && !r->steps)
        return option_error(s, "replay has a step_count, but no steps; set "
                               "both");
    for (size_t i = 0; steps && !error && i < r->step_count; i++) {
        if (!r->steps[i])
            return option_error(s, "a step of replay is NULL");
        steps[i] = shape_copy(s->home, &step_result_shape, r->steps[i], &error);
        if (!steps[i] && !error)
            error = status_nomem();
    }
    r->steps = steps;
    return error ? error : steps ? NULL : status_nomem();
}

static const allm_error *read_replay(struct setup *s)
{
    const allm_journal_replay *caller_replay = s->options.given.replay;
    struct arena *a = home_arena(s->home);
    const allm_error *error = NULL;
    if (!caller_replay)
        return NULL;
    allm_journal_replay *r = arena_zero(a, sizeof *r);
    if (!r)
        return status_nomem();
    if (!caller_struct_take(r, sizeof *r, caller_replay))
        return option_error(s, "the size of replay is wrong; fill it with "
                               "ALLM(journal_replay, ...)");
    const allm_journal_tool **tools =
        arena_zero(a, (r->tool_count + 1) * sizeof *tools);
    for (size_t i = 0; tools && i < r->tool_count; i++) {
        tools[i] = copy_tool_result(s, r->tools ? r->tools[i] : NULL);
        if (!tools[i])
            return a->broken
                       ? status_nomem()
                       : option_error(s, "a tool of replay has a wrong size or "
                                         "no tool_call_id; fill it with "
                                         "ALLM(journal_tool, ...)");
    }
    r->tools = tools;
    if (r->response)
        r->response = shape_copy(s->home, &response_shape, r->response, &error);
    r->counts = json_copy(a, r->counts);
    s->replay = r;
    if (!error)
        error = copy_steps(s, r);
    return error ? error : tools && !a->broken ? NULL : status_nomem();
}

/* --------------------------------------------------------------- trace --- */

static const allm_error *read_trace(struct setup *s)
{
    const struct engine_core *core = engine_core(s->engine);
    struct arena *a = home_arena(s->home);
    const struct options *o = &s->options;
    s->request_id = engine_request_id(s->engine, o, a);
    s->model = arena_text(a, engine_model(s->engine, o, NULL));
    s->key_prefix = arena_text(a, o->given.key_prefix);
    if (!s->request_id || a->broken)
        return status_nomem();
    if (!core->trace)
        return NULL;
    s->trace = (struct trace){ core->trace, core->trace_ud, core->clock };
    s->span_metadata =
        spans_metadata(s->engine, a, engine_row_for(s->engine, s->model, NULL));
    return s->span_metadata ? NULL : status_nomem();
}

/* ------------------------------------------------------------ lifetime --- */

static const allm_error *read_defaults(struct setup *s)
{
    struct options d;
    const allm_error *error = engine_defaults(s->engine, s->home, &s->options,
                                              &d);
    if (error)
        return error;
    options_inherit_fields(&s->options, &d);
    s->max_turns = s->options.max_turns ? options_small(s->options.max_turns)
                                        : MAX_TURNS;
    return options_tools(&s->options, s->home);
}

static const allm_error *read_call_opts(struct setup *s,
                                        const allm_call_opts *opts)
{
    static const allm_error *(*const steps[])(struct setup *) = {
        reject_functions, read_defaults, store_key,   read_tables,
        read_handles,     read_policies, read_replay, read_tools,
        read_adapter_options,     read_trace,
    };
    const allm_error *error = options_read(&s->options, s->home, opts);
    for (size_t i = 0; !error && i < sizeof steps / sizeof *steps; i++)
        error = steps[i](s);
    s->terms.manual = s->options.mode == ALLM_MODE_MANUAL;
    setup_start_time(s);
    return error;
}

const allm_error *setup_init(struct setup *s, const allm_engine *e,
                             const allm_thread *thread,
                             const allm_call_opts *opts, allm_stream *stream)
{
    struct mem mem = engine_core(e)->mem;
    *s = (struct setup){ .mem = mem, .stream = stream,
                         .waker = stream_waker(stream) };
    s->engine = allm_engine_keep(e);
    s->home = home_new(mem, 1024);
    if (!s->home)
        return status_nomem();
    const allm_error *error = read_call_opts(s, opts);
    return error ? error : validate_thread(home_arena(s->home), thread);
}

void setup_release(struct setup *s)
{
    for (size_t i = 0; s->schemas && i < s->tool_count; i++)
        allm_json_schema_free(s->schemas[i]);
    secret_release(&s->key);
    allm_pipeline_free(s->pipeline);
    allm_budget_free(s->budget);
    home_drop(s->home);
    allm_engine_free(s->engine);
}
