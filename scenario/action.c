/*
 * action.c - the action of a scenario's tool: its member "does"
 *
 * Each form of "does" is a row of the table: the type of its value, and the
 * function that answers.  Tools run in the thread that pulls and sleep on the
 * test clock, so scenarios are fast and deterministic.
 */
#include "action.h"

#include "kept.h"

#include <stdlib.h>
#include <string.h>

/* One call of a tool. */
struct action_call {
    struct action_call *next;
    struct action *action;
    const allm_json *does;
    uint64_t number;            /* earlier calls of this tool */
};

static void perform_action(struct action_call *n, allm_tool_run *run,
                           const allm_json *arguments);

typedef void answer_fn(struct action_call *n, allm_tool_run *run,
                       const allm_json *v, const allm_json *arguments);

static void answer_null(allm_tool_run *run)
{
    allm_json *none = allm_json_parse("null", ALLM_NUL_ENDED, NULL);
    allm_tool_ok(run, none);
    allm_json_free(none);
}

static void answer_echo(struct action_call *n, allm_tool_run *run,
                        const allm_json *v, const allm_json *arguments)
{
    (void)n;
    (void)v;
    allm_tool_ok(run, arguments);
}

static void answer_ok(struct action_call *n, allm_tool_run *run,
                      const allm_json *v, const allm_json *arguments)
{
    (void)n;
    (void)arguments;
    allm_tool_ok(run, v);
}

/* A string is the message; any other value is written as JSON. */
static void answer_error(struct action_call *n, allm_tool_run *run,
                         const allm_json *v, const allm_json *arguments)
{
    (void)n;
    (void)arguments;
    if (allm_json_type_of(v) == ALLM_JSON_TEXT) {
        allm_tool_fail(run, allm_json_text(v, NULL));
        return;
    }
    allm_text *text = allm_json_write(v, 0);
    allm_tool_fail(run, allm_text_bytes(text, NULL));
    allm_text_free(text);
}

static void answer_ask_user(struct action_call *n, allm_tool_run *run,
                            const allm_json *v, const allm_json *arguments)
{
    const allm_json *opts = allm_json_get(n->does, "opts");
    (void)arguments;
    if (allm_json_type_of(opts) == ALLM_JSON_NULL)
        opts = NULL;
    allm_tool_ask(run, allm_json_text(v, NULL), opts);
}

static void answer_halt(struct action_call *n, allm_tool_run *run,
                        const allm_json *v, const allm_json *arguments)
{
    (void)n;
    (void)arguments;
    allm_tool_halt(run, allm_json_text(allm_json_at(v, 0), NULL),
                   allm_json_at(v, 1));
}

static void answer_raise(struct action_call *n, allm_tool_run *run,
                         const allm_json *v, const allm_json *arguments)
{
    (void)n;
    (void)arguments;
    allm_tool_raise(run, allm_json_text(v, NULL));
}

/* A tool that returns without an answer is an error. */
static void answer_invalid(struct action_call *n, allm_tool_run *run,
                           const allm_json *v, const allm_json *arguments)
{
    (void)n;
    (void)run;
    (void)v;
    (void)arguments;
}

static void perform_after_sleep(allm_tool_run *run, const allm_json *arguments,
                                void *ud)
{
    perform_action(ud, run, arguments);
}

static struct action_call *action_call_new(const struct action_call *n,
                                           const allm_json *does)
{
    struct action_call *one = calloc(1, sizeof *one);
    if (!one)
        return NULL;
    *one = (struct action_call){ .next = n->action->sleeping,
                                 .action = n->action,
                                 .does = does,
                                 .number = n->number };
    n->action->sleeping = one;
    return one;
}

static void answer_sleep(struct action_call *n, allm_tool_run *run,
                         const allm_json *v, const allm_json *arguments)
{
    uint64_t ms = 0;
    struct action_call *then = action_call_new(n,
                                               allm_json_get(n->does, "then"));
    (void)arguments;
    allm_json_uint64(v, &ms);
    if (then)
        allm_tool_later(run, (uint32_t)ms, perform_after_sleep, then);
}

static void answer_context(struct action_call *n, allm_tool_run *run,
                           const allm_json *v, const allm_json *arguments)
{
    const allm_json *member = allm_json_get(allm_tool_run_context(run),
                                            allm_json_text(v, NULL));
    (void)n;
    (void)arguments;
    if (member)
        allm_tool_ok(run, member);
    else
        answer_null(run);
}

static void answer_tool_call(allm_tool_run *run)
{
    size_t len = 0;
    allm_text *text = allm_tool_call_json(allm_tool_run_call(run),
                                          ALLM_FORM_PLAIN);
    const char *bytes = allm_text_bytes(text, &len);
    allm_json *v = allm_json_parse(bytes ? bytes : "null", len, NULL);
    allm_tool_ok(run, v);
    allm_json_free(v);
    allm_text_free(text);
}

