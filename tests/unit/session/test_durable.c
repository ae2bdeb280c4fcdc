/*
 * test_durable.c - sessions in a store: changes, records, errors
 *
 * Most tests run on a store in memory, where every allocation fails once, on a
 * file, on a PostgreSQL server, and through pgbouncer.
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/crash.h"
#include "harness/play.h"
#include "harness/stored.h"
#include "harness/turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CALL(id, name) \
    "['tool_call', {'id': '" id "', 'name': '" name "', 'arguments': {'x': 1}}]"
#define TURN(id, name) "[" CALL(id, name) ", ['finish', 'tool_calls']]"
#define SAY(text) "[['text', '" text "'], ['finish', 'stop']]"
#define TWO "[" TURN("c0", "echo") ", " SAY("done") "]"

/* -------------------------------------------------------------- steps --- */

static allm_session *open_session(allm_store *store, uint32_t flags)
{
    return allm_session_open(store, "trip", flags);
}

static const char *reason_of(const allm_error *e)
{
    return e ? e->reason : NULL;
}

/* Run to the end; the reason of its error, or NULL.  Frees the stream. */
static const char *run(allm_stream *s)
{
    static char reason[64];
    allm_stream_wait(s);
    const allm_error *e = allm_stream_error(s);
    snprintf(reason, sizeof reason, "%s", e ? e->reason : "");
    allm_stream_free(s);
    return *reason ? reason : NULL;
}

static const char *said(const allm_session *s)
{
    return turns_messages(allm_session_thread(s));
}

static const allm_json *metadata(const allm_session *s, const char *name)
{
    const allm_session_record *r = allm_session_fields(s);
    return r ? allm_json_get(r->metadata, name) : NULL;
}

static void check_verified(allm_store *store)
{
    allm_json *v = allm_store_verify(store, NULL);
    CHECK_ALWAYS(!v || allm_json_true(allm_json_get(v, "ok")));
    if (!CHECK(allm_json_true(allm_json_get(v, "ok"))) && v) {
        allm_text *t = allm_json_write(v, 0);
        printf("# %s\n", allm_text_bytes(t, NULL));
        allm_text_free(t);
    }
    allm_json_free(v);
}

/* Break off a chat whose write tool has begun: after commit 2, on "trip". */
static void break_off(void)
{
    allm_store *store = crash_open(2, true);
    allm_engine *e = turns_engine(TWO, "echo=echo", NULL);
    allm_session *s = open_session(store, ALLM_SESSION_CREATE);
    run(allm_session_reply(e, s, "hi", NULL));
    allm_session_free(s);
    allm_engine_free(e);
    allm_store_free(store);
}

/* ------------------------------------------------------------ changes --- */

static void changes(const char *uri)
{
    crash_begin_at(uri);
    allm_store *store = crash_open(0, false);
    allm_session *s = open_session(store, ALLM_SESSION_CREATE);
    CHECK_TEXT(reason_of(allm_session_error(s)), NULL);
    CHECK_INT(allm_session_append_user(s, "one"), ALLM_OK);
    CHECK_INT(allm_session_append_user(s, "two"), ALLM_OK);
    const allm_session_record *r = allm_session_fields(s);
    if (r) {
        allm_session_record fields = *r;
        fields.status = ALLM_SESSION_AWAITING_USER;
        fields.pending_question = "why?";
        fields.id = "other";
        CHECK_INT(allm_session_replace(s, &fields), ALLM_OK);
    }
    CHECK_TEXT(crash_log(store, "trip"), "created change change change");
    allm_session_free(s);
    s = open_session(store, 0);
    CHECK_TEXT(said(s), "u:one u:two");
    CHECK_TEXT(GET(allm_session_fields(s), pending_question), "why?");
    CHECK_TEXT(GET(allm_session_fields(s), id), "trip");
    CHECK_INT(allm_session_append_user(s, "x"), ALLM_ERR_SESSION);
    CHECK_TEXT(reason_of(allm_session_error(s)), "session_read_only");
    allm_session_free(s);
    check_verified(store);
    allm_store_free(store);
    crash_end();
}
EACH(changes)

