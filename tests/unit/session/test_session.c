/* test_session.c - what a session allows in each status */
#include "harness/check.h"
#include "harness/noun.h"
#include "harness/play.h"
#include "harness/turns.h"

#include <stdio.h>

#define CALLS "[{'id': 'c0', 'name': 'echo', 'arguments': {}}, " \
              "{'id': 'c1', 'name': 'echo', 'arguments': {}}]"
#define THREAD "'thread': {'messages': [{'role': 'user', 'content': 'hi'}]}"

/* A session of this plain record, ' standing for ". */
static allm_session *session_of(const char *json)
{
    allm_codec *c = noun_read("Session", json);
    allm_session *s =
        allm_session_from_record(allm_codec_value(c, ALLM_TYPE_SESSION));
    allm_codec_free(c);
    return s;
}

static const char *plain(const allm_session *s)
{
    static char out[8192];
    allm_text *t = allm_session_record_json(allm_session_fields(s),
                                            ALLM_FORM_PLAIN);
    const char *bytes = allm_text_bytes(t, NULL);
    size_t n = bytes ? strlen(bytes) : 0;
    if (n >= sizeof out)
        n = sizeof out - 1;
    if (n)
        memcpy(out, bytes, n);
    out[n] = '\0';
    allm_text_free(t);
    return out;
}

/* --------------------------------------------------------------- matrix --- */

enum op {
    START, REPLY, CONTINUE_USER, CONTINUE_OTHER, CONTINUE, STEP, SUBMIT,
    SUBMIT_NONE, SUBMIT_ALL, OPS
};

static const char *const op_names[] = {
    "start", "reply", "continue(user)", "continue(other)", "continue(null)",
    "step", "submit", "submit []", "submit [..]",
};

/* o: allowed; m: misuse; e: session_in_error_state; u: unknown_tool_call_id;
 * =: nothing happens */
static const struct {
    const char *why, *record, *want, *words;
} matrix[] = {
    { "idle", "{" THREAD ", 'status': 'idle'}", "oooooom=m",
      "allm_session_reply" },
    { "completed", "{" THREAD ", 'status': 'completed'}", "oooooom=m",
      "allm_session_reply" },
    { "awaiting_user",
      "{" THREAD ", 'status': 'awaiting_user', 'pending_question': 'q', "
      "'pending_tool_call_id': 'c0'}",
      "moommmm=m", "allm_session_reply" },
    { "awaiting_tools",
      "{" THREAD ", 'status': 'awaiting_tools', 'pending_tool_calls': " CALLS
      "}",
      "mmmmmmo=o", "allm_session_submit_tool_result" },
    { "awaiting_tools, none pending",
      "{" THREAD ", 'status': 'awaiting_tools'}", "mmmmomu=u",
      "allm_session_continue() without a message" },
    { "error", "{" THREAD ", 'status': 'error', 'metadata': {'error': 'x'}}",
      "eeeeeee=e", "new session" },
};

static const allm_tool_answer answer_0 = { .size = sizeof answer_0,
                                           .tool_call_id = "c0",
                                           .text = "zero" };
static const allm_tool_answer answer_1 = { .size = sizeof answer_1,
                                           .tool_call_id = "c1",
                                           .text = "one" };

static allm_stream *open_stream(enum op op, const allm_engine *e,
                                allm_session *s)
{
    const allm_message *other = ALLM(message, .role = ALLM_ROLE_ASSISTANT,
                                     .text = "well");
    const allm_message *user = ALLM(message, .role = ALLM_ROLE_USER,
                                    .text = "more");
    switch (op) {
    case START:          return allm_session_start(e, s, NULL);
    case REPLY:          return allm_session_reply(e, s, "more", NULL);
    case CONTINUE_USER:  return allm_session_continue(e, s, user, NULL);
    case CONTINUE_OTHER: return allm_session_continue(e, s, other, NULL);
    case CONTINUE:       return allm_session_continue(e, s, NULL, NULL);
    default:             return allm_session_step(e, s, NULL);
    }
}

static void check_refusal(const allm_error *error, char want, const char *words)
{
    if (want == 'm')
        CHECK_MISUSE(error, "wrong_status", words);
    else if (want == 'e')
        CHECK_ERROR(error, ALLM_ERR_SESSION, "session_in_error_state", words);
    else if (want == 'u')
        CHECK_ERROR(error, ALLM_ERR_SESSION, "unknown_tool_call_id", "c0");
    else
        CHECK_WELL(error);
}

