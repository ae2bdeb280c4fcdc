/*
 * test_operation.c - calls of the model, and how they change the session
 *
 * tag: thread
 */
#include "harness/check.h"
#include "harness/noun.h"
#include "harness/play.h"
#include "harness/turns.h"

#include <stdio.h>

#define CALL(id, name) \
    "['tool_call', {'id': '" id "', 'name': '" name "', 'arguments': {'x': 1}}]"
#define TURN(id, name) "[" CALL(id, name) ", ['finish', 'tool_calls']]"
#define BOTH "[" CALL("ca", "echo") ", " CALL("cm", "hand") \
             ", ['finish', 'tool_calls']]"
#define SAY(text) "[['text', '" text "'], ['finish', 'stop']]"
#define TWO "[" TURN("c0", "echo") ", " SAY("done") "]"
#define BROKEN "[['text', 'partial'], ['error', 'rate_limited']]"

static const char *const statuses[] = { "idle", "awaiting_user",
                                        "awaiting_tools", "completed",
                                        "error" };

/* "awaiting_user q/c0", "awaiting_tools c0 c1", ...: what a record waits for */
static const char *state(const allm_session_record *r)
{
    static char out[256];
    if (!r)
        return NULL;
    int n = snprintf(out, sizeof out, "%s", statuses[r->status]);
    if (r->pending_question)
        n += snprintf(out + n, sizeof out - (size_t)n, " %s/%s",
                      r->pending_question, r->pending_tool_call_id);
    for (size_t i = 0; i < r->pending_tool_call_count; i++)
        n += snprintf(out + n, sizeof out - (size_t)n, " %s",
                      r->pending_tool_calls[i]->id);
    if (r->error)
        snprintf(out + n, sizeof out - (size_t)n, " %s", r->error->reason);
    return out;
}

/* The tagged form of a record, for comparison. */
static void form(const allm_session_record *r, char *out, size_t size)
{
    allm_text *t = allm_session_record_json(r, ALLM_FORM_TAGGED);
    const char *bytes = allm_text_bytes(t, NULL);
    snprintf(out, size, "%s", bytes ? bytes : "");
    allm_text_free(t);
}

/* After every operation: written, read and written again it is the same. */
static void check_trip(const allm_session *s)
{
    char first[16384], second[16384];
    form(allm_session_fields(s), first, sizeof first);
    allm_codec *c = allm_codec_decode(first, strlen(first), NULL, NULL);
    CHECK_WELL(allm_codec_error(c));
    form(allm_codec_value(c, ALLM_TYPE_SESSION), second, sizeof second);
    CHECK_TEXT(second, first);
    allm_codec_free(c);
}

struct bench {
    struct clock_manual clock;
    allm_engine *engine;
    allm_session *session;
    allm_json *json;
};

static void begin(struct bench *b, const char *scripts, const char *tools,
                  const char *json)
{
    allm_thread *t = turns_thread();
    *b = (struct bench){ .clock = { 0, 0 } };
    b->json = json ? noun_json(json) : NULL;
    b->engine = turns_engine(scripts, tools, &b->clock);
    b->session = allm_session_from_thread(t);
    allm_thread_free(t);
}

static void end(struct bench *b)
{
    allm_session_free(b->session);
    allm_engine_free(b->engine);
    allm_json_free(b->json);
}

/* By one door or the other; the status of the end. */
static allm_status run(struct bench *b, allm_stream *s, bool pull)
{
    const allm_event *event = NULL;
    allm_status status;
    if (pull)
        while ((status = allm_stream_next(s, &event)) == ALLM_EVENT)
            ;
    else
        status = allm_stream_wait(s);
    allm_stream_free(s);
    check_trip(b->session);
    return status;
}

static const char *now(const struct bench *b)
{
    return state(allm_session_fields(b->session));
}

static const char *said(const struct bench *b)
{
    return turns_messages(allm_session_thread(b->session));
}

static const allm_call_opts *opts_of(const struct bench *b,
                                     allm_call_opts *opts)
{
    *opts = (allm_call_opts){ .size = sizeof *opts, .json = b->json };
    return opts;
}