static void has_one_holder(const char *uri)
{
    crash_begin_at(uri);
    allm_store *store = crash_open(0, false);
    allm_session *s = open_session(store, ALLM_SESSION_CREATE);
    allm_session *t = open_session(store, ALLM_SESSION_LOCK);
    CHECK_TEXT(reason_of(allm_session_error(t)), "session_locked");
    allm_session_free(t);
    CHECK_INT(allm_session_append_user(s, "one"), ALLM_OK);
    allm_session_free(s);
    t = open_session(store, ALLM_SESSION_LOCK);
    CHECK_TEXT(reason_of(allm_session_error(t)), NULL);
    CHECK_INT(allm_session_append_user(t, "two"), ALLM_OK);
    CHECK_TEXT(crash_log(store, "trip"), "created change taken change");
    allm_session_free(t);
    t = allm_session_open(store, "none", ALLM_SESSION_LOCK);
    CHECK_TEXT(reason_of(allm_session_error(t)), "session_not_found");
    allm_session_free(t);
    t = allm_session_open(store, "a/b", ALLM_SESSION_LOCK);
    CHECK_TEXT(reason_of(allm_session_error(t)), "invalid_name");
    allm_session_free(t);
    t = allm_session_open(NULL, "a", ALLM_SESSION_LOCK);
    CHECK_TEXT(reason_of(allm_session_error(t)), "missing_store");
    allm_session_free(t);
    allm_store_free(store);
    crash_end();
}
EACH(has_one_holder)

/* --------------------------------------------------------- broken off --- */

static const struct settling {
    const char *why;
    allm_settle how;
    const char *answer, *said;
} settlings[] = {
    { "it happened", ALLM_SETTLE_HAPPENED, "booked",
      "u:hi a:(c0) t:c0=booked a:done" },
    { "it did not", ALLM_SETTLE_NOT_HAPPENED, NULL,
      "u:hi a:(c0) t:c0=This call did not happen: the program was interrupted "
      "before it took effect. a:done" },
    { "again", ALLM_SETTLE_AGAIN, NULL, "u:hi a:(c0) t:c0={\"x\":1} a:done" },
};

static void settle_one(const struct settling *row, const char *uri)
{
    check_row(row->why);
    crash_begin_at(uri);
    break_off();
    allm_store *store = crash_open(0, false);
    allm_engine *e = turns_engine("[" SAY("done") "]", "echo=echo", NULL);
    allm_session *s = open_session(store, ALLM_SESSION_LOCK);
    const allm_json *off = metadata(s, "broken_off");
    CHECK(allm_json_true(allm_json_get(off, "answered")));
    CHECK_INT(allm_json_count(allm_json_get(off, "unknown_tool_calls")), 1);
    CHECK_TEXT(said(s), "u:hi");
    CHECK_TEXT(run(allm_session_resume(e, s, NULL)), "unsettled_tool_calls");
    CHECK_TEXT(run(allm_session_reply(e, s, "x", NULL)), "turn_unfinished");
    CHECK_INT(allm_session_settle(s, "c0", (allm_settle)3, NULL),
              ALLM_ERR_MISUSE);
    CHECK_INT(allm_session_settle(s, "c9", row->how, NULL),
              row->answer ? ALLM_ERR_MISUSE : ALLM_ERR_SESSION);
    const allm_tool_answer answer = { .size = sizeof answer,
                                      .text = row->answer };
    CHECK_INT(allm_session_settle(s, "c0", row->how,
                                  row->answer ? &answer : NULL),
              ALLM_OK);
    CHECK_INT(allm_session_settle(s, "c0", row->how,
                                  row->answer ? &answer : NULL),
              ALLM_ERR_SESSION);
    CHECK_TEXT(reason_of(allm_session_error(s)), "unknown_tool_call_id");
    CHECK_TEXT(run(allm_session_resume(e, s, NULL)), NULL);
    CHECK_TEXT(said(s), row->said);
    CHECK(!metadata(s, "broken_off"));
    CHECK_TEXT(run(allm_session_resume(e, s, NULL)), "nothing_to_resume");
    allm_session_free(s);
    allm_engine_free(e);
    check_verified(store);
    CHECK_INT(allm_store_remove(store, "trip"), ALLM_OK);
    allm_store_free(store);
    crash_end();
}

static void settles(const char *uri)
{
    for (size_t i = 0; i < sizeof settlings / sizeof *settlings; i++)
        settle_one(&settlings[i], uri);
}
EACH(settles)

