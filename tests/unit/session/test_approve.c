/*
 * test_approve.c - calls that a gate left, decided later by another process
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/crash.h"
#include "harness/external.h"
#include "harness/stored.h"
#include "harness/turns.h"

#include <stdio.h>

#define CALL(id, name) \
    "['tool_call', {'id': '" id "', 'name': '" name "', 'arguments': {}}]"
#define CALLS CALL("c0", "a") "," CALL("c1", "b") "," CALL("c2", "a")
#define FIRST "[[['text','well'], " CALLS ", ['finish','tool_calls']]]"
#define LATER "[[['text','done'], ['finish','stop']]]"
#define TOOLS "a=text:A;b=text:B"

/* -------------------------------------------------------------- gates --- */

/* One letter per call: a allow, l leave. */
struct guard {
    const char *answers;
    size_t asked;
};

static void ask(void *ud, allm_approval *a)
{
    struct guard *g = ud;
    if (g->answers[g->asked++] == 'a')
        allm_approval_allow(a, ALLM_APPROVAL_ONCE);
    allm_approval_free(a);
}

static allm_stream *reply(const allm_engine *e, allm_session *s,
                          struct guard *g, allm_gate *gate)
{
    *gate = (allm_gate){ .size = sizeof *gate, .ask = ask, .ud = g };
    return allm_session_reply(
        e, s, "hi", ALLM(call_opts, .gate = gate, .max_concurrency = 1));
}

/* The first process: a chat whose calls c1 and c2 are left. */
static void leave_calls(allm_session *s)
{
    struct guard g = { .answers = "all" };
    allm_gate gate;
    allm_engine *e = turns_engine(FIRST, TOOLS, NULL);
    allm_stream *stream = reply(e, s, &g, &gate);
    turns_runs();
    turns_play(stream);
    CHECK_INT(g.asked, 3);
    CHECK_INT(turns_runs(), 1);
    allm_stream_free(stream);
    allm_engine_free(e);
}

static const allm_json *note(const allm_session *s, const char *name)
{
    const allm_session_record *r = allm_session_fields(s);
    return r ? allm_json_get(r->metadata, name) : NULL;
}

static void check_waiting(const allm_session *s)
{
    const allm_session_record *r = allm_session_fields(s);
    if (!CHECK(r && !allm_session_error(s)))
        return;
    CHECK_INT(r->status, ALLM_SESSION_AWAITING_TOOLS);
    CHECK_VALUE(note(s, "approvals"),
                "[{'id':'c1','name':'b','arguments':{},'reach':null},"
                "{'id':'c2','name':'a','arguments':{},'reach':null}]");
    CHECK_TEXT(turns_messages(r->thread), "u:hi a:well(c0,c1,c2) t:c0=A");
}

static const char *fault_of(const allm_session *s)
{
    const allm_error *e = allm_session_error(s);
    return e ? e->reason : "";
}

static const char *fault_of_stream(const allm_stream *s)
{
    const allm_error *e = allm_stream_error(s);
    return e ? e->reason : "";
}

static void check_refused_continue(allm_session *s)
{
    allm_engine *e = turns_engine(LATER, TOOLS, NULL);
    allm_stream *stream = allm_session_continue(e, s, NULL, NULL);
    CHECK_TEXT(fault_of_stream(stream), "wrong_status");
    allm_stream_free(stream);
    allm_engine_free(e);
}

/* c1 is allowed and c2 is denied. */
static void decide(allm_session *s)
{
    CHECK(allm_session_approve(s, "c0", true, NULL) == ALLM_ERR_SESSION);
    CHECK_TEXT(fault_of(s), "unknown_tool_call_id");
    CHECK(allm_session_approve(s, NULL, true, NULL) == ALLM_ERR_SESSION);
    CHECK_INT(allm_session_approve(s, "c2", true, NULL), ALLM_OK);
    check_refused_continue(s);
    CHECK_INT(allm_session_approve(s, "c1", true, NULL), ALLM_OK);
    CHECK_INT(allm_session_approve(s, "c2", false, "not today"), ALLM_OK);
    CHECK_VALUE(note(s, "approved"),
                "[{'id':'c1','allow':true,'why':null},"
                "{'id':'c2','allow':false,'why':'not today'}]");
}

/* The second process goes on. */
static void go_on(allm_session *s, bool by_resume)
{
    allm_engine *e = turns_engine(LATER, TOOLS, NULL);
    allm_stream *stream = by_resume ? allm_session_resume(e, s, NULL)
                                    : allm_session_continue(e, s, NULL, NULL);
    turns_runs();
    const char *events = turns_play(stream);
    CHECK(strstr(events, "+c1 ") && strstr(events, "chat[completed] ok"));
    CHECK_INT(turns_runs(), 1);
    allm_stream_free(stream);
    allm_engine_free(e);
}

