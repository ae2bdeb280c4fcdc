/*
 * test_turns.c - journals of a loop, what goes on from one, and its threads
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"
#include "harness/turns.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CALL(id, name) \
    "['tool_call', {'id': '" id "', 'name': '" name "', 'arguments': {}}]"
#define SAY(text) "[['text', '" text "'], ['finish', 'stop']]"
#define TURN \
    "[" CALL("c0", "a") ", " CALL("c1", "b") ", ['finish', 'tool_calls']]"

struct book {
    char told[2048];
    int entries, fail_at;
    int runs_at_intent;
};

static void say(struct book *b, const char *word)
{
    size_t n = strlen(b->told);
    snprintf(b->told + n, sizeof b->told - n, "%s%s", n ? " " : "", word);
}

static allm_status write_down(const allm_journal_entry *e, void *ud)
{
    struct book *b = ud;
    char word[256] = "?";
    switch (e->kind) {
    case ALLM_JOURNAL_MODEL_CALL:
        snprintf(word, sizeof word, "ask%u", (unsigned)e->turn);
        break;
    case ALLM_JOURNAL_RESPONSE:
        snprintf(word, sizeof word, "answer(%zu)",
                 e->response->tool_call_count);
        break;
    case ALLM_JOURNAL_TOOL_INTENT:
        CHECK_INT(turns_runs(), 0);     /* told before anything runs */
        snprintf(word, sizeof word, "+%s/%s", e->key,
                 e->effect == ALLM_EFFECT_WRITE ? "w" : "p");
        break;
    case ALLM_JOURNAL_TOOL_RESULT:
        snprintf(word, sizeof word, "%s=%s%s%s", e->call->id, e->content,
                 e->reason ? "!" : "", e->reason ? e->reason : "");
        break;
    case ALLM_JOURNAL_TURN_END:
        snprintf(word, sizeof word, "end(%zu)", e->step->tool_result_count);
        break;
    case ALLM_JOURNAL_END:
        snprintf(word, sizeof word, "done");
        break;
    }
    say(b, word);
    return ++b->entries == b->fail_at ? ALLM_ERR_STORE : ALLM_OK;
}

static void every_step_is_journalled_before_it_counts(void)
{
    static const char all[] =
        "ask0 answer(2) +r/0/c0/w +r/0/c1/w c0=1 c1=2 end(2) ask1 answer(0) "
        "end(0) done";
    for (int fail_at = 0; fail_at <= 11; fail_at++) {
        struct book book = { .fail_at = fail_at };
        allm_engine *e = turns_engine("[" TURN ", " SAY("x") "]",
                                      "a=text:1;b=text:2", NULL);
        allm_thread *t = turns_thread();
        allm_stream *s = allm_chat(e, t,
                                   ALLM(call_opts, .request_id = "r",
                                        .journal = write_down,
                                        .journal_ud = &book));
        allm_status status = allm_stream_wait(s);
        CHECK_INT(status, fail_at ? ALLM_ERR_STORE : ALLM_OK);
        CHECK(strncmp(all, book.told, strlen(book.told)) == 0);
        if (!fail_at)
            CHECK_TEXT(book.told, all);
        else
            CHECK_ERROR(allm_stream_error(s), ALLM_ERR_STORE, "journal_failed",
                        NULL);
        if (fail_at > 0 && fail_at <= 4)
            CHECK_INT(turns_runs(), 0);
        turns_runs();
        allm_stream_free(s);
        allm_thread_free(t);
        allm_engine_free(e);
    }
}

/* A provider that counts its calls in each answer gives two the same id. */
static void calls_of_two_turns_have_two_keys(void)
{
    struct book book = { .fail_at = 0 };
    allm_engine *e = turns_engine("[" TURN ", " TURN ", " SAY("x") "]",
                                  "a=text:1;b=text:2", NULL);
    allm_thread *t = turns_thread();
    allm_stream *s = allm_chat(e, t,
                               ALLM(call_opts, .request_id = "r",
                                    .journal = write_down,
                                    .journal_ud = &book));
    while (turns_runs(),
           allm_stream_next(s, &(const allm_event *){ NULL }) == ALLM_EVENT)
        ;
    if (check_whole()) {
        CHECK(strstr(book.told, "+r/0/c0/w") != NULL);
        CHECK(strstr(book.told, "+r/1/c0/w") != NULL);
    }
    allm_stream_free(s);
    allm_thread_free(t);
    allm_engine_free(e);
}