static void abandons(const char *uri)
{
    crash_begin_at(uri);
    break_off();
    allm_store *store = crash_open(0, false);
    allm_session *s = open_session(store, ALLM_SESSION_LOCK);
    CHECK_INT(allm_session_abandon(s), ALLM_OK);
    CHECK_TEXT(said(s), "");
    CHECK_TEXT(allm_json_text(metadata(s, "cancelled_input"), NULL), "hi");
    const allm_json *calls = metadata(s, "interrupted_tool_calls");
    CHECK_INT(allm_json_count(calls), 1);
    CHECK(!allm_json_true(allm_json_get(allm_json_at(calls, 0), "done")));
    CHECK_INT(allm_session_abandon(s), ALLM_ERR_SESSION);
    CHECK_TEXT(reason_of(allm_session_error(s)), "nothing_to_resume");
    CHECK_INT(allm_session_append_user(s, "x"), ALLM_OK);
    allm_session_free(s);
    check_verified(store);
    allm_store_free(store);
    crash_end();
}
EACH(abandons)

/* Complete turns stay. */
static void abandons_after_a_turn(void)
{
    crash_begin(false);
    allm_store *store = crash_open(5, false);
    allm_engine *e = turns_engine(TWO, "echo=echo", NULL);
    allm_session *s = open_session(store, ALLM_SESSION_CREATE);
    run(allm_session_reply(e, s, "hi", NULL));
    allm_session_free(s);
    allm_store_free(store);
    store = crash_open(0, false);
    s = open_session(store, ALLM_SESSION_LOCK);
    CHECK_TEXT(said(s), "u:hi a:(c0) t:c0={\"x\":1}");
    CHECK_INT(allm_session_abandon(s), ALLM_OK);
    CHECK_TEXT(said(s), "u:hi a:(c0) t:c0={\"x\":1}");
    CHECK(!metadata(s, "interrupted_tool_calls"));
    allm_session_free(s);
    check_verified(store);
    allm_engine_free(e);
    allm_store_free(store);
    crash_end();
}

/* What was added for the next call is not shown before its answer. */
static void shows_complete_turns(void)
{
    static const char schema[] =
        "{\"type\":\"json_schema\",\"schema\":{\"type\":\"object\"}}";
    allm_json *format = allm_json_parse(schema, sizeof schema - 1, NULL);
    size_t between = 0;
    for (uint64_t n = 1; n <= 9; n++) {
        crash_begin(false);
        allm_store *store = crash_open(n, false);
        allm_engine *e = turns_engine("[" SAY("no") ", " SAY("{}") "]",
                                      "echo=echo", NULL);
        allm_session *s = open_session(store, ALLM_SESSION_CREATE);
        run(allm_session_reply(e, s, "hi",
                               ALLM(call_opts, .response_format = format,
                                    .validate_output = 1)));
        allm_session_free(s);
        allm_store_free(store);
        store = crash_open(0, false);
        s = open_session(store, 0);
        if (crash_count(store, "trip", "call") == 2 &&
            crash_count(store, "trip", "response") == 1) {
            CHECK_TEXT(said(s), "u:hi a:no");
            between++;
        }
        allm_session_free(s);
        allm_engine_free(e);
        allm_store_free(store);
        crash_end();
    }
    CHECK(between > 0);
    allm_json_free(format);
}

/* A cancelled stream leaves the same note as an abandoned operation. */
static void cancels(const char *uri)
{
    const allm_event *event = NULL;
    crash_begin_at(uri);
    allm_store *store = crash_open(0, false);
    allm_engine *e = turns_engine(TWO, "echo=later:60000:echo", NULL);
    allm_session *s = open_session(store, ALLM_SESSION_CREATE);
    allm_call_opts opts = { .size = sizeof opts, .live_tool_events = 1 };
    allm_stream *stream = allm_session_reply(e, s, "hi", &opts);
    while (allm_stream_next(stream, &event) == ALLM_EVENT &&
           event->type != ALLM_EV_TOOL_EXECUTION_STARTED)
        ;
    allm_session *t = open_session(store, 0);
    CHECK_TEXT(said(t), "u:hi");
    CHECK(!metadata(t, "broken_off"));  /* it runs */
    allm_session_free(t);
    allm_stream_free(stream);
    CHECK_TEXT(allm_json_text(metadata(s, "cancelled_input"), NULL), "hi");
    CHECK_INT(allm_json_count(metadata(s, "interrupted_tool_calls")), 1);
    CHECK_INT(allm_session_append_user(s, "x"), ALLM_OK);
    CHECK_TEXT(crash_log(store, "trip"),
               "created begin call response intent end change");
    allm_session_free(s);
    check_verified(store);
    allm_engine_free(e);
    allm_store_free(store);
    crash_end();
}
EACH(cancels)

