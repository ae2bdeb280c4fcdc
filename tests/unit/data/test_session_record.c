/* test_session_record.c - a session as plain data */
#include "data/session_record.h"

#include "harness/noun.h"

#include <stdlib.h>

static void has_defaults(void)
{
    allm_session_record *s = allm_session_record_new(NULL);
    CHECK_WELL(allm_session_record_error(s));
    CHECK_INT(GET(s, status), ALLM_SESSION_IDLE);
    CHECK_JSON(allm_session_record_json(s, ALLM_FORM_TAGGED),
               "{'__type__':'ALLM.Session','data':{'id':null,"
               "'thread':{'__type__':'ALLM.Thread','data':{'messages':[],"
               "'metadata':{}}},'status':'idle','pending_tool_calls':[],"
               "'pending_question':null,'pending_tool_call_id':null,"
               "'context':{},'metadata':{}}}");
    allm_session_record_free(s);
}

static void there_is_always_a_thread(void)
{
    allm_session_record *s =
        allm_session_record_new(ALLM(session_record, .id = "x"));
    CHECK_ALWAYS(!s || s->thread);
    CHECK_WELL(s && s->thread ? allm_thread_error(s->thread) : NULL);
    allm_thread *t = allm_thread_copy(GET(s, thread));
    allm_thread_add(t, ALLM_ROLE_USER, "x");
    CHECK_INT(allm_thread_count(t), 1);
    if (s)
        CHECK_ALWAYS(allm_thread_count(s->thread) == 0);
    allm_session_record_free(s);
    allm_thread_free(t);

    static const char *const texts[] = { "{}", "{\"thread\":null}" };
    for (size_t i = 0; i < 2; i++) {
        allm_codec *c = allm_codec_decode(texts[i], ALLM_NUL_ENDED, "Session",
                                          NULL);
        const allm_session_record *read = allm_codec_value(c,
                                                           ALLM_TYPE_SESSION);
        CHECK(GET(read, thread));
        CHECK_ALWAYS(!read || read->thread);
        allm_codec_free(c);
    }
}

static void keeps_every_field(void)
{
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_add(t, ALLM_ROLE_USER, "hi");
    allm_json *args = noun_json("{}"), *context = noun_json("{'c':1}");
    allm_json *metadata = noun_json("{'m':1}"), *kept = noun_json("{'k':2}");
    const allm_tool_call *call = ALLM(tool_call, .id = "c", .name = "t",
                                      .arguments = args);
    const allm_error *error = ALLM(error, .kind = ALLM_ERR_TOOL,
                                   .reason = "denied");
    allm_session_record *s = allm_session_record_new(
        ALLM(session_record, .id = "s", .thread = t,
             .status = ALLM_SESSION_ERROR, .pending_tool_calls = &call,
             .pending_tool_call_count = 1, .pending_question = "q",
             .pending_tool_call_id = "p", .context = context, .error = error,
             .metadata = metadata, .kept = kept));
    allm_json_free(args);
    allm_json_free(context);
    allm_json_free(metadata);
    allm_json_free(kept);
    CHECK(!s || allm_session_record_error(s) == s->error);
    if (s && check_whole()) {
        CHECK_TEXT(s->id, "s");
        CHECK(s->thread != t);
        CHECK(allm_thread_at(s->thread, 0) == allm_thread_at(t, 0));
        CHECK_INT(s->status, ALLM_SESSION_ERROR);
        CHECK_INT(s->pending_tool_call_count, 1);
        CHECK_TEXT(s->pending_tool_calls[0]->id, "c");
        CHECK_TEXT(s->pending_question, "q");
        CHECK_TEXT(s->pending_tool_call_id, "p");
        CHECK_VALUE(s->context, "{'c':1}");
        CHECK_ERROR(s->error, ALLM_ERR_TOOL, "denied", NULL);
        CHECK_VALUE(s->metadata, "{'m':1}");
        CHECK_VALUE(s->kept, "{'k':2}");
    }
    allm_thread_free(t);
    const allm_message *first = allm_thread_at(GET(s, thread), 0);
    CHECK_TEXT(GET(first, text), "hi");
    allm_session_record_free(s);
}

static void every_status_has_its_word(void)
{
    static const char *const words[] = { "idle", "awaiting_user",
                                         "awaiting_tools", "completed",
                                         "error" };
    for (size_t i = 0; i < 5; i++) {
        check_row(words[i]);
        allm_session_record *s = allm_session_record_new(
            ALLM(session_record, .status = (allm_session_status)i));
        allm_text *t = allm_session_record_json(s, ALLM_FORM_PLAIN);
        const char *json = allm_text_bytes(t, NULL);
        allm_json *v = allm_json_parse(json, ALLM_NUL_ENDED, NULL);
        CHECK_TEXT(allm_json_text(allm_json_get(v, "status"), NULL), words[i]);
        allm_json_free(v);
        allm_text_free(t);
        allm_session_record_free(s);
    }
}

static void refuses_what_does_not_fit(void)
{
    allm_json *list = noun_json("[]");
    allm_thread *bad = allm_thread_new(ALLM(thread_opts, .metadata = list));
    allm_session_record *s =
        allm_session_record_new(ALLM(session_record, .thread = bad));
    allm_thread_free(bad);
    if (list)
        CHECK_MISUSE(allm_session_record_error(s), "invalid_metadata",
                     "metadata must be a JSON object");
    allm_session_record_free(s);
    s = allm_session_record_new(
        ALLM(session_record, .pending_tool_call_count = 1));
    CHECK_MISUSE(allm_session_record_error(s), "missing_list",
                 "pending_tool_calls is NULL");
    allm_session_record_free(s);
    s = allm_session_record_new(&(allm_session_record){ .id = "x" });
    CHECK_MISUSE(allm_session_record_error(s), "struct_size",
                 "allm_session_record");
    allm_session_record_free(s);
    allm_json_free(list);
}

static void sizes(void)
{
    static const allm_session_record full = { .id = "x",
                                              .pending_question = "q" };
    allm_session_record *older =
        noun_sized(&full, sizeof full, offsetof(allm_session_record, thread));
    allm_session_record *newer = noun_sized(&full, sizeof full,
                                            sizeof full + 8);
    allm_session_record *a = allm_session_record_new(older);
    allm_session_record *b = allm_session_record_new(newer);
    CHECK_TEXT(GET(a, id), "x");
    CHECK(GET(a, thread) && !GET(a, pending_question));
    CHECK_TEXT(GET(b, pending_question), "q");
    allm_session_record_free(a);
    allm_session_record_free(b);
    free(older);
    free(newer);
}

static void nothing_is_accepted(void)
{
    CHECK_ALWAYS(!allm_session_record_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ERROR(allm_session_record_error(NULL), ALLM_ERR_NOMEM,
                "out_of_memory", NULL);
    allm_session_record_free(NULL);
}

/* It would be written as null, and read again as idle. */
static void a_status_that_is_none_is_misuse(void)
{
    allm_session_record *r = allm_session_record_new(
        ALLM(session_record, .status = (allm_session_status)77));
    const allm_error *e = allm_session_record_error(r);
    CHECK(e && e->kind == ALLM_ERR_MISUSE);
    CHECK_TEXT(e ? e->reason : NULL, "wrong_value");
    allm_session_record_free(r);
}

TESTS = {
    TEST(a_status_that_is_none_is_misuse),
    TEST(has_defaults),
    TEST(there_is_always_a_thread),
    TEST(keeps_every_field),
    TEST(every_status_has_its_word),
    TEST(refuses_what_does_not_fit),
    TEST(sizes),
    TEST(nothing_is_accepted),
    TESTS_END
};
