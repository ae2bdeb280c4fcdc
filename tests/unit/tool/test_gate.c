/*
 * test_gate.c - gates: calls that are allowed, denied, left, or decided later
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "harness/play.h"
#include "harness/turns.h"

#include <pthread.h>
#include <stdio.h>

enum { MOST = 8 };

#define CALL(id, name) \
    "['tool_call', {'id': '" id "', 'name': '" name "', 'arguments': {}}]"
#define CALLS CALL("c0", "a") "," CALL("c1", "b") "," CALL("c2", "a")
#define SCRIPTS "[[" CALLS ",['finish','tool_calls']],[['text','done']]]"

/* What a gate was asked, and how it answers: one letter per call. */
struct guard {
    const char *answers;        /* a allow, d deny, D deny without a reason,
                                   l leave, f free, w wait */
    size_t asked;
    char order[64];             /* ids, in the order of the questions */
    allm_approval *waiting[MOST];
    size_t waiting_count;
};

static void answer_now(allm_approval *a, char how)
{
    if (how == 'a')
        CHECK(allm_approval_allow(a, ALLM_APPROVAL_ONCE) == ALLM_OK);
    if (how == 'd') {
        allm_status status = allm_approval_deny(a, "not today");
        CHECK(status == ALLM_OK || status == ALLM_ERR_NOMEM);
    }
    if (how == 'D')
        CHECK(allm_approval_deny(a, NULL) == ALLM_OK);
    if (how == 'l')
        CHECK(allm_approval_leave(a) == ALLM_OK);
    if (how != 'f')
        CHECK(allm_approval_leave(a) == ALLM_ERR_MISUSE);       /* once */
    allm_approval_free(a);
}

static void drop_waiting(struct guard *g)
{
    for (size_t i = 0; i < g->waiting_count; i++)
        allm_approval_free(g->waiting[i]);
}

static const char *reason_of(const allm_stream *s)
{
    const allm_error *error = allm_stream_error(s);
    return error ? error->reason : "";
}

static void ask(void *ud, allm_approval *a)
{
    struct guard *g = ud;
    size_t len = strlen(g->order);
    char how = g->answers[g->asked++];
    snprintf(g->order + len, sizeof g->order - len, "%s ",
             allm_approval_call(a)->id);
    CHECK(!allm_approval_reach(a));
    if (how == 'w')
        g->waiting[g->waiting_count++] = a;
    else
        answer_now(a, how);
}

/* A chat with two tools; each call of them takes no time. */
struct scene {
    struct guard guard;
    allm_gate gate;
    struct clock_manual clock;
    allm_engine *engine;
    allm_thread *thread;
    allm_stream *stream;
};

static void begin(struct scene *c, const char *answers,
                  const allm_call_opts *opts)
{
    allm_call_opts o = *opts;
    *c = (struct scene){
        .guard = { .answers = answers },
        .gate = { .size = sizeof c->gate, .ask = ask, .ud = &c->guard },
    };
    c->engine = turns_engine(SCRIPTS, "a=text:A;b=text:B", &c->clock);
    c->thread = turns_thread();
    o.gate = &c->gate;
    c->stream = allm_chat(c->engine, c->thread, &o);
}

static void end(struct scene *c)
{
    allm_stream_free(c->stream);
    allm_thread_free(c->thread);
    allm_engine_free(c->engine);
}

/* The events after the answer of the model, and the end of the chat. */
static void check_chat(const char *answers, const char *events,
                       const char *approvals)
{
    struct scene c;
    begin(&c, answers, ALLM(call_opts, .max_concurrency = 1));
    const char *got = turns_play(c.stream), *after = strstr(got, " +");
    if (!allm_stream_error(c.stream)) {
        CHECK_TEXT(after ? after + 1 : got, events);
        CHECK_TEXT(c.guard.order, "c0 c1 c2 ");
        const allm_chat_result *r = allm_stream_chat_result(c.stream);
        const allm_json *list = allm_json_get(r->metadata, "approvals");
        CHECK((list != NULL) == (approvals != NULL));
        if (list && approvals)
            CHECK_VALUE(list, approvals);
    }
    end(&c);
}

static void allowed_calls_run(void)
{
    check_chat("aaa",
               "+c0 c0={\"ok\":\"A\"} c0>A +c1 c1={\"ok\":\"B\"} c1>B "
               "+c2 c2={\"ok\":\"A\"} c2>A step[uattt] "
               "m a:done t=done m.stop step[uattta] "
               "chat[completed] ok",
               NULL);
}