static void try_call(enum op op, allm_session *s, char want, const char *words)
{
    allm_engine *e = play_engine("{'script': [['text', 'ok'], "
                                 "['finish', 'stop']]}",
                                 NULL);
    allm_stream *stream = open_stream(op, e, s);
    check_refusal(allm_stream_error(stream), want, words);
    CHECK_INT(allm_stream_wait(stream) == ALLM_OK, want == 'o');
    CHECK_INT(allm_fake_calls(e), want == 'o');
    allm_stream_free(stream);
    allm_engine_free(e);
    if (want == 'o') {
        const allm_session_record *r = allm_session_fields(s);
        CHECK_INT(GET(r, status), ALLM_SESSION_COMPLETED);
        CHECK_TEXT(GET(r, pending_question), NULL);
        CHECK_TEXT(GET(r, pending_tool_call_id), NULL);
    }
}

static void try_submit(enum op op, allm_session *s, char want,
                       const char *words)
{
    const allm_tool_answer *both[] = { &answer_0, &answer_1 };
    allm_status status = op == SUBMIT
                             ? allm_session_submit_tool_result(s, &answer_0)
                             : allm_session_submit_tool_results(
                                   s, op == SUBMIT_ALL ? 2 : 0, both);
    CHECK_INT(status == ALLM_OK, want == 'o' || want == '=');
    check_refusal(allm_session_error(s), want, words);
}

/* N-03, N-05, N-06, N-07: every status, every operation */
static void every_status_knows_its_operations(void)
{
    for (size_t i = 0; i < sizeof matrix / sizeof *matrix; i++)
        for (int op = 0; op < OPS; op++) {
            char want = matrix[i].want[op], why[128], before[8192];
            snprintf(why, sizeof why, "%s: %s", matrix[i].why, op_names[op]);
            check_row(why);
            allm_session *s = session_of(matrix[i].record);
            snprintf(before, sizeof before, "%s", plain(s));
            if (op < SUBMIT)
                try_call((enum op)op, s, want, matrix[i].words);
            else
                try_submit((enum op)op, s, want, matrix[i].words);
            CHECK_INT(!strcmp(before, plain(s)), want != 'o');
            allm_session_free(s);
        }
}

/* --------------------------------------------------------------- making --- */

/* N-01 */
static void three_shapes_begin_a_session(void)
{
    allm_thread *t = turns_thread();
    allm_message *m = allm_message_from_text(ALLM_ROLE_USER, "hi");
    const allm_message *list[] = { m, m };
    allm_session *a = allm_session_from_thread(t);
    allm_session *b = allm_session_from_messages(2, list);
    allm_session *c = session_of("{'id': 's1', 'context': {'user': 42}}");
    size_t n = 0;
    CHECK_TEXT(turns_messages(allm_session_thread(a)), "u:hi");
    CHECK(allm_session_messages(b, &n) && n == 2);
    CHECK_TEXT(GET(allm_session_fields(c), id), "s1");
    CHECK_VALUE(GET(allm_session_fields(c), context), "{'user':42}");
    allm_session_free(a);
    allm_session_free(b);
    allm_session_free(c);
    allm_message_free(m);
    allm_thread_free(t);
}

static void what_is_no_message_begins_none(void)
{
    const allm_message *list[] = { ALLM(message, .role = ALLM_ROLE_NONE) };
    for (int i = 0; i < 2; i++) {
        allm_session *s = allm_session_from_messages(1, list);
        CHECK_ERROR(allm_session_error(s), ALLM_ERR_VALIDATION,
                    "invalid_session_input", NULL);
        CHECK_VALUE(GET(allm_session_error(s), errors),
                    "[['session_input','invalid_type']]");
        CHECK(allm_session_append_user(s, "x") < 0);
        CHECK(allm_session_save(s, "nowhere") < 0);
        allm_session_free(s);
        list[0] = NULL;
    }
}

static void a_session_may_be_empty(void)
{
    allm_session *s = allm_session_new(NULL);
    size_t n = 9;
    CHECK_WELL(allm_session_error(s));
    allm_session_pending_tool_calls(s, &n);
    CHECK_INT(n, 0);
    allm_session_messages(s, &n);
    CHECK_INT(n, 0);
    CHECK_INT(GET(allm_session_fields(s), status), ALLM_SESSION_IDLE);
    allm_session_free(s);

    s = allm_session_new(&(allm_session_record){ .size = 3 });
    CHECK(allm_session_error(s));
    CHECK(allm_session_append_user(s, "x") < 0);
    allm_session_free(s);
    allm_session_free(NULL);
    s = allm_session_from_record(NULL);
    CHECK_ERROR(allm_session_error(s), ALLM_ERR_VALIDATION,
                "invalid_session_input", NULL);
    allm_session_free(s);
    s = allm_session_from_thread(NULL);
    CHECK_ERROR(allm_session_error(s), ALLM_ERR_VALIDATION,
                "invalid_session_input", NULL);
    allm_session_free(s);
    CHECK_ALWAYS(allm_session_append_user(NULL, "x") == ALLM_ERR_NOMEM);
    CHECK_ALWAYS(allm_session_submit_tool_result(NULL, NULL) == ALLM_ERR_NOMEM);
    CHECK_ALWAYS(!allm_session_fields(NULL) && !allm_session_thread(NULL));
    CHECK_ALWAYS(allm_session_error(NULL));
}

