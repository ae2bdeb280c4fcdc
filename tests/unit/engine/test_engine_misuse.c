/* test_engine_misuse.c - misuse of engines is an error */
#include "engine/engine.h"

#include "harness/noun.h"
#include "harness/play.h"

#include <stdlib.h>

static allm_tool tool(const char *name)
{
    return (allm_tool){ .size = sizeof(allm_tool), .name = name,
                        .description = "d", .schema_text = "{}" };
}

static void nothing_is_accepted(void)
{
    allm_tool t = tool("t");
    const allm_tool *list[] = { &t };
    CHECK_ALWAYS(!allm_engine_from_record(NULL, NULL));
    CHECK_ALWAYS(!allm_engine_keep(NULL));
    allm_engine_free(NULL);
    CHECK_ERROR(allm_engine_error(NULL), ALLM_ERR_NOMEM, "out_of_memory", NULL);
    CHECK_ALWAYS(!allm_engine_fields(NULL));
    CHECK_ALWAYS(!allm_engine_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ALWAYS(!allm_engine_put_tool(NULL, &t));
    CHECK_ALWAYS(!allm_engine_put_tools(NULL, 1, list));
    CHECK_ALWAYS(!allm_engine_put_param(NULL, "a", NULL));
    CHECK_ALWAYS(!allm_engine_put_context(NULL, "a", NULL));
    CHECK_ALWAYS(!allm_engine_with_model(NULL, "m"));
    CHECK_ALWAYS(!allm_engine_merge_opts(NULL, NULL));
    CHECK_ALWAYS(!allm_engine_resolve_model(NULL, NULL));
    CHECK_ALWAYS(!allm_engine_resolve_params(NULL, NULL));
    CHECK_ALWAYS(!allm_engine_resolve_tools(NULL, NULL));
    allm_engine *e = allm_engine_new(NULL);
    CHECK_ALWAYS(!allm_engine_put_tool(e, NULL));
    allm_engine_free(e);
}

/* A broken engine answers everything with its error. */
static void check_broken(allm_engine *e, const char *reason, const char *words)
{
    allm_tool t = tool("t");
    allm_json *one = noun_json("1");
    CHECK_MISUSE(allm_engine_error(e), reason, words);
    allm_engine *derived[] = {
        allm_engine_put_tool(e, &t),
        allm_engine_put_param(e, "a", one),
        allm_engine_put_context(e, "a", one),
        allm_engine_with_model(e, "m"),
        allm_engine_merge_opts(e, ALLM(call_opts, .model = "m")),
        allm_engine_keep(e),
    };
    for (size_t i = 0; i < sizeof derived / sizeof *derived; i++) {
        if (one || (i != 1 && i != 2))
            CHECK_MISUSE(allm_engine_error(derived[i]), reason, words);
        allm_engine_free(derived[i]);
    }
    allm_json *model = allm_engine_resolve_model(e, NULL);
    allm_json *params = allm_engine_resolve_params(e, NULL);
    allm_engine_record *tools = allm_engine_resolve_tools(e, NULL);
    allm_text *text = allm_engine_json(e, ALLM_FORM_TAGGED);
    CHECK_MISUSE(allm_json_error(model), reason, words);
    CHECK_MISUSE(allm_json_error(params), reason, words);
    CHECK_MISUSE(allm_engine_record_error(tools), reason, words);
    CHECK_MISUSE(allm_text_error(text), reason, words);
    CHECK(!e || allm_engine_fields(e));
    allm_stream *s = play_call(e);
    CHECK_MISUSE(allm_stream_error(s), reason, words);
    CHECK_INT(allm_stream_wait(s), ALLM_ERR_MISUSE);
    CHECK_INT(allm_fake_calls(e), 0);
    allm_stream_free(s);
    allm_json_free(model);
    allm_json_free(params);
    allm_engine_record_free(tools);
    allm_text_free(text);
    allm_json_free(one);
    allm_engine_free(e);
}

static void sizes_are_checked(void)
{
    static const allm_engine_opts full = { .model = "fake:m" };
    allm_engine_opts none = { .model = "fake:m" };
    check_broken(allm_engine_new(&none), "struct_size", "ALLM(engine_opts");
    allm_engine_opts *older = noun_sized(&full, sizeof full,
                                         offsetof(allm_engine_opts, adapter));
    allm_engine_opts *newer = noun_sized(&full, sizeof full, sizeof full + 8);
    allm_engine *a = allm_engine_new(older), *b = allm_engine_new(newer);
    CHECK_WELL(allm_engine_error(a));
    CHECK_WELL(allm_engine_error(b));
    CHECK_TEXT(GET(allm_engine_fields(a), model), "fake:m");
    CHECK_TEXT(GET(allm_engine_fields(b), model), "fake:m");
    allm_engine_free(a);
    allm_engine_free(b);
    ((char *)newer)[sizeof full] = 1;       /* a member we do not know */
    check_broken(allm_engine_new(newer), "struct_size", "ALLM(engine_opts");
    free(older);
    free(newer);
}

static void sizes_of_records_are_checked(void)
{
    static const allm_engine_record full = { .model = "fake:m" };
    allm_engine_record none = { .model = "fake:m" };
    check_broken(allm_engine_from_record(&none, NULL), "struct_size",
                 "allm_engine_record");
    allm_engine_record *older = noun_sized(
        &full, sizeof full, offsetof(allm_engine_record, tool_count));
    allm_engine_record *newer = noun_sized(&full, sizeof full, sizeof full + 8);
    allm_engine *a = allm_engine_from_record(older, NULL);
    allm_engine *b = allm_engine_from_record(newer, NULL);
    CHECK_TEXT(GET(allm_engine_fields(a), model), "fake:m");
    CHECK_TEXT(GET(allm_engine_fields(b), model), "fake:m");
    allm_engine_free(a);
    allm_engine_free(b);
    ((char *)newer)[sizeof full] = 1;
    check_broken(allm_engine_from_record(newer, NULL), "struct_size",
                 "allm_engine_record");
    free(older);
    free(newer);
}

static void a_refused_record_makes_a_refused_engine(void)
{
    allm_json *map = noun_json("'word'");
    allm_engine_record *r =
        allm_engine_record_new(ALLM(engine_record, .adapter_opts = map));
    if (map && r)
        check_broken(allm_engine_from_record(r, NULL), "wrong_type",
                     "adapter_opts");
    allm_engine_record_free(r);
    allm_json_free(map);
}

/* Invalid fields of an engine, and the advice of the message. */
static void fields_are_checked(void)
{
    static const struct {
        const char *field, *json, *reason, *words;
    } rows[] = {
        { "middleware", "['m']", "invalid_engine", "leave it out" },
        { "middleware", "{}", "wrong_type", "middleware must be a JSON array" },
        { "retry", "true", "invalid_retry", "\"default\", false, an object" },
        { "retry", "{'max_attempts': -1}", "invalid_retry",
          "max_attempts of a retry policy must be" },
        { "retry", "{'max_attempts': 'many'}", "invalid_retry",
          "0 or more (0: no retry)" },
        { "retry", "{'patience': 1}", "invalid_retry", "it has max_attempts" },
        { "retry", "[['retry_on', 'x']]", "invalid_retry",
          "such as [429, \"timeout\"]" },
        { "retry", "[[1, 2]]", "invalid_retry", "a list of [key, value]" },
        { "adapter_opts", "3", "invalid_engine",
          "adapter_opts must be an object or a list of [key, value]" },
        { "adapter_opts", "'x'", "invalid_engine", "an object or a list" },
        { "adapter_opts", "[['a', 1], 3]", "invalid_engine", "[key, value]" },
        { "adapter_opts", "[[3, 1]]", "invalid_engine", "with string keys" },
        { "adapter_opts", "[['a']]", "invalid_engine", "[key, value]" },
        { "adapter_opts", "[['a', 1, 2]]", "invalid_engine", "[key, value]" },
        { "adapter_opts", "[{'a': 'k', 'b': 1}]", "invalid_engine",
          "[key, value]" },
        { "params", "[1]", "wrong_type", "params must be a JSON object" },
        { "context", "'c'", "wrong_type", "context must be a JSON object" },
        { "metadata", "7", "wrong_type", "metadata must be a JSON object" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].json);
        allm_json *v = noun_json(rows[i].json);
        allm_engine_opts o = { .size = sizeof o, .model = "fake:m" };
        switch (rows[i].field[0]) {
        case 'm': *(rows[i].field[1] == 'i' ? &o.middleware : &o.metadata) = v;
            break;
        case 'r': o.retry = v; break;
        case 'a': o.adapter_opts = v; break;
        case 'p': o.params = v; break;
        default: o.context = v; break;
        }
        if (v)
            check_broken(allm_engine_new(&o), rows[i].reason, rows[i].words);
        allm_json_free(v);
    }
}

