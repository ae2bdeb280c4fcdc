/* test_usage.c - token counts in every format */
#include "provider/openai/usage.h"

#include "harness/check.h"
#include "harness/noun.h"

#define HUGE_COUNT "9223372036854775807"

/* input, output, total, cached, reasoning; -1: not reported */
static void reads_every_spelling(void)
{
    static const struct {
        const char *usage;
        int64_t want[5];
        const char *extra;
    } rows[] = {
        { "{'prompt_tokens':1,'completion_tokens':2,'total_tokens':3}",
          { 1, 2, 3, -1, -1 }, NULL },
        { "{'input_tokens':1,'output_tokens':2}", { 1, 2, -1, -1, -1 }, NULL },
        { "{'prompt_tokens':null,'total_tokens':-3}", { -1, -1, -1, -1, -1 },
          NULL },
        { "{'prompt_tokens':1,'prompt_tokens_details':{'cached_tokens':0,"
          "'audio_tokens':4}}", { 1, -1, -1, 0, -1 },
          "{'prompt_tokens_details':{'audio_tokens':4}}" },
        { "{'prompt_tokens':10,'completion_tokens':5,'total_tokens':35,"
          "'completion_tokens_details':{'reasoning_tokens':20}}",
          { 10, 25, 35, -1, 20 }, NULL },
        { "{'prompt_tokens':10,'completion_tokens':5,'total_tokens':36,"
          "'reasoning_tokens':20}", { 10, 26, 36, -1, 20 }, NULL },
        { "{'prompt_tokens':10,'completion_tokens':5,'total_tokens':40}",
          { 10, 30, 40, -1, -1 }, NULL },
        { "{'prompt_tokens':10,'completion_tokens':5,'total_tokens':115,"
          "'cache_read_input_tokens':70,'cache_creation_input_tokens':30}",
          { 110, 5, 115, 70, -1 }, "{'cache_write_input_tokens':30}" },
        { "{'prompt_tokens':10,'completion_tokens':5,'total_tokens':22,"
          "'citation_tokens':7}", { 17, 5, 22, -1, -1 },
          "{'citation_tokens':7}" },
        { "{'prompt_tokens':11,'completion_tokens':15,'total_tokens':401,"
          "'prompt_tokens_details':{'audio_tokens':375}}",
          { 386, 15, 401, -1, -1 },
          "{'prompt_tokens_details':{'audio_tokens':375}}" },
        { "{'prompt_tokens':11,'completion_tokens':15,'total_tokens':401,"
          "'audio_tokens':375,'prompt_audio_seconds':30}",
          { 386, 15, 401, -1, -1 },
          "{'audio_tokens':375,'prompt_audio_seconds':30}" },
        { "{'input_tokens':11,'output_tokens':15,'total_tokens':401,"
          "'input_tokens_details':{'audio_tokens':375}}",
          { 386, 15, 401, -1, -1 },
          "{'input_tokens_details':{'audio_tokens':375}}" },
        { "{'prompt_tokens':11,'completion_tokens':15,'total_tokens':401,"
          "'completion_tokens_details':{'audio_tokens':375}}",
          { 11, 390, 401, -1, -1 },
          "{'completion_tokens_details':{'audio_tokens':375}}" },
        { "{'prompt_tokens':10,'completion_tokens':5,'total_tokens':25}",
          { 10, 15, 25, -1, -1 }, NULL },
        { "{'prompt_tokens':10,'completion_tokens':5,'total_tokens':18,"
          "'num_search_queries':3}",
          { 10, 8, 18, -1, -1 }, "{'num_search_queries':3}" },
        { "{'prompt_tokens':10,'completion_tokens':5,'total_tokens':35,"
          "'prompt_tokens_details':{'text_tokens':20},'reasoning_tokens':20}",
          { 10, 25, 35, -1, 20 },
          "{'prompt_tokens_details':{'text_tokens':20}}" },
        { "{'prompt_tokens':10,'completion_tokens':5,'total_tokens':3}",
          { 10, 5, 3, -1, -1 }, NULL },
        { "{'cache_creation_input_tokens':2,'cache_read_input_tokens':1,"
          "'speed':1.5}", { -1, -1, -1, 1, -1 },
          "{'cache_write_input_tokens':2,'speed':1.5}" },
        { "{'prompt_tokens':" HUGE_COUNT ",'completion_tokens':" HUGE_COUNT
          ",'total_tokens':0,'reasoning_tokens':2}",
          { INT64_MAX, INT64_MAX, 0, -1, 2 }, NULL },
        { "{'prompt_tokens':1,'completion_tokens':1,'total_tokens':" HUGE_COUNT
          ",'cached_tokens':" HUGE_COUNT ",'reasoning_tokens':1,"
          "'cache_creation_input_tokens':" HUGE_COUNT "}",
          { 1, INT64_MAX - 1, INT64_MAX, INT64_MAX, 1 },
          "{'cache_write_input_tokens':" HUGE_COUNT "}" },
        { "{'input_tokens_details':{'cached_tokens':1,'cache_write_tokens':2},"
          "'output_tokens_details':{'reasoning_tokens':3}}",
          { -1, -1, -1, 1, 3 }, "{'cache_write_input_tokens':2}" },
        { "{'prompt_tokens_details':{'num_cached_tokens':1,"
          "'cache_creation_tokens':2}}",
          { -1, -1, -1, 1, -1 }, "{'cache_write_input_tokens':2}" },
        { "{'prompt_tokens_details':{'cache_write_tokens':2,"
          "'cache_creation_tokens':3},'cached_tokens':4}",
          { -1, -1, -1, 4, -1 }, "{'cache_write_input_tokens':2}" },
        { "{'num_cached_tokens':1}", { -1, -1, -1, 1, -1 }, NULL },
        { "{'prompt_cache_hit_tokens':1}", { -1, -1, -1, 1, -1 }, NULL },
        { "{'prompt_tokens':1,'completion_tokens_details':{'a':null}}",
          { 1, -1, -1, -1, -1 }, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        allm_usage u;
        arena_init(&a, mem_default());
        allm_json *v = noun_json(rows[i].usage);
        check_row(rows[i].usage);
        openai_usage_read(v, &a, &u);
        const allm_int got[] = { u.input_tokens, u.output_tokens,
                                 u.total_tokens, u.cached_input_tokens,
                                 u.reasoning_tokens };
        for (size_t k = 0; v && k < 5; k++)
            CHECK_INT(got[k].set ? got[k].value : -1, rows[i].want[k]);
        if (v)
            CHECK_VALUE(u.extra, rows[i].extra);
        allm_json_free(v);
        arena_release(&a);
    }
}

#define MOST "9223372036854775807"

/* A provider may say anything: what cannot be is left as it came. */
static void no_count_is_too_large(void)
{
    static const char *const rows[] = {
        "{'prompt_tokens':" MOST ",'completion_tokens':" MOST
        ",'total_tokens':0}",
        "{'prompt_tokens':" MOST ",'completion_tokens':" MOST
        ",'total_tokens':" MOST "}",
        "{'prompt_tokens':0,'completion_tokens':0,'total_tokens':" MOST
        ",'cached_tokens':" MOST ",'cache_creation_input_tokens':" MOST "}",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        allm_usage u;
        arena_init(&a, mem_default());
        allm_json *v = noun_json(rows[i]);
        check_row(rows[i]);
        openai_usage_read(v, &a, &u);
        if (v) {
            CHECK(u.input_tokens.value == INT64_MAX);
            CHECK(u.output_tokens.value == (i < 2 ? INT64_MAX : 0));
        }
        allm_json_free(v);
        arena_release(&a);
    }
}

static void nothing_is_nothing(void)
{
    struct arena a;
    allm_usage u;
    allm_json *list = noun_json("[1]"), *empty = noun_json("{'a':null}");
    arena_init(&a, mem_default());
    CHECK_ALWAYS(!openai_usage_read(NULL, &a, &u));
    CHECK_ALWAYS(!openai_usage_read(list, &a, &u));
    CHECK_ALWAYS(!openai_usage_read(empty, &a, &u));
    allm_json_free(empty);
    allm_json_free(list);
    arena_release(&a);
}

static void a_cost_may_have_any_number_of_digits(void)
{
    static const char *const rows[] = {
        "{'cost':0.10000000000000001}", "{'cost':0.1}",
        "{'cost':{'total_cost':0.10000000000000001}}",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        allm_usage u;
        allm_json *v = noun_json(rows[i]);
        check_row(rows[i]);
        arena_init(&a, mem_default());
        bool told = openai_usage_read(v, &a, &u);
        CHECK(told && u.total_cost.set && u.total_cost.value == 0.1);
        allm_json_free(v);
        arena_release(&a);
    }
}

TESTS = {
    TEST(a_cost_may_have_any_number_of_digits),
    TEST(reads_every_spelling),
    TEST(no_count_is_too_large),
    TEST(nothing_is_nothing),
    TESTS_END,
};