static void answer_run_field(struct action_call *n, allm_tool_run *run,
                             const allm_json *v, const allm_json *arguments)
{
    const char *what = allm_json_text(v, NULL);
    const char *id = !strcmp(what, "session_id")
                         ? allm_tool_run_session_id(run)
                         : allm_tool_run_request_id(run);
    (void)arguments;
    if (!strcmp(what, "tool_call"))
        answer_tool_call(run);
    else if (id && !kept_is_hidden(n->action->scenario, id))
        allm_tool_text(run, id, ALLM_NUL_ENDED);
    else
        answer_null(run);
}

/* One action per call; the last one repeats. */
static void answer_sequence(struct action_call *n, allm_tool_run *run,
                            const allm_json *v, const allm_json *arguments)
{
    size_t last = allm_json_count(v) - 1;
    struct action_call one = *n;
    one.does = allm_json_at(v, n->number < last ? (size_t)n->number : last);
    perform_action(&one, run, arguments);
}

enum shape { ANY, TRUE, TEXT, PAIR, COUNT, LIST, RUN_FIELD };

static const struct form {
    const char *name;
    const char *extra;         /* another member that it may have */
    enum shape shape;
    answer_fn *answer;
} forms[] = {
    { "echo", NULL, TRUE, answer_echo },
    { "ok", NULL, ANY, answer_ok },
    { "error", NULL, ANY, answer_error },
    { "ask_user", "opts", ANY, answer_ask_user },
    { "halt", NULL, PAIR, answer_halt },
    { "raise", NULL, TEXT, answer_raise },
    { "invalid", NULL, TRUE, answer_invalid },
    { "sleep_ms", "then", COUNT, answer_sleep },
    { "context", NULL, TEXT, answer_context },
    { "sees", NULL, RUN_FIELD, answer_run_field },
    { "sequence", NULL, LIST, answer_sequence },
};

/* The form whose member the object has. */
static const struct form *find_form(const allm_json *does)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (allm_json_get(does, forms[i].name))
            return &forms[i];
    return NULL;
}

static void perform_action(struct action_call *n, allm_tool_run *run,
                           const allm_json *arguments)
{
    const struct form *f = find_form(n->does);
    f->answer(n, run, allm_json_get(n->does, f->name), arguments);
}

void action_run(allm_tool_run *run, const allm_json *arguments, void *ud)
{
    struct action *d = ud;
    struct action_call n = { .action = d,
                             .does = d->does,
                             .number = d->calls++ };
    runs_count(&d->scenario->runs, allm_tool_run_call(run)->name);
    perform_action(&n, run, arguments);
}

void action_release(struct action *d)
{
    while (d->sleeping) {
        struct action_call *next = d->sleeping->next;
        free(d->sleeping);
        d->sleeping = next;
    }
}

static bool is_run_field(const allm_json *v)
{
    const char *word = allm_json_text(v, NULL);
    return word && (!strcmp(word, "session_id") ||
                    !strcmp(word, "request_id") || !strcmp(word, "tool_call"));
}

/* NULL, or the type that is expected. */
static const char *find_type_error(enum shape shape, const allm_json *v)
{
    uint64_t n = 0;
    allm_json_type type = allm_json_type_of(v);
    switch (shape) {
    case TRUE:
        return allm_json_true(v) ? NULL : "true";
    case TEXT:
        return type == ALLM_JSON_TEXT ? NULL : "a string";
    case PAIR:
        return type == ALLM_JSON_ARRAY && allm_json_count(v) == 2
                   ? NULL
                   : "[reason, value]";
    case COUNT:
        return allm_json_uint64(v, &n) && n <= UINT32_MAX
                   ? NULL
                   : "milliseconds, an integer";
    case LIST:
        return type == ALLM_JSON_ARRAY && allm_json_count(v)
                   ? NULL
                   : "a list with at least one element";
    case RUN_FIELD:
        return is_run_field(v) ? NULL : "session_id, request_id or tool_call";
    default:
        return NULL;
    }
}

bool action_check(struct scenario *s, const allm_json *does, const char *where)
{
    char words[64];
    const struct form *f = allm_json_type_of(does) == ALLM_JSON_OBJECT
                               ? find_form(does)
                               : NULL;
    if (!f)
        return scenario_reject(s, "%s: \"does\" has none of the known forms",
                               where);
    const allm_json *v = allm_json_get(does, f->name);
    const char *expected = find_type_error(f->shape, v);
    snprintf(words, sizeof words, "%s %s", f->name, f->extra ? f->extra : "");
    if (!scenario_check_members(s, does, where, words))
        return false;
    if (expected)
        return scenario_reject(s, "%s: \"%s\" must be %s", where, f->name,
                               expected);
    if (f->shape == COUNT)
        return action_check(s, allm_json_get(does, "then"), where);
    const allm_json *list = f->shape == LIST ? v : NULL;
    for (const allm_json *one = NULL; (one = allm_json_next(list, one));)
        if (!action_check(s, one, where))
            return false;
    return true;
}