static void check_done(const allm_session *s)
{
    const allm_session_record *r = allm_session_fields(s);
    if (!CHECK(r && !allm_session_error(s)))
        return;
    CHECK_INT(r->status, ALLM_SESSION_COMPLETED);
    CHECK(!note(s, "approvals") && !note(s, "approved"));
    CHECK_TEXT(turns_messages(r->thread),
               "u:hi a:well(c0,c1,c2) t:c0=A t:c1=B "
               "t:c2={\"error\":\"tool error (a): denied: the user denied "
               "this call: not today\"} "
               "a:done");
}

/* ------------------------------------------------------------- stores --- */

static void check_log(allm_store *store, const char *log)
{
    allm_json *v = allm_store_verify(store, NULL);
    CHECK(allm_json_true(allm_json_get(v, "ok")));
    allm_json_free(v);
    CHECK_TEXT(crash_log(store, "s"), log);
}

/* How many sessions wait for this? */
static size_t count_waiting(allm_store *store, const char *waits)
{
    allm_json *v = allm_store_list(store, ALLM(store_query, .waits = waits));
    size_t n = allm_json_count(allm_json_get(v, "sessions"));
    allm_json_free(v);
    return n;
}

static void decide_in_store(const char *uri, bool by_resume)
{
    allm_store *keeps = stored_open(uri, NULL);         /* memory: */
    allm_store *store = stored_open(uri, NULL);
    allm_session *s = allm_session_open(store, "s", ALLM_SESSION_CREATE);
    leave_calls(s);
    check_waiting(s);
    allm_session_free(s);
    allm_store_free(store);
    CHECK_INT(count_waiting(keeps, "tools"), 1);
    store = stored_open(uri, NULL);
    s = allm_session_open(store, "s", ALLM_SESSION_LOCK);
    check_waiting(s);
    decide(s);
    allm_session_free(s);
    CHECK_INT(count_waiting(keeps, "tools"), 0);
    s = allm_session_open(store, "s", ALLM_SESSION_LOCK);
    go_on(s, by_resume);
    check_done(s);
    check_log(store, "created begin call response intent result turn end "
                     "taken change change change taken begin response result "
                     "intent result result turn call response turn end");
    allm_session_free(s);
    allm_store_free(store);
    allm_store_free(keeps);
}

static void calls_are_decided_later(const char *uri)
{
    decide_in_store(uri, false);
}
EACH(calls_are_decided_later)

static void resume_begins_the_continue(const char *uri)
{
    decide_in_store(uri, true);
}
EACH(resume_begins_the_continue)

/* A worker finds the session when all calls are decided, and not before. */
static void a_decision_makes_it_due(const char *uri)
{
    allm_store *store = stored_open(uri, NULL);
    CHECK_INT(allm_store_send(
                  store, "s",
                  ALLM(message, .role = ALLM_ROLE_USER, .text = "hi"), "q"),
              ALLM_OK);
    struct guard g = { .answers = "all" };
    allm_gate gate = { .size = sizeof gate, .ask = ask, .ud = &g };
    allm_engine *e = turns_engine(FIRST, TOOLS, NULL);
    allm_session *s = allm_session_claim(store, "q", 0);
    allm_stream *stream = allm_session_resume(
        e, s, ALLM(call_opts, .gate = &gate, .max_concurrency = 1));
    turns_play(stream);
    allm_stream_free(stream);
    allm_engine_free(e);
    CHECK_INT(allm_session_approve(s, "c1", true, NULL), ALLM_OK);
    allm_session_free(s);
    s = allm_session_claim(store, "q", 0);
    CHECK_TEXT(fault_of(s), "nothing_due");
    allm_session_free(s);
    s = allm_session_open(store, "s", ALLM_SESSION_LOCK);
    CHECK_INT(allm_session_approve(s, "c2", false, "not today"), ALLM_OK);
    allm_session_free(s);
    s = allm_session_claim(store, "q", 0);
    go_on(s, true);
    check_done(s);
    allm_session_free(s);
    allm_store_free(store);
}
EACH(a_decision_makes_it_due)

/* --------------------------------------------------------------- files --- */

static void a_file_keeps_decisions(void)
{
    char path[256];
    snprintf(path, sizeof path, "%s/s.json", external_folder());
    allm_session *s = allm_session_new(NULL);
    leave_calls(s);
    check_waiting(s);
    CHECK_INT(allm_session_save(s, path), ALLM_OK);
    allm_session_free(s);
    s = allm_session_load(path, 0);
    check_waiting(s);
    decide(s);
    CHECK_INT(allm_session_save(s, path), ALLM_OK);
    allm_session_free(s);
    s = allm_session_load(path, 0);
    go_on(s, false);
    check_done(s);
    allm_session_free(s);
    s = allm_session_load(path, 0);
    go_on(s, true);
    check_done(s);
    allm_session_free(s);
    external_clean();
}

