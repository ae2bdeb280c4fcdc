/* test_engine.c - engines as values: create, derive, query, store */
#include "engine/engine.h"

#include "harness/noun.h"
#include "harness/play.h"

#include <stdio.h>

/* -------------------------------------------------------------- helpers --- */

static allm_tool tool(const char *name, const char *description)
{
    return (allm_tool){ .size = sizeof(allm_tool), .name = name,
                        .description = description, .schema_text = "{}" };
}

/* "a/one b/two": names and descriptions of the tools, in order. */
static const char *tools_of(const allm_engine_record *r)
{
    static char out[1024];
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; r && i < r->tool_count && n < sizeof out; i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%s/%s", i ? " " : "",
                              r->tools[i]->name, r->tools[i]->description);
    return out;
}

static const char *tools_in(const allm_engine *e)
{
    return tools_of(allm_engine_fields(e));
}

static const char *model_of(const allm_engine *e)
{
    const allm_engine_record *r = allm_engine_fields(e);
    return r ? r->model : NULL;
}

/* The fields' JSON, so that two engines can be compared. */
static void check_same_fields(const allm_engine *a, const allm_engine *b)
{
    allm_text *x = allm_engine_json(a, ALLM_FORM_TAGGED);
    allm_text *y = allm_engine_json(b, ALLM_FORM_TAGGED);
    CHECK_TEXT(allm_text_bytes(x, NULL), allm_text_bytes(y, NULL));
    allm_text_free(x);
    allm_text_free(y);
}

/* A result of the engine as JSON; the result is freed. */
#define CHECK_ANSWER(question, want)      \
    do {                                  \
        allm_json *answer_ = (question);  \
        CHECK_VALUE(answer_, want);       \
        allm_json_free(answer_);          \
    } while (0)

#define CHECK_PARAMS(e, want) \
    CHECK_VALUE(GET(allm_engine_fields(e), params), want)

/* --------------------------------------------------------------- making --- */

static void new_has_what_it_was_given(void)
{
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .adapter = "fake", .model = "fake:m"));
    const allm_engine_record *r = allm_engine_fields(e);
    CHECK_WELL(allm_engine_error(e));
    CHECK_TEXT(GET(r, adapter), "fake");
    CHECK_TEXT(GET(r, model), "fake:m");
    CHECK_INT(GET(r, tool_count), 0);
    CHECK(GET(r, id) && strlen(r->id) == 22);
    allm_engine_free(e);
}

static void new_has_defaults(void)
{
    allm_engine *e = allm_engine_new(NULL);
    const allm_engine_record *r = allm_engine_fields(e);
    CHECK_WELL(allm_engine_error(e));       /* the adapter may be missing */
    CHECK(!GET(r, adapter) && !GET(r, model) && !GET(r, tool_executor) &&
          !GET(r, tool_result_encoder) && !GET(r, image_adapter));
    CHECK(!GET(r, retry) && !GET(r, params) && !GET(r, context));
    allm_engine_free(e);
}

static void what_was_passed_in_is_copied(void)
{
    char model[] = "fake:m", name[] = "echo";
    allm_tool t = tool(name, "d");
    const allm_tool *list[] = { &t };
    allm_json *params = noun_json("{'a': 1}");
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = model,
                                          .tools = list, .tool_count = 1,
                                          .params = params));
    allm_json_free(params);
    model[0] = name[0] = 'X';
    list[0] = NULL;
    CHECK_TEXT(model_of(e), "fake:m");
    CHECK_TEXT(tools_in(e), "echo/d");
    CHECK_PARAMS(e, "{'a':1}");
    allm_engine_free(e);
}

static void ids_are_fresh_and_stay(void)
{
    allm_engine *a = allm_engine_new(NULL), *b = allm_engine_new(NULL);
    allm_engine *c = allm_engine_with_model(a, "x");
    const char *ida = GET(allm_engine_fields(a), id);
    const char *idb = GET(allm_engine_fields(b), id);
    CHECK(ida && idb && strcmp(ida, idb) != 0);
    CHECK_TEXT(GET(allm_engine_fields(c), id), ida);
    allm_engine_free(a);
    allm_engine_free(b);
    allm_engine_free(c);
}

