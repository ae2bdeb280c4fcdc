/*
 * test_follow.c - follow a session: events, cursors, take-overs
 *
 * Each test runs on all stores.  A reader that stops anywhere and continues
 * from its cursor with a new handle sees what a reader sees that never stopped.
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/stored.h"
#include "harness/turns.h"

#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALL(id, name) \
    "['tool_call', {'id': '" id "', 'name': '" name "', 'arguments': {'x': 1}}]"
#define TURN(id, name) "[" CALL(id, name) ", ['finish', 'tool_calls']]"
#define SAY(text) \
    "[['text', '" text "'], ['text', ' and more'], ['finish', 'stop']]"
#define TWO "[" TURN("c0", "echo") ", " SAY("done") "]"

static const char *reason_of(const allm_error *e)
{
    return e ? e->reason : NULL;
}

/* ------------------------------------------------------------- readers --- */

enum { MOST = 64, LENGTH = 4096 };

/* What a reader has seen: the JSON of each event, without its number. */
struct seen {
    size_t count;
    char cursors[MOST][24], events[MOST][LENGTH];
};

static void note_event(struct seen *seen, const allm_event *event)
{
    allm_event copy = *event;
    copy.seq = 0;
    allm_text *text = allm_event_json(&copy);
    if (seen->count < MOST && text) {
        snprintf(seen->cursors[seen->count], sizeof seen->cursors[0], "%s",
                 event->cursor);
        snprintf(seen->events[seen->count++], LENGTH, "%s",
                 allm_text_bytes(text, NULL));
    }
    allm_text_free(text);
}

/* Pull to the end, or `most` events; the reason of an error. */
static const char *read_events(allm_stream *s, struct seen *seen, size_t most)
{
    static char reason[64];
    const allm_event *event = NULL;
    while (most-- && allm_stream_next(s, &event) == ALLM_EVENT)
        note_event(seen, event);
    snprintf(reason, sizeof reason, "%s",
             allm_stream_error(s) ? allm_stream_error(s)->reason : "");
    return *reason ? reason : NULL;
}

/* With a new handle, from a cursor to the end of one operation. */
static const char *follow_once(const char *uri, const char *cursor,
                               struct seen *seen)
{
    allm_store *store = stored_open(uri, NULL);
    allm_stream *s = allm_store_follow(store, "trip", cursor, ALLM_FOLLOW_ONE);
    const char *reason = read_events(s, seen, MOST);
    allm_stream_free(s);
    allm_store_free(store);
    return reason;
}

/* The events after number `from` of one are those of the other. */
static bool is_rest(const struct seen *whole, size_t from,
                    const struct seen *rest)
{
    CHECK_INT(rest->count, whole->count - from);
    bool equal = rest->count == whole->count - from;
    for (size_t i = 0; equal && i < rest->count; i++) {
        equal = !strcmp(whole->cursors[from + i], rest->cursors[i]) &&
                !strcmp(whole->events[from + i], rest->events[i]);
        CHECK_TEXT(rest->events[i], whole->events[from + i]);
    }
    return equal;
}

/* Stop after every event and continue. */
static void check_every_cursor(const char *uri, const struct seen *whole)
{
    for (size_t i = 0; i + 1 < whole->count; i++) {
        static struct seen rest;
        rest.count = 0;
        check_row(whole->cursors[i]);
        CHECK_TEXT(follow_once(uri, whole->cursors[i], &rest), NULL);
        if (!is_rest(whole, i + 1, &rest))
            break;
    }
    check_row(NULL);
}

/* "session_changed message_started ...": the types; parts of a text, which may
 * have been merged, once. */
static const char *types_of(const struct seen *seen)
{
    static char out[2048];
    size_t n = 0;
    bool delta = false;
    out[0] = '\0';
    for (size_t i = 0; i < seen->count; i++) {
        char type[40] = "?";
        sscanf(seen->events[i], "{\"type\":\"%39[a-z_]", type);
        bool again = delta && !strcmp(type, "text_delta");
        delta = !strcmp(type, "text_delta");
        if (!again)
            n += (size_t)snprintf(out + n, sizeof out - n, "%s%s", n ? " " : "",
                                  type);
    }
    return out;
}

static const char *run(allm_stream *s)
{
    static char reason[64];
    allm_stream_wait(s);
    const allm_error *e = allm_stream_error(s);
    snprintf(reason, sizeof reason, "%s", e ? e->reason : "");
    allm_stream_free(s);
    return *reason ? reason : NULL;
}