/* ---------------------------------------------------------- projections --- */

#define MANUAL "{'mode': 'manual'}"
#define HALT "{'on_tool_error': 'halt'}"

static const struct row {
    const char *why, *scripts, *tools, *opts;
    const char *chat, *chat_metadata, *step, *step_said;
} rows[] = {
    { "a text", "[" SAY("x") "]", "echo=echo", NULL, "completed", "{}",
      "completed", "u:hi a:x" },
    { "N-06 a tool", TWO, "echo=echo", NULL, "completed", "{}", "idle",
      "u:hi a:(c0) t:c0={\"x\":1}" },
    { "N-02 manual", TWO, "echo=echo", MANUAL, "awaiting_tools c0",
      "{'manual_turn_index':0}", "awaiting_tools c0", "u:hi a:(c0)" },
    { "N-02 a question", TWO, "echo=ask:sure?", NULL,
      "awaiting_user sure?/c0", NULL, "awaiting_user sure?/c0",
      "u:hi a:(c0) t:c0=<awaiting user response>" },
    { "N-02 it breaks off", "[" BROKEN "]", "echo=echo", NULL,
      "error rate_limited", NULL, "error rate_limited", NULL },
    { "D-20 a tool fails, and halts", TWO, "echo=fail:boom", HALT,
      "error handler_failed", NULL, "error handler_failed", NULL },
    { "a tool halts", TWO, "echo=halt:own:{'a':1}", NULL, "completed", NULL,
      "completed", NULL },
    { "max_turns", TWO, "echo=echo", "{'max_turns': 1}", "completed",
      "{'max_turns':1}", "idle", NULL },
    { "N-16 a tool is manual", "[" BOTH ", " SAY("x") "]",
      "echo=echo;hand!=echo", NULL, "awaiting_tools cm", NULL,
      "awaiting_tools cm", "u:hi a:(ca,cm) t:ca={\"x\":1}" },
    { "N-16 manual wins", "[" BOTH ", " SAY("x") "]", "echo=echo;hand!=echo",
      MANUAL, "awaiting_tools ca cm", NULL, "awaiting_tools ca cm",
      "u:hi a:(ca,cm)" },
    { "D-16 a halt wins over manual calls", "[" BOTH "]",
      "echo=halt:own:1;hand!=echo", NULL, "completed", NULL, "completed",
      NULL },
    { "N-13 without deltas", "[" SAY("x") "]", "echo=echo",
      "{'emit_text_deltas': false}", "completed", "{}", "completed",
      "u:hi a:x" },
};

static void check_row_of(const struct row *row, bool step, bool pull)
{
    struct bench b;
    allm_call_opts opts;
    check_row(row->why);
    begin(&b, row->scripts, row->tools, row->opts);
    allm_stream *s =
        step ? allm_session_step(b.engine, b.session, opts_of(&b, &opts))
             : allm_session_start(b.engine, b.session, opts_of(&b, &opts));
    CHECK_INT(run(&b, s, pull), ALLM_OK);
    CHECK_TEXT(now(&b), step ? row->step : row->chat);
    if (step && row->step_said)
        CHECK_TEXT(said(&b), row->step_said);
    if (!step && row->chat_metadata)
        CHECK_VALUE(GET(allm_session_fields(b.session), metadata),
                    row->chat_metadata);
    allm_error *fault = allm_validate_session(allm_session_fields(b.session));
    CHECK(!fault);
    allm_error_free(fault);
    end(&b);
}

static void chats_leave_their_mark(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row_of(&rows[i], false, i % 2);
}

static void steps_leave_their_mark(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row_of(&rows[i], true, i % 2);
}

/* By both doors the same. */
static void both_doors_lead_to_the_same(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row_of(&rows[i], false, !(i % 2));
        check_row_of(&rows[i], true, !(i % 2));
    }
}

/* -------------------------------------------------------- conversations --- */

