/*
 * thinking.c - how much a model is asked to think
 *
 * With a budget the provider refuses to think where a tool is forced, and in
 * the middle of an exchange of calls that began without its own thought.  Then
 * we do not ask for it.
 */
#include "provider/anthropic/thinking.h"

#include "base/status.h"
#include "provider/anthropic/messages.h"
#include "provider/model_rules.h"
#include "json/json.h"

enum {
    DEFAULT_TOKENS = 1024,      /* of text, if nobody says how many */
    LEAST_BUDGET = 1024,        /* less is refused */
    LEAST_ROOM = 2048,          /* for the thoughts of one that cannot stop */
    USUAL_ROOM = 16384          /* ...and that nobody told how much to think */
};

/* An effort, as later models know it, and as a budget for the others. */
static const struct {
    const char *word, *effort;
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

/* As little as the model can.  Many do not think unless they are asked to. */
static void choose_none(struct anthropic_thinking *t, uint32_t rules)
{
    if (!(rules & MODEL_THINKS))
        return;
    t->type = rules & MODEL_STOPS     ? "disabled"
              : rules & MODEL_BETWEEN ? "between_tools"
                                      : NULL;
    t->effort = t->type ? NULL : "low";
    t->room = rules & MODEL_STOPS ? 0 : LEAST_ROOM;
    t->settled = true;
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
    t->shown = rules & MODEL_HIDES;
    t->room = budget;
}

static const allm_error *choose_thinking(struct anthropic_thinking *t,
                                         const struct extra *x, uint32_t rules,
                                         struct arena *a)
{
    const char *word = extra_text(x, "reasoning_effort");
    if (!word)
        return NULL;
    for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++) {
        if (strcmp(word, efforts[i].word) != 0)
            continue;
        if (efforts[i].effort)
            choose_effort(t, rules, efforts[i].effort, efforts[i].budget);
        else
            choose_none(t, rules);
        return NULL;
    }
    return extra_refuse_effort(a, word);
}

static bool is_forced(const allm_request *r)
{
    const char *choice = r->tool_choice;
    const allm_json *type = allm_json_get(r->tool_choice_map, "type");
    if (r->tool_choice_map)
        return !json_is(type, "auto") && !json_is(type, "none");
    return choice && strcmp(choice, "auto") != 0 && strcmp(choice, "none") != 0;
}

/* The budget that the caller gave; 0: none. */
static int64_t given_budget(const struct anthropic_thinking *t)
{
    int64_t n = 0;
    if (json_is(allm_json_get(t->given, "type"), "enabled"))
        allm_json_int64(allm_json_get(t->given, "budget_tokens"), &n);
    return n > 0 ? n : 0;
}

/* A call is demanded of a model that may not leave out its thought. */
static const allm_error *refuse_force(const struct extra *x, struct arena *a)
{
    const allm_request *r = x->call->request;
    bool tools = r->tool_count || !extra_leaves(x, "tools");
    if (!tools || !is_forced(r) || !extra_leaves(x, "tool_choice"))
        return NULL;
    return status_error(a, ALLM_ERR_ADAPTER, "unsupported_feature",
                        "the model %s cannot be made to call a tool; set "
                        "tool_choice to auto or none, and say in the prompt "
                        "which tool is wanted",
                        x->call->model);
}

/* Thoughts are a part of max_tokens. */
static void set_limits(struct anthropic_thinking *t, const allm_request *r)
{
    const int64_t most = INT64_MAX - DEFAULT_TOKENS;
    t->max_tokens = r->max_tokens.value;
    if (!r->max_tokens.set) {
        t->max_tokens = DEFAULT_TOKENS + (t->room < most ? t->room : most);
        return;
    }
    if (!t->budget || t->budget < t->max_tokens)
        return;
    t->budget = t->max_tokens / 4 * 3;
    if (t->budget < LEAST_BUDGET) {
        t->budget = 0;
        t->type = NULL;
    }
}

/* What the caller's own "thinking" means. */
static void read_given(struct anthropic_thinking *t)
{
    t->type = allm_json_text(allm_json_get(t->given, "type"), NULL);
    if (!t->type)
        t->type = "enabled";
    t->room = given_budget(t);
    t->settled = t->room || !strcmp(t->type, "disabled") ||
                 !strcmp(t->type, "between_tools");
}

const allm_error *anthropic_thinking_plan(struct anthropic_thinking *t,
                                          const struct extra *x,
                                          struct arena *a)
{
    const allm_call *call = x->call;
    uint32_t rules = model_rules(call->model);
    const allm_error *error = NULL;
    *t = (struct anthropic_thinking){ .given = extra_get(x, "thinking") };
    if (t->given)
        read_given(t);
    else
        error = choose_thinking(t, x, rules, a);
    if (!error && (rules & MODEL_NOT_FORCED))
        error = refuse_force(x, a);
    if (error)
        return error;
    bool budgeted = t->budget || given_budget(t);
    if (budgeted &&
        (is_forced(call->request) || anthropic_messages_lack_thought(call)))
        *t = (struct anthropic_thinking){ .settled = true };
    if (!t->settled && !t->room && (t->type || (rules & MODEL_THINKS)))
        t->room = USUAL_ROOM;
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
    if (t->given) {
        emit_value(e, t->given);
        return;
    }
    emit_open(e, '{');
    emit_member_word(e, "type", t->type);
    if (t->budget) {
        emit_name(e, SLICE("budget_tokens"));
        emit_int(e, t->budget);
    }
    if (t->shown)
        emit_member_word(e, "display", "summarized");
    emit_close(e, '}');
}
