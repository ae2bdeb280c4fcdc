/*
 * test_crashes.c - random chats that crash at random commits
 *
 * A plot is a random chat: answers, tools and options.  It runs once without a
 * crash.  Then it runs again, and its store dies at random commits; each time
 * another handle continues.  After every crash the rows equal the fold of the
 * log; at the end the session and every result are those of the whole run.
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

enum { ANSWERS = 8, TOOLS = 7, OPERATIONS = 4, TEXT = 65536, LONG = 5000 };

/* One letter each: see turns.h for what they do. */
static const struct {
    const char *what;
    allm_effect effect;
} cast[TOOLS] = {
    { "a=text:1", ALLM_EFFECT_PURE },
    { "b=ok:{'v':[1,'$blob']}", ALLM_EFFECT_IDEMPOTENT },
    { "c=text:wrote", ALLM_EFFECT_WRITE },
    { "d=fail:no", ALLM_EFFECT_WRITE },
    { "e=ask2:why?", ALLM_EFFECT_PURE },
    { "f!=text:x", ALLM_EFFECT_WRITE },
    { "g=halt:enough:1", ALLM_EFFECT_WRITE },
};

struct plot {
    char answers[ANSWERS][1024 + LONG];
    char options[512];
};

/* ---------------------------------------------------------- the plot --- */

/* An answer that calls up to three tools; most calls are of harmless ones. */
static void write_calls(char *out, struct random r, int turn)
{
    size_t n = (size_t)sprintf(out, "[['usage', {'input_tokens': %d}]", turn);
    uint64_t count = 1 + random_below(r, 3);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t tool = random_below(r, random_below(r, 4) ? 4 : TOOLS);
        n += (size_t)sprintf(out + n,
                             ", ['tool_call', {'id': 'c%d%d', 'name': '%c', "
                             "'arguments': {'$plain': {'$blob': %d}}}]",
                             turn, (int)i, (char)('a' + tool), (int)i);
    }
    sprintf(out + n, ", ['finish', 'tool_calls']]");
}

static void write_text(char *out, struct random r, int turn)
{
    size_t n = (size_t)sprintf(out, "[['text', 'answer %d ", turn);
    uint64_t len = random_below(r, 4) ? 3 : LONG;
    memset(out + n, 'x', len);
    sprintf(out + n + len, "'], ['finish', 'stop']]");
}

static void make_plot(struct plot *p, struct random r)
{
    static const char *const policies[] = { "continue", "halt" };
    for (int i = 0; i < ANSWERS; i++)
        (random_below(r, 3) ? write_calls : write_text)(p->answers[i], r, i);
    snprintf(
        p->options, sizeof p->options,
        "{'max_turns': %d, 'max_concurrency': %d, 'on_tool_error': '%s'%s}",
        1 + (int)random_below(r, 4), 1 + (int)random_below(r, 3),
        policies[random_below(r, 2)],
        random_below(r, 4)
            ? ""
            : ", 'structured_finalize': true, 'response_format': "
              "{'type': 'json_schema', 'schema': {'type': 'object'}}");
}

/* An engine whose first `done` answers have been given. */
static allm_engine *engine_of(const struct plot *p, size_t done)
{
    static char scripts[ANSWERS * sizeof p->answers[0]], names[256];
    const allm_tool *tools[TOOLS];
    allm_tool *made[TOOLS];
    size_t n = (size_t)sprintf(scripts, "["), m = 0;
    for (size_t i = done; i < ANSWERS; i++)
        n += (size_t)sprintf(scripts + n, "%s%s", i > done ? ", " : "",
                             p->answers[i]);
    sprintf(scripts + n, "]");
    for (size_t i = 0; i < TOOLS; i++)
        m += (size_t)sprintf(names + m, "%s%s", i ? ";" : "", cast[i].what);
    allm_engine *plain = turns_engine(scripts, names, NULL);
    for (size_t i = 0; i < TOOLS; i++) {
        allm_tool fields = *allm_engine_fields(plain)->tools[i];
        fields.home = NULL;
        fields.effect = cast[i].effect;
        tools[i] = made[i] = allm_tool_new(&fields);
    }
    allm_engine *e = allm_engine_merge_opts(
        plain, ALLM(call_opts, .tools = tools, .tool_count = TOOLS));
    for (size_t i = 0; i < TOOLS; i++)
        allm_tool_free(made[i]);
    allm_engine_free(plain);
    return e;
}