static void json_that_was_refused_is_misuse(void)
{
    allm_json *bad = allm_json_parse("{", 1, NULL);
    if (!bad)
        return;
    check_broken(allm_engine_new(ALLM(engine_opts, .params = bad)),
                 "broken_json", "allm_json_error()");
    check_broken(allm_engine_new(ALLM(engine_opts, .adapter_opts = bad)),
                 "broken_json", "allm_json_error()");
    check_broken(allm_engine_new(ALLM(engine_opts, .retry = bad)),
                 "broken_json", "allm_json_error()");
    allm_engine *e = allm_engine_new(NULL);
    allm_engine *put = allm_engine_put_param(e, "a", bad);
    CHECK(put != NULL);
    if (put)
        check_broken(put, "broken_json", "allm_json_error()");
    allm_engine_free(e);
    allm_json_free(bad);
}

static void adapters_are_known_by_name(void)
{
    static const allm_adapter own = { .size = sizeof own, .name = "own" };
    allm_engine *e;
    check_broken(
        allm_engine_new(
            ALLM(engine_opts, .model = "fake:m", .image_adapter = "nobody")),
        "invalid_engine",
        "there is no adapter \"nobody\"; leave .image_adapter out to use the "
        "model's provider");
    check_broken(allm_engine_new(ALLM(engine_opts, .adapter = "nobody")),
                 "invalid_engine", "\"nobody\"");
    check_broken(allm_engine_from_record(
                     ALLM(engine_record, .adapter = "Elixir.No.Such"), NULL),
                 "invalid_engine", "adapter_table");
    e = allm_engine_new(ALLM(engine_opts, .model = "nobody:m"));
    CHECK_WELL(allm_engine_error(e));       /* reported by the first call */
    allm_stream *s = play_call(e);
    CHECK_ERROR(allm_stream_error(s), ALLM_ERR_ENGINE, "missing_adapter",
                "\"nobody:m\"");
    allm_stream_free(s);
    allm_engine_free(e);
    e = allm_engine_new(
        ALLM(engine_opts, .adapter = "mine", .adapter_table = &own));
    CHECK_WELL(allm_engine_error(e));       /* the table is what counts */
    allm_engine_free(e);
    e = allm_engine_new(
        ALLM(engine_opts, .adapter = "Elixir.ALLM.Providers.Fake"));
    CHECK_WELL(allm_engine_error(e));
    allm_engine_free(e);
}

