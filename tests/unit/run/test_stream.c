/* test_stream.c - borrowed events, the end of a stream, waiting */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"

#include <stdio.h>

/* ----------------------------------------------------------------- life --- */

static void nothing_is_accepted_instead_of_a_stream(void)
{
    const allm_event *event;
    CHECK_INT(allm_stream_next(NULL, &event), ALLM_ERR_NOMEM);
    CHECK_INT(allm_stream_wait(NULL), ALLM_ERR_NOMEM);
    CHECK(!allm_stream_response(NULL));
    CHECK(!allm_stream_request_id(NULL));
    CHECK(!allm_stream_event_json(NULL));
    CHECK_INT(allm_stream_error(NULL)->kind, ALLM_ERR_NOMEM);
    allm_stream_cancel(NULL);
    allm_stream_free(NULL);
}

static void the_end_is_the_same_for_ever(void)
{
    const allm_event *event;
    allm_engine *e = play_engine("{'script': [['text', 'a']]}", NULL);
    allm_stream *s = play_call(e);
    CHECK(s && !allm_stream_response(s));       /* not yet */
    CHECK_INT(allm_stream_next(s, NULL), ALLM_EVENT);
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    const allm_response *r = allm_stream_response(s);
    for (int i = 0; i < 3; i++)
        CHECK_INT(allm_stream_next(s, &event), ALLM_OK);
    CHECK(r == allm_stream_response(s));
    CHECK(s && !allm_stream_error(s));
    allm_stream_free(s);
    allm_engine_free(e);
}

static void the_engine_may_go_first(void)
{
    allm_engine *e = play_engine("{'script': [['text', 'a']]}", NULL);
    allm_stream *s = play_call(e);
    allm_engine_free(e);
    CHECK_TEXT(play_all(s), "started text:a text=a completed:a/null ok");
    allm_stream_free(s);
}

static void the_last_event_has_a_json_form(void)
{
    const allm_event *event;
    allm_engine *e = play_engine("{'script': [['text', 'a']]}", NULL);
    allm_stream *s = play_call(e);
    CHECK(!allm_stream_event_json(s));
    allm_stream_next(s, &event);
    allm_stream_next(s, &event);
    allm_text *t = allm_stream_event_json(s);
    CHECK_TEXT(allm_text_bytes(t, NULL),
               "{\"type\":\"text_delta\",\"seq\":2,\"id\":null,"
               "\"delta\":\"a\"}");
    allm_text_free(t);
    allm_stream_wait(s);
    CHECK(!allm_stream_event_json(s));
    allm_stream_free(s);
    allm_engine_free(e);
}

static void a_failure_in_the_middle_is_a_result(void)
{
    allm_engine *e = play_engine("{'script': [['text', 'partial'],"
                                 " ['error', 'rate_limited']]}",
                                 NULL);
    allm_stream *s = play_call(e);
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    const allm_response *r = allm_stream_response(s);
    const allm_error *error = allm_stream_error(s);
    CHECK(r && r->finish_reason == ALLM_FINISH_ERROR);
    CHECK(r && !strcmp(r->output_text, "partial"));
    CHECK(r && r->error && !strcmp(r->error->reason, "rate_limited"));
    CHECK(error && !strcmp(error->reason, "rate_limited"));
    allm_stream_free(s);
    allm_engine_free(e);
}

static void a_later_finish_wins_over_the_error(void)
{
    allm_engine *e = play_engine("{'script': [['error', 'timeout'],"
                                 " ['finish', 'stop']]}",
                                 NULL);
    allm_stream *s = play_call(e);
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    const allm_response *r = allm_stream_response(s);
    CHECK(r && r->finish_reason == ALLM_FINISH_STOP && r->error);
    allm_stream_free(s);
    allm_engine_free(e);
}

/* --------------------------------------------------------------- cancel --- */

static void a_cancelled_call_keeps_what_came(void)
{
    const allm_event *event;
    allm_engine *e = play_engine("{'script': [['text', 'a'], ['text', 'b']]}",
                                 NULL);
    allm_stream *s = play_call(e);
    allm_stream_next(s, &event);
    allm_stream_next(s, &event);
    allm_stream_cancel(s);
    allm_stream_cancel(s);
    CHECK_INT(allm_stream_next(s, &event), ALLM_OK);
    CHECK_INT(allm_stream_next(s, &event), ALLM_OK);
    const allm_response *r = allm_stream_response(s);
    const allm_error *error = allm_stream_error(s);
    CHECK(r && !strcmp(r->output_text, "a"));
    CHECK(error && error->kind == ALLM_ERR_STREAM);
    CHECK(error && !strcmp(error->reason, "cancelled"));
    allm_stream_free(s);
    allm_engine_free(e);
}

