/* test_reducer.c - events folded into a session */
#include "harness/check.h"
#include "harness/noun.h"
#include "harness/play.h"
#include "harness/turns.h"

#include <stdio.h>

static const allm_session_record *final_of(allm_reducer *r)
{
    const allm_reduced *all = allm_reducer_finalize(r);
    CHECK(all);
    return GET(all, session);
}

static void form(const allm_session_record *r, uint32_t how, char *out,
                 size_t size)
{
    allm_text *t = allm_session_record_json(r, how);
    const char *bytes = allm_text_bytes(t, NULL);
    snprintf(out, size, "%s", bytes ? bytes : "");
    allm_text_free(t);
}

static allm_session *hi(void)
{
    allm_thread *t = turns_thread();
    allm_session *s = allm_session_from_thread(t);
    allm_thread_free(t);
    return s;
}

/* N-17 */
static void without_events_it_was_cancelled(void)
{
    allm_session *s = hi();
    char before[4096], after[4096];
    form(allm_session_fields(s), ALLM_FORM_TAGGED, before, sizeof before);
    for (int mode = 0; mode < 2; mode++) {
        allm_reducer *r = allm_reducer_new(
            allm_session_fields(s),
            ALLM(reducer_opts, .mode = (allm_reducer_mode)mode));
        CHECK_WELL(allm_reducer_error(r));
        form(final_of(r), ALLM_FORM_TAGGED, after, sizeof after);
        CHECK_TEXT(after, before);          /* D-12 */
        const allm_reduced *all = allm_reducer_finalize(r);
        const allm_chat_result *c = GET(all, chat);
        CHECK_TEXT(GET(c, halted_reason), "cancelled");
        CHECK_TEXT(turns_messages(GET(c, thread)), "u:hi");
        CHECK(!GET(all, step));
        CHECK_INT(GET(c, step_count), 0);
        allm_reducer_free(r);
    }
    allm_session_free(s);
}

static void a_wrong_mode_is_misuse(void)
{
    allm_session *s = hi();
    int two = 2;
    allm_reducer *r =
        allm_reducer_new(allm_session_fields(s),
                         ALLM(reducer_opts, .mode = (allm_reducer_mode)two));
    CHECK_MISUSE(allm_reducer_error(r), "wrong_mode", "ALLM_REDUCER_STEP");
    CHECK_INT(allm_reducer_add(r, ALLM(event, .type = ALLM_EV_USAGE)),
              ALLM_ERR_MISUSE);
    CHECK_ALWAYS(!allm_reducer_finalize(r));
    allm_reducer_free(r);
    allm_session_free(s);
    allm_reducer_free(NULL);
    CHECK_ALWAYS(!allm_reducer_finalize(NULL));
    CHECK_ALWAYS(allm_reducer_error(NULL));
    CHECK_ALWAYS(allm_reducer_add(NULL, NULL) == ALLM_ERR_NOMEM);
}

/* N-17 */
static void a_result_that_comes_is_taken(void)
{
    allm_session *s = hi();
    allm_reducer *r = allm_reducer_new(allm_session_fields(s), NULL);
    allm_thread *t = turns_thread();
    allm_thread_add(t, ALLM_ROLE_ASSISTANT, "yes");
    allm_chat_result *c = allm_chat_result_new(
        ALLM(chat_result, .thread = t, .halted_reason = "ask_user",
             .pending_question = "q", .pending_tool_call_id = "c0"));
    CHECK_INT(allm_reducer_add(r, ALLM(event, .type = ALLM_EV_CHAT_COMPLETED,
                                       .chat_result = c)),
              ALLM_OK);
    const allm_session_record *one = final_of(r), *two = final_of(r);
    CHECK(one == two);
    CHECK_INT(GET(one, status), ALLM_SESSION_AWAITING_USER);
    CHECK_TEXT(turns_messages(GET(one, thread)), "u:hi a:yes");
    CHECK_TEXT(turns_messages(allm_session_thread(s)), "u:hi");
    allm_chat_result_free(c);
    allm_thread_free(t);
    allm_reducer_free(r);
    allm_session_free(s);
}

/* An event that makes no sense changes nothing. */
static void the_fold_is_total(void)
{
    static const char *const odd[] = {
        "{'type': 'no_such_tag', 'x': 1}",
        "{'type': 'text_delta'}",
        "{'type': 'chat_completed'}",
        "{'type': 'step_completed', 'response': 5}",
        "{'type': 'tool_halt', 'reason': null}",
    };
    allm_session *s = hi();
    allm_reducer *r = allm_reducer_new(allm_session_fields(s), NULL);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s", odd[i]);
        for (char *p = text; *p; p++)
            if (*p == '\'')
                *p = '"';
        allm_event *e = allm_event_parse(text, strlen(text));
        allm_reducer_add(r, e);
        allm_event_free(e);
    }
    CHECK(final_of(r));
    allm_reducer_free(r);
    allm_session_free(s);
}

/* N-15: an error, and no end: the session has it */
static void an_error_without_an_end_is_an_error(void)
{
    allm_session *s = hi();
    allm_reducer *r = allm_reducer_new(allm_session_fields(s), NULL);
    allm_error *e = allm_error_new(
        ALLM(error, .kind = ALLM_ERR_ADAPTER, .reason = "timeout"));
    allm_reducer_add(r, ALLM(event, .type = ALLM_EV_ERROR, .error = e));
    const allm_session_record *after = final_of(r);
    CHECK_INT(GET(after, status), ALLM_SESSION_ERROR);
    CHECK_TEXT(after && after->error ? after->error->reason : NULL, "timeout");
    allm_error_free(e);
    allm_reducer_free(r);
    allm_session_free(s);
}