static void adapter_opts_come_as_an_object_or_as_pairs(void)
{
    static const char *const forms[][2] = {
        { "{'a': 1, 'b': [2]}", "{'a':1,'b':[2]}" },
        { "[['a', 1], ['b', [2]]]", "[['a',1],['b',[2]]]" },
        { "[['a', 1], ['a', 2]]", "[['a',1],['a',2]]" },
        { "{}", "{}" },
        { "null", "null" },
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        check_row(forms[i][0]);
        allm_json *v = noun_json(forms[i][0]);
        allm_engine *e = allm_engine_new(ALLM(engine_opts, .adapter_opts = v));
        CHECK_WELL(allm_engine_error(e));
        if (v)                  /* NULL is a default, not a failure */
            CHECK_VALUE(GET(allm_engine_fields(e), adapter_opts), forms[i][1]);
        allm_engine_free(e);
        allm_json_free(v);
    }
}

/* ------------------------------------------------------------- changing --- */

static void put_tool_appends(void)
{
    allm_tool echo = tool("echo", "echo"), a = tool("a", "a"),
              b = tool("b", "b");
    const allm_tool *both[] = { &a, &b };
    allm_engine *e = allm_engine_new(NULL);
    allm_engine *one = allm_engine_put_tool(e, &echo);
    CHECK_TEXT(tools_in(one), "echo/echo");
    allm_engine *two = allm_engine_put_tools(e, 2, both);
    CHECK_TEXT(tools_in(two), "a/a b/b");
    allm_engine *again = allm_engine_put_tool(two, &a);
    if (again)
        CHECK_TEXT(tools_in(again), "a/a b/b a/a");     /* naive */
    allm_engine *none = allm_engine_put_tools(two, 0, NULL);
    CHECK_TEXT(tools_in(none), "a/a b/b");
    CHECK_TEXT(tools_in(e), "");
    allm_engine_free(e);
    allm_engine_free(one);
    allm_engine_free(two);
    allm_engine_free(again);
    allm_engine_free(none);
}

static void put_param_and_put_context_set_one_entry(void)
{
    allm_json *warm = noun_json("0.7"), *n = noun_json("42"),
              *map = noun_json("{'deep': [1]}");
    allm_engine *e = allm_engine_new(NULL);
    allm_engine *a = allm_engine_put_param(e, "temperature", warm);
    allm_engine *b = allm_engine_put_context(a, "user_id", n);
    allm_engine *c = allm_engine_put_param(b, "temperature", map);
    if (warm && n && map) {
        CHECK_PARAMS(a, "{'temperature':0.7}");
        CHECK_VALUE(GET(allm_engine_fields(a), context), NULL);
        CHECK_VALUE(GET(allm_engine_fields(b), context), "{'user_id':42}");
        CHECK_PARAMS(c, "{'temperature':{'deep':[1]}}");
        CHECK_PARAMS(b, "{'temperature':0.7}");
    }
    CHECK_PARAMS(e, NULL);
    allm_engine_free(e);
    allm_engine_free(a);
    allm_engine_free(b);
    allm_engine_free(c);
    allm_json_free(warm);
    allm_json_free(n);
    allm_json_free(map);
}

static void a_param_may_be_null(void)
{
    allm_json *null = noun_json("null");
    allm_engine *e = allm_engine_new(NULL);
    allm_engine *a = allm_engine_put_param(e, "stop", null);
    if (null)
        CHECK_PARAMS(a, "{'stop':null}");
    allm_engine_free(e);
    allm_engine_free(a);
    allm_json_free(null);
}

static void with_model_replaces(void)
{
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "old"));
    allm_engine *a = allm_engine_with_model(e, "new");
    allm_engine *b = allm_engine_with_model(a, NULL);
    CHECK_TEXT(model_of(e), "old");
    CHECK_TEXT(model_of(a), "new");
    CHECK_TEXT(model_of(b), NULL);
    allm_engine_free(e);
    allm_engine_free(a);
    allm_engine_free(b);
}

/* The adapter depends on the model unless one is named. */
static void a_model_brings_its_adapter(void)
{
    static const allm_adapter own = { .size = sizeof own, .name = "own" };
    allm_engine *bare = allm_engine_new(NULL);
    allm_engine *found = allm_engine_with_model(bare, "fake:m");
    allm_engine *kept = allm_engine_with_model(found, "no prefix");
    allm_engine *never = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .flags = ALLM_ENGINE_NO_ADAPTER));
    allm_engine *still = allm_engine_with_model(never, "fake:other");
    allm_engine *mine = allm_engine_new(
        ALLM(engine_opts, .model = "own:m", .adapter_table = &own));
    allm_engine *same = allm_engine_with_model(mine, "fake:m");
    if (check_whole()) {
        CHECK(!engine_row(bare));
        CHECK_TEXT(engine_row(found)->adapter->name, "fake");
        CHECK_TEXT(engine_row(kept)->adapter->name, "fake");
        CHECK(!engine_row(never) && !engine_row(still));
        CHECK_TEXT(engine_row(mine)->adapter->name, "own");
        CHECK_TEXT(engine_row(same)->adapter->name, "own");
    }
    allm_engine_free(bare);
    allm_engine_free(found);
    allm_engine_free(kept);
    allm_engine_free(never);
    allm_engine_free(still);
    allm_engine_free(mine);
    allm_engine_free(same);
}