/* -------------------------------------------------------------- changes --- */

/* N-12 */
static void messages_are_appended(void)
{
    allm_session *s = allm_session_new(NULL);
    allm_json *map = noun_json("{'ok': true}");
    allm_json *text = noun_json("'as it is'");
    CHECK_INT(allm_session_append_user(s, "hi"), ALLM_OK);
    CHECK_INT(allm_session_append(s, ALLM(message, .text = "yes",
                                          .role = ALLM_ROLE_ASSISTANT)),
              ALLM_OK);
    CHECK_INT(allm_session_append_tool_result(
                  s, ALLM(tool_answer, .tool_call_id = "c0", .value = map)),
              ALLM_OK);
    CHECK_INT(allm_session_append_tool_result(
                  s, ALLM(tool_answer, .tool_call_id = "c1", .value = text)),
              ALLM_OK);
    CHECK_TEXT(turns_messages(allm_session_thread(s)),
               "u:hi a:yes t:c0={\"ok\":true} t:c1=as it is");
    CHECK_INT(GET(allm_session_fields(s), status), ALLM_SESSION_IDLE);
    allm_json_free(map);
    allm_json_free(text);
    allm_session_free(s);
}

static void what_makes_no_sense_is_not_appended(void)
{
    allm_session *s = session_of("{" THREAD "}");
    allm_json *map = noun_json("{}");
    CHECK_INT(allm_session_append(s, NULL), ALLM_ERR_NOMEM);
    CHECK_ERROR(allm_session_error(s), ALLM_ERR_NOMEM, "out_of_memory", NULL);
    CHECK_INT(allm_session_append_user(s, NULL), ALLM_ERR_MISUSE);
    CHECK_MISUSE(allm_session_error(s), "missing_field", NULL);
    CHECK_INT(allm_session_replace(s, NULL), ALLM_ERR_NOMEM);
    CHECK_ERROR(allm_session_error(s), ALLM_ERR_NOMEM, "out_of_memory", NULL);
    CHECK_INT(allm_session_append_tool_result(s, NULL), ALLM_ERR_MISUSE);
    CHECK_INT(allm_session_append_tool_result(s, ALLM(tool_answer,
                                                      .tool_call_id = "c0")),
              ALLM_ERR_MISUSE);
    CHECK_INT(allm_session_append_tool_result(s, ALLM(tool_answer,
                                                      .text = "no id")),
              ALLM_ERR_MISUSE);
    CHECK_INT(allm_session_append_tool_result(
                  s, ALLM(tool_answer, .tool_call_id = "c0", .text = "a",
                          .value = map)),
              ALLM_ERR_MISUSE);
    CHECK_MISUSE(allm_session_error(s), "wrong_answer", "one of text");
    CHECK_TEXT(turns_messages(allm_session_thread(s)), "u:hi");
    CHECK_INT(allm_session_append_user(s, "x"), ALLM_OK);
    CHECK_WELL(allm_session_error(s));
    allm_json_free(map);
    allm_session_free(s);
}

#define WAITING "{" THREAD ", 'status': 'awaiting_tools', " \
                "'pending_tool_calls': " CALLS "}"

/* N-04, N-07 */
static void results_are_submitted_one_by_one(void)
{
    allm_session *s = session_of(WAITING);
    allm_json *value = noun_json("{'ok': true}");
    size_t n = 0;
    CHECK_INT(allm_session_submit_tool_result(
                  s, ALLM(tool_answer, .tool_call_id = "bogus", .text = "x")),
              ALLM_ERR_SESSION);
    CHECK_VALUE(GET(allm_session_error(s), metadata),
                "{'tool_call_id':'bogus'}");
    CHECK_INT(allm_session_submit_tool_result(
                  s, ALLM(tool_answer, .tool_call_id = "c0", .value = value)),
              ALLM_OK);
    const allm_tool_call *const *left = allm_session_pending_tool_calls(s, &n);
    CHECK_INT(n, 1);
    CHECK_TEXT(left && n ? left[0]->id : NULL, "c1");
    CHECK_INT(GET(allm_session_fields(s), status), ALLM_SESSION_AWAITING_TOOLS);
    CHECK_INT(allm_session_submit_tool_result(s, &answer_1), ALLM_OK);
    CHECK_INT(GET(allm_session_fields(s), status), ALLM_SESSION_IDLE);
    CHECK_TEXT(turns_messages(allm_session_thread(s)),
               "u:hi t:c0={\"ok\":true} t:c1=one");
    CHECK_INT(allm_session_submit_tool_result(s, &answer_1), ALLM_ERR_MISUSE);
    allm_json_free(value);
    allm_session_free(s);
}

