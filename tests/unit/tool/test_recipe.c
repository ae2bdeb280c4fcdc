/* test_recipe.c - a tool that calls other tools */
#include "tool/recipe.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "harness/tools.h"

#include <stdio.h>

/* ----------------------------------------------------------- a resolver --- */

/*
 * Tools by name: what "name" does, and a recipe for "made".  Its arguments say
 * what to plan: {"serial": [[tool, label]...], "parallel": [...]}.
 */
struct resolver {
    allm_executor table;
    allm_recipe_fn recipe;
    char log[256];              /* the executed steps, in order */
};

static void execute(void *self, const allm_tool *tool, allm_tool_run *run,
                    const allm_json *args)
{
    struct resolver *r = self;
    const char *name = allm_tool_run_call(run)->name;
    size_t at = strlen(r->log);
    (void)tool;
    snprintf(r->log + at, sizeof r->log - at, "%s%s", at ? " " : "", name);
    if (!strcmp(name, "boom"))
        allm_tool_raise(run, "boom");
    else if (!strcmp(name, "timeout"))
        allm_tool_fail(run, "timeout");
    else if (!strcmp(name, "echo"))
        allm_tool_ok(run, args);
    else if (!strcmp(name, "slow"))
        allm_tool_later(run, 20, tools_do, TOOLS_SCRIPT("text:slow data"));
    else if (!strcmp(name, "asks"))
        allm_tool_ask(run, "?", NULL);
    else if (!strcmp(name, "dies"))
        allm_tool_later(run, 999999, tools_do, TOOLS_SCRIPT("text:x"));
    else
        tools_do(run, args,
                 TOOLS_SCRIPT(!strcmp(name, "made") ? "text:direct"
                                                    : "text:data"));
}

static void plan_lists(allm_plan *plan, const allm_json *args, void *ud)
{
    static const char *const lists[] = { "serial", "parallel" };
    (void)ud;
    for (int i = 0; i < 2; i++) {
        const allm_json *list = allm_json_get(args, lists[i]);
        for (const allm_json *s = NULL; (s = allm_json_next(list, s));)
            (i ? allm_plan_parallel : allm_plan_serial)(
                plan, allm_json_text(allm_json_at(s, 0), NULL),
                allm_json_text(allm_json_at(s, 1), NULL), allm_json_at(s, 2));
    }
}

static void recipe_of(void *self, const char *name, allm_recipe *out)
{
    struct resolver *r = self;
    if (!strcmp(name, "made"))
        *out = (allm_recipe){ sizeof *out, r->recipe, r };
}

static void resolver_init(struct resolver *r, allm_recipe_fn recipe)
{
    *r = (struct resolver){ .recipe = recipe };
    r->table = (allm_executor){ .size = sizeof r->table, .self = r,
                                .execute = execute, .recipe = recipe_of,
                                .flags = ALLM_EXECUTOR_INLINE };
}

/* One call of "made" with these arguments, in the words of an agent. */
static struct resolver resolver;

static const char *play(struct tools_bench *t, allm_recipe_fn recipe,
                        const char *args)
{
    tools_init(t);
    resolver_init(&resolver, recipe);
    t->opts.executor = &resolver.table;
    t->opts.style = ENCODER_AGENT;
    tools_add(t, "made", NULL);
    tools_call(t, "made", args);
    tools_play(t);
    return tools_results(t);
}

static const char *play_once(allm_recipe_fn recipe, const char *args)
{
    struct tools_bench t;
    const char *results = play(&t, recipe, args);
    tools_release(&t);
    return results;
}

/* ---------------------------------------------------------------- plans --- */