/* N-04 */
static void a_manual_call_is_answered(void)
{
    struct bench b;
    allm_call_opts opts;
    begin(&b, TWO, "echo=echo", MANUAL);
    allm_json *ok = noun_json("{'ok': true}");
    run(&b, allm_session_start(b.engine, b.session, opts_of(&b, &opts)), true);
    CHECK_INT(allm_session_submit_tool_result(
                  b.session,
                  ALLM(tool_answer, .tool_call_id = "c0", .value = ok)),
              ALLM_OK);
    check_trip(b.session);
    CHECK_TEXT(now(&b), "idle");
    run(&b, allm_session_continue(b.engine, b.session, NULL, NULL), true);
    CHECK_TEXT(now(&b), "completed");
    CHECK_TEXT(said(&b), "u:hi a:(c0) t:c0={\"ok\":true} a:done");
    allm_json_free(ok);
    end(&b);
}

/* N-16 */
static void the_auto_call_is_not_pending(void)
{
    struct bench b;
    begin(&b, "[" BOTH ", " SAY("x") "]", "echo=echo;hand!=echo", NULL);
    run(&b, allm_session_start(b.engine, b.session, NULL), false);
    CHECK_INT(allm_session_submit_tool_result(
                  b.session,
                  ALLM(tool_answer, .tool_call_id = "ca", .text = "no")),
              ALLM_ERR_SESSION);
    CHECK_INT(allm_session_submit_tool_result(
                  b.session,
                  ALLM(tool_answer, .tool_call_id = "cm", .text = "yes")),
              ALLM_OK);
    CHECK_TEXT(now(&b), "idle");
    run(&b, allm_session_continue(b.engine, b.session, NULL, NULL), false);
    CHECK_TEXT(now(&b), "completed");
    end(&b);
}

/* N-03, N-14, N-15 */
static void a_question_is_answered(void)
{
    struct bench b;
    begin(&b, TWO, "echo=ask:sure?", NULL);
    run(&b, allm_session_start(b.engine, b.session, NULL), true);
    CHECK_TEXT(now(&b), "awaiting_user sure?/c0");
    CHECK(allm_json_get(GET(allm_session_fields(b.session), metadata),
                        "pending_question"));
    run(&b, allm_session_reply(b.engine, b.session, "yes", NULL), true);
    CHECK_TEXT(now(&b), "completed");
    CHECK_TEXT(said(&b), "u:hi a:(c0) t:c0=<awaiting user response> a:sure? "
                         "u:yes a:done");
    CHECK_VALUE(GET(allm_session_fields(b.session), metadata), "{}");
    end(&b);
}

/* D-19 */
static void the_caller_s_metadata_stays(void)
{
    struct bench b;
    begin(&b, TWO, "echo=ask:sure?", NULL);
    allm_json *mine = noun_json("{'theirs': 1, 'cancelled_input': 'old'}");
    allm_session *s = allm_session_new(
        ALLM(session_record, .thread = allm_session_thread(b.session),
             .metadata = mine, .id = "s1"));
    allm_session_free(b.session);
    b.session = s;
    run(&b, allm_session_start(b.engine, s, NULL), true);
    const allm_session_record *r = allm_session_fields(s);
    CHECK_VALUE(GET(r, metadata),
                "{'theirs':1,'pending_tool_call_id':'c0',"
                "'pending_question':'sure?','ask_user_opts':{}}");
    run(&b, allm_session_reply(b.engine, s, "yes", NULL), true);
    r = allm_session_fields(s);
    CHECK_VALUE(GET(r, metadata), "{'theirs':1}");
    CHECK_TEXT(GET(r, id), "s1");
    allm_json_free(mine);
    end(&b);
}

/* Step, step: as a chat. */
static void steps_follow_each_other(void)
{
    struct bench b;
    begin(&b, TWO, "echo=echo", NULL);
    run(&b, allm_session_step(b.engine, b.session, NULL), false);
    CHECK_TEXT(now(&b), "idle");
    run(&b, allm_session_step(b.engine, b.session, NULL), false);
    CHECK_TEXT(now(&b), "completed");
    CHECK_TEXT(said(&b), "u:hi a:(c0) t:c0={\"x\":1} a:done");
    end(&b);
}

/* ------------------------------------------------------------- refusals --- */