static void is_let_go(void)
{
    const allm_event *event = NULL;
    crash_begin(false);
    allm_store *store = crash_open(0, false);
    allm_engine *e = turns_engine(TWO, "echo=later:60000:echo", NULL);
    allm_session *s = open_session(store, ALLM_SESSION_CREATE);
    allm_call_opts opts = { .size = sizeof opts, .live_tool_events = 1 };
    allm_stream *stream = allm_session_reply(e, s, "hi", &opts);
    while (allm_stream_next(stream, &event) == ALLM_EVENT &&
           event->type != ALLM_EV_TOOL_EXECUTION_STARTED)
        ;
    CHECK_INT(allm_session_let_go(s), ALLM_OK);
    CHECK_INT(allm_stream_next(stream, &event), ALLM_ERR_SESSION);
    CHECK_TEXT(reason_of(allm_stream_error(stream)), "session_released");
    CHECK_INT(allm_session_append_user(s, "x"), ALLM_ERR_SESSION);
    CHECK_TEXT(reason_of(allm_session_error(s)), "session_released");
    allm_session *t = open_session(store, ALLM_SESSION_LOCK);
    CHECK(metadata(t, "broken_off") != NULL);
    CHECK_INT(allm_session_abandon(t), ALLM_OK);
    allm_session_free(t);
    allm_stream_free(stream);
    allm_session_free(s);
    check_verified(store);
    allm_engine_free(e);
    allm_store_free(store);
    crash_end();
}

/* The key of a call names the session, its begin, the turn and the index. */
static void has_keys(void)
{
    crash_begin(false);
    allm_store *store = crash_open(0, false);
    allm_engine *e = turns_engine(TWO, "echo=echo", NULL);
    allm_session *s = open_session(store, ALLM_SESSION_CREATE);
    CHECK_TEXT(run(allm_session_reply(e, s, "hi", NULL)), NULL);
    allm_json *all = allm_store_records(store, "trip", 5, 1);
    const allm_json *intent = allm_json_at(all, 0);
    allm_json *made = allm_store_records(store, "trip", 1, 1);
    const char *uid =
        allm_json_text(allm_json_get(allm_json_at(made, 0), "uid"), NULL);
    char key[128];
    snprintf(key, sizeof key, "%s/2/0/0", uid ? uid : "");
    CHECK_TEXT(allm_json_text(allm_json_get(intent, "type"), NULL), "intent");
    CHECK_TEXT(allm_json_text(allm_json_get(intent, "key"), NULL), key);
    allm_json_free(made);
    allm_json_free(all);
    allm_session_free(s);
    allm_engine_free(e);
    allm_store_free(store);
    crash_end();
}

static allm_status no_journal(const allm_journal_entry *e, void *ud)
{
    (void)e;
    (void)ud;
    return ALLM_OK;
}

static void writes_its_own_journal(void)
{
    crash_begin(false);
    allm_store *store = crash_open(0, false);
    allm_engine *e = turns_engine(TWO, "echo=echo", NULL);
    allm_session *s = open_session(store, ALLM_SESSION_CREATE);
    const allm_call_opts opts = { .size = sizeof opts, .journal = no_journal };
    CHECK_TEXT(run(allm_session_reply(e, s, "hi", &opts)), "invalid_options");
    CHECK_TEXT(run(allm_session_resume(e, s, &opts)), "invalid_options");
    allm_session_free(s);
    allm_engine_free(e);
    allm_store_free(store);
    crash_end();
}

/* ----------------------------------------------- from another process --- */