/* A chat with a tool, in a new session "trip". */
static const char *talk(allm_store *store, uint32_t flags)
{
    allm_engine *e = turns_engine(TWO, "echo=echo", NULL);
    allm_session *s = allm_session_open(store, "trip", flags);
    const char *reason = reason_of(allm_session_error(s));
    if (!reason)
        reason = run(allm_session_reply(e, s, "hi", NULL));
    allm_session_free(s);
    allm_engine_free(e);
    return reason;
}

/* -------------------------------------------------------------- events --- */

#define LIVE \
    "message_started tool_call_started tool_call_completed " \
    "message_completed tool_execution_started tool_execution_completed " \
    "tool_result_encoded step_completed message_started text_delta " \
    "text_completed message_completed step_completed chat_completed"

static void shows_an_operation(const char *uri)
{
    static struct seen seen;
    allm_store *store = stored_open(uri, NULL);
    seen.count = 0;
    CHECK_TEXT(talk(store, ALLM_SESSION_CREATE), NULL);
    CHECK_TEXT(follow_once(uri, "0", &seen), NULL);
    CHECK_TEXT(types_of(&seen),
               "session_changed session_changed " LIVE " session_changed");
    CHECK_TEXT(seen.cursors[0], "1.0");
    CHECK_TEXT(seen.cursors[1], "2.0");
    CHECK_TEXT(seen.cursors[2], "2.1");
    if (CHECK(seen.count > 4)) {
        CHECK_TEXT(seen.events[0],
                   "{\"type\":\"session_changed\",\"seq\":0,\"cursor\":\"1.0\","
                   "\"record\":1,\"keep\":0,\"messages\":[],"
                   "\"status\":\"idle\"}");
        const char *last = seen.events[seen.count - 1];
        CHECK(strstr(last, "\"keep\":1,\"messages\":[{\"role\":\"assistant\""));
        CHECK(strstr(last, "\"content\":\"done and more\""));
        CHECK(strstr(last, "\"status\":\"completed\""));
    }
    check_every_cursor(uri, &seen);
    allm_store_free(store);
}
EACH(shows_an_operation)

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Drain what comes within this time; true: the stream has ended. */
static bool drain(allm_hub *hub, struct seen *seen, int timeout_ms)
{
    void *tag = NULL;
    allm_stream *s;
    const allm_event *event = NULL;
    const int64_t end_ms = now_ms() + timeout_ms;
    while ((s = allm_hub_wait(hub, timeout_ms, &tag))) {
        allm_status status;
        int64_t left_ms = end_ms - now_ms();
        timeout_ms = left_ms > 0 ? (int)left_ms : 0;
        while ((status = allm_stream_next(s, &event)) == ALLM_EVENT)
            note_event(seen, event);
        if (status != ALLM_AGAIN)
            return true;
    }
    return false;
}

/* The reader reads while the operation runs. */
static void follows_while_it_runs(const char *uri)
{
    static struct seen seen, again;
    const allm_event *event = NULL;
    allm_store *store = stored_open(uri, ALLM(store_opts, .live_ms = 1));
    allm_store *other = stored_open(uri, NULL);
    allm_engine *e = turns_engine(TWO, "echo=later:20:echo", NULL);
    allm_session *s = allm_session_open(store, "trip", ALLM_SESSION_CREATE);
    allm_hub *hub = allm_hub_new(NULL);
    allm_session_append_user(s, "one");
    allm_stream *reader = allm_store_follow(other, "trip", NULL,
                                            ALLM_FOLLOW_ONE);
    allm_hub_add(hub, reader, NULL);
    seen.count = again.count = 0;
    drain(hub, &seen, 0);
    allm_stream *stream = allm_session_reply(e, s, "hi", NULL);
    while (allm_stream_next(stream, &event) == ALLM_EVENT)
        drain(hub, &seen, 0);
    CHECK(!allm_stream_error(stream));
    CHECK(drain(hub, &seen, 60000));
    CHECK(!allm_stream_error(reader));
    CHECK_TEXT(types_of(&seen), "session_changed " LIVE " session_changed");
    check_every_cursor(uri, &seen);
    allm_stream_free(reader);
    allm_hub_free(hub);
    allm_stream_free(stream);
    allm_session_free(s);
    allm_engine_free(e);
    allm_store_free(other);
    allm_store_free(store);
}
EACH(follows_while_it_runs)