/* N-01, 4.4: what fails at once leaves the session alone */
static void a_call_that_cannot_begin_changes_nothing(void)
{
    struct bench b;
    char before[16384], after[16384];
    begin(&b, "[[['preflight_error', 'timeout']]]", "echo=echo", NULL);
    form(allm_session_fields(b.session), before, sizeof before);
    allm_stream *s = allm_session_reply(b.engine, b.session, "x", NULL);
    CHECK_ERROR(allm_stream_error(s), ALLM_ERR_ADAPTER, "timeout", NULL);
    CHECK_INT(allm_session_append_user(b.session, "y"), ALLM_OK);
    allm_stream_free(s);
    allm_engine *none = allm_engine_new(NULL);
    allm_session *t = allm_session_new(allm_session_fields(b.session));
    form(allm_session_fields(t), before, sizeof before);
    s = allm_session_start(none, t, NULL);
    CHECK_ERROR(allm_stream_error(s), ALLM_ERR_ENGINE, "missing_adapter", NULL);
    allm_stream_free(s);
    s = allm_session_start(none, t, &(allm_call_opts){ .size = 1 });
    CHECK_INT(allm_stream_wait(s), ALLM_ERR_MISUSE);
    allm_stream_free(s);
    s = allm_session_reply(none, t, NULL, NULL);
    CHECK_INT(allm_stream_wait(s), ALLM_ERR_MISUSE);
    allm_stream_free(s);
    form(allm_session_fields(t), after, sizeof after);
    CHECK_TEXT(after, before);
    allm_session_free(t);
    allm_engine_free(none);
    end(&b);
}

/* D-7: who waits for a step gets the error and the old session, who pulls
 * sees the event and the new one. */
static void an_unknown_tool_has_two_faces(void)
{
    for (int pull = 0; pull < 2; pull++) {
        struct bench b;
        begin(&b, "[" TURN("c0", "missing") "]", "echo=echo", NULL);
        allm_stream *s = allm_session_step(b.engine, b.session, NULL);
        CHECK_INT(run(&b, s, pull), pull ? ALLM_OK : ALLM_ERR_ENGINE);
        CHECK_TEXT(said(&b), pull ? "u:hi a:(c0)" : "u:hi");
        CHECK_TEXT(now(&b), pull ? "completed" : "idle");
        end(&b);
    }
}

static void nothing_is_changed_while_a_stream_is_open(void)
{
    struct bench b;
    const allm_event *event = NULL;
    begin(&b, TWO, "echo=echo", NULL);
    allm_stream *s = allm_session_start(b.engine, b.session, NULL);
    allm_stream_next(s, &event);
    CHECK_INT(allm_session_append_user(b.session, "x"), ALLM_ERR_MISUSE);
    CHECK_MISUSE(allm_session_error(b.session), "session_busy", "free it");
    CHECK_INT(allm_session_submit_tool_results(b.session, 0, NULL),
              ALLM_ERR_MISUSE);
    allm_stream *other = allm_session_reply(b.engine, b.session, "x", NULL);
    CHECK_MISUSE(allm_stream_error(other), "session_busy", NULL);
    allm_stream_free(other);
    CHECK_TEXT(said(&b), "u:hi");
    while (allm_stream_next(s, &event) == ALLM_EVENT)
        if (event->type == ALLM_EV_CHAT_COMPLETED)
            CHECK_TEXT(now(&b), "completed");   /* with the last event */
    CHECK_INT(allm_session_append_user(b.session, "x"), ALLM_OK);
    CHECK_WELL(allm_session_error(b.session));
    allm_stream_free(s);
    end(&b);
}

/* --------------------------------------------------------------- cancel --- */

/* Pull so many events, then stop in one of three ways. */
static void stop_after(struct bench *b, allm_stream *s, int events, int how)
{
    const allm_event *event = NULL;
    while (events-- > 0 && allm_stream_next(s, &event) == ALLM_EVENT)
        ;
    if (how == 0)
        allm_stream_cancel(s);
    if (how == 0)
        CHECK_INT(allm_stream_wait(s), ALLM_OK);
    allm_stream_free(s);
    check_trip(b->session);
}