static void takes_sent_messages(const char *uri)
{
    crash_begin_at(uri);
    allm_store *store = crash_open(0, false);
    const allm_message one = { .size = sizeof one, .role = ALLM_ROLE_USER,
                               .text = "one" };
    allm_message two = one;
    two.text = "two";
    CHECK_INT(allm_store_send(store, "trip", &one, "q"), ALLM_OK);
    CHECK_INT(allm_store_send(store, "trip", &two, NULL), ALLM_OK);
    two.role = ALLM_ROLE_SYSTEM;
    CHECK_INT(allm_store_send(store, "trip", &two, NULL), ALLM_ERR_MISUSE);
    CHECK_INT(allm_store_send(store, "trip", NULL, NULL), ALLM_ERR_NOMEM);
    CHECK_TEXT(stored_reason(allm_store_error(store)), "out_of_memory");
    allm_session *s = allm_session_claim(store, "other", 0);
    CHECK_TEXT(reason_of(allm_session_error(s)), "nothing_due");
    allm_session_free(s);
    allm_engine *e = turns_engine("[" SAY("x") "]", "echo=echo", NULL);
    s = allm_session_claim(store, "q", 0);
    CHECK_TEXT(reason_of(allm_session_error(s)), NULL);
    CHECK_TEXT(run(allm_session_resume(e, s, NULL)), NULL);
    CHECK_TEXT(said(s), "u:one u:two a:x");
    CHECK_TEXT(run(allm_session_resume(e, s, NULL)), "nothing_to_resume");
    allm_session_free(s);
    s = allm_session_claim(store, "q", 0);
    CHECK_TEXT(reason_of(allm_session_error(s)), "nothing_due");
    allm_session_free(s);
    check_verified(store);
    allm_engine_free(e);
    allm_store_free(store);
    crash_end();
}
EACH(takes_sent_messages)

/* A call that fails before its first content does not lose them. */
static void keeps_sent_messages_of_a_failed_call(const char *uri)
{
    crash_begin_at(uri);
    allm_store *store = crash_open(0, false);
    const allm_message one = { .size = sizeof one, .role = ALLM_ROLE_USER,
                               .text = "one" };
    CHECK_INT(allm_store_send(store, "trip", &one, "q"), ALLM_OK);
    allm_engine *none = turns_engine("[]", "echo=echo", NULL);
    allm_engine *e = turns_engine("[" SAY("x") "]", "echo=echo", NULL);
    allm_session *s = allm_session_claim(store, "q", 0);
    CHECK_TEXT(run(allm_session_resume(none, s, NULL)), "no_scripted_response");
    allm_session_free(s);
    s = allm_session_claim(store, "q", 0);
    CHECK_TEXT(reason_of(allm_session_error(s)), NULL);
    CHECK_TEXT(run(allm_session_resume(e, s, NULL)), NULL);
    CHECK_TEXT(said(s), "u:one a:x");
    allm_session_free(s);
    check_verified(store);
    allm_engine_free(none);
    allm_engine_free(e);
    allm_store_free(store);
    crash_end();
}
EACH(keeps_sent_messages_of_a_failed_call)

static void is_cancelled_elsewhere(const char *uri)
{
    const allm_event *event = NULL;
    crash_begin_at(uri);
    break_off();
    allm_store *store = crash_open(0, false);
    CHECK_INT(allm_store_cancel(store, "none"), ALLM_ERR_SESSION);
    CHECK_INT(allm_store_cancel(store, "trip"), ALLM_OK);
    allm_engine *e = turns_engine(TWO, "echo=later:60000:echo", NULL);
    allm_session *s = open_session(store, ALLM_SESSION_LOCK);
    CHECK(!metadata(s, "broken_off"));
    allm_call_opts opts = { .size = sizeof opts, .live_tool_events = 1 };
    allm_stream *stream = allm_session_reply(e, s, "hi", &opts);
    while (allm_stream_next(stream, &event) == ALLM_EVENT &&
           event->type != ALLM_EV_TOOL_EXECUTION_STARTED)
        ;
    allm_store *other = crash_open(0, false);
    CHECK_INT(allm_store_cancel(other, "trip"), ALLM_OK);
    CHECK_INT(allm_stream_wait(stream), ALLM_OK);
    allm_stream_free(stream);
    CHECK_TEXT(allm_json_text(metadata(s, "cancelled_input"), NULL), "hi");
    allm_session_free(s);
    check_verified(store);
    allm_engine_free(e);
    allm_store_free(other);
    allm_store_free(store);
    crash_end();
}
EACH(is_cancelled_elsewhere)

/* ------------------------------------------------------------ looking --- */

