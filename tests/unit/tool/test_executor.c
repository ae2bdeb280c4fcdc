/* test_executor.c - executors run the calls */
#include "tool/executor.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "harness/tools.h"

#include <stdlib.h>

/* An executor that offers one tool, or takes all, and says its own name. */
struct one {
    allm_executor table;
    const char *says;
    const allm_tool *offered;
};

static void execute(void *self, const allm_tool *tool, allm_tool_run *run,
                    const allm_json *args)
{
    struct one *o = self;
    (void)tool;
    tools_do(run, args, TOOLS_SCRIPT(o->says));
}

static const allm_tool *const *offer(void *self, size_t *count)
{
    struct one *o = self;
    *count = o->offered ? 1 : 0;
    return &o->offered;
}

static void plan_nothing(allm_plan *plan, const allm_json *args, void *ud)
{
    (void)args;
    (void)plan;
    (void)ud;
}

static void recipe(void *self, const char *name, allm_recipe *out)
{
    (void)self;
    if (!strcmp(name, "made"))
        out->fn = plan_nothing;
}

static void one_init(struct one *o, const char *says, const allm_tool *offered,
                     bool lists)
{
    *o = (struct one){ .says = says, .offered = offered };
    o->table = (allm_executor){ .size = sizeof o->table, .self = o,
                                .execute = execute,
                                .tools = lists ? offer : NULL,
                                .flags = ALLM_EXECUTOR_INLINE };
}

static void the_first_that_offers_a_tool_runs_it(void)
{
    struct tools_bench t;
    struct one a, b, c;
    tools_init(&t);
    tools_add(&t, "x", "text:own x");
    tools_add(&t, "y", "text:own y");
    tools_add(&t, "z", "text:own z");
    if (t.tool_count == 3) {
        one_init(&a, "text:a", t.tools[0], true);
        one_init(&b, "text:b", t.tools[1], true);
        one_init(&c, "text:c", t.tools[0], true);
        const allm_executor *list[] = { &a.table, &b.table, &c.table };
        allm_executor *composed = allm_executor_compose(3, list);
        t.opts.executor = composed;
        for (const char *name = "x\0y\0z\0"; *name; name += 2)
            tools_call(&t, name, "{}");
        tools_play(&t);
        if (composed)
            CHECK_TEXT(tools_results(&t),
                       "c0=a c1=b c2={\"error\":\"tool error (z): not_found: "
                       "no executor offers this tool\"}");
        size_t count = 0;
        if (composed) {
            const allm_tool *const *tools = composed->tools(composed->self,
                                                            &count);
            CHECK_INT(count, 3);
            CHECK(tools[0] == t.tools[0] && tools[2] == t.tools[0]);
        }
        tools_release(&t);
        allm_executor_free(composed);
        return;
    }
    tools_release(&t);
}

static void compositions_of_compositions_are_flat(void)
{
    struct tools_bench t;
    struct one a, rest;
    tools_init(&t);
    tools_add(&t, "x", "text:own x");
    tools_add(&t, "y", "text:own y");
    if (t.tool_count == 2) {
        one_init(&a, "text:a", t.tools[0], true);
        one_init(&rest, "text:rest", NULL, false);
        const allm_executor *inner_list[] = { &a.table };
        allm_executor *inner = allm_executor_compose(1, inner_list);
        const allm_executor *list[] = { inner, &rest.table };
        allm_executor *outer = inner ? allm_executor_compose(2, list) : NULL;
        allm_executor_free(inner);      /* its parts were taken over */
        t.opts.executor = outer;
        tools_call(&t, "x", "{}");
        tools_call(&t, "y", "{}");
        tools_play(&t);
        if (outer)
            CHECK_TEXT(tools_results(&t), "c0=a c1=rest");
        tools_release(&t);
        allm_executor_free(outer);
        return;
    }
    tools_release(&t);
}

static void functions_are_the_default(void)
{
    bool known;
    CHECK(!executor_pick(NULL, "x", &known) && known);
    CHECK(!executor_pick(allm_executor_function(), "x", &known) && known);
    struct tools_bench t;
    tools_init(&t);
    t.opts.executor = allm_executor_function();
    tools_add(&t, "x", "text:own x");
    tools_call(&t, "x", "{}");
    tools_play(&t);
    CHECK_TEXT(tools_results(&t), "c0=own x");
    tools_release(&t);
}

static void recipes_are_looked_for_in_order(void)
{
    struct one a, b;
    one_init(&a, "text:a", NULL, false);
    one_init(&b, "text:b", NULL, false);
    b.table.recipe = recipe;
    const allm_executor *list[] = { &a.table, &b.table };
    allm_executor *both = allm_executor_compose(2, list);
    CHECK(!executor_recipe(NULL, "made").fn);
    CHECK(!executor_recipe(&a.table, "made").fn);
    CHECK(executor_recipe(&b.table, "made").fn == plan_nothing);
    CHECK(!executor_recipe(&b.table, "other").fn);
    if (both)
        CHECK(executor_recipe(both, "made").fn == plan_nothing);
    allm_executor_free(both);
    allm_executor_free(NULL);
}

/* Members that a table compiled before does not have count as NULL. */
static void short_tables_will_do(void)
{
    struct one a;
    struct tools_bench t;
    one_init(&a, "text:a", NULL, false);
    allm_executor *table = noun_sized(&a.table, sizeof a.table,
                                      offsetof(allm_executor, tools));
    const allm_encoder *json = allm_encoder_json();
    tools_init(&t);
    t.opts.executor = table;
    t.opts.encoder = json;
    tools_add(&t, "x", NULL);
    tools_call(&t, "x", "{}");
    tools_play(&t);
    CHECK_TEXT(tools_results(&t), "c0=a");
    tools_release(&t);
    free(table);
}

static void a_composition_may_be_empty(void)
{
    bool known = true;
    allm_executor *none = allm_executor_compose(0, NULL);
    if (none) {
        CHECK(!executor_pick(none, "x", &known));
        CHECK(!known);
        CHECK(!executor_tool(none, "x"));
    }
    allm_executor_free(none);
    none = allm_executor_compose(1, (const allm_executor *const[]){ NULL });
    if (none) {
        CHECK(!executor_pick(none, "x", &known));
        CHECK(!known);
    }
    allm_executor_free(none);
}

TESTS = {
    TEST(the_first_that_offers_a_tool_runs_it),
    TEST(compositions_of_compositions_are_flat),
    TEST(functions_are_the_default),
    TEST(recipes_are_looked_for_in_order),
    TEST(short_tables_will_do),
    TEST(a_composition_may_be_empty),
    TESTS_END,
};
