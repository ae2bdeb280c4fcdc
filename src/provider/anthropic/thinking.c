/*
 * thinking.c - decide how much the model is to think
 *
 * With a token budget, the provider rejects thinking if a tool is forced, and
 * in an exchange of calls that did not start with a thought of the model.  Then
 * we do not request it.
 */
#include "provider/anthropic/thinking.h"

#include "base/status.h"
#include "provider/anthropic/messages.h"
#include "provider/model_rules.h"
#include "json/json.h"

enum {
    DEFAULT_TOKENS = 1024,      /* for text, if there is no limit */
    MIN_BUDGET = 1024,          /* a smaller one is rejected */
    MIN_ROOM = 2048,            /* for thoughts that cannot be disabled */
    DEFAULT_ROOM = 16384        /* for thoughts of unspecified effort */
};

/* The efforts: as a name for newer models, and as a token budget for others. */
static const struct {
    const char *name, *effort;
    int64_t budget;
} efforts[] = {
    { "none", NULL, 0 },
    { "minimal", "low", 1024 },
    { "low", "low", 2048 },
    { "medium", "medium", 8192 },
    { "high", "high", 16384 },
    { "xhigh", "xhigh", 24576 },
    { "max", "max", 32000 },
};

/* Think as little as the model can.  Many only think if requested. */
static void choose_none(struct anthropic_thinking *t, uint32_t rules)
{
    if (!(rules & MODEL_THINKS))
        return;
    t->type = rules & MODEL_STOPS     ? "disabled"
              : rules & MODEL_BETWEEN ? "between_tools"
                                      : NULL;
    t->effort = t->type ? NULL : "low";
    t->room = rules & MODEL_STOPS ? 0 : MIN_ROOM;
    t->room_known = true;
}

static void choose_effort(struct anthropic_thinking *t, uint32_t rules,
                          const char *effort, int64_t budget)
{
    t->type = rules & MODEL_ADAPTIVE ? "adaptive" : "enabled";
    if (!(rules & MODEL_ADAPTIVE))
        t->budget = budget;
    else if (!strcmp(effort, "xhigh") && !(rules & MODEL_XHIGH))
        t->effort = "high";
    else
        t->effort = effort;
    t->summarized = rules & MODEL_HIDES;
    t->room = budget;
}

static const allm_error *choose_thinking(struct anthropic_thinking *t,
                                         const struct extra *x, uint32_t rules,
                                         struct arena *a)
{
    const char *name = extra_text(x, "reasoning_effort");
    if (!name)
        return NULL;
    for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++) {
        if (strcmp(name, efforts[i].name) != 0)
            continue;
        if (efforts[i].effort)
            choose_effort(t, rules, efforts[i].effort,
                          !x->effort_tokens               ? efforts[i].budget
                          : x->effort_tokens > MIN_BUDGET ? x->effort_tokens
                                                          : MIN_BUDGET);
        else
            choose_none(t, rules);
        return NULL;
    }
    return extra_refuse_effort(a, name);
}

static bool is_tool_forced(const allm_request *r)
{
    const char *choice = r->tool_choice;
    const allm_json *type = allm_json_get(r->tool_choice_map, "type");
    if (r->tool_choice_map)
        return !json_is(type, "auto") && !json_is(type, "none");
    return choice && strcmp(choice, "auto") != 0 && strcmp(choice, "none") != 0;
}

/* The budget that the caller set; 0 if there is none. */
static int64_t caller_budget(const struct anthropic_thinking *t)
{
    int64_t n = 0;
    if (json_is(allm_json_get(t->caller_thinking, "type"), "enabled"))
        allm_json_int64(allm_json_get(t->caller_thinking, "budget_tokens"), &n);
    return n > 0 ? n : 0;
}

/* Reject a forced call of a model that cannot skip its thoughts. */
static const allm_error *refuse_forced_tool(const struct extra *x,
                                            struct arena *a)
{
    const allm_request *r = x->call->request;
    bool tools = r->tool_count || !extra_leaves(x, "tools");
    if (!tools || !is_tool_forced(r) || !extra_leaves(x, "tool_choice"))
        return NULL;
    return status_error(a, ALLM_ERR_ADAPTER, "unsupported_feature",
                        "the model %s cannot be forced to call a tool; set "
                        "tool_choice to auto or none, and ask for the tool in "
                        "the prompt",
                        x->call->model);
}

/* Thoughts count towards max_tokens. */
static void set_limits(struct anthropic_thinking *t, const allm_request *r)
{
    const int64_t max = INT64_MAX - DEFAULT_TOKENS;
    t->max_tokens = r->max_tokens.value;
    if (!r->max_tokens.set) {
        t->max_tokens = DEFAULT_TOKENS + (t->room < max ? t->room : max);
        return;
    }
    if (!t->budget || t->budget < t->max_tokens)
        return;
    t->budget = t->max_tokens / 4 * 3;
    if (t->budget < MIN_BUDGET) {
        t->budget = 0;
        t->type = NULL;
    }
}

/* Interpret the caller's own "thinking". */
static void read_caller_thinking(struct anthropic_thinking *t)
{
    t->type = allm_json_text(allm_json_get(t->caller_thinking, "type"), NULL);
    if (!t->type)
        t->type = "enabled";
    t->room = caller_budget(t);
    t->room_known = t->room || !strcmp(t->type, "disabled") ||
                    !strcmp(t->type, "between_tools");
}

const allm_error *anthropic_thinking_plan(struct anthropic_thinking *t,
                                          const struct extra *x,
                                          struct arena *a)
{
    const allm_call *call = x->call;
    uint32_t rules = model_rules(call->model);
    const allm_error *error = NULL;
    *t = (struct anthropic_thinking){ .caller_thinking =
                                          extra_get(x, "thinking") };
    if (t->caller_thinking)
        read_caller_thinking(t);
    else
        error = choose_thinking(t, x, rules, a);
    if (!error && (rules & MODEL_NOT_FORCED))
        error = refuse_forced_tool(x, a);
    if (error)
        return error;
    bool budgeted = t->budget || caller_budget(t);
    if (budgeted && (is_tool_forced(call->request) ||
                     anthropic_messages_lack_thought(call)))
        *t = (struct anthropic_thinking){ .room_known = true };
    if (!t->room_known && !t->room && (t->type || (rules & MODEL_THINKS)))
        t->room = DEFAULT_ROOM;
    set_limits(t, call->request);
    t->on = t->type && strcmp(t->type, "disabled") != 0;
    return NULL;
}

void anthropic_thinking_write(const struct anthropic_thinking *t,
                              struct emit *e)
{
    if (!t->type)
        return;
    emit_name(e, SLICE("thinking"));
    if (t->caller_thinking) {
        emit_value(e, t->caller_thinking);
        return;
    }
    emit_open(e, '{');
    emit_member_word(e, "type", t->type);
    if (t->budget)
        emit_member_int(e, "budget_tokens", t->budget);
    if (t->summarized)
        emit_member_word(e, "display", "summarized");
    emit_close(e, '}');
}