static void adapter_tables_have_a_size(void)
{
    static const allm_adapter full = { .name = "old" };
    allm_adapter none = { .name = "none" };
    check_broken(allm_engine_new(ALLM(engine_opts, .adapter_table = &none)),
                 "struct_size", "adapter_table");
    allm_adapter large = { .size = sizeof large,
                           .state_size = 16 * 1024 * 1024 + 1 };
    check_broken(allm_engine_new(ALLM(engine_opts, .adapter_table = &large)),
                 "struct_size", "16 MiB");
    large.state_size--;
    allm_engine *fits =
        allm_engine_new(ALLM(engine_opts, .adapter_table = &large));
    CHECK_WELL(allm_engine_error(fits));
    allm_engine_free(fits);
    allm_adapter *older = noun_sized(&full, sizeof full,
                                     offsetof(allm_adapter, open));
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .adapter_table = older));
    allm_stream *s = play_call(e);      /* missing members count as NULL */
    CHECK_ERROR(allm_stream_error(s), ALLM_ERR_ENGINE, "missing_stream_adapter",
                NULL);
    allm_stream_free(s);
    allm_engine_free(e);
    free(older);
}

static void tools_are_checked(void)
{
    allm_tool good = tool("t"), none = { .name = "t" }, nameless = tool(NULL);
    const allm_tool *hole[] = { &good, NULL }, *small[] = { &none };
    const allm_tool *blank[] = { &nameless };
    check_broken(allm_engine_new(ALLM(engine_opts, .tool_count = 2)),
                 "missing_list", "tools is NULL, but its count is 2");
    check_broken(allm_engine_new(
                     ALLM(engine_opts, .tools = hole, .tool_count = 2)),
                 "null_element", "element 1 of tools is NULL");
    check_broken(allm_engine_new(
                     ALLM(engine_opts, .tools = small, .tool_count = 1)),
                 "struct_size", "ALLM()");
    allm_engine *e = allm_engine_new(NULL);
    if (!e)
        return;
    check_broken(allm_engine_put_tools(e, 3, NULL), "missing_list",
                 "its count is 3");
    check_broken(allm_engine_put_tools(e, 2, hole), "null_element", NULL);
    check_broken(allm_engine_put_tool(e, &none), "struct_size", NULL);
    allm_engine *b = allm_engine_put_tools(e, 1, blank);
    CHECK_WELL(allm_engine_error(b));       /* reported by the validator */
    allm_engine_free(b);
    CHECK(!allm_engine_put_tools(e, SIZE_MAX, hole));
    CHECK(!allm_engine_put_tools(e, SIZE_MAX / 2, hole));
    allm_engine_free(e);
}