static void plans_become_one_text(void)
{
    const struct {
        const char *why, *args, *text;
    } rows[] = {
        { "all three sections",
          "{'serial':[['a','Reflect']],'parallel':[['a','Recall 1'],"
          "['timeout','Recall 2']]}",
          "c0=## Sequential Results\n\n### Step 1: Reflect\ndata\n\n"
          "## Additional Results\n\n### Recall 1\ndata\n\n## Errors\n\n"
          "- **Recall 2**: \"timeout\"" },
        { "serial only, counted over those that worked",
          "{'serial':[['timeout','A'],['a','B'],['a','C']]}",
          "c0=## Sequential Results\n\n### Step 1: B\ndata\n\n"
          "### Step 2: C\ndata\n\n## Errors\n\n- **A**: \"timeout\"" },
        { "parallel only", "{'parallel':[['a','A'],['a','B'],['a','C']]}",
          "c0=## Additional Results\n\n### A\ndata\n\n### B\ndata\n\n"
          "### C\ndata" },
        { "the order of the plan, whatever ends first",
          "{'parallel':[['slow','A'],['a','B']]}",
          "c0=## Additional Results\n\n### A\nslow data\n\n### B\ndata" },
        { "errors in the order of the plan",
          "{'serial':[['timeout','S']],'parallel':[['boom','P'],['a','Q']]}",
          "c0=## Additional Results\n\n### Q\ndata\n\n## Errors\n\n"
          "- **S**: \"timeout\"\n- **P**: \"boom\"" },
        { "all fail", "{'parallel':[['timeout','A'],['timeout','B']]}",
          "c0=## Errors\n\n- **A**: \"timeout\"\n- **B**: \"timeout\"" },
        { "the label is kept when a step breaks", "{'serial':[['boom','L']]}",
          "c0=## Errors\n\n- **L**: \"boom\"" },
        { "no label: the tool's name", "{'serial':[['a',null]]}",
          "c0=## Sequential Results\n\n### Step 1: a\ndata" },
        { "values are JSON, arguments reach the step",
          "{'serial':[['echo','E',{'x':1}]]}",
          "c0=## Sequential Results\n\n### Step 1: E\n{\"x\":1}" },
        { "a step cannot ask the user", "{'serial':[['asks','Q']]}",
          "c0=## Errors\n\n- **Q**: \"a step of a plan can neither ask the "
          "user nor halt the chat\"" },
        { "an empty plan", "{}", "c0=No results produced." },
        { "null lists are empty", "{'serial':null,'parallel':null}",
          "c0=No results produced." },
        { "a step of its own name runs directly: no nesting",
          "{'serial':[['made','M']]}",
          "c0=## Sequential Results\n\n### Step 1: M\ndirect" },
        { "a step has the time of a call", "{'serial':[['dies','D']]}",
          "c0=## Errors\n\n- **D**: \"no answer within 30000 ms; the function "
          "was given up\"" },
        { "a label is text in Markdown, an error is escaped",
          "{'serial':[['','no']]}",
          "c0=## Sequential Results\n\n### Step 1: no\ndata" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        CHECK_TEXT(play_once(plan_lists, rows[i].args), rows[i].text);
    }
}

static void serial_steps_come_before_parallel_ones(void)
{
    struct tools_bench t;
    play(
        &t, plan_lists,
        "{'serial':[['slow','1'],['b','2']],'parallel':[['c','3'],['d','4']]}");
    CHECK_TEXT(resolver.log, "slow b c d");
    CHECK_INT(t.clock.now_ns, 20000000);
    tools_release(&t);
}

static void three_parallel_steps_run_at_once(void)
{
    struct tools_bench t;
    play(&t, plan_lists,
         "{'parallel':[['slow','1'],['slow','2'],['slow','3'],['slow','4'],"
         "['slow','5'],['slow','6'],['slow','7']]}");
    CHECK_INT(t.clock.now_ns, 60000000);
    tools_release(&t);
}

/* --------------------------------------------------- computed arguments --- */

static allm_json *args_from(const allm_json *serial, void *ud)
{
    (void)ud;
    allm_json *none = noun_json("{}");
    allm_json *args = allm_json_set(none, "seen", serial);
    allm_json_free(none);
    return args;
}

static allm_json *no_args(const allm_json *serial, void *ud)
{
    (void)serial;
    return ud ? allm_json_parse("[1", 2, NULL) : NULL;
}

static allm_json *array_args(const allm_json *serial, void *ud)
{
    (void)serial;
    (void)ud;
    return allm_json_parse("[1]", 3, NULL);
}

static void plan_computed(allm_plan *plan, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    allm_plan_serial(plan, "one", "One", NULL);
    allm_plan_serial(plan, "timeout", "Two", NULL);
    allm_plan_serial_fn(plan, "echo", "Three", args_from, NULL);
    allm_plan_serial(plan, "one", "Four", NULL);
    allm_plan_parallel_fn(plan, "echo", "Five", args_from, NULL);
}

static void later_steps_see_serial_results(void)
{
    CHECK_TEXT(play_once(plan_computed, "{}"),
               "c0=## Sequential Results\n\n### Step 1: One\ndata\n\n"
               "### Step 2: Three\n{\"seen\":{\"one\":\"data\"}}\n\n"
               "### Step 3: Four\ndata\n\n## Additional Results\n\n"
               "### Five\n{\"seen\":{\"one\":\"data\",\"echo\":{\"seen\":"
               "{\"one\":\"data\"}}}}\n\n## Errors\n\n- **Two**: \"timeout\"");
}

static void plan_without_args(allm_plan *plan, const allm_json *args, void *ud)
{
    (void)args;
    allm_plan_serial_fn(plan, "echo", "None", no_args, NULL);
    allm_plan_serial_fn(plan, "echo", "Broken", no_args, ud);   /* not NULL */
    allm_plan_parallel_fn(plan, "echo", "Array", array_args, NULL);
    allm_plan_parallel(plan, "one", "Good", NULL);
}

static void steps_without_arguments_fail_alone(void)
{
    const char *text = play_once(plan_without_args, "{}");
    CHECK(strstr(text, "- **None**: \"the function for its arguments returned "
                       "NULL"));
    CHECK(strstr(text, "- **Broken**: \""));
    CHECK(strstr(text, "- **Array**: \"the function for its arguments did not "
                       "return an object"));
    CHECK(strstr(text, "### Good\ndata"));
}

/* -------------------------------------------------------------- failure --- */

static void plan_refused(allm_plan *plan, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    allm_plan_serial(plan, "one", "One", NULL);
    allm_plan_fail(plan, "bad arguments");
    allm_plan_fail(plan, "too late");
}

static void a_recipe_may_refuse(void)
{
    struct tools_bench t;
    CHECK_TEXT(play(&t, plan_refused, "{}"),
               "c0=Recipe evaluation error: bad arguments");
    CHECK_TEXT(resolver.log, "");
    const struct tool_result *r = tools_at(&t, 0);
    CHECK(r && r->view.is_error);
    tools_release(&t);
}

static void plan_nameless(allm_plan *plan, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    allm_plan_parallel(plan, NULL, "One", NULL);
    allm_plan_serial(NULL, "one", NULL, NULL);
    allm_plan_compose(NULL, NULL, NULL);
    allm_plan_fail(NULL, NULL);
}

static void a_step_needs_a_tool(void)
{
    CHECK_TEXT(play_once(plan_nameless, "{}"),
               "c0=Recipe evaluation error: a step of the plan has no tool");
}

/* ---------------------------------------------------------- composition --- */

static void compose(allm_tool_run *run, const allm_json *results, void *ud)
{
    char text[64];
    const char *script = ud;
    if (script) {
        tools_do(run, results, TOOLS_SCRIPT(script));
        return;
    }
    snprintf(text, sizeof text, "%zu serial %zu parallel %zu errors",
             allm_json_count(allm_json_get(results, "serial")),
             allm_json_count(allm_json_get(results, "parallel")),
             allm_json_count(allm_json_get(results, "errors")));
    allm_tool_text(run, text, ALLM_NUL_ENDED);
}

static const char *compose_script;

static void plan_composed(allm_plan *plan, const allm_json *args, void *ud)
{
    (void)ud;
    plan_lists(plan, args, NULL);
    allm_plan_compose(plan, compose, TOOLS_SCRIPT(compose_script));
}

static void composition_may_be_the_callers(void)
{
    const struct {
        const char *script, *text;
    } rows[] = {
        { NULL, "c0=1 serial 1 parallel 0 errors" },
        { "text:mine", "c0=mine" },
        { "none", "c0=direct" },
        { "text:", "c0=direct" },
        { "ok:42", "c0=direct" },
        { "fail:no", "c0=Dispatch pipeline error: no" },
        { "raise:no", "c0=Dispatch pipeline error: no" },
        { "halt:enough:'x'",
          "c0=x {\"halted_reason\":\"enough\",\"halt_tool_call_id\":\"c0\","
          "\"halt_result\":\"x\"}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        compose_script = rows[i].script;
        check_row(rows[i].script ? rows[i].script : "counts");
        CHECK_TEXT(play_once(plan_composed, "{'serial':[['a','A']],"
                                            "'parallel':[['b','B']]}"),
                   rows[i].text);
    }
}

static void composition_gets_all_results(void)
{
    compose_script = "echo";    /* not a text: so the tool itself is run */
    struct tools_bench t;
    play(&t, plan_composed, "{'serial':[['a','A']]}");
    CHECK_TEXT(resolver.log, "a made");
    tools_release(&t);
}

/* ----------------------------------------------------------- neighbours --- */

static allm_json *what_is_known(const allm_json *serial, void *ud)
{
    allm_json_build *b = allm_json_build_new(NULL);
    (void)ud;
    allm_json_build_object(b);
    allm_json_build_key(b, "known");
    allm_json_build_value(b, serial);
    allm_json_build_end(b);
    return allm_json_build_done(b);
}

/* More parallel steps than run at once: the last one begins when others have
 * ended. */
static void plan_many(allm_plan *plan, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    allm_plan_serial(plan, "a", "A", NULL);
    for (int i = 0; i < 4; i++)
        allm_plan_parallel(plan, "b", "B", NULL);
    allm_plan_parallel_fn(plan, "echo", "E", what_is_known, NULL);
}

static void parallel_steps_do_not_see_one_another(void)
{
    CHECK_TEXT(play_once(plan_many, "{}"),
               "c0=## Sequential Results\n\n### Step 1: A\ndata\n\n"
               "## Additional Results\n\n### B\ndata\n\n### B\ndata\n\n"
               "### B\ndata\n\n### B\ndata\n\n### E\n"
               "{\"known\":{\"a\":\"data\"}}");
}

static void recipes_and_functions_mix(void)
{
    struct tools_bench t;
    tools_init(&t);
    resolver_init(&resolver, plan_lists);
    t.opts.executor = &resolver.table;
    tools_add(&t, "made", NULL);
    tools_add(&t, "plain", NULL);
    tools_call(&t, "made", "{'serial':[['slow','S']]}");
    tools_call(&t, "plain", "{}");
    CHECK_TEXT(tools_play(&t),
               "+c1 c1={\"ok\":\"data\"} c1>data +c0 c0={\"ok\":\"## "
               "Sequential Results\\n\\n### Step 1: S\\nslow data\"} c0>## "
               "Sequential Results\n\n### Step 1: S\nslow data ok");
    tools_release(&t);
}

static void chats_read_of_failed_recipes_as_of_others(void)
{
    struct tools_bench t;
    tools_init(&t);
    resolver_init(&resolver, plan_refused);
    t.opts.executor = &resolver.table;
    t.opts.policy = ALLM_TOOL_POLICY_HALT;
    tools_add(&t, "made", NULL);
    tools_call(&t, "made", "{}");
    tools_play(&t);
    CHECK_TEXT(
        tools_results(&t),
        "c0={\"error\":\"Recipe evaluation error: bad arguments\"} "
        "{\"halted_reason\":\"tool_error\",\"halt_tool_call_id\":\"c0\"}");
    tools_release(&t);
}

static char steps[256];

static void on_step(void *ud, const allm_tool_call *call, const char *label,
                    const char *phase)
{
    size_t at = strlen(steps);
    (void)ud;
    snprintf(steps + at, sizeof steps - at, "%s%s/%s/%s", at ? " " : "",
             call->id, label, phase);
}

static void steps_are_traced(void)
{
    struct tools_bench t;
    tools_init(&t);
    steps[0] = '\0';
    resolver_init(&resolver, plan_lists);
    t.opts.executor = &resolver.table;
    t.opts.trace.step = on_step;
    tools_add(&t, "made", NULL);
    tools_call(&t, "made", "{'serial':[['a','A']],'parallel':[['b','B']]}");
    tools_play(&t);
    CHECK_TEXT(steps,
               "dispatch_serial_1/A/serial dispatch_parallel_2/B/parallel");
    tools_release(&t);
}

static void a_batch_may_go_while_steps_run(void)
{
    struct tools_bench t;
    allm_event *event;
    int64_t again;
    tools_init(&t);
    resolver_init(&resolver, plan_lists);
    t.opts.executor = &resolver.table;
    tools_add(&t, "made", NULL);
    tools_call(&t, "made", "{'parallel':[['slow','A'],['slow','B']]}");
    tools_start(&t);
    if (t.batch)
        CHECK_INT(batch_next(t.batch, &event, &again), ALLM_AGAIN);
    tools_release(&t);
}

TESTS = {
    TEST(plans_become_one_text),
    TEST(serial_steps_come_before_parallel_ones),
    TEST(three_parallel_steps_run_at_once),
    TEST(later_steps_see_serial_results),
    TEST(steps_without_arguments_fail_alone),
    TEST(a_recipe_may_refuse),
    TEST(a_step_needs_a_tool),
    TEST(composition_may_be_the_callers),
    TEST(composition_gets_all_results),
    TEST(recipes_and_functions_mix),
    TEST(parallel_steps_do_not_see_one_another),
    TEST(chats_read_of_failed_recipes_as_of_others),
    TEST(steps_are_traced),
    TEST(a_batch_may_go_while_steps_run),
    TESTS_END,
};