/* D-12 */
static void cancelled_early_the_session_is_as_before(void)
{
    for (int how = 0; how < 2; how++)
        for (int n = 0; n < 4; n++) {
            struct bench b;
            begin(&b, TWO, "echo=ask:sure?", NULL);
            run(&b, allm_session_start(b.engine, b.session, NULL), true);
            stop_after(&b, allm_session_reply(b.engine, b.session, "yes", NULL),
                       n, how);
            CHECK_TEXT(now(&b), "awaiting_user sure?/c0");
            const allm_session_record *r = allm_session_fields(b.session);
            CHECK_TEXT(allm_json_text(allm_json_get(GET(r, metadata),
                                                    "cancelled_input"),
                                      NULL),
                       "yes");
            CHECK_INT(allm_thread_count(GET(r, thread)), 4);
            end(&b);
        }
}

static void cancelled_later_the_steps_count(void)
{
    for (int how = 0; how < 2; how++) {
        struct bench b;
        const allm_event *event = NULL;
        begin(&b, TWO, "echo=echo", NULL);
        allm_stream *s = allm_session_start(b.engine, b.session, NULL);
        while (allm_stream_next(s, &event) == ALLM_EVENT &&
               event->type != ALLM_EV_STEP_COMPLETED)
            ;
        stop_after(&b, s, how, 1);
        CHECK_TEXT(now(&b), "completed");
        CHECK_TEXT(said(&b), "u:hi a:(c0) t:c0={\"x\":1}");
        end(&b);
    }
}

/* Cancelled or freed behind an error event: the error wins. */
static void cancelled_behind_an_error_the_session_has_failed(void)
{
    static const char broken[] = "[[['text', 'par'], ['error', 'timeout']]]";
    for (int how = 0; how < 2; how++)
        for (int op = 0; op < 3; op++) {
            struct bench b;
            begin(&b, broken, "", NULL);
            allm_stream *s =
                op == 0   ? allm_session_start(b.engine, b.session, NULL)
                : op == 1 ? allm_session_reply(b.engine, b.session, "x", NULL)
                          : allm_session_step(b.engine, b.session, NULL);
            stop_after(&b, s, 3, how);
            const allm_session_record *r = allm_session_fields(b.session);
            CHECK_INT(GET(r, status), ALLM_SESSION_ERROR);
            CHECK_ERROR(GET(r, error), ALLM_ERR_ADAPTER, "timeout", NULL);
            end(&b);
        }
}

static void a_cancelled_step_leaves_no_trace(void)
{
    for (int n = 0; n < 3; n++) {
        struct bench b;
        char before[16384], after[16384];
        begin(&b, TWO, "echo=echo", NULL);
        form(allm_session_fields(b.session), before, sizeof before);
        stop_after(&b, allm_session_step(b.engine, b.session, NULL), n, n % 2);
        form(allm_session_fields(b.session), after, sizeof after);
        CHECK_TEXT(after, before);
        CHECK_INT(allm_session_append_user(b.session, "x"), ALLM_OK);
        end(&b);
    }
}

static void a_stream_outlives_its_session(void)
{
    struct bench b;
    begin(&b, TWO, "echo=echo", NULL);
    allm_stream *s = allm_session_start(b.engine, b.session, NULL);
    allm_session_free(b.session);
    b.session = NULL;
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    CHECK_TEXT(GET(allm_stream_chat_result(s), halted_reason), "completed");
    allm_stream_free(s);
    end(&b);
}

static void a_session_runs_in_a_hub(void)
{
    struct bench b;
    const allm_event *event = NULL;
    void *tag = NULL;
    begin(&b, TWO, "echo=later:5:ok:1", NULL);
    allm_clock clock = play_clock(&b.clock);
    allm_hub *hub = allm_hub_new(ALLM(hub_opts, .clock = &clock));
    allm_stream *s = allm_session_start(b.engine, b.session, NULL);
    allm_hub_add(hub, s, &b);
    while (allm_hub_wait(hub, -1, &tag))
        while (allm_stream_next(s, &event) == ALLM_EVENT)
            ;
    CHECK_TEXT(now(&b), "completed");
    allm_stream_free(s);
    allm_hub_free(hub);
    end(&b);
}