/* Free the old one first: shared parts are reference-counted. */
static void a_new_engine_outlives_the_old(void)
{
    allm_tool t = tool("echo", "d");
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m"));
    allm_engine *a = allm_engine_put_tool(e, &t);
    allm_engine *kept = allm_engine_keep(a);
    allm_engine_free(e);
    allm_engine_free(a);
    CHECK_TEXT(tools_in(kept), "echo/d");
    CHECK_TEXT(model_of(kept), "fake:m");
    allm_engine_free(kept);
}

/* ----------------------------------------------------------- merge_opts --- */

static void merge_opts_composes(void)
{
    allm_tool a = tool("a", "a"), b = tool("b", "b");
    const allm_tool *more[] = { &b };
    allm_json *params = noun_json("{'temperature': 0.9}");
    allm_engine *old = allm_engine_new(ALLM(engine_opts, .model = "old"));
    allm_engine *e = allm_engine_put_tool(old, &a);
    allm_engine *m =
        allm_engine_merge_opts(e, ALLM(call_opts, .model = "new", .tools = more,
                                       .tool_count = 1, .params = params));
    CHECK_TEXT(model_of(m), "new");
    CHECK_TEXT(tools_in(m), "a/a b/b");
    if (params)
        CHECK_PARAMS(m, "{'temperature':0.9}");
    CHECK_TEXT(model_of(e), "old");
    CHECK_TEXT(tools_in(e), "a/a");
    allm_engine_free(old);
    allm_engine_free(e);
    allm_engine_free(m);
    allm_json_free(params);
}

/* Whatever the options say, the answer is an engine, and what can be used of
 * them is used. */
static void merge_opts_is_total(void)
{
    static const struct {
        const char *why, *json, *model, *params, *context;
    } rows[] = {
        { "nothing", "{}", "m", "{'p':{'x':1},'q':2}", "{'c':1}" },
        { "not an object", "[1]", "m", "{'p':{'x':1},'q':2}", "{'c':1}" },
        { "maps are merged, not deeply",
          "{'params': {'p': {'y': 2}, 'r': null}, 'context': {'d': 2}}", "m",
          "{'p':{'y':2},'q':2,'r':null}", "{'c':1,'d':2}" },
        { "what is no map is ignored",
          "{'params': [['p', 1]], 'context': 'text', 'model': 'new'}", "new",
          "{'p':{'x':1},'q':2}", "{'c':1}" },
        { "a model that is no text is ignored",
          "{'model': 7, 'params': {'q': 3}}", "m", "{'p':{'x':1},'q':3}",
          "{'c':1}" },
        { "other options are ignored, wrong ones too",
          "{'max_turns': 0, 'temperature': 'hot', 'adapter_opts': 3,"
          " 'shoe': 9, 'retry': false, 'metadata': {'a': 1}, 'model': 'new'}",
          "new", "{'p':{'x':1},'q':2}", "{'c':1}" },
        { "null is absent", "{'model': null, 'params': null}", "m",
          "{'p':{'x':1},'q':2}", "{'c':1}" },
    };
    allm_json *params = noun_json("{'p': {'x': 1}, 'q': 2}");
    allm_json *context = noun_json("{'c': 1}");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_json *json = noun_json(rows[i].json);
        allm_engine *e = allm_engine_new(ALLM(
            engine_opts, .model = "m", .params = params, .context = context));
        allm_engine *m = allm_engine_merge_opts(e,
                                                ALLM(call_opts, .json = json));
        CHECK_WELL(allm_engine_error(m));
        CHECK_TEXT(model_of(m), rows[i].model);
        CHECK_PARAMS(m, rows[i].params);
        CHECK_VALUE(GET(allm_engine_fields(m), context), rows[i].context);
        CHECK_VALUE(GET(allm_engine_fields(m), metadata), NULL);
        allm_engine_free(m);
        allm_engine_free(e);
        allm_json_free(json);
    }
    allm_json_free(params);
    allm_json_free(context);
}