/* A cancelled stream used up the decisions: nobody knows which calls began. */
static void a_cancelled_continue_needs_new_decisions(void)
{
    allm_session *s = allm_session_new(NULL);
    const allm_event *event;
    leave_calls(s);
    decide(s);
    allm_engine *e = turns_engine(LATER, TOOLS, NULL);
    allm_stream *stream = allm_session_continue(e, s, NULL, NULL);
    allm_stream_free(stream);           /* not pulled: nothing has begun */
    CHECK(note(s, "approved"));
    stream = allm_session_continue(e, s, NULL, NULL);
    allm_stream_next(stream, &event);
    allm_stream_free(stream);
    check_waiting(s);
    CHECK(!note(s, "approved"));
    check_refused_continue(s);
    decide(s);
    go_on(s, false);
    check_done(s);
    allm_engine_free(e);
    allm_session_free(s);
}

static void a_replay_of_the_caller_is_refused(void)
{
    allm_session *s = allm_session_new(NULL);
    leave_calls(s);
    decide(s);
    allm_engine *e = turns_engine(LATER, TOOLS, NULL);
    const allm_journal_replay mine = { .size = sizeof mine };
    allm_stream *stream =
        allm_session_continue(e, s, NULL, ALLM(call_opts, .replay = &mine));
    CHECK_TEXT(fault_of_stream(stream), "invalid_options");
    allm_stream_free(stream);
    CHECK_INT(allm_session_append_user(s, "more"), ALLM_OK);
    stream = allm_session_continue(e, s, NULL, NULL);
    CHECK_TEXT(fault_of_stream(stream), "wrong_status");
    allm_stream_free(stream);
    allm_engine_free(e);
    allm_session_free(s);
    CHECK_INT(allm_session_approve(NULL, "c1", true, NULL), ALLM_ERR_NOMEM);
}

/* The caller may answer one call itself, and decide about the other. */
static void a_submitted_result_counts(void)
{
    allm_session *s = allm_session_new(NULL);
    leave_calls(s);
    CHECK_INT(allm_session_approve(s, "c1", true, NULL), ALLM_OK);
    CHECK_INT(allm_session_submit_tool_result(
                  s, ALLM(tool_answer, .tool_call_id = "c2", .text = "mine")),
              ALLM_OK);
    CHECK(allm_session_approve(s, "c2", true, NULL) == ALLM_ERR_SESSION);
    go_on(s, false);
    const allm_session_record *r = allm_session_fields(s);
    CHECK_TEXT(r ? turns_messages(r->thread) : NULL,
               "u:hi a:well(c0,c1,c2) t:c0=A t:c1=B t:c2=mine a:done");
    allm_session_free(s);
}

/* ------------------------------------------- events, and other callers --- */

/* A reducer makes the same session of the events. */
static void a_reducer_follows_the_continue(void)
{
    allm_session *s = allm_session_new(NULL);
    const allm_event *event;
    leave_calls(s);
    decide(s);
    allm_engine *e = turns_engine(LATER, TOOLS, NULL);
    allm_reducer *r = allm_reducer_new(allm_session_fields(s),
                                       ALLM(reducer_opts, .input = NULL));
    allm_stream *stream = allm_session_continue(e, s, NULL, NULL);
    while (allm_stream_next(stream, &event) == ALLM_EVENT)
        allm_reducer_add(r, event);
    const allm_reduced *all = allm_reducer_finalize(r);
    if (all && check_whole()) {
        allm_text *a = allm_session_record_json(all->session, ALLM_FORM_TAGGED);
        allm_text *b = allm_session_record_json(allm_session_fields(s),
                                                ALLM_FORM_TAGGED);
        CHECK_TEXT(allm_text_bytes(a, NULL), allm_text_bytes(b, NULL));
        allm_text_free(a);
        allm_text_free(b);
    }
    allm_stream_free(stream);
    allm_reducer_free(r);
    allm_engine_free(e);
    allm_session_free(s);
}

