/*
 * does.c - what the tools of a scenario do when they are called
 *
 * Each form of `does` is a row of the table: what its member must be, and how
 * it answers.  Tools run in the thread that pulls, and what sleeps does so on
 * the test clock, so a scenario takes no time and gives the same every time.
 */
#include "does.h"

#include <stdlib.h>
#include <string.h>

/* One call: of whom, which one it is, and what is to be done. */
struct nap {
    struct nap *next;
    struct deed *deed;
    const allm_json *does;
    uint64_t number;            /* calls of this tool before it */
};

static void perform(struct nap *n, allm_tool_run *run,
                    const allm_json *arguments);

typedef void answer_fn(struct nap *n, allm_tool_run *run, const allm_json *v,
                       const allm_json *arguments);

static void answer_null(allm_tool_run *run)
{
    allm_json *none = allm_json_parse("null", ALLM_NUL_ENDED, NULL);
    allm_tool_ok(run, none);
    allm_json_free(none);
}

static void do_echo(struct nap *n, allm_tool_run *run, const allm_json *v,
                    const allm_json *arguments)
{
    (void)n;
    (void)v;
    allm_tool_ok(run, arguments);
}

static void do_ok(struct nap *n, allm_tool_run *run, const allm_json *v,
                  const allm_json *arguments)
{
    (void)n;
    (void)arguments;
    allm_tool_ok(run, v);
}

/* A text as it is, all else as JSON. */
static void do_error(struct nap *n, allm_tool_run *run, const allm_json *v,
                     const allm_json *arguments)
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

static void do_ask(struct nap *n, allm_tool_run *run, const allm_json *v,
                   const allm_json *arguments)
{
    const allm_json *opts = allm_json_get(n->does, "opts");
    (void)arguments;
    if (allm_json_type_of(opts) == ALLM_JSON_NULL)
        opts = NULL;
    allm_tool_ask(run, allm_json_text(v, NULL), opts);
}

static void do_halt(struct nap *n, allm_tool_run *run, const allm_json *v,
                    const allm_json *arguments)
{
    (void)n;
    (void)arguments;
    allm_tool_halt(run, allm_json_text(allm_json_at(v, 0), NULL),
                   allm_json_at(v, 1));
}

static void do_raise(struct nap *n, allm_tool_run *run, const allm_json *v,
                     const allm_json *arguments)
{
    (void)n;
    (void)arguments;
    allm_tool_raise(run, allm_json_text(v, NULL));
}

/* No answer is no legal one. */
static void do_nothing(struct nap *n, allm_tool_run *run, const allm_json *v,
                       const allm_json *arguments)
{
    (void)n;
    (void)run;
    (void)v;
    (void)arguments;
}

static void wake(allm_tool_run *run, const allm_json *arguments, void *ud)
{
    perform(ud, run, arguments);
}

static struct nap *nap_new(const struct nap *n, const allm_json *does)
{
    struct nap *one = calloc(1, sizeof *one);
    if (!one)
        return NULL;
    *one = (struct nap){ .next = n->deed->naps, .deed = n->deed,
                         .does = does, .number = n->number };
    n->deed->naps = one;
    return one;
}

static void do_sleep(struct nap *n, allm_tool_run *run, const allm_json *v,
                     const allm_json *arguments)
{
    uint64_t ms = 0;
    struct nap *then = nap_new(n, allm_json_get(n->does, "then"));
    (void)arguments;
    allm_json_uint64(v, &ms);
    if (then)
        allm_tool_later(run, (uint32_t)ms, wake, then);
}

static void do_context(struct nap *n, allm_tool_run *run, const allm_json *v,
                       const allm_json *arguments)
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

static void answer_call(allm_tool_run *run)
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

static void do_see(struct nap *n, allm_tool_run *run, const allm_json *v,
                   const allm_json *arguments)
{
    const char *what = allm_json_text(v, NULL);
    const char *id = !strcmp(what, "session_id")
                         ? allm_tool_run_session_id(run)
                         : allm_tool_run_request_id(run);
    (void)n;
    (void)arguments;
    if (!strcmp(what, "tool_call"))
        answer_call(run);
    else if (id)
        allm_tool_text(run, id, ALLM_NUL_ENDED);
    else
        answer_null(run);
}