/* The reader begins where it was made, not where it looks first. */
static void begins_where_it_was_made(const char *uri)
{
    static struct seen seen;
    allm_store *store = stored_open(uri, NULL);
    allm_store *other = stored_open(uri, NULL);
    allm_session *s = allm_session_open(store, "trip", ALLM_SESSION_CREATE);
    allm_hub *hub = allm_hub_new(NULL);
    allm_session_append_user(s, "one");
    allm_session_free(s);
    allm_stream *reader = allm_store_follow(other, "trip", NULL,
                                            ALLM_FOLLOW_ONE);
    allm_hub_add(hub, reader, NULL);
    seen.count = 0;
    CHECK_TEXT(talk(store, ALLM_SESSION_LOCK), NULL);
    CHECK(drain(hub, &seen, 10000));
    CHECK(!allm_stream_error(reader));
    CHECK_TEXT(types_of(&seen), "session_changed " LIVE " session_changed");
    allm_stream_free(reader);
    allm_hub_free(hub);
    allm_store_free(other);
    allm_store_free(store);
}
EACH(begins_where_it_was_made)

/* ------------------------------------------------------------ take-over --- */

static allm_status dies_at(void *ud, uint64_t count, bool durable)
{
    const uint64_t *at = ud;
    return durable && count == *at ? ALLM_ERR_STORE : ALLM_OK;
}

/* The holder dies after commit `at`; another one continues. */
static void break_and_resume(const char *uri, uint64_t at)
{
    const char *lease = strstr(uri, "postgresql") ? "x" : NULL;
    allm_store *first = stored_open(uri, ALLM(store_opts, .on_commit = dies_at,
                                              .on_commit_ud = &at,
                                              .lease_ms = lease ? 1 : 0));
    CHECK_TEXT(talk(first, ALLM_SESSION_CREATE), "store_unreachable");
    allm_store_free(first);
    allm_store *second = stored_open(uri, NULL);
    allm_engine *e = turns_engine(TWO, "echo=echo", NULL);
    allm_session *s = NULL;
    do {                        /* until the lease has ended */
        allm_session_free(s);
        s = allm_session_open(second, "trip", ALLM_SESSION_LOCK);
    } while (lease && reason_of(allm_session_error(s)) &&
             !strcmp(reason_of(allm_session_error(s)), "session_locked"));
    CHECK_TEXT(reason_of(allm_session_error(s)), NULL);
    allm_session_settle(s, "c0", ALLM_SETTLE_AGAIN, NULL);
    CHECK_TEXT(run(allm_session_resume(e, s, NULL)), NULL);
    allm_session_free(s);
    allm_engine_free(e);
    allm_store_free(second);
}

static void follows_a_take_over_at(const char *uri, uint64_t at)
{
    static struct seen seen, before;
    allm_hub *hub = allm_hub_new(NULL);
    allm_store *store = stored_open(uri, NULL);
    allm_session *s = allm_session_open(store, "trip", ALLM_SESSION_CREATE);
    CHECK_INT(allm_session_append_user(s, "zero"), ALLM_OK);
    CHECK_INT(allm_session_let_go(s), ALLM_OK);
    allm_session_free(s);
    allm_stream *reader = allm_store_follow(store, "trip", "0",
                                            ALLM_FOLLOW_ONE);
    seen.count = before.count = 0;
    allm_hub_add(hub, reader, NULL);
    drain(hub, &seen, 0);
    break_and_resume(uri, at);
    CHECK(drain(hub, &seen, 60000));
    CHECK(!allm_stream_error(reader));
    CHECK_INT(strncmp(types_of(&seen),
                      "session_changed session_changed "
                      "session_changed",
                      47),
              0);
    check_every_cursor(uri, &seen);
    allm_stream_free(reader);
    allm_hub_free(hub);
    CHECK_INT(allm_store_remove(store, "trip"), ALLM_OK);
    allm_store_free(store);
}

static void follows_a_take_over(const char *uri)
{
    for (uint64_t at = 1; at <= 4; at++)
        follows_a_take_over_at(uri, at);
}
EACH(follows_a_take_over)

/* -------------------------------------------------------------- others --- */