/* An agent takes decisions by its replay. */
static void an_agent_takes_decisions(void)
{
    allm_engine *e = turns_engine(FIRST, TOOLS, NULL);
    allm_thread *t = turns_thread();
    struct guard g = { .answers = "all" };
    allm_gate gate = { .size = sizeof gate, .ask = ask, .ud = &g };
    allm_call_opts opts = { .size = sizeof opts, .gate = &gate };
    allm_stream *first = allm_agent(e, t, ALLM(agent_opts, .call = &opts));
    allm_stream_wait(first);
    const allm_agent_result *r = allm_stream_agent_result(first);
    allm_engine *later = turns_engine(LATER, TOOLS, NULL);
    if (r && check_whole()) {
        CHECK_TEXT(r->reason, "manual_tool_calls");
        CHECK_INT(allm_json_count(allm_json_get(r->metadata, "approvals")), 2);
        const allm_journal_tool tools[] = {
            { .size = sizeof *tools, .tool_call_id = "c0", .done = 1,
              .content = "A", .content_len = 1 },
            { .size = sizeof *tools, .tool_call_id = "c1", .decided = 1 },
            { .size = sizeof *tools, .tool_call_id = "c2", .decided = 2,
              .content = "not today", .content_len = 9 },
        };
        const allm_journal_tool *list[] = { &tools[0], &tools[1], &tools[2] };
        const allm_journal_replay replay = { .size = sizeof replay,
                                             .response = r->response,
                                             .tools = list, .tool_count = 3 };
        opts.replay = &replay;
        turns_runs();
        allm_stream *s = allm_agent(later, t, ALLM(agent_opts, .call = &opts));
        allm_stream_wait(s);
        const allm_agent_result *all = allm_stream_agent_result(s);
        CHECK_INT(turns_runs(), 1);
        CHECK_INT(g.asked, 3);          /* not again */
        CHECK_TEXT(all ? all->reason : NULL, "completed");
        const char *text = all ? turns_messages(all->messages) : "";
        CHECK(strstr(text, "t:c1=B") && strstr(text, "not today"));
        allm_stream_free(s);
    }
    allm_stream_free(first);
    allm_thread_free(t);
    allm_engine_free(later);
    allm_engine_free(e);
}

/* ------------------------------------------------------------- crashes --- */

/* The second process dies at commit n; a third one resumes.  The write b runs
 * twice only if somebody says so. */
static void crash_and_resume(uint64_t n, bool durable, bool *more)
{
    crash_begin(false);
    allm_store *keeps = crash_open(0, false);
    allm_session *s = allm_session_open(keeps, "s", ALLM_SESSION_CREATE);
    leave_calls(s);
    decide(s);
    allm_session_free(s);
    allm_store *store = crash_open(n, durable);
    s = allm_session_open(store, "s", ALLM_SESSION_LOCK);
    allm_engine *e = turns_engine(LATER, TOOLS, NULL);
    allm_stream *stream = allm_session_continue(e, s, NULL, NULL);
    turns_runs();
    turns_play(stream);
    int runs = turns_runs();
    *more = crash_commits() >= n && check_whole();
    allm_stream_free(stream);
    allm_session_free(s);
    allm_store_free(store);
    allm_engine_free(e);
    s = allm_session_open(keeps, "s", ALLM_SESSION_LOCK);
    e = turns_engine(crash_count(keeps, "s", "response") > 2 ? "[]" : LATER,
                     TOOLS, NULL);
    const allm_json *unknown = allm_json_get(note(s, "broken_off"),
                                             "unknown_tool_calls");
    if (allm_json_count(unknown)) {
        CHECK_TEXT(allm_json_text(allm_json_get(allm_json_at(unknown, 0), "id"),
                                  NULL),
                   "c1");
        CHECK_INT(allm_session_settle(s, "c1", ALLM_SETTLE_HAPPENED,
                                      ALLM(tool_answer, .text = "B")),
                  ALLM_OK);
        runs = 1;
    }
    if (*more && !crash_count(keeps, "s", "end")) {
        CHECK(false);           /* the first operation has ended */
    } else if (crash_count(keeps, "s", "end") < 2) {
        stream = allm_session_resume(e, s, NULL);
        turns_play(stream);
        runs += turns_runs();
        CHECK_TEXT(fault_of_stream(stream), "");
        allm_stream_free(stream);
    }
    CHECK_INT(runs, 1);
    check_done(s);
    allm_session_free(s);
    allm_engine_free(e);
    allm_store_free(keeps);
    crash_end();
}

static void a_crash_never_uses_a_decision_twice(void)
{
    bool more = true;
    for (uint64_t n = 1; more && n < 50; n++)
        for (int durable = 0; durable < 2; durable++) {
            char why[64];
            snprintf(why, sizeof why, "%s commit %d",
                     durable ? "after" : "before", (int)n);
            check_row(why);
            crash_and_resume(n, durable, &more);
        }
}

TESTS = { TEST_EACH(calls_are_decided_later),
          TEST_EACH(resume_begins_the_continue),
          TEST_EACH(a_decision_makes_it_due),
          TEST(a_file_keeps_decisions),
          TEST(a_cancelled_continue_needs_new_decisions),
          TEST(a_replay_of_the_caller_is_refused),
          TEST(a_submitted_result_counts),
          TEST(a_reducer_follows_the_continue),
          TEST_ONCE(an_agent_takes_decisions),
          TEST_ONCE(a_crash_never_uses_a_decision_twice),
          TESTS_END };