/* One per call; the last repeats. */
static void do_sequence(struct nap *n, allm_tool_run *run, const allm_json *v,
                        const allm_json *arguments)
{
    size_t last = allm_json_count(v) - 1;
    struct nap one = *n;
    one.does = allm_json_at(v, n->number < last ? (size_t)n->number : last);
    perform(&one, run, arguments);
}

enum shape { ANY, TRUE, TEXT, PAIR, COUNT, LIST, SIGHT };

static const struct form {
    const char *name;
    const char *beside;         /* a member that may stand with it */
    enum shape shape;
    answer_fn *answer;
} forms[] = {
    { "echo", NULL, TRUE, do_echo },
    { "ok", NULL, ANY, do_ok },
    { "error", NULL, ANY, do_error },
    { "ask_user", "opts", ANY, do_ask },
    { "halt", NULL, PAIR, do_halt },
    { "raise", NULL, TEXT, do_raise },
    { "invalid", NULL, TRUE, do_nothing },
    { "sleep_ms", "then", COUNT, do_sleep },
    { "context", NULL, TEXT, do_context },
    { "sees", NULL, SIGHT, do_see },
    { "sequence", NULL, LIST, do_sequence },
};

/* Which of them it is, by its member. */
static const struct form *form_of(const allm_json *does)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (allm_json_get(does, forms[i].name))
            return &forms[i];
    return NULL;
}

static void perform(struct nap *n, allm_tool_run *run,
                    const allm_json *arguments)
{
    const struct form *f = form_of(n->does);
    f->answer(n, run, allm_json_get(n->does, f->name), arguments);
}

void does_run(allm_tool_run *run, const allm_json *arguments, void *ud)
{
    struct deed *d = ud;
    struct nap n = { .deed = d, .does = d->does, .number = d->runs++ };
    runs_count(d->runs_of, allm_tool_run_call(run)->name);
    perform(&n, run, arguments);
}

void does_release(struct deed *d)
{
    while (d->naps) {
        struct nap *next = d->naps->next;
        free(d->naps);
        d->naps = next;
    }
}

static bool is_sight(const allm_json *v)
{
    const char *word = allm_json_text(v, NULL);
    return word && (!strcmp(word, "session_id") ||
                    !strcmp(word, "request_id") || !strcmp(word, "tool_call"));
}

/* NULL, or what it must be. */
static const char *misshapen(enum shape shape, const allm_json *v)
{
    uint64_t n = 0;
    allm_json_type type = allm_json_type_of(v);
    switch (shape) {
    case TRUE:
        return allm_json_true(v) ? NULL : "true";
    case TEXT:
        return type == ALLM_JSON_TEXT ? NULL : "a text";
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
                   : "a list that is not empty";
    case SIGHT:
        return is_sight(v) ? NULL : "session_id, request_id or tool_call";
    default:
        return NULL;
    }
}

bool does_check(struct scenario *s, const allm_json *does, const char *where)
{
    char words[64];
    const struct form *f = allm_json_type_of(does) == ALLM_JSON_OBJECT
                               ? form_of(does)
                               : NULL;
    if (!f)
        return scenario_refuse(s, "%s: \"does\" has none of the known forms",
                               where);
    const allm_json *v = allm_json_get(does, f->name);
    const char *expected = misshapen(f->shape, v);
    snprintf(words, sizeof words, "%s %s", f->name, f->beside ? f->beside : "");
    if (!scenario_knows(s, does, where, words))
        return false;
    if (expected)
        return scenario_refuse(s, "%s: \"%s\" must be %s", where, f->name,
                               expected);
    if (f->shape == COUNT)
        return does_check(s, allm_json_get(does, "then"), where);
    const allm_json *list = f->shape == LIST ? v : NULL;
    for (const allm_json *one = NULL; (one = allm_json_next(list, one));)
        if (!does_check(s, one, where))
            return false;
    return true;
}