/* N-08 */
static void results_are_submitted_all_or_none(void)
{
    const allm_tool_answer *bogus = ALLM(tool_answer, .tool_call_id = "bogus",
                                         .text = "x");
    const struct {
        const char *why;
        const allm_tool_answer *list[3];
        size_t count;
        allm_status want;
    } rows[] = {
        { "both", { &answer_0, &answer_1 }, 2, ALLM_OK },
        { "the other way round", { &answer_1, &answer_0 }, 2, ALLM_OK },
        { "none", { NULL }, 0, ALLM_OK },
        { "a bogus one first", { bogus, &answer_1 }, 2, ALLM_ERR_SESSION },
        { "a bogus one last", { &answer_1, bogus }, 2, ALLM_ERR_SESSION },
        { "one twice", { &answer_1, &answer_1 }, 2, ALLM_ERR_SESSION },
        { "one more than wait", { &answer_0, &answer_1, bogus }, 3,
          ALLM_ERR_MISUSE },
        { "a NULL", { &answer_0, NULL }, 2, ALLM_ERR_MISUSE },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char before[8192];
        check_row(rows[i].why);
        allm_session *s = session_of(WAITING);
        snprintf(before, sizeof before, "%s", plain(s));
        CHECK_INT(allm_session_submit_tool_results(s, rows[i].count,
                                                   rows[i].list),
                  rows[i].want);
        if (rows[i].want != ALLM_OK)
            CHECK_TEXT(plain(s), before);
        else if (rows[i].count)
            CHECK_INT(allm_thread_count(allm_session_thread(s)), 3);
        allm_session_free(s);
    }
}

static void equal_ids_wait_each_for_an_answer(void)
{
    allm_session *s = session_of(
        "{'status': 'awaiting_tools', 'pending_tool_calls': ["
        "{'id': 'c0', 'name': 'a', 'arguments': {}}, "
        "{'id': 'c0', 'name': 'b', 'arguments': {}}]}");
    size_t n = 0;
    CHECK_INT(allm_session_submit_tool_result(s, &answer_0), ALLM_OK);
    allm_session_pending_tool_calls(s, &n);
    CHECK_INT(n, 1);
    CHECK_INT(allm_session_submit_tool_result(s, &answer_0), ALLM_OK);
    CHECK_INT(GET(allm_session_fields(s), status), ALLM_SESSION_IDLE);
    allm_session_free(s);
}

static void another_record_takes_its_place(void)
{
    allm_session *s = session_of(
        "{" THREAD ", 'status': 'error', 'metadata': {'error': 'x'}}");
    const allm_session_record *r = allm_session_fields(s);
    CHECK_INT(allm_session_replace(s, ALLM(session_record, .id = "mine",
                                           .thread = GET(r, thread))),
              ALLM_OK);
    r = allm_session_fields(s);
    CHECK_TEXT(GET(r, id), "mine");
    CHECK_INT(GET(r, status), ALLM_SESSION_IDLE);
    CHECK_INT(allm_thread_count(allm_session_thread(s)), 1);
    allm_session_free(s);
}

static void a_record_that_is_none_changes_nothing(void)
{
    allm_session *s = session_of("{" THREAD ", 'status': 'idle'}");
    allm_session_record wrong = { .size = 1 };
    CHECK(allm_session_replace(s, &wrong) < 0);
    CHECK(allm_session_error(s) != NULL);
    CHECK_INT(allm_thread_count(allm_session_thread(s)), 1);
    CHECK_INT(allm_session_replace(NULL, &wrong), ALLM_ERR_NOMEM);
    CHECK_INT(allm_session_replace(s, NULL), ALLM_ERR_NOMEM);
    allm_session_free(s);
}

TESTS = {
    TEST(every_status_knows_its_operations),
    TEST(three_shapes_begin_a_session),
    TEST(what_is_no_message_begins_none),
    TEST(a_session_may_be_empty),
    TEST(messages_are_appended),
    TEST(what_makes_no_sense_is_not_appended),
    TEST(results_are_submitted_one_by_one),
    TEST(results_are_submitted_all_or_none),
    TEST(equal_ids_wait_each_for_an_answer),
    TEST(another_record_takes_its_place),
    TEST(a_record_that_is_none_changes_nothing),
    TESTS_END,
};