static void lists_and_removes(const char *uri)
{
    crash_begin_at(uri);
    allm_store *store = crash_open(0, false);
    for (int i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "s%d", i);
        allm_session *s = allm_session_open(store, name, ALLM_SESSION_CREATE);
        allm_session_append_user(s, "a title\nand more");
        allm_session_free(s);
    }
    allm_json *v = allm_store_list(store, ALLM(store_query, .limit = 2,
                                               .words = "MORE a"));
    CHECK_INT(allm_json_count(allm_json_get(v, "sessions")), 2);
    CHECK(allm_json_true(allm_json_get(v, "more")));
    allm_json_free(v);
    v = allm_store_list(store, ALLM(store_query, .words = "more nothing"));
    CHECK_INT(allm_json_count(allm_json_get(v, "sessions")), 0);
    allm_json_free(v);
    v = allm_store_list(store, ALLM(store_query, .words = "s1"));
    CHECK_INT(allm_json_count(allm_json_get(v, "sessions")), 0);
    allm_json_free(v);
    v = allm_store_list(store, ALLM(store_query, .limit = 2));
    const allm_json *list = allm_json_get(v, "sessions");
    CHECK_INT(allm_json_count(list), 2);
    CHECK(allm_json_true(allm_json_get(v, "more")));
    const allm_json *first = allm_json_at(list, 0);
    CHECK_TEXT(allm_json_text(allm_json_get(first, "title"), NULL), "a title");
    CHECK_TEXT(allm_json_text(allm_json_get(first, "status"), NULL), "idle");
    allm_json_free(v);
    CHECK_INT(allm_store_remove(store, "s0"), ALLM_OK);
    CHECK_INT(allm_store_remove(store, "s0"), ALLM_ERR_SESSION);
    CHECK_TEXT(reason_of(allm_store_error(store)), "session_not_found");
    allm_session *held = allm_session_open(store, "s1", ALLM_SESSION_LOCK);
    CHECK_INT(allm_store_remove(store, "s1"), ALLM_ERR_SESSION);
    CHECK_TEXT(reason_of(allm_store_error(store)), "session_locked");
    v = allm_store_prune(store, ALLM(store_query, .older_ms = UINT64_MAX), 0);
    CHECK_INT(allm_json_count(allm_json_get(v, "removed")), 0);
    allm_json_free(v);
    v = allm_store_prune(store, NULL, ALLM_PRUNE_LOOK);
    CHECK_INT(allm_json_count(allm_json_get(v, "removed")), 1);
    allm_json_free(v);
    v = allm_store_prune(store, NULL, 0);
    CHECK_INT(allm_json_count(allm_json_get(v, "removed")), 1);
    allm_json_free(v);
    v = allm_store_list(store, NULL);
    CHECK_INT(allm_json_count(allm_json_get(v, "sessions")), 1);
    allm_json_free(v);
    allm_session_free(held);
    allm_store_free(store);
    crash_end();
}
EACH(lists_and_removes)

static size_t pruned(allm_store *store, uint32_t flags)
{
    allm_json *v = allm_store_prune(store, NULL, ALLM_PRUNE_JOURNAL | flags);
    size_t n = allm_json_count(allm_json_get(v, "removed"));
    allm_json_free(v);
    return n;
}

/* A session with a history: an operation, a long text, another thread. */
static void make_history(allm_session *s, char *text)
{
    allm_engine *e = turns_engine(TWO, "echo=echo", NULL);
    CHECK_TEXT(run(allm_session_reply(e, s, "hi", NULL)), NULL);
    CHECK_INT(allm_session_append_user(s, text), ALLM_OK);
    CHECK_INT(allm_session_replace(s, ALLM(session_record, .id = NULL)),
              ALLM_OK);
    text[0] = 'y';
    CHECK_INT(allm_session_append_user(s, text), ALLM_OK);
    allm_engine_free(e);
}

