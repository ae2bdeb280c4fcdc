/* test_options.c - the options of a call: names, types, struct and JSON */
#include "base/status.h"
#include "engine/options.h"

#include "harness/noun.h"

#include <stdlib.h>

static const allm_error *read_opts(struct options *o, struct allm_home *home,
                                   const allm_call_opts *opts)
{
    *o = (struct options){ .all = NULL };
    return home ? options_read(o, home, opts) : status_nomem();
}

/* --------------------------------------------------------------- scopes --- */

static void every_name_has_its_reader(void)
{
    static const struct {
        const char *name;
        enum option_scope scope;
    } rows[] = {
        { "adapter", OPTION_ENGINE },
        { "adapter_opts", OPTION_ENGINE },
        { "model", OPTION_ENGINE },
        { "tools", OPTION_ENGINE },
        { "tool_executor", OPTION_ENGINE },
        { "tool_result_encoder", OPTION_ENGINE },
        { "image_adapter", OPTION_ENGINE },
        { "params", OPTION_ENGINE },
        { "context", OPTION_ENGINE },
        { "retry", OPTION_ENGINE },
        { "middleware", OPTION_ENGINE },
        { "metadata", OPTION_ENGINE },
        { "api_key", OPTION_ENGINE },
        { "mode", OPTION_LOOP },
        { "max_turns", OPTION_LOOP },
        { "halt_when", OPTION_LOOP },
        { "on_tool_error", OPTION_LOOP },
        { "tool_timeout", OPTION_LOOP },
        { "session_id", OPTION_LOOP },
        { "emit_text_deltas", OPTION_FILTER },
        { "emit_tool_deltas", OPTION_FILTER },
        { "include_raw_chunks", OPTION_FILTER },
        { "on_event", OPTION_FILTER },
        { "request_id", OPTION_CALL },
        { "resolved_model", OPTION_CALL },
        { "stream_timeout", OPTION_CALL },
        { "request_timeout", OPTION_CALL },
        { "temperature", OPTION_REQUEST },
        { "max_tokens", OPTION_REQUEST },
        { "tool_choice", OPTION_REQUEST },
        { "response_format", OPTION_REQUEST },
        { "reasoning_effort", OPTION_PROVIDER },
        { "Model", OPTION_PROVIDER },
        { "model ", OPTION_PROVIDER },
        { "", OPTION_PROVIDER },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].name);
        CHECK_INT(options_scope(slice_of(rows[i].name)), rows[i].scope);
    }
}

static void a_set_of_scopes_is_cut_out(void)
{
    allm_json *all = noun_json("{'model':'m','seed':1,'max_turns':2,"
                               "'temperature':0.5,'style':'x'}");
    struct arena a;
    arena_init(&a, mem_default());
    if (all) {
        CHECK_VALUE(options_only(&a, all, 1u << OPTION_PROVIDER),
                    "{'seed':1,'style':'x'}");
        CHECK_VALUE(options_only(&a, all, ~(1u << OPTION_ENGINE)),
                    "{'seed':1,'max_turns':2,'temperature':0.5,'style':'x'}");
        CHECK_VALUE(options_only(&a, all, 0), "{}");
    }
    CHECK_VALUE(options_only(&a, NULL, ~0u), "{}");
    arena_release(&a);
    allm_json_free(all);
}

/* -------------------------------------------------------------- reading --- */

static void zero_is_the_default(void)
{
    struct allm_home *home = home_new(mem_default(), 0);
    struct options o;
    for (int i = 0; i < 2; i++) {
        CHECK_WELL(
            read_opts(&o, home, i ? ALLM(call_opts, .model = NULL) : NULL));
        if (!check_whole())
            continue;
        CHECK(!o.model && !o.api_key && !o.request_id && !o.has_tools);
        CHECK(o.emit_text_deltas && o.emit_tool_deltas &&
              !o.include_raw_chunks);
        CHECK(!o.temperature.set && !o.max_tokens.set);
        CHECK_INT(o.connect_ms + o.first_ms + o.silence_ms + o.total_ms, 0);
        CHECK_VALUE(o.all, "{}");
    }
    home_drop(home);
}

