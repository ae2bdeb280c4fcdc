/* test_usage.c - counts that every frame repeats */
#include "provider/gemini/usage.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "json/json.h"

/* The usage after these frames; NULL ends the list. */
static void check_extra(const char *const *frames, const char *expected)
{
    struct arena life, told;
    struct gemini_usage u = { .any = false };
    bool ok = true;
    arena_init(&life, mem_default());
    arena_init(&told, mem_default());
    for (; *frames; frames++) {
        allm_json *v = allm_json_parse(*frames, ALLM_NUL_ENDED, NULL);
        ok = ok && v && !allm_json_error(v) && gemini_usage_add(&u, &life, v);
        allm_json_free(v);
    }
    allm_usage got = gemini_usage_read(&u, &told);
    allm_json *meant = allm_json_parse(expected, ALLM_NUL_ENDED, NULL);
    if (ok && !told.broken && meant && !allm_json_error(meant))
        CHECK(allm_json_equal(got.extra, meant));
    allm_json_free(meant);
    arena_release(&told);
    arena_release(&life);
}

static void the_last_extra_counts(void)
{
    static const char one[] = "{\"promptTokenCount\":1,\"a\":[{\"n\":1}]}";
    static const char two[] = "{\"prompt_token_count\":2,\"a\":[{\"n\":2}]}";
    static const char more[] = "{\"a\":[{\"n\":1}],\"b\":true,\"c\":null}";
    static const char none[] = "{\"promptTokenCount\":7}";
    check_extra((const char *const[]){ one, one, NULL }, "{\"a\":[{\"n\":1}]}");
    check_extra((const char *const[]){ one, two, NULL }, "{\"a\":[{\"n\":2}]}");
    check_extra((const char *const[]){ one, two, one, NULL },
                "{\"a\":[{\"n\":1}]}");
    check_extra((const char *const[]){ one, more, NULL },
                "{\"a\":[{\"n\":1}],\"b\":true}");
    check_extra((const char *const[]){ more, one, NULL },
                "{\"a\":[{\"n\":1}]}");
    check_extra((const char *const[]){ two, none, NULL },
                "{\"a\":[{\"n\":2}]}");
}

static void both_spellings_count(void)
{
    struct arena life;
    struct gemini_usage u = { .any = false };
    arena_init(&life, mem_default());
    allm_json *v = allm_json_parse("{\"promptTokenCount\":1,"
                                   "\"thoughts_token_count\":2,"
                                   "\"responseTokenCount\":3}",
                                   ALLM_NUL_ENDED, NULL);
    if (v && !allm_json_error(v) && gemini_usage_add(&u, &life, v)) {
        CHECK_INT(u.prompt.value, 1);
        CHECK_INT(u.thoughts.value, 2);
        CHECK_INT(u.candidates.value, 3);
        CHECK(!u.extra.len);
    }
    allm_json_free(v);
    arena_release(&life);
}

/* Reasoning is counted separately, unless the total says otherwise. */
static void thoughts_are_counted_once(void)
{
    static const struct {
        const char *why;
        int64_t prompt, candidates, thoughts, total, output;
    } rows[] = {
        { "beside", 10, 20, 5, 35, 25 },
        { "among", 10, 20, 5, 30, 20 },
        { "all of them", 10, 5, 5, 15, 5 },
        { "more than there are candidates", 10, 2, 5, 12, 7 },
        { "no more than there can be", 1, INT64_MAX, 5, 7, INT64_MAX },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        const struct gemini_usage u = {
            .any = true,
            .prompt = { rows[i].prompt, true },
            .candidates = { rows[i].candidates, true },
            .thoughts = { rows[i].thoughts, true },
            .total = { rows[i].total, true },
        };
        arena_init(&a, mem_default());
        check_row(rows[i].why);
        CHECK_ALWAYS(gemini_usage_read(&u, &a).output_tokens.value ==
                     rows[i].output);
        arena_release(&a);
    }
}

/* A total that exceeds the sum. */
static void the_remainder_finds_its_place(void)
{
    static const struct {
        const char *usage;
        int64_t input, output;
    } rows[] = {
        { "{'promptTokenCount':9,'candidatesTokenCount':4,"
          "'totalTokenCount':24}", 9, 15 },
        { "{'promptTokenCount':9,'candidatesTokenCount':4,"
          "'thoughtsTokenCount':1,'totalTokenCount':24}", 9, 15 },
        { "{'promptTokenCount':9,'candidatesTokenCount':4,"
          "'cachedContentTokenCount':11,'totalTokenCount':24}", 20, 4 },
        { "{'promptTokenCount':9,'candidatesTokenCount':4,"
          "'promptTokensDetails':[{'modality':'TEXT','tokenCount':9},"
          "{'modality':'AUDIO','tokenCount':11}],'totalTokenCount':24}",
          20, 4 },
        { "{'promptTokenCount':9,'candidatesTokenCount':4,"
          "'promptTokensDetails':[{'modality':'TEXT','tokenCount':9}],"
          "'totalTokenCount':22}", 9, 13 },
        { "{'promptTokenCount':9,'totalTokenCount':22}", 9, -1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct gemini_usage u = { .any = false };
        arena_init(&a, mem_default());
        allm_json *v = noun_json(rows[i].usage);
        check_row(rows[i].usage);
        if (v && gemini_usage_add(&u, &a, v)) {
            allm_usage got = gemini_usage_read(&u, &a);
            CHECK_INT(got.input_tokens.value, rows[i].input);
            CHECK_INT(got.output_tokens.set ? got.output_tokens.value : -1,
                      rows[i].output);
        }
        allm_json_free(v);
        arena_release(&a);
    }
}

TESTS = {
    TEST(the_last_extra_counts),
    TEST(both_spellings_count),
    TEST(thoughts_are_counted_once),
    TEST(the_remainder_finds_its_place),
    TESTS_END
};