/* The tools of a call are the caller's structs, read as they are. */
static void tools_of_a_call_are_checked(void)
{
    allm_tool good = tool("t"), none = { .name = "t" }, nameless = tool(NULL);
    const allm_tool *hole[] = { &good, NULL }, *small[] = { &none },
                    *blank[] = { &nameless }, *own[] = { &nameless, &good };
    const struct {
        const allm_tool *const *tools;
        size_t n;
        const char *words;
    } rows[] = {
        { hole, 2, "without NULL" },
        { small, 1, "ALLM(tool" },
        { NULL, 1, "a list" },
        { blank, 1, NULL },
    };
    allm_engine *e =
        allm_engine_new(ALLM(engine_opts, .tools = own, .tool_count = 2));
    CHECK_WELL(allm_engine_error(e));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const allm_call_opts *o = ALLM(call_opts, .tools = rows[i].tools,
                                       .tool_count = rows[i].n);
        check_row(rows[i].words);
        allm_engine_record *r = allm_engine_resolve_tools(e, o);
        if (rows[i].words)
            CHECK_MISUSE(allm_engine_record_error(r), "invalid_option",
                         rows[i].words);
        else
            CHECK_WELL(allm_engine_record_error(r));
        allm_engine_record_free(r);
        allm_engine *m = allm_engine_merge_opts(e, o);
        CHECK_WELL(allm_engine_error(m));   /* never refuses */
        CHECK_INT(GET(allm_engine_fields(m), tool_count), 2);
        allm_engine_free(m);
    }
    allm_engine_free(e);
}

static void entries_need_a_key(void)
{
    allm_json *one = noun_json("1");
    allm_engine *e = allm_engine_new(NULL);
    if (e && one) {
        check_broken(allm_engine_put_param(e, NULL, one), "missing_key_name",
                     "needs a key");
        check_broken(allm_engine_put_context(e, NULL, one), "missing_key_name",
                     "needs a key");
        CHECK_ALWAYS(!allm_engine_put_param(e, "a", NULL));
    }
    allm_engine_free(e);
    allm_json_free(one);
}

/* Questions with options that make no sense. */
static void wrong_options_are_reported_in_the_answer(void)
{
    static const struct {
        const char *json, *words;
    } rows[] = {
        { "[]", "option json must be an object" },
        { "{'model': 3}", "option model must be a string" },
        { "{'max_turns': 0}", "option max_turns must be a positive integer" },
        { "{'adapter_opts': [[1, 2]]}", "an object or a list of [key, value]" },
    };
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].json);
        allm_json *json = noun_json(rows[i].json);
        const allm_call_opts *o = ALLM(call_opts, .json = json);
        if (!json)
            continue;
        allm_json *m = allm_engine_resolve_model(e, o);
        allm_json *p = allm_engine_resolve_params(e, o);
        allm_engine_record *t = allm_engine_resolve_tools(e, o);
        CHECK_MISUSE(allm_json_error(m), "invalid_option", rows[i].words);
        CHECK_MISUSE(allm_json_error(p), "invalid_option", rows[i].words);
        CHECK_MISUSE(allm_engine_record_error(t), "invalid_option",
                     rows[i].words);
        allm_json_free(m);
        allm_json_free(p);
        allm_engine_record_free(t);
        allm_json_free(json);
    }
    allm_call_opts none = { .model = "m" };
    allm_engine *m = allm_engine_merge_opts(e, &none);
    CHECK_TEXT(GET(allm_engine_fields(m), model), "fake:m");
    allm_engine_free(m);
    allm_engine_free(e);
}

TESTS = {
    TEST(nothing_is_accepted),
    TEST(sizes_are_checked),
    TEST(sizes_of_records_are_checked),
    TEST(a_refused_record_makes_a_refused_engine),
    TEST(fields_are_checked),
    TEST(json_that_was_refused_is_misuse),
    TEST(adapters_are_known_by_name),
    TEST(adapter_tables_have_a_size),
    TEST(tools_are_checked),
    TEST(tools_of_a_call_are_checked),
    TEST(entries_need_a_key),
    TEST(wrong_options_are_reported_in_the_answer),
    TESTS_END,
};