static void merge_opts_takes_the_struct_first(void)
{
    allm_json *json = noun_json("{'model': 'data', 'params': {'a': 1}}");
    allm_json *params = noun_json("{'b': 2}");
    allm_engine *e = allm_engine_new(NULL);
    allm_engine *m = allm_engine_merge_opts(
        e, ALLM(call_opts, .model = "struct", .params = params, .json = json));
    CHECK_TEXT(model_of(m), "struct");
    if (params)
        CHECK_PARAMS(m, "{'b':2}");
    allm_engine *same = allm_engine_merge_opts(e, NULL);
    CHECK_TEXT(model_of(same), NULL);
    allm_engine_free(same);
    allm_engine_free(m);
    allm_engine_free(e);
    allm_json_free(json);
    allm_json_free(params);
}

/* -------------------------------------------------------- resolve_model --- */

static void resolve_model_prefers_the_call(void)
{
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m"));
    allm_engine *none = allm_engine_new(NULL);
    allm_json *json = noun_json("{'model': 'data'}");
    allm_json *null = noun_json("{'model': null}");
    CHECK_ANSWER(allm_engine_resolve_model(e, NULL), "'fake:m'");
    CHECK_ANSWER(allm_engine_resolve_model(e, ALLM(call_opts,
                                                   .model = "override")),
                 "'override'");
    if (json && null) {
        CHECK_ANSWER(allm_engine_resolve_model(e,
                                               ALLM(call_opts, .json = json)),
                     "'data'");
        CHECK_ANSWER(allm_engine_resolve_model(e,
                                               ALLM(call_opts, .json = null)),
                     "'fake:m'");
    }
    CHECK_ANSWER(allm_engine_resolve_model(none, NULL), "null");
    allm_json_free(json);
    allm_json_free(null);
    allm_engine_free(e);
    allm_engine_free(none);
}

static void a_catalog_answers_with_a_reference(void)
{
    allm_catalog *c = allm_catalog_new(NULL);
    const allm_model_ref *first = allm_catalog_at(c, 0);
    char name[128];
    snprintf(name, sizeof name, "%s:%s", first ? first->provider : "",
             first ? first->id : "");
    allm_engine *e =
        allm_engine_new(ALLM(engine_opts, .catalog = c, .model = name));
    CHECK_WELL(allm_engine_error(e));
    allm_json *known = allm_engine_resolve_model(e, NULL);
    if (c) {
        CHECK_TEXT(allm_json_text(allm_json_get(known, "id"), NULL),
                   GET(first, id));
        CHECK_TEXT(allm_json_text(allm_json_get(known, "provider"), NULL),
                   GET(first, provider));
    }
    allm_catalog_free(c);       /* the engine keeps it */
    CHECK_ANSWER(allm_engine_resolve_model(e, ALLM(call_opts,
                                                   .model = "nobody:x")),
                 "'nobody:x'");
    allm_json_free(known);
    allm_engine_free(e);
}

/* -------------------------------------------------------- resolve_tools --- */

static void check_tools(const allm_engine *e, size_t n,
                        const allm_tool *const *more, const char *want)
{
    allm_engine_record *r = allm_engine_resolve_tools(
        e, ALLM(call_opts, .tools = more, .tool_count = n));
    CHECK_TEXT(tools_of(r), want);
    allm_engine_record_free(r);
}

static void resolve_tools_replaces_in_place(void)
{
    allm_tool a = tool("a", "1"), b = tool("b", "1"), c = tool("c", "1"),
              b2 = tool("b", "2"), b3 = tool("b", "3"), d = tool("d", "2");
    const allm_tool *own[] = { &a, &b, &c }, *more[] = { &b2, &d },
                    *twice[] = { &d, &b2, &b3, &d };
    allm_engine *e =
        allm_engine_new(ALLM(engine_opts, .tools = own, .tool_count = 3));
    check_tools(e, 2, more, "a/1 b/2 c/1 d/2");
    check_tools(e, 0, more, "a/1 b/1 c/1");     /* an empty list */
    check_tools(e, 0, NULL, "a/1 b/1 c/1");     /* no list */
    check_tools(e, 4, twice, "a/1 b/3 c/1 d/2 d/2");
    allm_engine_record *r = allm_engine_resolve_tools(e, NULL);
    CHECK_TEXT(tools_of(r), "a/1 b/1 c/1");
    allm_engine_record_free(r);
    CHECK_TEXT(tools_in(e), "a/1 b/1 c/1");
    allm_engine_free(e);
}