static void left_calls_halt_the_chat(void)
{
    check_chat("lfa",
               "+c2 c2={\"ok\":\"A\"} c2>A step[uat] "
               "chat[manual_tool_calls] ok",
               "[{'id':'c0','name':'a','arguments':{},'reach':null},"
               "{'id':'c1','name':'b','arguments':{},'reach':null}]");
}

/* The model sees why a call was denied. */
static void denied_calls_fail(void)
{
    struct scene c;
    begin(&c, "adD", ALLM(call_opts, .max_concurrency = 1));
    turns_play(c.stream);
    if (!allm_stream_error(c.stream)) {
        const allm_chat_result *r = allm_stream_chat_result(c.stream);
        const char *messages = turns_messages(r->thread);
        CHECK_TEXT(r->halted_reason, "completed");
        CHECK(strstr(messages, "t:c0=A") && strstr(messages, "not today") &&
              strstr(messages, "the user denied this call"));
        CHECK_INT(turns_runs(), 1);
    }
    end(&c);
}

/* Pull until nothing happens. */
static allm_status drain(allm_stream *s, char *words, size_t size)
{
    const allm_event *event = NULL;
    allm_status status;
    size_t n = strlen(words);
    while ((status = allm_stream_next(s, &event)) == ALLM_EVENT) {
        if (event->type == ALLM_EV_TOOL_EXECUTION_STARTED)
            n += (size_t)snprintf(words + n, size - n, "%s ", event->id);
    }
    return status;
}

/* A call that waits does not hold up the others. */
static void allowed_calls_overtake_waiting_ones(void)
{
    struct scene c;
    char words[64] = "";
    begin(&c, "wwa", ALLM(call_opts, .max_concurrency = 1));
    allm_clock clock = play_clock(&c.clock);
    allm_hub *hub = allm_hub_new(ALLM(hub_opts, .clock = &clock));
    allm_status status = allm_hub_add(hub, c.stream, NULL);
    if (status == ALLM_OK)
        status = drain(c.stream, words, sizeof words);
    if (status == ALLM_AGAIN) {
        CHECK_TEXT(words, "c2 ");
        answer_now(c.guard.waiting[1], 'a');
        CHECK(drain(c.stream, words, sizeof words) == ALLM_AGAIN);
        answer_now(c.guard.waiting[0], 'a');
        CHECK(drain(c.stream, words, sizeof words) == ALLM_OK);
        CHECK_TEXT(words, "c2 c1 c0 ");
    } else {
        drop_waiting(&c.guard);
    }
    end(&c);
    allm_hub_free(hub);
}

/* The timeout of a call begins when it is allowed. */
static void a_call_may_wait_longer_than_its_timeout(void)
{
    struct scene c;
    char words[64] = "";
    begin(&c, "waa", ALLM(call_opts, .tool_timeout_ms = 50));
    allm_clock clock = play_clock(&c.clock);
    allm_hub *hub = allm_hub_new(ALLM(hub_opts, .clock = &clock));
    CHECK_INT(allm_hub_add(hub, c.stream, NULL), ALLM_OK);
    CHECK_INT(drain(c.stream, words, sizeof words), ALLM_AGAIN);
    clock_advance(&c.clock, 60000);
    CHECK_INT(drain(c.stream, words, sizeof words), ALLM_AGAIN);
    answer_now(c.guard.waiting[0], 'a');
    CHECK_INT(drain(c.stream, words, sizeof words), ALLM_OK);
    const allm_chat_result *r = allm_stream_chat_result(c.stream);
    CHECK(r && strstr(turns_messages(r->thread), "t:c0=A"));
    end(&c);
    allm_hub_free(hub);
}

/* The time of the whole chat runs on while somebody decides. */
static void a_deadline_ends_the_wait(void)
{
    struct scene c;
    begin(&c, "waa", ALLM(call_opts, .total_ms = 50));
    turns_play(c.stream);
    CHECK_TEXT(reason_of(c.stream), "timeout");
    CHECK(turns_runs() <= 2);
    drop_waiting(&c.guard);             /* too late, and harmless */
    end(&c);
}

static void an_answer_may_come_after_the_stream(void)
{
    struct scene c;
    char words[64] = "";
    begin(&c, "waa", ALLM(call_opts, .max_concurrency = 1));
    allm_clock clock = play_clock(&c.clock);
    allm_hub *hub = allm_hub_new(ALLM(hub_opts, .clock = &clock));
    if (allm_hub_add(hub, c.stream, NULL) == ALLM_OK)
        drain(c.stream, words, sizeof words);
    end(&c);
    allm_hub_free(hub);
    drop_waiting(&c.guard);
}

