/* test_step_result.c - the result of one turn */
#include "data/step_result.h"

#include "harness/noun.h"

#include <stdlib.h>

static void has_defaults(void)
{
    allm_step_result *r = allm_step_result_new(ALLM(step_result, .done = 1));
    CHECK_WELL(allm_step_result_error(r));
    CHECK_INT(GET(r, done), 1);
    CHECK(!GET(r, tool_result_count) && !GET(r, thread) && !GET(r, response));
    CHECK_JSON(allm_step_result_json(r, ALLM_FORM_TAGGED),
               "{'__type__':'ALLM.StepResult','data':{'thread':null,"
               "'response':null,'tool_results':[],'done?':true,"
               "'metadata':{}}}");
    allm_step_result_free(r);
    r = allm_step_result_new(NULL);     /* nothing is needed */
    CHECK_INT(GET(r, done), 0);
    allm_step_result_free(r);
}

static void keeps_every_field(void)
{
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_add(t, ALLM_ROLE_USER, "hi");
    allm_message *m = allm_message_from_result("c", "ok");
    const allm_message *results[] = { m };
    allm_json *metadata = noun_json("{'m':1}"), *kept = noun_json("{'k':2}");
    const allm_response *response = ALLM(response, .id = "i");
    const allm_error *error = ALLM(error, .kind = ALLM_ERR_TOOL,
                                   .reason = "denied");
    allm_step_result *r = allm_step_result_new(
        ALLM(step_result, .thread = t, .response = response,
             .tool_results = results, .tool_result_count = 1, .error = error,
             .metadata = metadata, .kept = kept));
    CHECK(!r || allm_step_result_error(r) == r->error);
    if (r && m) {
        CHECK(r->tool_results[0] == m);
        CHECK(allm_thread_at(r->thread, 0) == allm_thread_at(t, 0));
        CHECK_TEXT(r->response->id, "i");
        CHECK(r->response->usage);
        CHECK_ERROR(r->error, ALLM_ERR_TOOL, "denied", NULL);
        CHECK_VALUE(r->metadata, "{'m':1}");
        CHECK_VALUE(r->kept, "{'k':2}");
    }
    allm_thread_add(t, ALLM_ROLE_USER, "later");
    if (r)
        CHECK(allm_thread_count(r->thread) == 1);   /* a snapshot */
    allm_thread_free(t);
    allm_message_free(m);
    const allm_message *first = allm_thread_at(GET(r, thread), 0);
    CHECK_TEXT(GET(first, text), "hi");
    allm_step_result_free(r);
    allm_json_free(metadata);
    allm_json_free(kept);
}

static void refuses_what_does_not_fit(void)
{
    allm_json *list = noun_json("[]");
    allm_thread *bad = allm_thread_new(ALLM(thread_opts, .metadata = list));
    allm_step_result *r =
        allm_step_result_new(ALLM(step_result, .thread = bad));
    allm_thread_free(bad);
    if (list)
        CHECK_MISUSE(allm_step_result_error(r), "invalid_metadata", "object");
    allm_step_result_free(r);
    r = allm_step_result_new(&(allm_step_result){ .done = 1 });
    CHECK_MISUSE(allm_step_result_error(r), "struct_size", "allm_step_result");
    CHECK(!GET(r, done));
    allm_step_result_free(r);
    allm_json_free(list);
}

static void sizes(void)
{
    static const allm_step_result full = { .done = 1 };
    allm_step_result *older = noun_sized(&full, sizeof full,
                                         offsetof(allm_step_result, done));
    allm_step_result *newer = noun_sized(&full, sizeof full, sizeof full + 8);
    allm_step_result *a = allm_step_result_new(older);
    allm_step_result *b = allm_step_result_new(newer);
    CHECK_WELL(allm_step_result_error(a));
    CHECK_INT(GET(a, done), 0);
    CHECK_INT(GET(b, done), 1);
    allm_step_result_free(a);
    allm_step_result_free(b);
    free(older);
    free(newer);
}

static void nothing_is_accepted(void)
{
    CHECK_ALWAYS(!allm_step_result_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ERROR(allm_step_result_error(NULL), ALLM_ERR_NOMEM, "out_of_memory",
                NULL);
    allm_step_result_free(NULL);
}

TESTS = {
    TEST(has_defaults),
    TEST(keeps_every_field),
    TEST(refuses_what_does_not_fit),
    TEST(sizes),
    TEST(nothing_is_accepted),
    TESTS_END
};
