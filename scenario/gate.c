/* gate.c - the toolbox of a scenario: its rules, and the answers of a person */
#include "gate.h"

#include <string.h>

static const char *const scopes[] = { "once", "session", "always" };

static void give_answer(allm_approval *a, const allm_json *answer)
{
    const char *word = allm_json_text(answer, NULL);
    const allm_json *deny = allm_json_get(answer, "deny");
    for (int i = 0; word && i < 3; i++)
        if (!strcmp(word, scopes[i]))
            allm_approval_allow(a, (allm_approval_scope)i);
    if (deny)
        allm_approval_deny(a, allm_json_text(deny, NULL));
    allm_approval_free(a);      /* "leave" */
}

/* How often this tool was asked about, from 0. */
static size_t count_question(struct scenario *s, const char *tool)
{
    size_t i = 0;
    while (i < s->tools.count && strcmp(s->tools.tool[i]->name, tool) != 0)
        i++;
    return s->asked[i < MAX_TOOLS ? i : 0]++;
}

static void answer_question(void *ud, allm_approval *a)
{
    struct scenario *s = ud;
    const char *tool = allm_approval_call(a)->name;
    const allm_json *list = allm_json_get(s->answers, tool);
    size_t n = allm_json_count(list), at = count_question(s, tool);
    give_answer(a, n ? allm_json_at(list, at < n ? at : n - 1) : NULL);
}

static bool is_answer(const allm_json *v)
{
    const char *word = allm_json_text(v, NULL);
    for (int i = 0; word && i < 3; i++)
        if (!strcmp(word, scopes[i]))
            return true;
    return word ? !strcmp(word, "leave") : allm_json_get(v, "deny") != NULL;
}

static bool check_answers(struct scenario *s, const allm_json *answers)
{
    for (const allm_json *k = NULL; (k = allm_json_next(answers, k));) {
        const allm_json *list = allm_json_value(k);
        bool good = allm_json_type_of(list) == ALLM_JSON_ARRAY;
        for (const allm_json *v = NULL; good && (v = allm_json_next(list, v));)
            good = is_answer(v);
        if (!good)
            return scenario_reject(s,
                                   "/engine/toolbox/approve: \"%s\" must be a "
                                   "list of once, session, always, leave or "
                                   "{\"deny\": why}",
                                   allm_json_text(k, NULL));
    }
    return true;
}

bool gate_make(struct scenario *s, const allm_json *toolbox)
{
    if (!toolbox)
        return true;
    s->answers = allm_json_get(toolbox, "approve");
    if (!scenario_check_members(s, toolbox, "/engine/toolbox",
                                "rules approve") ||
        !check_answers(s, s->answers))
        return false;
    s->toolbox = allm_toolbox_new(
        ALLM(toolbox_opts, .rules = allm_json_get(toolbox, "rules"),
             .approve = s->answers ? answer_question : NULL, .ud = s,
             .clock = &s->clock.clock));
    const allm_error *error = allm_toolbox_error(s->toolbox);
    return !error || scenario_reject(s, "/engine/toolbox: %s", error->message);
}

void gate_release(struct scenario *s)
{
    allm_toolbox_free(s->toolbox);
    s->toolbox = NULL;
}