static void *answer_all(void *arg)
{
    struct guard *g = arg;
    for (size_t i = 0; i < g->waiting_count; i++)
        answer_now(g->waiting[i], i % 2 ? 'd' : 'a');
    return NULL;
}

static pthread_t thread;
static bool started;

static void ask_thread(void *ud, allm_approval *a)
{
    struct guard *g = ud;
    ask(ud, a);
    if (g->waiting_count == 3)
        started = !pthread_create(&thread, NULL, answer_all, g);
}

/* The stream waits in the thread that pulls, and another thread answers. */
static void another_thread_answers(void)
{
    struct scene c;
    started = false;
    begin(&c, "www", ALLM(call_opts, .gate = NULL));
    allm_stream_free(c.stream);
    c.gate.ask = ask_thread;
    c.stream = allm_chat(c.engine, c.thread, ALLM(call_opts, .gate = &c.gate));
    turns_play(c.stream);
    if (!allm_stream_error(c.stream))
        CHECK_INT(turns_runs(), 2);
    if (started)
        pthread_join(thread, NULL);
    else
        drop_waiting(&c.guard);
    end(&c);
}

/* What was written to the journal when the gate was asked. */
struct diary {
    struct guard guard;
    char words[128];
};

static allm_status note_entry(const allm_journal_entry *e, void *ud)
{
    static const char *const names[] = { "call",   "answer", "intent",
                                         "result", "turn",   "end" };
    struct diary *d = ud;
    size_t n = strlen(d->words);
    snprintf(d->words + n, sizeof d->words - n, "%s ", names[e->kind]);
    return ALLM_OK;
}

static void note_question(void *ud, allm_approval *a)
{
    struct diary *d = ud;
    size_t n = strlen(d->words);
    snprintf(d->words + n, sizeof d->words - n, "? ");
    ask(&d->guard, a);
}

/* The answer is durable before somebody is asked, the intents follow. */
static void a_journal_has_the_answer_first(void)
{
    struct diary d = { .guard = { .answers = "lda" } };
    allm_gate gate = { .size = sizeof gate, .ask = note_question, .ud = &d };
    allm_engine *e = turns_engine(SCRIPTS, "a=text:A;b=text:B", NULL);
    allm_thread *t = turns_thread();
    allm_stream *s = allm_chat(e, t,
                               ALLM(call_opts, .gate = &gate,
                                    .journal = note_entry, .journal_ud = &d));
    turns_play(s);
    if (!allm_stream_error(s))
        CHECK_TEXT(d.words, "call answer ? ? ? intent result result turn end ");
    allm_stream_free(s);
    allm_thread_free(t);
    allm_engine_free(e);
}

static void misuse_of_gates(void)
{
    allm_gate empty = { .size = sizeof empty }, wrong = { .size = 1 };
    const allm_gate *gates[] = { &empty, &wrong };
    for (size_t i = 0; i < 2; i++) {
        allm_engine *e = turns_engine(SCRIPTS, "a=text:A;b=text:B", NULL);
        allm_thread *t = turns_thread();
        allm_stream *s = allm_chat(e, t, ALLM(call_opts, .gate = gates[i]));
        turns_play(s);
        CHECK_ERROR(allm_stream_error(s), ALLM_ERR_MISUSE, "invalid_option",
                    "gate");
        allm_stream_free(s);
        allm_thread_free(t);
        allm_engine_free(e);
    }
    CHECK(allm_approval_allow(NULL, ALLM_APPROVAL_ONCE) == ALLM_ERR_MISUSE);
    CHECK(allm_approval_deny(NULL, NULL) == ALLM_ERR_MISUSE);
    CHECK(allm_approval_leave(NULL) == ALLM_ERR_MISUSE);
    CHECK(!allm_approval_call(NULL) && !allm_approval_reach(NULL));
    allm_approval_free(NULL);
}

TESTS = {
    TEST(allowed_calls_run),
    TEST(left_calls_halt_the_chat),
    TEST(denied_calls_fail),
    TEST(allowed_calls_overtake_waiting_ones),
    TEST_ONCE(a_call_may_wait_longer_than_its_timeout),
    TEST_ONCE(a_deadline_ends_the_wait),
    TEST(an_answer_may_come_after_the_stream),
    TEST_ONCE(another_thread_answers),
    TEST(a_journal_has_the_answer_first),
    TEST(misuse_of_gates),
    TESTS_END,
};