static void halts_are_reported_with_their_values(void)
{
    struct book book = { .fail_at = 0 };
    allm_engine *e = turns_engine("[" TURN "]", "a=ask:q?;b=halt:own:{'v':1}",
                                  NULL);
    allm_thread *t = turns_thread();
    allm_stream *s = allm_chat(e, t,
                               ALLM(call_opts, .request_id = "r",
                                    .journal = write_down,
                                    .journal_ud = &book));
    allm_stream_wait(s);
    CHECK_TEXT(book.told, "ask0 answer(2) +r/0/c0/w +r/0/c1/w c0=q?!ask_user "
                          "c1={\"v\":1}!own end(2) done");
    allm_stream_free(s);
    allm_thread_free(t);
    allm_engine_free(e);
}

static char keys[256];

static void note_key(allm_tool_run *run, const allm_json *args, void *ud)
{
    size_t n = strlen(keys);
    (void)args;
    (void)ud;
    snprintf(keys + n, sizeof keys - n, "%s ", allm_tool_run_key(run));
    allm_tool_text(run, "1", 1);
}

static allm_status compare_key(const allm_journal_entry *e, void *ud)
{
    if (e->kind == ALLM_JOURNAL_TOOL_INTENT)
        CHECK(strncmp(e->key, ud, strlen(ud)) == 0);
    return ALLM_OK;
}

static void a_tool_sees_the_key_of_its_call(void)
{
    static const struct {
        const char *prefix, *want, *begin;
    } rows[] = { { NULL, "r/0/c0 r/0/c1 ", "r/0/c" },
                 { "uid/7", "uid/7/0/0 uid/7/0/1 ", "uid/7/0/" } };
    for (size_t i = 0; i < 2; i++) {
        const allm_tool *list[2];
        allm_tool *a = allm_tool_new(ALLM(tool, .name = "a", .description = "",
                                          .schema_text = "{}", .call = note_key,
                                          .flags = ALLM_TOOL_INLINE));
        allm_tool *b = allm_tool_new(ALLM(tool, .name = "b", .description = "",
                                          .schema_text = "{}", .call = note_key,
                                          .flags = ALLM_TOOL_INLINE));
        allm_engine *e = turns_engine("[" TURN ", " SAY("x") "]", NULL, NULL);
        allm_thread *t = turns_thread();
        char *begin_of = strdup(rows[i].begin);
        list[0] = a;
        list[1] = b;
        keys[0] = '\0';
        allm_stream *s = allm_chat(
            e, t,
            ALLM(call_opts, .request_id = "r", .key_prefix = rows[i].prefix,
                 .tools = list, .tool_count = 2, .journal = compare_key,
                 .journal_ud = begin_of));
        CHECK_INT(allm_stream_wait(s), ALLM_OK);
        CHECK_TEXT(keys, rows[i].want);
        allm_stream_free(s);
        free(begin_of);
        allm_thread_free(t);
        allm_engine_free(e);
        allm_tool_free(a);
        allm_tool_free(b);
    }
}

/* --------------------------------------------------------------- replay --- */

static allm_response *answer(void)
{
    allm_codec *c =
        noun_read("Response",
                  "{'output_text': '', 'finish_reason': 'tool_calls', "
                  "'tool_calls': [{'id': 'c0', 'name': 'a', 'arguments': {}}, "
                  "{'id': 'c1', 'name': 'b', 'arguments': {}}]}");
    const allm_response *r = allm_codec_value(c, ALLM_TYPE_RESPONSE);
    allm_response *mine = r ? allm_response_new(r) : NULL;
    allm_codec_free(c);
    return mine;
}

/* The breaker of an agent counts what failed before, too. */
static void a_replayed_error_is_one(void)
{
    allm_response *r = answer();
    const allm_journal_tool *tools[] = {
        ALLM(journal_tool, .tool_call_id = "c0", .done = 1, .content = "bad",
             .is_error = 1),
        ALLM(journal_tool, .tool_call_id = "c1", .done = 1, .content = "fine"),
    };
    allm_engine *e = turns_engine("[" SAY("x") "]", "a=text:1;b=text:2", NULL);
    allm_thread *t = turns_thread();
    allm_stream *s = allm_agent(
        e, t,
        ALLM(agent_opts, .max_repeats = 1,
             .call = ALLM(call_opts,
                          .replay = ALLM(journal_replay, .response = r,
                                         .tool_count = 2, .tools = tools))));
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    const allm_agent_result *a = allm_stream_agent_result(s);
    CHECK_TEXT(GET(a, reason), "circuit_breaker");
    allm_stream_free(s);
    allm_response_free(r);
    allm_thread_free(t);
    allm_engine_free(e);
}

