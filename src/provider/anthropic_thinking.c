/*
 * anthropic_thinking.c - how much a model is asked to think
 *
 * With a budget the provider refuses to think where a tool is forced, and in
 * the middle of an exchange of calls that began without its own thought.  Then
 * we do not ask for it.
 */
#include "provider/anthropic_thinking.h"

#include "base/status.h"
#include "provider/anthropic_messages.h"
#include "json/json.h"

enum {
    DEFAULT_TOKENS = 1024,      /* of text, if nobody says how many */
    LEAST_BUDGET = 1024         /* less is refused */
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

/* One or two digits at the beginning; 0: none, or more. */
static int small_number(const char *text, size_t *len)
{
    size_t n = 0;
    int value = 0;
    while (text[n] >= '0' && text[n] <= '9' && n < 3)
        value = value * 10 + (text[n++] - '0');
    *len = n;
    return n == 1 || n == 2 ? value : 0;
}

/* Later than 4.5?  "claude-opus-4-5-20251101" is not, and neither is a model
 * of somebody else's; one without a number is. */
static bool is_newer(const char *model)
{
    size_t n = 0;
    int major = 0;
    const char *at = strstr(model, "claude");
    if (!at)
        return false;
    for (; *at && !major; at += n ? n : 1) {
        n = 0;
        if (*at >= '0' && *at <= '9')
            major = small_number(at, &n);
    }
    int minor = *at == '-' || *at == '.' ? small_number(at + 1, &n) : 0;
    return !major || major > 4 || (major == 4 && minor > 5);
}

static const allm_error *choose(struct anthropic_thinking *t,
                                const struct extra *x, struct arena *a)
{
    const char *word = extra_text(x, "reasoning_effort");
    bool adaptive = is_newer(x->call->model ? x->call->model : "");
    if (!word)
        return NULL;
    for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++) {
        if (strcmp(word, efforts[i].word) != 0)
            continue;
        t->effort = adaptive ? efforts[i].effort : NULL;
        t->budget = adaptive ? 0 : efforts[i].budget;
        t->room = efforts[i].budget;
        t->on = t->effort || t->budget;
        return NULL;
    }
    return status_error(
        a, ALLM_ERR_MISUSE, "invalid_option",
        "reasoning_effort is \"%.40s\"; it must be one of none, "
        "minimal, low, medium, high, xhigh, max",
        word);
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

/* Thoughts are a part of max_tokens. */
static void set_limits(struct anthropic_thinking *t, const allm_request *r)
{
    const int64_t most = INT64_MAX - DEFAULT_TOKENS;
    if (!r->max_tokens.set) {
        t->max_tokens = DEFAULT_TOKENS;
        if (t->on)
            t->max_tokens += t->room < most ? t->room : most;
        return;
    }
    t->max_tokens = r->max_tokens.value;
    if (!t->budget || t->budget < t->max_tokens)
        return;
    t->budget = t->max_tokens / 4 * 3;
    if (t->budget < LEAST_BUDGET) {
        t->budget = 0;
        t->on = false;
    }
}

const allm_error *anthropic_thinking_plan(struct anthropic_thinking *t,
                                          const struct extra *x,
                                          struct arena *a)
{
    const allm_call *call = x->call;
    *t = (struct anthropic_thinking){ .given = extra_get(x, "thinking") };
    const allm_error *error = t->given ? NULL : choose(t, x, a);
    if (error)
        return error;
    bool off = json_is(allm_json_get(t->given, "type"), "disabled");
    t->on = t->on || (t->given && !off);
    bool budgeted = t->budget || given_budget(t);
    if (t->given)
        t->room = given_budget(t);
    if (budgeted &&
        (is_forced(call->request) || anthropic_messages_lack_thought(call)))
        t->on = false;
    set_limits(t, call->request);
    return NULL;
}

void anthropic_thinking_write(const struct anthropic_thinking *t,
                              struct emit *e)
{
    bool off = json_is(allm_json_get(t->given, "type"), "disabled");
    if (!t->on && !off)
        return;
    emit_name(e, SLICE("thinking"));
    if (t->given) {
        emit_value(e, t->given);
        return;
    }
    emit_open(e, '{');
    emit_name(e, SLICE("type"));
    emit_word(e, t->budget ? "enabled" : "adaptive");
    if (t->budget) {
        emit_name(e, SLICE("budget_tokens"));
        emit_int(e, t->budget);
    }
    emit_close(e, '}');
}