/* In a child: the reader continues after half of the events. */
static void follows_from_another_process(const char *uri)
{
    static struct seen whole, rest;
    int status = -1;
    allm_store *store = stored_open(uri, NULL);
    CHECK_TEXT(talk(store, ALLM_SESSION_CREATE), NULL);
    allm_store_free(store);     /* a child cannot use SQLite otherwise */
    whole.count = rest.count = 0;
    CHECK_TEXT(follow_once(uri, "0", &whole), NULL);
    size_t half = whole.count / 2;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const char *why = follow_once(uri, whole.cursors[half], &rest);
        stored_leave(!why && is_rest(&whole, half + 1, &rest) ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
}

static void process_on_disk(void)
{
    stored_in_file(follows_from_another_process);
}
static void process_on_server(void)
{
    stored_on_server(follows_from_another_process, false);
}

/* The reader waits through a crash of the server. */
static void follows_across_a_restart(const char *uri)
{
    static struct seen seen;
    allm_hub *hub = allm_hub_new(NULL);
    allm_store *store = stored_open(uri, NULL);
    CHECK_TEXT(talk(store, ALLM_SESSION_CREATE), NULL);
    allm_store_free(store);
    store = stored_open(uri, NULL);
    /* from the newest record: its first look may come after the restart */
    allm_json *records = allm_store_records(store, "trip", 0, 0);
    char cursor[24];
    snprintf(cursor, sizeof cursor, "%zu", allm_json_count(records));
    allm_json_free(records);
    allm_stream *reader = allm_store_follow(store, "trip", cursor,
                                            ALLM_FOLLOW_ONE);
    seen.count = 0;
    allm_hub_add(hub, reader, NULL);
    drain(hub, &seen, 0);
    CHECK(stored_restart_server());
    allm_store *other = stored_open(uri, NULL);
    CHECK_TEXT(talk(other, ALLM_SESSION_LOCK), NULL);
    CHECK(drain(hub, &seen, 60000));
    CHECK(!allm_stream_error(reader));
    CHECK_TEXT(types_of(&seen), "session_changed " LIVE " session_changed");
    allm_stream_free(reader);
    allm_hub_free(hub);
    allm_store_free(other);
    allm_store_free(store);
}

static void restart_of_server(void)
{
    stored_on_server(follows_across_a_restart, false);
}

/* The events of an operation go with the next one. */
static void condenses_old_operations(const char *uri)
{
    static struct seen seen;
    allm_store *store = stored_open(uri, NULL);
    CHECK_TEXT(talk(store, ALLM_SESSION_CREATE), NULL);
    CHECK_TEXT(talk(store, ALLM_SESSION_LOCK), NULL);
    seen.count = 0;
    CHECK_TEXT(follow_once(uri, "2.3", &seen), "cursor_gone");
    CHECK_INT(seen.count, 0);
    CHECK_TEXT(follow_once(uri, "2", &seen), NULL);
    CHECK_TEXT(types_of(&seen), "message_completed tool_result_encoded "
                                "message_completed session_changed");
    check_every_cursor(uri, &seen);
    allm_store_free(store);
}
EACH(condenses_old_operations)

/* A store that writes no events: what records say. */
static void works_without_live_events(const char *uri)
{
    static struct seen seen;
    allm_store *store = stored_open(uri,
                                    ALLM(store_opts, .live_ms = UINT32_MAX));
    CHECK_TEXT(talk(store, ALLM_SESSION_CREATE), NULL);
    seen.count = 0;
    CHECK_TEXT(follow_once(uri, "1", &seen), NULL);
    CHECK_TEXT(types_of(&seen),
               "session_changed message_completed tool_result_encoded "
               "message_completed session_changed");
    check_every_cursor(uri, &seen);
    allm_store_free(store);
}
EACH(works_without_live_events)

/* The last events were lost, and their holder lives: what records say. */
static void ends_without_the_last_events(const char *uri)
{
    static struct seen seen;
    allm_hub *hub = allm_hub_new(NULL);
    allm_store *store = stored_open(uri, ALLM(store_opts, .live_ms = 60000));
    allm_engine *e = turns_engine(TWO, "echo=echo", NULL);
    allm_session *s = allm_session_open(store, "trip", ALLM_SESSION_CREATE);
    CHECK_TEXT(run(allm_session_reply(e, s, "hi", NULL)), NULL);
    allm_json_free(allm_store_records(store, "trip", 0, 0));    /* behind it */
    CHECK(stored_sql("DELETE FROM allm_live WHERE body LIKE '% end%'"));
    allm_stream *reader = allm_store_follow(store, "trip", "0",
                                            ALLM_FOLLOW_ONE);
    allm_hub_add(hub, reader, NULL);
    seen.count = 0;
    CHECK(drain(hub, &seen, 30000));
    CHECK_TEXT(types_of(&seen),
               "session_changed session_changed message_completed "
               "tool_result_encoded message_completed session_changed");
    allm_stream_free(reader);
    allm_hub_free(hub);
    allm_session_free(s);
    allm_engine_free(e);
    allm_store_free(store);
}

static void lost_on_server(void)
{
    stored_on_server(ends_without_the_last_events, false);
}

/* Messages are checked wherever they are read. */
static void finds_damage(const char *uri)
{
    static struct seen seen;
    allm_store *store = stored_open(uri, NULL);
    CHECK_TEXT(talk(store, ALLM_SESSION_CREATE), NULL);
    allm_session *s = allm_session_open(store, "trip", 0);
    CHECK(stored_sql(
        "UPDATE allm_message SET body = replace(body, 'done', 'gone')"));
    seen.count = 0;
    CHECK_TEXT(follow_once(uri, "0", &seen), "damaged_session");
    allm_session *then = allm_session_at(s, 11);
    CHECK_TEXT(reason_of(allm_session_error(then)), "damaged_session");
    allm_session_free(then);
    allm_session_free(s);
    allm_store_free(store);
}

static void damage_on_server(void)
{
    stored_on_server(finds_damage, false);
}

static void check_refused(const char *uri, const char *name, const char *cursor,
                          uint32_t flags, const char *reason)
{
    allm_store *store = stored_open(uri, NULL);
    allm_stream *s = allm_store_follow(store, name, cursor, flags);
    const allm_event *event = NULL;
    check_row(cursor ? cursor : name);
    CHECK(allm_stream_next(s, &event) < 0);
    CHECK_TEXT(reason_of(allm_stream_error(s)), reason);
    allm_stream_free(s);
    allm_store_free(store);
}

static void refuses_other_cursors(const char *uri)
{
    static const char *const nonsense[] = {
        "", "x", "1.", ".1", "1.2.3", "-1", "1 ", "0.5",
        "99999999999999999999", "1.99999999999999999999", "1,2",
    };
    allm_store *store = stored_open(uri, NULL);
    CHECK_TEXT(talk(store, ALLM_SESSION_CREATE), NULL);
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
        check_refused(uri, "trip", nonsense[i], 0, "invalid_cursor");
    check_refused(uri, "trip", "99", 0, "cursor_gone");
    check_refused(uri, "trip", "99.1", 0, "cursor_gone");
    check_refused(uri, "trip", "2.99", 0, "cursor_gone");
    check_refused(uri, "trip", "3.1", 0, "cursor_gone");
    check_refused(uri, "none", NULL, 0, "session_not_found");
    check_refused(uri, "a/b", NULL, 0, "invalid_name");
    check_refused(uri, "trip", NULL, 8, "invalid_options");
    check_row(NULL);
    allm_store_free(store);
}
EACH(refuses_other_cursors)

/* A reader that leaves cancels nothing; a session that goes ends its reader. */
static void ends_with_the_session(const char *uri)
{
    allm_store *store = stored_open(uri, NULL);
    CHECK_TEXT(talk(store, ALLM_SESSION_CREATE), NULL);
    static struct seen seen;
    seen.count = 0;
    allm_stream *s = allm_store_follow(store, "trip", "1", 0);
    CHECK_TEXT(read_events(s, &seen, 2), NULL);
    allm_stream_cancel(s);
    CHECK_TEXT(read_events(s, &seen, MOST), "cancelled");
    allm_stream_free(s);
    s = allm_store_follow(store, "trip", NULL, 0);
    CHECK_INT(allm_store_remove(store, "trip"), ALLM_OK);
    CHECK_TEXT(read_events(s, &seen, MOST), "session_not_found");
    allm_stream_free(s);
    allm_store_free(store);
}
EACH(ends_with_the_session)

/* Every allocation fails once. */
static void follows_with_little_memory(void)
{
    static struct seen seen;
    const allm_event *event = NULL;
    seen.count = 0;
    allm_store *store = allm_store_open("memory:", NULL);
    if (talk(store, ALLM_SESSION_CREATE) == NULL) {
        allm_stream *s = allm_store_follow(store, "trip", "0", ALLM_FOLLOW_ONE);
        allm_status status;
        while ((status = allm_stream_next(s, &event)) == ALLM_EVENT)
            note_event(&seen, event);
        CHECK_ALWAYS((status < 0) == (allm_stream_error(s) != NULL));
        CHECK(!strncmp(types_of(&seen),
                       "session_changed session_changed "
                       "message_started ",
                       48));
        allm_stream_free(s);
    }
    allm_store_free(store);
}

TESTS = {
    TEST_ALL(shows_an_operation),
    TEST_ALL(follows_while_it_runs),
    TEST_ALL(begins_where_it_was_made),
    TEST_ALL(follows_a_take_over),
    TEST_ONCE(process_on_disk),
    TEST_ONCE(process_on_server),
    TEST_ONCE(restart_of_server),
    TEST_ALL(condenses_old_operations),
    TEST_ALL(works_without_live_events),
    TEST_ONCE(lost_on_server),
    TEST_ONCE(damage_on_server),
    TEST_ALL(refuses_other_cursors),
    TEST_ALL(ends_with_the_session),
    TEST(follows_with_little_memory),
    TESTS_END,
};