static void prunes_the_journal(const char *uri)
{
    char text[6000];
    crash_begin_at(uri);
    allm_store *store = crash_open(0, false);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    allm_session *s = open_session(store, ALLM_SESSION_CREATE);
    make_history(s, text);
    CHECK_INT(pruned(store, 0), 0);             /* it is held */
    allm_session_free(s);
    CHECK_INT(pruned(store, ALLM_PRUNE_LOOK), 1);
    CHECK_INT(pruned(store, 0), 1);
    CHECK_INT(pruned(store, 0), 0);             /* nothing is left to remove */
    CHECK_INT(pruned(store, ALLM_PRUNE_LOOK), 0);
    check_verified(store);
    allm_json *v = allm_store_records(store, "trip", 0, 0);
    CHECK_INT(allm_json_count(v), 2);
    allm_json_free(v);
    s = open_session(store, ALLM_SESSION_LOCK);
    CHECK_INT(allm_thread_count(allm_session_thread(s)), 1);
    CHECK_TEXT(allm_thread_last(allm_session_thread(s))->text, text);
    CHECK_INT(allm_session_fork(s, 2, "then"), ALLM_ERR_MISUSE);
    CHECK(strstr(allm_store_error(store)->message, "pruned"));
    CHECK_INT(allm_session_fork(s, 0, "now"), ALLM_OK);
    allm_stream *f = allm_store_follow(store, "trip", "0", 0);
    CHECK_TEXT(run(f), "cursor_gone");
    CHECK_INT(allm_session_append_user(s, "more"), ALLM_OK);
    allm_session_free(s);
    check_verified(store);
    CHECK_INT(pruned(store, 0), 1);
    check_verified(store);
    CHECK_INT(allm_store_remove(store, "trip"), ALLM_OK);
    allm_store_free(store);
    crash_end();
}
EACH(prunes_the_journal)

static void forks(const char *uri)
{
    crash_begin_at(uri);
    allm_store *store = crash_open(1, false);
    allm_session *s = allm_session_open(store, "left", ALLM_SESSION_CREATE);
    allm_session_append_user(s, "lost");
    allm_session_free(s);
    allm_store_free(store);
    store = crash_open(0, false);
    allm_engine *e = turns_engine(TWO, "echo=echo", NULL);
    s = open_session(store, ALLM_SESSION_CREATE);
    CHECK_TEXT(run(allm_session_reply(e, s, "hi", NULL)), NULL);
    CHECK_INT(allm_session_fork(s, 0, "left"), ALLM_OK);
    const allm_message one = { .size = sizeof one, .role = ALLM_ROLE_USER,
                               .text = "one" };
    allm_session *held = allm_session_open(
        store, "held", ALLM_SESSION_LOCK | ALLM_SESSION_CREATE);
    CHECK(allm_session_fork(s, 0, "held") < 0);     /* a holder that lives */
    allm_session_free(held);
    CHECK_INT(allm_store_send(store, "sent", &one, "q"), ALLM_OK);
    CHECK_INT(allm_session_fork(s, 0, "sent"), ALLM_ERR_SESSION);
    CHECK_INT(allm_session_fork(s, 0, "now"), ALLM_OK);
    CHECK_INT(allm_session_fork(s, 7, "then"), ALLM_OK);
    CHECK_INT(allm_session_fork(s, 4, "inside"), ALLM_ERR_MISUSE);
    CHECK_INT(allm_session_fork(s, 99, "late"), ALLM_ERR_MISUSE);
    CHECK_INT(allm_session_fork(s, 0, "now"), ALLM_ERR_SESSION);
    CHECK_TEXT(reason_of(allm_store_error(store)), "session_exists");
    allm_session *t = allm_session_open(store, "now", 0);
    CHECK_TEXT(said(t), "u:hi a:(c0) t:c0={\"x\":1} a:done");
    allm_session_free(t);
    t = allm_session_open(store, "then", 0);
    CHECK_TEXT(said(t), "u:hi a:(c0) t:c0={\"x\":1}");
    CHECK_INT(GET(allm_session_fields(t), status), ALLM_SESSION_IDLE);
    allm_session_free(t);
    check_verified(store);
    allm_session_free(s);
    allm_engine_free(e);
    allm_store_free(store);
    crash_end();
}
EACH(forks)