/* ----------------------------------------------------------- running --- */

struct outcome {
    char results[OPERATIONS][TEXT];     /* "": not seen in this run */
    char session[TEXT];
};

static void keep_text(char *out, allm_text *t)
{
    const char *bytes = allm_text_bytes(t, NULL);
    snprintf(out, TEXT, "%s", bytes ? bytes : "");
    allm_text_free(t);
}

static const allm_json *broken_off(const allm_session *s)
{
    return allm_json_get(allm_session_fields(s)->metadata, "broken_off");
}

/* An operation that has ended, or is open, is a begin in the log. */
static size_t operations(allm_store *store)
{
    return crash_count(store, "s", "begin");
}

/* Settle the unknown calls; false: the store has died. */
static bool settle_all(allm_session *s, struct random r)
{
    const allm_json *call;
    while ((call = allm_json_at(
                allm_json_get(broken_off(s), "unknown_tool_calls"), 0))) {
        const char *id = allm_json_text(allm_json_get(call, "id"), NULL);
        const char *name = allm_json_text(allm_json_get(call, "name"), NULL);
        bool happened = *name == 'c' && random_below(r, 2);
        const allm_tool_answer answer = { .size = sizeof answer,
                                          .text = "wrote" };
        if (allm_session_settle(
                s, id, happened ? ALLM_SETTLE_HAPPENED : ALLM_SETTLE_AGAIN,
                happened ? &answer : NULL) != ALLM_OK)
            return false;
    }
    return true;
}

/* Submit a result for every call that waits; false: the store has died. */
static bool submit_all(allm_session *s)
{
    size_t n = 0;
    const allm_tool_call *const *calls = allm_session_pending_tool_calls(s, &n);
    const allm_tool_answer answer = { .size = sizeof answer,
                                      .tool_call_id = n ? calls[0]->id : "",
                                      .text = "by hand" };
    return allm_session_submit_tool_result(s, &answer) == ALLM_OK;
}

static allm_stream *next_stream(const allm_engine *e, allm_session *s,
                                const struct plot *p, size_t number)
{
    char id[16];
    allm_json *json = play_json(p->options);
    snprintf(id, sizeof id, "r%d", (int)number);
    const allm_call_opts opts = { .size = sizeof opts, .request_id = id,
                                  .json = json };
    const allm_session_record *r = allm_session_fields(s);
    bool goes_on = r->status == ALLM_SESSION_IDLE && r->thread &&
                   allm_thread_count(r->thread);
    allm_stream *stream = broken_off(s) ? allm_session_resume(e, s, NULL)
                          : goes_on ? allm_session_continue(e, s, NULL, &opts)
                                    : allm_session_reply(e, s, "go on", &opts);
    allm_json_free(json);
    return stream;
}

/* One operation to its end; false: the store has died. */
static bool run_operation(allm_store *store, allm_session *s,
                          const struct plot *p, struct outcome *out)
{
    const allm_event *event;
    allm_status status;
    bool open = broken_off(s) != NULL;
    size_t number = operations(store) - open;
    allm_engine *e = engine_of(p, crash_count(store, "s", "response"));
    allm_stream *stream = next_stream(e, s, p, number);
    while ((status = allm_stream_next(stream, &event)) == ALLM_EVENT)
        ;
    if (status == ALLM_OK)
        keep_text(out->results[number],
                  allm_chat_result_json(allm_stream_chat_result(stream),
                                        ALLM_FORM_TAGGED));
    allm_stream_free(stream);
    allm_engine_free(e);
    return status == ALLM_OK;
}

/* Is there more to do?  An error ends the chat. */
static bool is_over(allm_store *store, const allm_session *s)
{
    const allm_session_record *r = allm_session_fields(s);
    return !broken_off(s) && (operations(store) >= OPERATIONS ||
                              crash_count(store, "s", "response") >= ANSWERS ||
                              r->status == ALLM_SESSION_ERROR);
}