/* If a name occurs more than once, put_tool replaces each of them. */
static void every_tool_of_the_name_is_replaced(void)
{
    allm_tool a = tool("a", "1"), b = tool("b", "1"), a2 = tool("a", "2");
    const allm_tool *own[] = { &a, &b, &a }, *more[] = { &a2 };
    allm_engine *e =
        allm_engine_new(ALLM(engine_opts, .tools = own, .tool_count = 3));
    check_tools(e, 1, more, "a/2 b/1 a/2");
    allm_engine_free(e);
}

/* Lists of random names; the expected list is computed in another way. */
static void resolve_tools_property(void)
{
    enum { MOST = 6, RUNS = 300 };
    static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g" };
    struct random random = check_random();
    for (int run = 0; run < RUNS; run++) {
        allm_tool own[MOST], more[MOST];
        const allm_tool *left[MOST], *right[MOST];
        size_t n = 0, m = 0, in_both = 0;
        uint64_t first = random_below(random, 128),
                 second = random_below(random, 128);
        for (size_t i = 0; i < 7 && n < MOST; i++)
            if (first >> i & 1) {
                own[n] = tool(names[i], "own");
                left[n] = &own[n];
                n++;
            }
        for (size_t i = 7; i-- > 0 && m < MOST;)
            if (second >> i & 1) {
                more[m] = tool(names[i], "more");
                right[m] = &more[m];
                m++;
            }
        allm_engine *e =
            allm_engine_new(ALLM(engine_opts, .tools = left, .tool_count = n));
        allm_engine_record *r = allm_engine_resolve_tools(
            e, ALLM(call_opts, .tools = right, .tool_count = m));
        for (size_t i = 0; i < n; i++) {
            bool both = false;
            for (size_t k = 0; k < m; k++)
                both |= !strcmp(own[i].name, more[k].name);
            in_both += both;
            CHECK_TEXT(r->tools[i]->name, own[i].name);
            CHECK_TEXT(r->tools[i]->description, both ? "more" : "own");
        }
        CHECK_INT(r->tool_count, n + m - in_both);
        for (size_t i = n; i < r->tool_count; i++)
            CHECK_TEXT(r->tools[i]->description, "more");
        allm_engine_record_free(r);
        allm_engine_free(e);
    }
}

/* ------------------------------------------------------- resolve_params --- */

static void resolve_params_lays_the_call_over_the_engine(void)
{
    static const char *const rows[][2] = {
        { "{'temperature': 0.7}", "{'temperature':0.7,'top_p':1.0}" },
        { "{'model': 'x', 'reasoning_effort': 'high'}",
          "{'temperature':0.2,'top_p':1.0,'reasoning_effort':'high'}" },
        { "{}", "{'temperature':0.2,'top_p':1.0}" },
        { "{'max_turns': 3, 'halt_when': 'x', 'mode': 'manual'}",
          "{'temperature':0.2,'top_p':1.0,'max_turns':3,'halt_when':'x',"
          "'mode':'manual'}" },
        { "{'top_p': {'deep': 1}}", "{'temperature':0.2,'top_p':{'deep':1}}" },
    };
    allm_json *params = noun_json("{'temperature': 0.2, 'top_p': 1.0}");
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .params = params));
    for (size_t i = 0; params && i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i][0]);
        allm_json *json = noun_json(rows[i][0]);
        if (json)
            CHECK_ANSWER(allm_engine_resolve_params(e, ALLM(call_opts,
                                                            .json = json)),
                         rows[i][1]);
        allm_json_free(json);
    }
    if (params)
        CHECK_ANSWER(allm_engine_resolve_params(
                         e, ALLM(call_opts, .temperature = ALLM_NUM(0.5),
                                 .max_tokens = ALLM_NUM(9))),
                     "{'temperature':0.5,'top_p':1.0,'max_tokens':9}");
    allm_engine *bare = allm_engine_new(NULL);
    CHECK_ANSWER(allm_engine_resolve_params(bare, NULL), "{}");
    allm_engine_free(bare);
    allm_json_free(params);
    allm_engine_free(e);
}

/* The thirteen that are for the engine. */
static const char *const denied[] = {
    "adapter",       "adapter_opts", "model",   "tools",
    "tool_executor", "tool_result_encoder",     "image_adapter",
    "params",        "context",      "retry",   "middleware",
    "metadata",      "api_key",
};