/* ----------------------------------------------- context and session_id --- */

static void note_id(allm_tool_run *run, const allm_json *args, void *ud)
{
    const char *id = allm_tool_run_session_id(run);
    (void)args;
    snprintf(ud, 64, "%s", id ? id : "null");
    allm_tool_ok(run, allm_tool_run_context(run));
}

/* N-09, D-11 */
static void handlers_see_context_and_session_id(void)
{
    static const struct {
        const char *why, *record, *opts, *id, *context;
    } told[] = {
        { "the session's", "{'id': 's', 'context': {'of': 's'}}", NULL, "s",
          "{\"of\":\"s\"}" },
        { "the call's win", "{'id': 's', 'context': {'of': 's'}}",
          "{'session_id': 'c', 'context': {'of': 'c'}}", "c",
          "{\"of\":\"c\"}" },
        { "none: the engine's", "{}", NULL, "null", "{\"of\":\"e\"}" },
        { "an empty one is none", "{'context': {}}", NULL, "null",
          "{\"of\":\"e\"}" },
        { "an id of null is none", "{'id': 's', 'context': {'of': 's'}}",
          "{'session_id': null}", "s", "{\"of\":\"s\"}" },
        { "a context of null is the engine's",
          "{'id': 's', 'context': {'of': 's'}}", "{'context': null}", "s",
          "{\"of\":\"e\"}" },
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        char id[64] = "", want[128];
        check_row(told[i].why);
        allm_engine *plain = play_engine("{'scripts': " TWO "}", NULL);
        allm_json *of = noun_json("'e'");
        allm_engine *e = allm_engine_put_context(plain, "of", of);
        allm_tool *tool = allm_tool_new(
            ALLM(tool, .name = "echo", .description = "x", .schema_text = "{}",
                 .call = note_id, .ud = id, .flags = ALLM_TOOL_INLINE));
        allm_json *json = told[i].opts ? noun_json(told[i].opts) : NULL;
        const allm_tool *tools[] = { tool };
        allm_codec *c = noun_read("Session", told[i].record);
        allm_session *s =
            allm_session_from_record(allm_codec_value(c, ALLM_TYPE_SESSION));
        allm_session_append_user(s, "hi");
        allm_stream *stream = allm_session_start(
            e, s,
            ALLM(call_opts, .json = json, .tools = tools, .tool_count = 1));
        CHECK_INT(allm_stream_wait(stream), ALLM_OK);
        CHECK_TEXT(id, told[i].id);
        snprintf(want, sizeof want, "u:hi a:(c0) t:c0=%s a:done",
                 told[i].context);
        CHECK_TEXT(turns_messages(allm_session_thread(s)), want);
        allm_stream_free(stream);
        allm_session_free(s);
        allm_codec_free(c);
        allm_json_free(json);
        allm_tool_free(tool);
        allm_engine_free(e);
        allm_json_free(of);
        allm_engine_free(plain);
    }
}

TESTS = {
    TEST(chats_leave_their_mark),
    TEST(steps_leave_their_mark),
    TEST_ONCE(both_doors_lead_to_the_same),
    TEST(a_manual_call_is_answered),
    TEST(the_auto_call_is_not_pending),
    TEST(a_question_is_answered),
    TEST(the_caller_s_metadata_stays),
    TEST(steps_follow_each_other),
    TEST(a_call_that_cannot_begin_changes_nothing),
    TEST(an_unknown_tool_has_two_faces),
    TEST(nothing_is_changed_while_a_stream_is_open),
    TEST(cancelled_early_the_session_is_as_before),
    TEST(cancelled_later_the_steps_count),
    TEST(cancelled_behind_an_error_the_session_has_failed),
    TEST(a_cancelled_step_leaves_no_trace),
    TEST(a_stream_outlives_its_session),
    TEST(a_session_runs_in_a_hub),
    TEST(handlers_see_context_and_session_id),
    TESTS_END,
};