/* One option both ways: the same object comes out. */
static void both_ways_say_the_same(void)
{
    allm_json *map = noun_json("{'a':1}");
    const struct {
        const char *json;
        const allm_call_opts *as_struct;
    } rows[] = {
        { "{'model':'m'}", ALLM(call_opts, .model = "m") },
        { "{'params':{'a':1}}", ALLM(call_opts, .params = map) },
        { "{'context':{'a':1}}", ALLM(call_opts, .context = map) },
        { "{'adapter_opts':{'a':1}}", ALLM(call_opts, .adapter_opts = map) },
        { "{'temperature':0.5}",
          ALLM(call_opts, .temperature = ALLM_NUM(0.5)) },
        { "{'max_tokens':5}", ALLM(call_opts, .max_tokens = ALLM_NUM(5)) },
        { "{'tool_choice':'none'}", ALLM(call_opts, .tool_choice = "none") },
        { "{'response_format':{'a':1}}",
          ALLM(call_opts, .response_format = map) },
        { "{'request_id':'r'}", ALLM(call_opts, .request_id = "r") },
        { "{'session_id':'s'}", ALLM(call_opts, .session_id = "s") },
        { "{'emit_text_deltas':false}",
          ALLM(call_opts, .hide_text_deltas = 1) },
        { "{'emit_tool_deltas':false}",
          ALLM(call_opts, .hide_tool_deltas = 1) },
        { "{'include_raw_chunks':true}",
          ALLM(call_opts, .include_raw_chunks = 1) },
        { "{'max_turns':3}", ALLM(call_opts, .max_turns = 3) },
        { "{'connect_ms':1}", ALLM(call_opts, .connect_ms = 1) },
        { "{'first_ms':2}", ALLM(call_opts, .first_ms = 2) },
        { "{'silence_ms':3}", ALLM(call_opts, .silence_ms = 3) },
        { "{'total_ms':4}", ALLM(call_opts, .total_ms = 4) },
    };
    for (size_t i = 0; map && i < sizeof rows / sizeof *rows; i++) {
        struct allm_home *home = home_new(mem_default(), 0);
        struct options one, other;
        check_row(rows[i].json);
        allm_json *json = noun_json(rows[i].json);
        CHECK_WELL(read_opts(&one, home, rows[i].as_struct));
        CHECK_WELL(read_opts(&other, home, ALLM(call_opts, .json = json)));
        if (check_whole()) {
            CHECK_VALUE(one.all, rows[i].json);
            CHECK_VALUE(other.all, rows[i].json);
            one.all = other.all = NULL;
            CHECK_INT(one.emit_text_deltas, other.emit_text_deltas);
            CHECK_INT(one.emit_tool_deltas, other.emit_tool_deltas);
            CHECK_INT(one.include_raw_chunks, other.include_raw_chunks);
            CHECK_INT(one.max_turns, other.max_turns);
            CHECK_INT(one.connect_ms, other.connect_ms);
            CHECK_INT(one.first_ms, other.first_ms);
            CHECK_INT(one.silence_ms, other.silence_ms);
            CHECK_INT(one.total_ms, other.total_ms);
            CHECK_INT(one.max_tokens.value, other.max_tokens.value);
            CHECK(one.temperature.set == other.temperature.set);
            CHECK_TEXT(one.model, other.model);
            CHECK_TEXT(one.api_key, other.api_key);
            CHECK_TEXT(one.tool_choice, other.tool_choice);
            CHECK_TEXT(one.request_id, other.request_id);
            CHECK_TEXT(one.session_id, other.session_id);
        }
        home_drop(home);
        allm_json_free(json);
    }
    allm_json_free(map);
}

/* The names of the model library for two of the deadlines. */
static void deadlines_have_two_names(void)
{
    struct allm_home *home = home_new(mem_default(), 0);
    struct options o;
    allm_json *json = noun_json("{'stream_timeout':5,'request_timeout':6}");
    CHECK_WELL(read_opts(&o, home, ALLM(call_opts, .json = json)));
    if (check_whole()) {
        CHECK_INT(o.silence_ms, 5);
        CHECK_INT(o.total_ms, 6);
    }
    home_drop(home);
    allm_json_free(json);
}

