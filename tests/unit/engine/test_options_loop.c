/* test_options_loop.c - the options of chats and agents */
#include "engine/options.h"

#include "harness/check.h"
#include "harness/noun.h"

/* Read options from JSON; returns the error, or "". */
static const char *read_json(const char *json, struct options *o,
                             struct allm_home *home)
{
    allm_json *v = noun_json(json);
    const allm_error *e =
        home ? options_read(o, home, ALLM(call_opts, .json = v)) : NULL;
    allm_json_free(v);
    return e ? e->message : "";
}

static void options_of_loops_are_checked(void)
{
    static const struct {
        const char *json, *told;
    } rows[] = {
        { "{'mode': 'auto'}", "" },
        { "{'mode': 'x'}", "option mode must be auto or manual" },
        { "{'mode': 1}", "option mode must be auto or manual" },
        { "{'on_tool_error': 'halt'}", "" },
        { "{'on_tool_error': 'x'}",
          "option on_tool_error must be continue or halt, or a function of "
          "(tool_call, error) in on_tool_error_fn" },
        { "{'max_turns': 0}",
          "option max_turns must be a positive integer; got: 0" },
        { "{'max_turns': null}", "" },
        { "{'tool_timeout': -1}",
          "option tool_timeout must be a positive integer; got: -1" },
        { "{'max_concurrency': 1.5}",
          "option max_concurrency must be a positive integer; got: 1.5" },
        { "{'structured_finalize': 1}",
          "option structured_finalize must be true or false" },
        { "{'structured_finalize_nudge': 1}",
          "option structured_finalize_nudge must be a string" },
        { "{'output_retries': 0}", "" },
        { "{'output_retries': -1}",
          "option output_retries must be an integer, 0 or greater; got: -1" },
        { "{'live_tool_events': 'x'}",
          "option live_tool_events must be true or false" },
        { "{'max_iterations': 0}",
          "option max_iterations must be a positive integer; got: 0" },
        { "{'terminal_tool': {}}", "option terminal_tool must be a string" },
        { "{'seed': 'whatever'}", "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct allm_home *home = home_new(mem_default(), 0);
        struct options o;
        check_row(rows[i].json);
        CHECK_TEXT(read_json(rows[i].json, &o, home), rows[i].told);
        home_drop(home);
    }
}

static void a_struct_and_data_mean_the_same(void)
{
    struct allm_home *home = home_new(mem_default(), 0);
    struct options a, b;
    if (!home)
        return;
    read_json("{'mode': 'manual', 'on_tool_error': 'halt', 'max_turns': 3, "
              "'tool_timeout': 5, 'max_concurrency': 2, "
              "'structured_finalize': true, 'structured_finalize_nudge': '', "
              "'output_retries': 0, 'max_tool_output': 7}",
              &a, home);
    const allm_error *e = options_read(
        &b, home,
        ALLM(call_opts, .mode = ALLM_MODE_MANUAL,
             .on_tool_error = ALLM_TOOL_POLICY_HALT, .max_turns = 3,
             .tool_timeout_ms = 5, .max_concurrency = 2,
             .structured_finalize = 1, .structured_finalize_nudge = "",
             .output_retries = ALLM_NUM(0), .max_tool_output = 7));
    CHECK(!e);
    const struct options *both[] = { &a, &b };
    for (int i = 0; i < 2 && check_whole(); i++) {
        const struct options *o = both[i];
        CHECK_INT(o->mode, ALLM_MODE_MANUAL);
        CHECK_INT(o->on_tool_error, ALLM_TOOL_POLICY_HALT);
        CHECK_INT(o->max_turns, 3);
        CHECK_INT(o->tool_timeout_ms, 5);
        CHECK_INT(o->max_concurrency, 2);
        CHECK(o->structured_finalize);
        CHECK_TEXT(o->structured_finalize_nudge, "");
        CHECK(o->output_retries.set && o->output_retries.value == 0);
        CHECK_INT(o->max_tool_output, 7);
    }
    home_drop(home);
}

static void time_may_be_without_end(void)
{
    struct allm_home *home = home_new(mem_default(), 0);
    struct options o;
    if (!home)
        return;
    read_json("{'tool_timeout': 'infinity', 'request_timeout': 'infinity', "
              "'stream_timeout': 'infinity'}",
              &o, home);
    if (check_whole()) {
        CHECK_INT(o.tool_timeout_ms, UINT32_MAX);
        CHECK_INT(o.total_ms, UINT32_MAX);
        CHECK_INT(o.silence_ms, UINT32_MAX);
    }
    home_drop(home);
}

static void on_error(allm_tool_run *run, const allm_error *error, void *ud)
{
    (void)run;
    (void)error;
    (void)ud;
}

static void a_name_is_given_once(void)
{
    struct allm_home *home = home_new(mem_default(), 0);
    struct options o;
    allm_json *v = noun_json("{'max_turns': 3}");
    allm_json *halt = noun_json("{'on_tool_error': 'halt'}");
    if (home) {
        CHECK_MISUSE(options_read(&o, home,
                                  ALLM(call_opts, .json = v, .max_turns = 3)),
                     "invalid_option", "set only once");
        CHECK_MISUSE(options_read(&o, home,
                                  ALLM(call_opts, .json = halt,
                                       .on_tool_error_fn = on_error)),
                     "invalid_option", "set only once");
        CHECK_MISUSE(options_read(&o, home, ALLM(call_opts, .mode = 7)),
                     "invalid_option", "mode");
        CHECK_MISUSE(options_read(&o, home,
                                  ALLM(call_opts, .on_tool_error = 9)),
                     "invalid_option", "on_tool_error");
        const allm_error *e = options_read(
            &o, home, ALLM(call_opts, .on_tool_error_fn = on_error));
        CHECK(!e);
        CHECK_INT(o.on_tool_error, ALLM_TOOL_POLICY_CALLBACK);
    }
    allm_json_free(v);
    allm_json_free(halt);
    home_drop(home);
}

static void names_have_a_scope(void)
{
    static const struct {
        const char *name;
        enum option_scope scope;
    } rows[] = {
        { "model", OPTION_ENGINE },         { "max_turns", OPTION_LOOP },
        { "structured_finalize", OPTION_LOOP }, { "policies", OPTION_LOOP },
        { "max_same_calls", OPTION_LOOP },  { "on_event", OPTION_FILTER },
        { "request_id", OPTION_CALL },      { "max_tokens", OPTION_REQUEST },
        { "seed", OPTION_PROVIDER },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].name);
        CHECK_INT(options_scope(slice_of(rows[i].name)), rows[i].scope);
    }
}

TESTS = {
    TEST(options_of_loops_are_checked),
    TEST(a_struct_and_data_mean_the_same),
    TEST(time_may_be_without_end),
    TEST(a_name_is_given_once),
    TEST(names_have_a_scope),
    TESTS_END,
};