/* Also after later records have removed messages. */
static void shows_the_past(const char *uri)
{
    crash_begin_at(uri);
    allm_store *store = crash_open(0, false);
    allm_engine *e = turns_engine(TWO, "echo=echo", NULL);
    allm_session *s = open_session(store, ALLM_SESSION_CREATE);
    CHECK_TEXT(run(allm_session_reply(e, s, "hi", NULL)), NULL);
    CHECK_INT(allm_session_replace(s, ALLM(session_record, .id = "trip")),
              ALLM_OK);
    allm_session *t = allm_session_at(s, 4);
    CHECK_TEXT(said(t), "u:hi");
    allm_session_free(t);
    t = allm_session_at(s, 11);
    CHECK_TEXT(said(t), "u:hi a:(c0) t:c0={\"x\":1} a:done");
    CHECK_INT(GET(allm_session_fields(t), status), ALLM_SESSION_COMPLETED);
    CHECK_INT(allm_session_append_user(t, "a value"), ALLM_OK);
    allm_session_free(t);
    t = allm_session_at(s, 0);
    CHECK_TEXT(said(t), "");
    allm_session_free(t);
    t = allm_session_at(s, 99);
    CHECK_TEXT(reason_of(allm_session_error(t)), "wrong_seq");
    allm_session_free(t);
    check_verified(store);
    allm_session_free(s);
    allm_engine_free(e);
    allm_store_free(store);
    crash_end();
}
EACH(shows_the_past)

/* Long strings, and objects that look like ours, come back unchanged. */
static void keeps_long_strings(void)
{
    enum { LONG = 10000 };
    char *text = calloc(1, LONG + 1);
    if (!text)
        return;
    memset(text, 'x', LONG);
    crash_begin(false);
    allm_store *store = crash_open(0, false);
    allm_json *like = play_json("{'$blob': 'x', 'm': {'$plain': {}}}");
    allm_session *s = open_session(store, ALLM_SESSION_CREATE);
    const allm_message m = { .size = sizeof m, .role = ALLM_ROLE_USER,
                             .text = text, .metadata = like };
    CHECK_INT(allm_session_append(s, &m), ALLM_OK);
    allm_session_free(s);
    s = open_session(store, 0);
    size_t n = 0;
    const allm_message *const *all = allm_session_messages(s, &n);
    if (CHECK(n == 1)) {
        CHECK_TEXT(all[0]->text, text);
        CHECK(allm_json_equal(all[0]->metadata, like));
    }
    check_verified(store);
    allm_session_free(s);
    allm_json_free(like);
    allm_store_free(store);
    crash_end();
    free(text);
}

/* An exported session, imported under a new name, is the same document. */
static void imports_what_it_exported(void)
{
    char path[] = "/tmp/allm-export-XXXXXX";
    int fd = mkstemp(path);
    crash_begin(false);
    allm_store *store = crash_open(0, false);
    allm_engine *e = turns_engine(TWO, "echo=echo", NULL);
    allm_session *s = open_session(store, ALLM_SESSION_CREATE);
    CHECK_TEXT(run(allm_session_reply(e, s, "hi", NULL)), NULL);
    CHECK_INT(allm_session_save(s, path), ALLM_OK);
    allm_session *file = allm_session_load(path, 0);
    allm_session *t = allm_session_open(store, "new", ALLM_SESSION_CREATE);
    if (allm_session_fields(file))
        CHECK_INT(allm_session_replace(t, allm_session_fields(file)), ALLM_OK);
    CHECK_TEXT(said(t), "u:hi a:(c0) t:c0={\"x\":1} a:done");
    CHECK_INT(GET(allm_session_fields(t), status),
              GET(allm_session_fields(s), status));
    allm_session_free(t);
    allm_session_free(file);
    allm_session_free(s);
    check_verified(store);
    allm_engine_free(e);
    allm_store_free(store);
    crash_end();
    close(fd);
    unlink(path);
}

TESTS = {
    TEST_EACH(changes),
    TEST_EACH(has_one_holder),
    TEST_EACH(settles),
    TEST_EACH(abandons),
    TEST(abandons_after_a_turn),
    TEST_ONCE(shows_complete_turns),
    TEST_EACH(cancels),
    TEST(is_let_go),
    TEST(has_keys),
    TEST(writes_its_own_journal),
    TEST_EACH(takes_sent_messages),
    TEST_EACH(keeps_sent_messages_of_a_failed_call),
    TEST_ALL(is_cancelled_elsewhere),
    TEST_EACH(lists_and_removes),
    TEST_ALL(prunes_the_journal),
    TEST_EACH(forks),
    TEST_EACH(shows_the_past),
    TEST(keeps_long_strings),
    TEST_ONCE(imports_what_it_exported),
    TESTS_END,
};