static void denied_names_are_not_passed_on(void)
{
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++) {
        char text[128];
        bool word = !strcmp(denied[i], "model") ||
                    !strcmp(denied[i], "api_key");
        snprintf(text, sizeof text, "{'%s': %s, 'other': 1}", denied[i],
                 word ? "'x'" : "{}");
        check_row(text);
        allm_json *json = noun_json(text);
        allm_engine *e = allm_engine_new(NULL);
        if (json)
            CHECK_ANSWER(allm_engine_resolve_params(e, ALLM(call_opts,
                                                            .json = json)),
                         "{'other':1}");
        allm_engine_free(e);
        allm_json_free(json);
    }
    CHECK_INT(sizeof denied / sizeof *denied, 13);
    allm_engine *e = allm_engine_new(NULL);
    allm_json *v = allm_engine_resolve_params(
        e, ALLM(call_opts, .api_key = "sk-secret", .model = "m"));
    CHECK_VALUE(v, "{}");
    allm_json_free(v);
    allm_engine_free(e);
}

/* One engine and one call with random members, marked 'e' and 'c'. */
static void resolve_params_property(void)
{
    static const char *const free_names[] = { "seed", "top_k", "style", "x" };
    struct random random = check_random();
    for (int run = 0; run < 300; run++) {
        char own[1024] = "{", call[1024] = "{";
        bool in_own[17], in_call[17];
        for (size_t i = 0; i < 17; i++) {
            const char *name = i < 13 ? denied[i] : free_names[i - 13];
            in_own[i] = random_below(random, 2);
            in_call[i] = random_below(random, 2);
            if (!strcmp(name, "adapter_opts") || !strcmp(name, "context"))
                in_call[i] = false;     /* 'c' is none */
            if (in_own[i])
                snprintf(own + strlen(own), sizeof own - strlen(own),
                         "%s'%s': 'e'", own[1] ? "," : "", name);
            if (in_call[i])
                snprintf(call + strlen(call), sizeof call - strlen(call),
                         "%s'%s': 'c'", call[1] ? "," : "", name);
        }
        snprintf(own + strlen(own), sizeof own - strlen(own), "}");
        snprintf(call + strlen(call), sizeof call - strlen(call), "}");
        allm_json *params = noun_json(own), *json = noun_json(call);
        allm_engine *e = allm_engine_new(ALLM(engine_opts, .params = params));
        allm_json *v =
            allm_engine_resolve_params(e, ALLM(call_opts, .json = json));
        for (size_t i = 0; i < 17; i++) {
            const char *name = i < 13 ? denied[i] : free_names[i - 13];
            bool wins = in_call[i] && i >= 13;
            check_row(name);
            CHECK_TEXT(allm_json_text(allm_json_get(v, name), NULL),
                       wins ? "c"
                       : in_own[i] && strcmp(name, "api_key") != 0
                           ? "e"        /* keys are left out */
                           : NULL);
        }
        allm_json_free(v);
        allm_json_free(params);
        allm_json_free(json);
        allm_engine_free(e);
    }
}

static void engines_never_hold_a_key(void)
{
    allm_json *params = noun_json("{'api_key':'sk-one','top_p':1}");
    allm_json *opts = noun_json("[['api_key','sk-two'],['a',1]]");
    allm_json *key = noun_json("'sk-three'");
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .params = params, .adapter_opts = opts));
    allm_engine *put = allm_engine_put_param(e, "api_key", key);
    allm_engine *merged =
        allm_engine_merge_opts(e, ALLM(call_opts, .params = params));
    const allm_engine *all[] = { e, put, merged };
    for (size_t i = 0; i < 3; i++) {
        allm_text *t = all[i] && !allm_engine_error(all[i])
                           ? allm_engine_json(all[i], ALLM_FORM_TAGGED)
                           : NULL;
        if (t && !allm_text_error(t))
            CHECK(!strstr(allm_text_bytes(t, NULL), "sk-"));
        allm_text_free(t);
    }
    allm_engine_free(merged);
    allm_engine_free(put);
    allm_engine_free(e);
    allm_json_free(key);
    allm_json_free(opts);
    allm_json_free(params);
}

/* -------------------------------------------------------------- storing --- */