static void cancelling_what_failed_changes_nothing(void)
{
    allm_engine *e = play_engine("{}", NULL);
    allm_stream *s = play_call(e);
    allm_stream_cancel(s);
    CHECK_TEXT(play_all(s), "adapter no_scripted_response");
    allm_stream_free(s);
    allm_engine_free(e);
}

/* ------------------------------------------------------- random scripts --- */

static struct random dice;

static uint64_t roll(uint64_t n)
{
    return random_below(dice, n);
}

static void random_entry(allm_json_build *b)
{
    static const char *const ids[] = { "c0", "c1", "c2" };
    const char *id = ids[roll(3)];
    uint64_t kind = roll(6);
    static const char *const tags[] = { "text",  "tool_call",
                                        "tool_call_delta", "usage",
                                        "reasoning", "raw_chunk" };
    allm_json_build_array(b);
    allm_json_build_text(b, tags[kind], ALLM_NUL_ENDED);
    if (kind == 0 || kind == 4) {
        allm_json_build_text(b, roll(4) ? "w\xC3\xB6rt " : "", ALLM_NUL_ENDED);
    } else if (kind == 5) {
        allm_json_build_int(b, (int64_t)roll(9));
    } else {
        allm_json_build_object(b);
        allm_json_build_key(b, kind == 3 ? "input_tokens" : "id");
        if (kind == 3)
            allm_json_build_int(b, (int64_t)roll(100));
        else
            allm_json_build_text(b, id, ALLM_NUL_ENDED);
        if (kind == 1) {
            allm_json_build_key(b, "name");
            allm_json_build_text(b, "f", 1);
            allm_json_build_key(b, "arguments");
            allm_json_build_object(b);
            allm_json_build_key(b, "x");
            allm_json_build_int(b, (int64_t)roll(5));
            allm_json_build_end(b);
        } else if (kind == 2) {
            allm_json_build_key(b, "arguments_delta");
            allm_json_build_text(b, "{\"a", ALLM_NUL_ENDED);
        }
        allm_json_build_end(b);
    }
    allm_json_build_end(b);
}

/* {"scripts": [script, script]}: the same call twice. */
static allm_json *random_opts(void)
{
    static const char *const finishes[] = { "stop", "length", "tool_calls",
                                            "content_filter" };
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_array(b);
    for (uint64_t n = roll(12); n; n--)
        random_entry(b);
    if (roll(8)) {
        allm_json_build_array(b);
        allm_json_build_text(b, "finish", ALLM_NUL_ENDED);
        allm_json_build_text(b, finishes[roll(4)], ALLM_NUL_ENDED);
        allm_json_build_end(b);
    }
    allm_json_build_end(b);
    allm_json *script = allm_json_build_done(b);
    b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    allm_json_build_key(b, "scripts");
    allm_json_build_array(b);
    allm_json_build_value(b, script);
    allm_json_build_value(b, script);
    allm_json_build_end(b);
    allm_json_build_end(b);
    allm_json *opts = allm_json_build_done(b);
    allm_json_free(script);
    return opts;
}

/* The answer as JSON; its id is generated, so leave it out. */
static allm_text *answer(const allm_response *r)
{
    if (!r)
        return NULL;
    allm_response copy = *r;
    copy.home = NULL;
    copy.request_id = NULL;
    return allm_response_json(&copy, ALLM_FORM_TAGGED);
}

static void check_fold(const allm_json *opts)
{
    const allm_event *event;
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts));
    allm_stream *waited = play_call(e), *pulled = play_call(e);
    allm_collector *c = allm_collector_new(NULL);
    CHECK_INT(allm_stream_wait(waited), ALLM_OK);
    while (allm_stream_next(pulled, &event) == ALLM_EVENT)
        CHECK_INT(allm_collector_add(c, event), ALLM_OK);
    allm_response *folded = allm_collector_response(c);
    allm_text *a = answer(allm_stream_response(waited));
    allm_text *b = answer(folded);
    allm_text *d = answer(allm_stream_response(pulled));
    CHECK_TEXT(allm_text_bytes(a, NULL), allm_text_bytes(b, NULL));
    CHECK_TEXT(allm_text_bytes(a, NULL), allm_text_bytes(d, NULL));
    allm_text_free(a);
    allm_text_free(b);
    allm_text_free(d);
    allm_response_free(folded);
    allm_collector_free(c);
    allm_stream_free(waited);
    allm_stream_free(pulled);
    CHECK_INT(allm_fake_released(e), 2);
    allm_engine_free(e);
}

