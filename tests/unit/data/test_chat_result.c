/* test_chat_result.c - the result of a chat, and why it ended */
#include "data/chat_result.h"

#include "harness/noun.h"

#include <stdlib.h>

static void has_defaults(void)
{
    allm_chat_result *r =
        allm_chat_result_new(ALLM(chat_result, .halted_reason = "completed"));
    CHECK_WELL(allm_chat_result_error(r));
    CHECK_TEXT(GET(r, halted_reason), "completed");
    CHECK_INT(GET(r, step_count), 0);
    CHECK_JSON(allm_chat_result_json(r, ALLM_FORM_TAGGED),
               "{'__type__':'ALLM.ChatResult','data':{'thread':null,"
               "'final_response':null,'steps':[],'halted_reason':'completed',"
               "'pending_question':null,'pending_tool_call_id':null,"
               "'metadata':{}}}");
    allm_chat_result_free(r);
}

static void every_reason_but_completed_halts(void)
{
    static const struct {
        const char *reason;
        bool halted;
    } rows[] = {
        { "completed", false },  { "max_turns", true },
        { "halt_when", true },   { "ask_user", true },
        { "tool_error", true },  { "cancelled", true },
        { "error", true },       { "manual_tool_calls", true },
        { "budget", true },      { "my_own", true },
        { "Completed", true },   { "", true },
        { NULL, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].reason);
        const allm_chat_result *given = ALLM(chat_result,
                                             .halted_reason = rows[i].reason);
        allm_chat_result *r = allm_chat_result_new(given);
        CHECK_ALWAYS(allm_chat_result_halted(given) == rows[i].halted);
        CHECK(allm_chat_result_halted(r) == rows[i].halted);
        allm_chat_result_free(r);
    }
    CHECK_ALWAYS(allm_chat_result_halted(NULL));
}

static void keeps_every_field(void)
{
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_add(t, ALLM_ROLE_USER, "hi");
    allm_json *metadata = noun_json("{'m':1}"), *kept = noun_json("{'k':2}");
    const allm_response *last = ALLM(response, .id = "i");
    const allm_step_result *step = ALLM(step_result, .thread = t, .done = 1,
                                        .response = last);
    const allm_error *error = ALLM(error, .kind = ALLM_ERR_ENGINE,
                                   .reason = "unknown_tool");
    allm_chat_result *r = allm_chat_result_new(
        ALLM(chat_result, .thread = t, .final_response = last, .steps = &step,
             .step_count = 1, .halted_reason = "error", .pending_question = "q",
             .pending_tool_call_id = "c", .error = error, .metadata = metadata,
             .kept = kept));
    CHECK(!r || allm_chat_result_error(r) == r->error);
    if (r && check_whole()) {
        CHECK_INT(allm_thread_count(r->thread), 1);
        CHECK_TEXT(r->final_response->id, "i");
        CHECK_INT(r->step_count, 1);
        CHECK_INT(r->steps[0]->done, 1);
        CHECK(allm_thread_at(r->steps[0]->thread, 0) == allm_thread_at(t, 0));
        CHECK_TEXT(r->pending_question, "q");
        CHECK_TEXT(r->pending_tool_call_id, "c");
        CHECK_ERROR(r->error, ALLM_ERR_ENGINE, "unknown_tool", NULL);
        CHECK_VALUE(r->metadata, "{'m':1}");
        CHECK_VALUE(r->kept, "{'k':2}");
    }
    allm_thread_free(t);
    allm_json_free(metadata);
    allm_json_free(kept);
    allm_chat_result_free(r);
}

static void refuses_what_does_not_fit(void)
{
    allm_json *list = noun_json("[]");
    allm_thread *bad = allm_thread_new(ALLM(thread_opts, .metadata = list));
    const allm_step_result *step = ALLM(step_result, .thread = bad);
    allm_chat_result *r = allm_chat_result_new(
        ALLM(chat_result, .steps = &step, .step_count = 1));
    allm_thread_free(bad);
    if (list)
        CHECK_MISUSE(allm_chat_result_error(r), "invalid_metadata", "object");
    allm_chat_result_free(r);
    r = allm_chat_result_new(&(allm_chat_result){ .step_count = 1 });
    CHECK_MISUSE(allm_chat_result_error(r), "struct_size", "allm_chat_result");
    allm_chat_result_free(r);
    allm_json_free(list);
}

static void sizes(void)
{
    static const allm_chat_result full = { .halted_reason = "completed",
                                           .pending_question = "q" };
    allm_chat_result *shortest = noun_sized(&full, sizeof full, 16);
    allm_chat_result *older = noun_sized(
        &full, sizeof full, offsetof(allm_chat_result, pending_question));
    allm_chat_result *newer = noun_sized(&full, sizeof full, sizeof full + 8);
    CHECK_ALWAYS(allm_chat_result_halted(shortest));
    CHECK_ALWAYS(!allm_chat_result_halted(older));
    CHECK_ALWAYS(!allm_chat_result_halted(newer));
    allm_chat_result *r = allm_chat_result_new(older);
    CHECK_TEXT(GET(r, halted_reason), "completed");
    CHECK(!GET(r, pending_question));
    allm_chat_result_free(r);
    free(shortest);
    free(older);
    free(newer);
}

static void nothing_is_accepted(void)
{
    CHECK_ALWAYS(!allm_chat_result_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ERROR(allm_chat_result_error(NULL), ALLM_ERR_NOMEM, "out_of_memory",
                NULL);
    allm_chat_result_free(NULL);
}

TESTS = {
    TEST(has_defaults),
    TEST(every_reason_but_completed_halts),
    TEST(keeps_every_field),
    TEST(refuses_what_does_not_fit),
    TEST(sizes),
    TEST(nothing_is_accepted),
    TESTS_END
};