static void a_turn_goes_on_from_its_journal(void)
{
    static const struct {
        const char *why;
        allm_journal_tool tools[2];
        const char *reason, *messages;
        int runs;
    } rows[] = {
        { "nothing had begun", { { 0 }, { 0 } }, "completed",
          "u:hi a:(c0,c1) t:c0=1 t:c1=2 a:x", 2 },
        { "one has a result",
          { { .tool_call_id = "c0", .done = 1, .content = "old" }, { 0 } },
          "completed", "u:hi a:(c0,c1) t:c0=old t:c1=2 a:x", 1 },
        { "both have",
          { { .tool_call_id = "c0", .done = 1, .content = "old" },
            { .tool_call_id = "c1", .done = 1, .content = "e",
              .is_error = 1 } },
          "completed", "u:hi a:(c0,c1) t:c0=old t:c1=e a:x", 0 },
        { "a write was begun",
          { { .tool_call_id = "c0" }, { 0 } }, "manual_tool_calls",
          "u:hi a:(c0,c1) t:c1=2", 1 },
        { "it had asked",
          { { .tool_call_id = "c0", .done = 1, .content = "q?",
              .reason = "ask_user" },
            { .tool_call_id = "c1", .done = 1, .content = "e" } },
          "ask_user",
          "u:hi a:(c0,c1) t:c0=<awaiting user response> t:c1=e a:q?", 0 },
        { "it had halted",
          { { .tool_call_id = "c1", .done = 1, .content = "v",
              .reason = "own" },
            { .tool_call_id = "c0", .done = 1, .content = "e" } },
          "own", "u:hi a:(c0,c1) t:c0=e t:c1=v", 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        allm_journal_tool tools[2];
        const allm_journal_tool *list[2];
        size_t n = 0;
        for (int j = 0; j < 2; j++) {
            tools[j] = rows[i].tools[j];
            tools[j].size = sizeof tools[j];
            list[j] = &tools[j];
            n += tools[j].tool_call_id != NULL;
        }
        allm_response *r = answer();
        allm_engine *e = turns_engine("[" SAY("x") "]", "a=text:1;b=text:2",
                                      NULL);
        allm_thread *t = turns_thread();
        check_row(rows[i].why);
        allm_stream *s = allm_chat(
            e, t,
            ALLM(call_opts, .replay = ALLM(journal_replay, .response = r,
                                           .tool_count = n, .tools = list)));
        allm_response_free(r);
        memset(tools, 0xee, sizeof tools);      /* it was kept */
        CHECK_INT(allm_stream_wait(s), ALLM_OK);
        const allm_chat_result *c = allm_stream_chat_result(s);
        CHECK_TEXT(GET(c, halted_reason), rows[i].reason);
        CHECK_TEXT(turns_messages(GET(c, thread)), rows[i].messages);
        CHECK_INT(turns_runs(), rows[i].runs);
        CHECK_INT(c ? allm_json_count(
                          allm_json_get(c->metadata, "unknown_tool_calls"))
                    : 0,
                  strcmp(rows[i].reason, "manual_tool_calls") == 0);
        allm_stream_free(s);
        allm_thread_free(t);
        allm_engine_free(e);
    }
}

static void a_pure_tool_is_run_again(void)
{
    allm_response *r = answer();
    allm_engine *e = turns_engine("[" SAY("x") "]", "a=text:1;b=text:2", NULL);
    const allm_journal_tool begun = { .size = sizeof begun,
                                     .tool_call_id = "c0",
                                     .effect = ALLM_EFFECT_PURE };
    const allm_journal_tool *list = &begun;
    allm_tool *pure = allm_tool_new(ALLM(tool, .name = "a", .description = "",
                                         .schema_text = "{}",
                                         .effect = ALLM_EFFECT_PURE));
    allm_engine *with = allm_engine_put_tool(e, pure);
    allm_thread *t = turns_thread();
    allm_stream *s = allm_chat(
        with, t,
        ALLM(call_opts, .replay = ALLM(journal_replay, .response = r,
                                       .tool_count = 1, .tools = &list)));
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    const allm_chat_result *c = allm_stream_chat_result(s);
    CHECK_TEXT(GET(c, halted_reason), "completed");
    allm_stream_free(s);
    allm_thread_free(t);
    allm_tool_free(pure);
    allm_engine_free(with);
    allm_engine_free(e);
    allm_response_free(r);
}

/* The advice names the struct that the option takes. */
static void a_replay_without_its_size_is_refused(void)
{
    const allm_journal_replay empty = { .size = 0 };
    allm_engine *e = turns_engine("[" SAY("x") "]", NULL, NULL);
    allm_thread *t = turns_thread();
    allm_stream *s = allm_chat(e, t, ALLM(call_opts, .replay = &empty));
    CHECK_INT(allm_stream_wait(s), ALLM_ERR_MISUSE);
    const allm_error *error = allm_stream_error(s);
    CHECK(error && strstr(error->message, "ALLM(journal_replay, ...)"));
    allm_stream_free(s);
    allm_thread_free(t);
    allm_engine_free(e);
}

/* ------------------------------------------------------- loops in loops --- */

struct family {
    allm_budget *budget;
    char child[64];
};

/* A tool that asks another model, at the same cost. */
static void delegate(allm_tool_run *run, const allm_json *args, void *ud)
{
    struct family *f = ud;
    (void)args;
    allm_engine *e =
        turns_engine("[[['usage', {'input_tokens': 70, 'output_tokens': 0}], "
                     "['text', 'child'], ['finish', 'stop']]]",
                     "", NULL);
    allm_thread *t = turns_thread();
    allm_stream *s = allm_agent(
        e, t, ALLM(agent_opts, .call = ALLM(call_opts, .budget = f->budget)));
    allm_stream_wait(s);
    const allm_agent_result *r = allm_stream_agent_result(s);
    snprintf(f->child, sizeof f->child, "%s", r ? r->reason : "none");
    allm_tool_text(run, f->child, strlen(f->child));
    allm_stream_free(s);
    allm_thread_free(t);
    allm_engine_free(e);
}

static void a_loop_inside_a_tool_shares_the_budget(void)
{
    static const struct {
        uint64_t tokens;
        const char *child, *parent;
    } rows[] = {
        { 0, "completed", "completed" },
        { 1000, "completed", "completed" },
        { 100, "completed", "budget" },
        { 50, "budget", "budget" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct family f = { .budget = allm_budget_new(
                                ALLM(budget_opts, .max_tokens =
                                                      rows[i].tokens)) };
        allm_engine *bare = turns_engine(
            "[[['usage', {'input_tokens': 50, 'output_tokens': 0}], " CALL(
                "c0", "ask") ", ['finish', 'tool_calls']], " SAY("x") "]",
            "", NULL);
        allm_tool *ask = allm_tool_new(
            ALLM(tool, .name = "ask", .description = "", .schema_text = "{}",
                 .call = delegate, .ud = &f));
        allm_engine *e = allm_engine_put_tool(bare, ask);
        allm_thread *t = turns_thread();
        allm_stream *s = allm_chat(e, t, ALLM(call_opts, .budget = f.budget));
        CHECK_INT(allm_stream_wait(s), ALLM_OK);
        const allm_chat_result *c = allm_stream_chat_result(s);
        CHECK_TEXT(f.child, rows[i].child);
        CHECK_TEXT(GET(c, halted_reason), rows[i].parent);
        CHECK_INT(allm_budget_tokens(f.budget),
                  rows[i].tokens == 50 ? 50 : 120);
        allm_stream_free(s);
        allm_thread_free(t);
        allm_engine_free(e);
        allm_tool_free(ask);
        allm_engine_free(bare);
        allm_budget_free(f.budget);
    }
}

/* Nothing was left to begin with. */
static void an_empty_budget_sends_no_request(void)
{
    allm_budget *b = allm_budget_new(
        ALLM(budget_opts, .max_tokens = 5, .reserve_tokens = 9));
    allm_engine *e = turns_engine("[" SAY("x") "]", "", NULL);
    allm_thread *t = turns_thread();
    for (int cancel = 0; cancel < 2; cancel++) {
        allm_stream *s = allm_chat(e, t, ALLM(call_opts, .budget = b));
        if (cancel)
            allm_stream_cancel(s);
        CHECK_INT(allm_stream_wait(s), ALLM_OK);
        const allm_chat_result *c = allm_stream_chat_result(s);
        CHECK_TEXT(GET(c, halted_reason), cancel ? "cancelled" : "budget");
        CHECK_INT(GET(c, step_count), 0);
        allm_stream_free(s);
    }
    allm_stream *s = allm_step(e, t, ALLM(call_opts, .budget = b));
    CHECK_TEXT(turns_play(s), b ? "engine budget_exceeded" : NULL);
    allm_stream_free(s);
    CHECK_INT(allm_fake_calls(e), 0);
    allm_thread_free(t);
    allm_engine_free(e);
    allm_budget_free(b);
}

/* -------------------------------------------------------------- threads --- */

/* Many chats with tools in workers, in one hub and from several threads. */
static void *chat_often(void *arg)
{
    allm_engine *e = arg;
    for (int i = 0; i < 20; i++) {
        allm_thread *t = turns_thread();
        allm_stream *s = allm_chat(e, t, NULL);
        const allm_event *event;
        if (i % 3 == 0)         /* leave it in the middle */
            for (int j = 0; j < i; j++)
                allm_stream_next(s, &event);
        else
            allm_stream_wait(s);
        allm_stream_free(s);
        allm_thread_free(t);
    }
    return NULL;
}

static void many_threads_chat_with_one_engine(void)
{
    char scripts[8192] = "[";
    for (int i = 0; i < 30; i++)
        strncat(scripts, TURN ", ", sizeof scripts - strlen(scripts) - 1);
    strncat(scripts, SAY("x") "]", sizeof scripts - strlen(scripts) - 1);
    allm_engine *e = turns_engine(scripts, "a~=text:1;b~=text:2", NULL);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, chat_often, e);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    allm_engine_free(e);
}

static void a_hub_runs_many_chats(void)
{
    enum { MANY = 20 };
    allm_engine *e[MANY];
    allm_stream *s[MANY];
    allm_thread *t = turns_thread();
    allm_hub *hub = allm_hub_new(NULL);
    for (int i = 0; i < MANY; i++) {
        e[i] = turns_engine("[" TURN ", " SAY("x") "]", "a~=text:1;b~=text:2",
                            NULL);
        s[i] = allm_chat(e[i], t, NULL);
        CHECK_INT(allm_hub_add(hub, s[i], NULL), ALLM_OK);
    }
    const allm_event *event;
    allm_stream *one;
    while ((one = allm_hub_wait(hub, -1, NULL)))
        while (allm_stream_next(one, &event) == ALLM_EVENT)
            ;
    for (int i = 0; i < MANY; i++) {
        const allm_chat_result *c = allm_stream_chat_result(s[i]);
        CHECK_TEXT(GET(c, halted_reason), "completed");
        allm_stream_free(s[i]);
        allm_engine_free(e[i]);
    }
    allm_hub_free(hub);
    allm_thread_free(t);
}

/* The caller stops from another thread while a tool runs. */
static void *cancel_it(void *arg)
{
    allm_stream_cancel(arg);
    return NULL;
}

static void a_chat_is_cancelled_from_elsewhere(void)
{
    for (int i = 0; i < 50; i++) {
        allm_engine *e = turns_engine("[" TURN ", " SAY("x") "]",
                                      "a~=text:1;b~=text:2", NULL);
        allm_thread *t = turns_thread();
        allm_stream *s = allm_chat(e, t, NULL);
        pthread_t other;
        pthread_create(&other, NULL, cancel_it, s);
        CHECK_INT(allm_stream_wait(s), ALLM_OK);
        pthread_join(other, NULL);
        const allm_chat_result *c = allm_stream_chat_result(s);
        CHECK(c && (!strcmp(c->halted_reason, "cancelled") ||
                    !strcmp(c->halted_reason, "completed")));
        allm_stream_free(s);
        allm_thread_free(t);
        allm_engine_free(e);
    }
}

TESTS = {
    TEST(every_step_is_journalled_before_it_counts),
    TEST(calls_of_two_turns_have_two_keys),
    TEST(a_replayed_error_is_one),
    TEST(halts_are_reported_with_their_values),
    TEST(a_tool_sees_the_key_of_its_call),
    TEST(a_turn_goes_on_from_its_journal),
    TEST(a_pure_tool_is_run_again),
    TEST(a_replay_without_its_size_is_refused),
    TEST(an_empty_budget_sends_no_request),
    TEST_ONCE(a_loop_inside_a_tool_shares_the_budget),
    TEST_ONCE(many_threads_chat_with_one_engine),
    TEST_ONCE(a_hub_runs_many_chats),
    TEST_ONCE(a_chat_is_cancelled_from_elsewhere),
    TESTS_END,
};