static void waiting_is_folding(void)
{
    dice = check_random();
    for (int i = 0; i < 1000; i++) {
        allm_json *opts = random_opts();
        check_fold(opts);
        allm_json_free(opts);
    }
}

static void waiting_is_folding_without_memory(void)
{
    struct random_seeded fixed;
    dice = random_of_seed(&fixed, 11);
    allm_json *opts = random_opts();
    check_fold(opts);
    allm_json_free(opts);
}

/* Cut after so many events: released once, and nothing is lost (the harness
 * looks). */
static bool cut_after(const char *opts, int events)
{
    const allm_event *event;
    struct clock_manual clock = { 0, 0 };
    allm_engine *e = play_engine(opts, &clock);
    allm_stream *s = play_call(e);
    int n = 0;
    while (n < events && allm_stream_next(s, &event) == ALLM_EVENT)
        n++;
    allm_stream_free(s);
    CHECK_INT(allm_fake_released(e), 1);
    allm_engine_free(e);
    return n == events;
}

static void a_stream_may_be_cut_anywhere(void)
{
    const char *opts =
        "{'script': [['reasoning', 'a'], ['text', 'b'], ['delay', 5],"
        " ['tool_call', {'id': 'c', 'name': 'f'}], ['usage', {}],"
        " ['error', 'timeout'], ['ok', {'text': 'x', 'message': {'role':"
        " 'assistant', 'content': 'x'}}]]}";
    int n = 0;
    while (cut_after(opts, n))
        n++;
    CHECK_INT(n, 12);           /* eleven events, and the end */
}

/* ------------------------------------------------------------ callbacks --- */

struct visitor {
    allm_engine *engine;
    allm_hub *hub;
    allm_stream *self, *added;
    bool cancels;
};

static allm_status visit(const allm_event *event, void *ud)
{
    struct visitor *v = ud;
    if (event->type != ALLM_EV_TEXT_DELTA)
        return ALLM_OK;
    if (v->cancels)
        allm_stream_cancel(v->self);
    if (v->hub && !v->added) {
        v->added = play_call(v->engine);
        CHECK_INT(allm_hub_add(v->hub, v->added, NULL), ALLM_OK);
    }
    return ALLM_OK;
}

/* The event that is under way is the last one. */
static void a_callback_may_cancel_its_stream(void)
{
    struct visitor v = { .cancels = true };
    allm_engine *e = play_engine("{'script': [['text','a'],['text','b']]}",
                                 NULL);
    v.self = play_call_with(e, ALLM(call_opts, .on_event = visit,
                                    .on_event_ud = &v));
    CHECK_TEXT(play_all(v.self), "started text:a ok");
    allm_stream_free(v.self);
    allm_engine_free(e);
}

static void a_callback_may_add_streams_to_the_hub(void)
{
    allm_stream *s;
    struct visitor v = { .hub = allm_hub_new(NULL) };
    v.engine = play_engine("{'scripts': [[['text','a']],[['text','b']]]}",
                           NULL);
    v.self = play_call_with(v.engine, ALLM(call_opts, .on_event = visit,
                                           .on_event_ud = &v));
    allm_hub_add(v.hub, v.self, NULL);
    while ((s = allm_hub_wait(v.hub, -1, NULL)))
        while (allm_stream_next(s, NULL) == ALLM_EVENT)
            ;
    CHECK(allm_stream_response(v.self) && allm_stream_response(v.added));
    allm_stream_free(v.self);
    allm_stream_free(v.added);
    allm_hub_free(v.hub);
    allm_engine_free(v.engine);
}

TESTS = {
    TEST(nothing_is_accepted_instead_of_a_stream),
    TEST(the_end_is_the_same_for_ever),
    TEST(the_engine_may_go_first),
    TEST(the_last_event_has_a_json_form),
    TEST(a_failure_in_the_middle_is_a_result),
    TEST(a_later_finish_wins_over_the_error),
    TEST(a_cancelled_call_keeps_what_came),
    TEST(cancelling_what_failed_changes_nothing),
    TEST_ONCE(waiting_is_folding),
    TEST(waiting_is_folding_without_memory),
    TEST(a_stream_may_be_cut_anywhere),
    TEST(a_callback_may_cancel_its_stream),
    TEST(a_callback_may_add_streams_to_the_hub),
    TESTS_END,
};