/* ---------------------------------------------------- folded as it runs --- */

static const char *const turn_kinds[] = {
    "[['text', 'a'], ['text', 'b'], ['finish', 'stop']]",
    "[['tool_call', {'id': 'c%d', 'name': 'echo', 'arguments': {}}], "
    "['finish', 'tool_calls']]",
    "[['tool_call', {'id': 'c%d', 'name': 'echo', 'arguments': {}}], "
    "['tool_call', {'id': 'd%d', 'name': 'hand', 'arguments': {}}], "
    "['finish', 'tool_calls']]",
    "[['text', 'x'], ['error', 'timeout']]",
    "[['finish', 'length']]",
    "[['tool_call', {'id': 'c%d', 'name': 'missing', 'arguments': {}}], "
    "['finish', 'tool_calls']]",
    "[['finish', 'tool_calls']]",
};
static const char *const tool_kinds[] = {
    "echo=echo;hand!=echo", "echo=ask:sure?;hand=ok:1",
    "echo=halt:own:1;hand!=echo", "echo=fail:no;hand=raise:x",
};

static void pick_scripts(struct random *rnd, char *out, size_t size)
{
    size_t n = 0;
    int turns = 1 + (int)random_below(*rnd, 4);
    n += (size_t)snprintf(out, size, "[");
    for (int i = 0; i < turns && n < size; i++) {
        const char *from = turn_kinds[random_below(
            *rnd, sizeof turn_kinds / sizeof *turn_kinds)];
        n += (size_t)snprintf(out + n, size - n, "%s", i ? ", " : "");
        for (; *from && n + 2 < size; from++) {
            if (from[0] == '%' && from[1] == 'd') {
                out[n++] = (char)('0' + i);
                from++;
            } else {
                out[n++] = *from;
            }
        }
    }
    snprintf(out + n, size - n, "]");
}

/* The event as it is, or as it comes out of a log. */
static allm_status add_event(allm_reducer *r, const allm_event *event,
                             bool logged)
{
    size_t len = 0;
    if (!logged)
        return allm_reducer_add(r, event);
    allm_text *line = allm_event_json(event);
    const char *bytes = allm_text_bytes(line, &len);
    allm_event *again = allm_event_parse(bytes, len);
    CHECK_WELL(allm_event_error(again));
    allm_status status = allm_reducer_add(r, again);
    allm_event_free(again);
    allm_text_free(line);
    return status;
}

/* Run an operation, fold its events up to a point, and compare. */
static void fold_one(struct random *rnd)
{
    char scripts[2048], want[16384], got[16384];
    struct clock_manual clock = { 0, 0 };
    pick_scripts(rnd, scripts, sizeof scripts);
    allm_engine *e = turns_engine(scripts, tool_kinds[random_below(*rnd, 4)],
                                  &clock);
    allm_session *s = hi();
    bool step = random_below(*rnd, 3) == 0, reply = random_below(*rnd, 2);
    bool halt = random_below(*rnd, 2), cut = random_below(*rnd, 3) == 0;
    bool logged = random_below(*rnd, 2);    /* there messages are spelled out */
    uint32_t how = logged ? ALLM_FORM_PLAIN : ALLM_FORM_TAGGED;
    size_t most = cut ? (size_t)random_below(*rnd, 12) : SIZE_MAX;
    allm_reducer *r = allm_reducer_new(
        allm_session_fields(s),
        ALLM(reducer_opts, .mode = step ? ALLM_REDUCER_STEP : ALLM_REDUCER_CHAT,
             .input = reply && !step ? "go" : NULL));
    const allm_call_opts *o =
        ALLM(call_opts, .on_tool_error = halt ? ALLM_TOOL_POLICY_HALT
                                              : ALLM_TOOL_POLICY_CONTINUE);
    allm_stream *stream = step    ? allm_session_step(e, s, o)
                          : reply ? allm_session_reply(e, s, "go", o)
                                  : allm_session_start(e, s, o);
    const allm_event *event = NULL;
    for (size_t i = 0;
         i < most && allm_stream_next(stream, &event) == ALLM_EVENT; i++)
        CHECK_INT(add_event(r, event, logged), ALLM_OK);
    allm_stream_free(stream);
    form(allm_session_fields(s), how, want, sizeof want);
    form(final_of(r), how, got, sizeof got);
    check_row(scripts);
    CHECK_TEXT(got, want);
    form(final_of(r), how, want, sizeof want);
    CHECK_TEXT(got, want);
    allm_reducer_free(r);
    allm_session_free(s);
    allm_engine_free(e);
}

static void a_session_is_the_fold_of_its_events(void)
{
    struct random rnd = check_random();
    for (int i = 0; i < 300; i++)
        fold_one(&rnd);
}

TESTS = {
    TEST(without_events_it_was_cancelled),
    TEST(a_wrong_mode_is_misuse),
    TEST(a_result_that_comes_is_taken),
    TEST(the_fold_is_total),
    TEST(an_error_without_an_end_is_an_error),
    TEST_ONCE(a_session_is_the_fold_of_its_events),
    TESTS_END,
};