static void a_tool_choice_may_be_a_map(void)
{
    struct allm_home *home = home_new(mem_default(), 0);
    struct options o;
    allm_json *json = noun_json("{'tool_choice':{'name':'f'}}");
    CHECK_WELL(read_opts(&o, home, ALLM(call_opts, .json = json)));
    if (check_whole()) {
        CHECK(!o.tool_choice);
        CHECK_VALUE(o.tool_choice_map, "{'name':'f'}");
    }
    home_drop(home);
    allm_json_free(json);
}

static void data_are_copied(void)
{
    struct allm_home *home = home_new(mem_default(), 0);
    struct options o;
    char model[] = "m";
    allm_json *json = noun_json("{'request_id':'r','seed':[1]}");
    const allm_error *error =
        read_opts(&o, home, ALLM(call_opts, .model = model, .json = json));
    allm_json_free(json);
    model[0] = 'x';
    CHECK_WELL(error);
    if (check_whole()) {
        CHECK_TEXT(o.model, "m");
        CHECK_TEXT(o.request_id, "r");
        CHECK_VALUE(o.all, "{'model':'m','request_id':'r','seed':[1]}");
    }
    home_drop(home);
}

/* --------------------------------------------------------------- misuse --- */

static void a_wrong_type_is_reported(void)
{
    static const char *const rows[][2] = {
        { "[]", "option json must be an object of options by name" },
        { "3", "option json must be an object" },
        { "{'model':3}", "option model must be a string" },
        { "{'api_key':{}}", "option api_key must be a string" },
        { "{'request_id':[]}", "option request_id must be a string" },
        { "{'session_id':1}", "option session_id must be a string" },
        { "{'emit_text_deltas':1}", "must be true or false" },
        { "{'emit_tool_deltas':'no'}", "must be true or false" },
        { "{'include_raw_chunks':0}", "must be true or false" },
        { "{'max_turns':0}", "max_turns must be a positive integer" },
        { "{'max_turns':-1}", "a positive integer; got: " },
        { "{'max_turns':1.5}", "a positive integer; got: " },
        { "{'max_turns':'8'}", "a positive integer; got: " },
        { "{'max_turns':true}", "a positive integer; got: true" },
        { "{'max_tokens':0}", "max_tokens must be a positive integer" },
        { "{'connect_ms':0}", "connect_ms must be a positive integer" },
        { "{'stream_timeout':-5}",
          "stream_timeout must be a positive integer; got: -5" },
        { "{'temperature':'hot'}", "option temperature must be a number" },
        { "{'temperature':true}", "must be a number" },
        { "{'temperature':1e999}", "must be a number" },
        { "{'tool_choice':7}", "a mode, the name of a tool, or an object" },
        { "{'adapter_opts':'x'}", "an object or a list of [key, value]" },
        { "{'adapter_opts':[[1,2]]}", "an object or a list of [key, value]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct allm_home *home = home_new(mem_default(), 0);
        struct options o;
        check_row(rows[i][0]);
        allm_json *json = noun_json(rows[i][0]);
        if (json)
            CHECK_MISUSE(read_opts(&o, home, ALLM(call_opts, .json = json)),
                         "invalid_option", rows[i][1]);
        home_drop(home);
        allm_json_free(json);
    }
}

static void one_name_in_both_places_is_misuse(void)
{
    static const char *const names[] = { "{'model':'m'}", "{'total_ms':1}",
                                         "{'emit_text_deltas':true}",
                                         "{'temperature':1}" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct allm_home *home = home_new(mem_default(), 0);
        struct options o;
        check_row(names[i]);
        allm_json *json = noun_json(names[i]);
        if (json)
            CHECK_MISUSE(read_opts(&o, home,
                                   ALLM(call_opts, .model = "m", .total_ms = 1,
                                        .json = json, .hide_text_deltas = 1,
                                        .temperature = ALLM_NUM(1))),
                         "invalid_option",
                         "set only once: it is set in the struct and in json");
        home_drop(home);
        allm_json_free(json);
    }
}

static void null_is_absent(void)
{
    struct allm_home *home = home_new(mem_default(), 0);
    struct options o;
    allm_json *json = noun_json("{'model':null,'max_turns':null,'seed':null}");
    CHECK_WELL(
        read_opts(&o, home, ALLM(call_opts, .model = "m", .json = json)));
    if (check_whole())
        CHECK_VALUE(o.all, "{'model':'m'}");
    home_drop(home);
    allm_json_free(json);
}

static void sizes_are_checked(void)
{
    static const allm_call_opts full = { .model = "m" };
    struct allm_home *home = home_new(mem_default(), 0);
    struct options o;
    allm_call_opts none = { .model = "m" };
    allm_call_opts *older = noun_sized(&full, sizeof full,
                                       offsetof(allm_call_opts, api_key));
    allm_call_opts *newer = noun_sized(&full, sizeof full, sizeof full + 8);
    CHECK_MISUSE(read_opts(&o, home, &none), "invalid_option",
                 "filled with ALLM(call_opts, ...)");
    CHECK_WELL(read_opts(&o, home, older));
    CHECK_WELL(read_opts(&o, home, newer));
    ((char *)newer)[sizeof full] = 1;
    CHECK_MISUSE(read_opts(&o, home, newer), "invalid_option", "be newer");
    home_drop(home);
    free(older);
    free(newer);
}

static void json_that_was_refused_is_misuse(void)
{
    struct allm_home *home = home_new(mem_default(), 0);
    struct options o;
    allm_json *bad = allm_json_parse("{", 1, NULL);
    if (bad) {
        CHECK_MISUSE(read_opts(&o, home, ALLM(call_opts, .json = bad)),
                     "invalid_option", "json");
        CHECK_MISUSE(read_opts(&o, home, ALLM(call_opts, .params = bad)),
                     "invalid_option", "params");
        CHECK_MISUSE(read_opts(&o, home,
                               ALLM(call_opts, .response_format = bad)),
                     "invalid_option", "response_format");
    }
    home_drop(home);
    allm_json_free(bad);
}

static void tools_are_looked_at(void)
{
    const allm_tool *good = ALLM(tool, .name = "t", .description = "d",
                                 .schema_text = "{}");
    allm_tool none = { .name = "t" };
    allm_tool *refused = allm_tool_new(NULL);
    const allm_tool *hole[] = { good, NULL }, *small[] = { &none },
                    *broken[] = { refused };
    struct allm_home *home = home_new(mem_default(), 0);
    struct options o;
    CHECK_WELL(
        read_opts(&o, home, ALLM(call_opts, .tools = hole, .tool_count = 1)));
    CHECK_WELL(read_opts(&o, home, ALLM(call_opts, .tools = hole)));
    CHECK(o.has_tools && o.tool_count == 0);
    CHECK_MISUSE(read_opts(&o, home,
                           ALLM(call_opts, .tools = hole, .tool_count = 2)),
                 "invalid_option", "without NULL");
    CHECK_MISUSE(read_opts(&o, home,
                           ALLM(call_opts, .tools = small, .tool_count = 1)),
                 "invalid_option", "ALLM(tool, ...)");
    CHECK_MISUSE(read_opts(&o, home, ALLM(call_opts, .tool_count = 1)),
                 "invalid_option", "tool_count is not 0");
    if (refused)
        CHECK_MISUSE(read_opts(&o, home,
                               ALLM(call_opts, .tools = broken,
                                    .tool_count = 1)),
                     "missing_field", "name");
    home_drop(home);
    allm_tool_free(refused);
}

/* ------------------------------------------------------------- defaults --- */

/* Options of a text, with what another text sets where they say nothing. */
static struct options inherited(struct allm_home *home, const char *own,
                                const char *defaults)
{
    struct options o, d;
    allm_json *a = noun_json(own), *b = noun_json(defaults);
    CHECK_WELL(read_opts(&o, home, ALLM(call_opts, .json = a)));
    CHECK_WELL(read_opts(&d, home, ALLM(call_opts, .json = b)));
    if (check_whole()) {
        options_inherit(&o, &d);
        options_inherit_fields(&o, &d);
    }
    allm_json_free(a);
    allm_json_free(b);
    return o;
}

#define DEFAULTS                                                             \
    "{'emit_text_deltas':false,'emit_tool_deltas':false,"                    \
    "'include_raw_chunks':true,'connect_ms':1,'first_ms':2,'silence_ms':3,"  \
    "'total_ms':4,'temperature':0.5,'max_tokens':6,'tool_choice':'none',"    \
    "'response_format':{'a':7}}"

static void what_is_not_said_is_inherited(void)
{
    struct allm_home *home = home_new(mem_default(), 0);
    struct options o = inherited(home, "{}", DEFAULTS);
    if (check_whole()) {
        CHECK(!o.emit_text_deltas && !o.emit_tool_deltas &&
              o.include_raw_chunks);
        CHECK_INT(o.connect_ms, 1);
        CHECK_INT(o.first_ms, 2);
        CHECK_INT(o.silence_ms, 3);
        CHECK_INT(o.total_ms, 4);
        CHECK(o.temperature.set && o.temperature.value == 0.5);
        CHECK_INT(o.max_tokens.value, 6);
        CHECK_TEXT(o.tool_choice, "none");
        CHECK_VALUE(o.response_format, "{'a':7}");
    }
    home_drop(home);
}

static void what_is_said_stays(void)
{
    struct allm_home *home = home_new(mem_default(), 0);
    struct options o = inherited(
        home,
        "{'emit_text_deltas':true,'emit_tool_deltas':true,"
        "'include_raw_chunks':false,'connect_ms':11,'first_ms':12,"
        "'silence_ms':13,'total_ms':14,'temperature':0,'max_tokens':16,"
        "'tool_choice':{'name':'f'},'response_format':{'b':17}}",
        DEFAULTS);
    if (check_whole()) {
        CHECK(o.emit_text_deltas && o.emit_tool_deltas &&
              !o.include_raw_chunks);
        CHECK_INT(o.connect_ms, 11);
        CHECK_INT(o.first_ms, 12);
        CHECK_INT(o.silence_ms, 13);
        CHECK_INT(o.total_ms, 14);
        CHECK(o.temperature.set && o.temperature.value == 0);
        CHECK_INT(o.max_tokens.value, 16);
        CHECK(!o.tool_choice);      /* a map is a choice, too */
        CHECK_VALUE(o.tool_choice_map, "{'name':'f'}");
        CHECK_VALUE(o.response_format, "{'b':17}");
    }
    home_drop(home);
}

static void a_number_may_have_any_number_of_digits(void)
{
    struct allm_home *home = home_new(mem_default(), 0);
    struct options o;
    allm_json *json = noun_json("{'temperature':0.29999999999999999}");
    CHECK_WELL(read_opts(&o, home, ALLM(call_opts, .json = json)));
    if (check_whole())
        CHECK(o.temperature.set && o.temperature.value == 0.3);
    home_drop(home);
    allm_json_free(json);
}

TESTS = {
    TEST(a_number_may_have_any_number_of_digits),
    TEST(every_name_has_its_reader),
    TEST(a_set_of_scopes_is_cut_out),
    TEST(zero_is_the_default),
    TEST(both_ways_say_the_same),
    TEST(deadlines_have_two_names),
    TEST(a_tool_choice_may_be_a_map),
    TEST(data_are_copied),
    TEST(a_wrong_type_is_reported),
    TEST(one_name_in_both_places_is_misuse),
    TEST(null_is_absent),
    TEST(sizes_are_checked),
    TEST(json_that_was_refused_is_misuse),
    TEST(tools_are_looked_at),
    TEST(what_is_not_said_is_inherited),
    TEST(what_is_said_stays),
    TESTS_END,
};