static void an_engine_is_plain_data(void)
{
    allm_tool t = tool("t", "d");
    const allm_tool *list[] = { &t };
    allm_json *opts = noun_json("{'record': true}");
    allm_json *retry = noun_json("[['max_attempts', 5]]");
    allm_engine *e = allm_engine_from_record(
        ALLM(engine_record, .id = "i", .model = "fake:m", .tools = list,
             .tool_count = 1, .retry = retry),
        NULL);
    allm_engine *m = allm_engine_new(ALLM(engine_opts, .adapter_opts = opts));
    allm_text *text = allm_engine_json(m, ALLM_FORM_PLAIN);
    allm_json *back = text ? allm_json_parse(allm_text_bytes(text, NULL),
                                             ALLM_NUL_ENDED, NULL)
                           : NULL;
    if (opts && back)           /* written as pairs */
        CHECK_VALUE(allm_json_get(back, "adapter_opts"), "[['record',true]]");
    allm_json_free(back);
    allm_text_free(text);
    if (retry)
        CHECK_JSON(allm_engine_json(e, ALLM_FORM_TAGGED),
                   "{'__type__':'ALLM.Engine','data':{'adapter':null,"
                   "'adapter_opts':[],'model':'fake:m','tools':["
                   "{'__type__':'ALLM.Tool','data':{'name':'t',"
                   "'description':'d','schema':{},'handler':null,"
                   "'manual':false,'metadata':{}}}],'tool_executor':null,"
                   "'tool_result_encoder':null,'image_adapter':null,"
                   "'params':{},'context':{},'retry':[['max_attempts',5]],"
                   "'middleware':[],'metadata':{},'id':'i'}}");
    allm_engine_free(e);
    allm_engine_free(m);
    allm_json_free(opts);
    allm_json_free(retry);
}

/* Handles and keys stay outside, whatever way they came. */
static void no_key_is_stored(void)
{
    static const char secret[] = "sk-never-stored";
    allm_keys *keys = allm_keys_new(NULL);
    allm_keys_put(keys, "fake", secret);
    allm_json *script = noun_json("{'scripts': [[], []]}");
    allm_engine *e = allm_engine_new(ALLM(
        engine_opts, .model = "fake:m", .keys = keys, .adapter_opts = script));
    allm_stream *s = play_call_with(e, ALLM(call_opts, .api_key = secret));
    allm_stream_wait(s);
    allm_stream_free(s);
    allm_engine *m = allm_engine_merge_opts(e,
                                            ALLM(call_opts, .api_key = secret));
    const allm_engine *both[] = { e, m };
    for (size_t i = 0; i < 2; i++) {
        for (uint32_t form = 0; form < 2; form++) {
            allm_text *t = allm_engine_json(both[i], form);
            const char *bytes = allm_text_bytes(t, NULL);
            CHECK(bytes != NULL);
            CHECK_ALWAYS(!bytes || !strstr(bytes, secret));
            allm_text_free(t);
        }
    }
    allm_engine_free(m);
    allm_engine_free(e);
    allm_keys_free(keys);
    allm_json_free(script);
}

static void run_nothing(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)run;
    (void)args;
    (void)ud;
}

static void a_tool_with_a_function_cannot_be_stored(void)
{
    allm_tool t = tool("t", "d");
    t.call = run_nothing;
    allm_engine *e = allm_engine_new(NULL);
    allm_engine *m = allm_engine_put_tool(e, &t);
    CHECK_WELL(allm_engine_error(m));
    allm_text *text = allm_engine_json(m, ALLM_FORM_TAGGED);
    CHECK_MISUSE(allm_text_error(text), "not_serializable", "tool \"t\"");
    CHECK_ALWAYS(!allm_text_bytes(text, NULL));
    allm_text_free(text);
    allm_engine_free(e);
    allm_engine_free(m);
}

/* Stored, read, made anew: it resolves as it did. */
static void a_stored_engine_comes_back(void)
{
    allm_tool t = tool("t", "d");
    const allm_tool *list[] = { &t };
    allm_json *fields = noun_json("{'p': 1}");
    allm_engine *e =
        allm_engine_new(ALLM(engine_opts, .model = "fake:m", .adapter = "fake",
                             .tools = list, .tool_count = 1, .params = fields,
                             .context = fields, .metadata = fields));
    allm_text *text = allm_engine_json(e, ALLM_FORM_TAGGED);
    size_t len = 0;
    const char *bytes = allm_text_bytes(text, &len);
    allm_codec *codec = allm_codec_decode(bytes, len, NULL, NULL);
    allm_engine *back = allm_engine_from_record(
        allm_codec_value(codec, ALLM_TYPE_ENGINE), NULL);
    if (check_whole()) {
        CHECK_WELL(allm_engine_error(back));
        check_same_fields(e, back);
        CHECK(engine_row(back) == engine_row(e));
    }
    allm_codec_free(codec);
    CHECK_ANSWER(allm_engine_resolve_model(back, NULL), "'fake:m'");
    CHECK_ANSWER(allm_engine_resolve_params(back, NULL), "{'p':1}");
    CHECK_TEXT(tools_in(back), "t/d");
    allm_engine_free(back);
    allm_text_free(text);
    allm_engine_free(e);
    allm_json_free(fields);
}