/* Go on with the chat until it is over (true), or the store dies. */
static bool go_on(allm_store *store, const struct plot *p, struct random r,
                  struct outcome *out)
{
    allm_session *s = allm_session_open(store, "s", ALLM_SESSION_CREATE);
    bool alive = !allm_session_error(s), over = false;
    while (alive && !(over = is_over(store, s))) {
        if (broken_off(s) && !settle_all(s, r))
            alive = false;
        else if (!broken_off(s) &&
                 allm_session_fields(s)->pending_tool_call_count)
            alive = submit_all(s);
        else
            alive = run_operation(store, s, p, out);
    }
    if (over)
        keep_text(out->session, allm_session_record_json(allm_session_fields(s),
                                                         ALLM_FORM_TAGGED));
    allm_session_free(s);
    return over;
}

static void check_rows(void)
{
    allm_store *store = crash_open(0, false);
    allm_json *v = allm_store_verify(store, NULL);
    allm_text *t = allm_json_write(v, 0);
    CHECK_WHY(allm_json_true(allm_json_get(v, "ok")), allm_text_bytes(t, NULL));
    allm_text_free(t);
    allm_json_free(v);
    allm_store_free(store);
}

/* Returns the number of crashes. */
static int run_with_crashes(const struct plot *p, struct random r,
                            const struct outcome *whole)
{
    static struct outcome out;
    bool over = false;
    int i = 0;
    memset(&out, 0, sizeof out);
    for (; !over && i < 40; i++) {
        uint64_t n = i < 20 ? 1 + random_below(r, 8) : 0;
        allm_store *store = crash_open(n, random_below(r, 2));
        over = go_on(store, p, r, &out);
        allm_store_free(store);
        check_rows();
    }
    CHECK(over);
    CHECK_TEXT(out.session, whole->session);
    for (int k = 0; k < OPERATIONS; k++)
        if (*out.results[k])
            CHECK_TEXT(out.results[k], whole->results[k]);
    return i - 1;
}

/* Where the sessions of a plot are: "memory", "disk", or a server's URI. */
static void begin_run(const char *where)
{
    if (strncmp(where, "postgresql:", 11)) {
        crash_begin(*where == 'd');
        return;
    }
    crash_begin_at(where);
    allm_store *store = crash_open(0, false);
    allm_store_remove(store, "s");      /* of the run before */
    allm_store_free(store);
}

static int run_plot(const char *where, struct random r)
{
    static struct plot p;
    static struct outcome whole;
    int crashes = 0;
    make_plot(&p, r);
    memset(&whole, 0, sizeof whole);
    begin_run(where);
    allm_store *store = crash_open(0, false);
    CHECK(go_on(store, &p, r, &whole));
    allm_store_free(store);
    crash_end();
    for (int again = 0; again < 3; again++) {
        begin_run(where);
        crashes += run_with_crashes(&p, r, &whole);
        crash_end();
    }
    return crashes;
}

static void run_plots(const char *where, int count)
{
    struct random r = check_random();
    int crashes = 0;
    for (int i = 0; i < count; i++)
        crashes += run_plot(where, r);
    CHECK(crashes > 3 * count);
}

static void random_crashes_in_memory(void)
{
    run_plots("memory", check_stride() > 1 ? 60 : 400);
}

static void random_crashes_on_disk(void)
{
    run_plots("disk", check_stride() > 1 ? 3 : 12);
}

static void crash_at_random(const char *uri)
{
    run_plots(uri, check_stride() > 1 ? 2 : 6);
}

static void random_crashes_on_server(void)
{
    stored_on_server(crash_at_random, false);
}

static void random_crashes_behind_a_pooler(void)
{
    stored_on_server(crash_at_random, true);
}

TESTS = {
    TEST_ONCE(random_crashes_in_memory),
    TEST_ONCE(random_crashes_on_disk),
    TEST_ONCE(random_crashes_on_server),
    TEST_ONCE(random_crashes_behind_a_pooler),
    TESTS_END
};