static void a_record_of_an_engine_makes_its_twin(void)
{
    allm_json *opts = noun_json("{'script': [['text', 'a']]}");
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts));
    allm_engine *twin = allm_engine_from_record(allm_engine_fields(e), NULL);
    if (check_whole()) {
        check_same_fields(e, twin);
        CHECK(engine_core(e) != engine_core(twin));     /* a new position */
    }
    allm_stream *s = play_call(e), *t = play_call(twin);
    CHECK_TEXT(play_all(s), "started text:a text=a completed:a/null ok");
    CHECK_TEXT(play_all(t), "started text:a text=a completed:a/null ok");
    allm_stream_free(s);
    allm_stream_free(t);
    allm_engine_free(e);
    allm_engine_free(twin);
    allm_json_free(opts);
}

/* Fields come from the record alone; everything else from the options. */
static void a_record_brings_fields_and_the_options_the_rest(void)
{
    static const allm_adapter own = { .size = sizeof own, .name = "own" };
    allm_engine *e = allm_engine_from_record(
        ALLM(engine_record, .model = "fake:m"),
        ALLM(engine_opts, .model = "ignored", .adapter_table = &own));
    CHECK_WELL(allm_engine_error(e));
    CHECK_TEXT(model_of(e), "fake:m");
    CHECK(GET(allm_engine_fields(e), id) != NULL);      /* a fresh one */
    if (check_whole())
        CHECK_TEXT(engine_row(e)->adapter->name, "own");
    allm_engine_free(e);
    e = allm_engine_from_record(ALLM(engine_record, .model = "fake:m"),
                                &(allm_engine_opts){ .size = 1 });
    CHECK_MISUSE(allm_engine_error(e), "struct_size", "ALLM(engine_opts");
    allm_engine_free(e);
}

static void network_options_are_copied(void)
{
    char file[] = "f", proxy[] = "p", agent[] = "a";
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .net = ALLM(net_opts, .ca_file = file, .proxy = proxy,
                                      .user_agent = agent)));
    file[0] = proxy[0] = agent[0] = '#';
    if (e) {
        CHECK_TEXT(engine_core(e)->net.ca_file, "f");
        CHECK_TEXT(engine_core(e)->net.proxy, "p");
        CHECK_TEXT(engine_core(e)->net.user_agent, "a");
    }
    allm_engine_free(e);
}

TESTS = {
    TEST(network_options_are_copied),
    TEST(engines_never_hold_a_key),
    TEST(new_has_what_it_was_given),
    TEST(new_has_defaults),
    TEST(what_was_passed_in_is_copied),
    TEST(ids_are_fresh_and_stay),
    TEST(adapter_opts_come_as_an_object_or_as_pairs),
    TEST(put_tool_appends),
    TEST(put_param_and_put_context_set_one_entry),
    TEST(a_param_may_be_null),
    TEST(with_model_replaces),
    TEST(a_model_brings_its_adapter),
    TEST(a_new_engine_outlives_the_old),
    TEST(merge_opts_composes),
    TEST(merge_opts_is_total),
    TEST(merge_opts_takes_the_struct_first),
    TEST(resolve_model_prefers_the_call),
    TEST(a_catalog_answers_with_a_reference),
    TEST(resolve_tools_replaces_in_place),
    TEST(every_tool_of_the_name_is_replaced),
    TEST_ONCE(resolve_tools_property),
    TEST(resolve_params_lays_the_call_over_the_engine),
    TEST(denied_names_are_not_passed_on),
    TEST_ONCE(resolve_params_property),
    TEST(an_engine_is_plain_data),
    TEST(no_key_is_stored),
    TEST(a_tool_with_a_function_cannot_be_stored),
    TEST(a_stored_engine_comes_back),
    TEST(a_record_of_an_engine_makes_its_twin),
    TEST(a_record_brings_fields_and_the_options_the_rest),
    TESTS_END,
};
