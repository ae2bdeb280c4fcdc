/* test_refused.c - a missing argument is reported by name */
#include "run/refused.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "harness/play.h"
#include "harness/turns.h"

enum { ENGINE, VALIDATION };

/* The stream failed with this; it is freed. */
static void check_refused(const char *why, allm_stream *s, int family,
                          const char *reason, const char *errors)
{
    const allm_error *e = allm_stream_error(s);
    allm_status kind = family == ENGINE ? ALLM_ERR_ENGINE : ALLM_ERR_VALIDATION;
    check_row(why);
    CHECK_ERROR(e, kind, reason, NULL);
    if (errors)
        CHECK_VALUE(GET(e, errors), errors);
    CHECK_INT(allm_stream_wait(s), kind);
    CHECK(!allm_stream_response(s) && !allm_stream_chat_result(s));
    allm_stream_free(s);
}

#define NO_ENGINE(call) \
    check_refused(#call, call, ENGINE, "invalid_engine", NULL)
#define LACKS(call, reason, name) \
    check_refused(#call, call, VALIDATION, reason, \
                  "[['" name "','invalid_type']]")

static void a_missing_engine_is_named(void)
{
    allm_thread *t = turns_thread();
    allm_session *s = allm_session_new(NULL);
    if (t && s) {
        NO_ENGINE(allm_generate(NULL, ALLM(request, .model = "m"), NULL));
        NO_ENGINE(allm_step(NULL, t, NULL));
        NO_ENGINE(allm_chat(NULL, t, NULL));
        NO_ENGINE(allm_agent(NULL, t, NULL));
        NO_ENGINE(allm_tool_calls(NULL, 0, NULL, NULL));
        NO_ENGINE(allm_embed(NULL, ALLM(embed_request, .model = "m"), NULL));
        NO_ENGINE(
            allm_moderate(NULL, ALLM(moderation_request, .model = "m"), NULL));
        NO_ENGINE(allm_image_generate(NULL, ALLM(image_request, .prompt = "x"),
                                      NULL));
        NO_ENGINE(allm_session_start(NULL, s, NULL));
        NO_ENGINE(allm_session_reply(NULL, s, "x", NULL));
        NO_ENGINE(allm_session_step(NULL, s, NULL));
    }
    allm_session_free(s);
    allm_thread_free(t);
}

static void what_else_is_missing_is_named(void)
{
    allm_engine *e = turns_engine("[]", "", NULL);
    if (e) {
        LACKS(allm_generate(e, NULL, NULL), "invalid_request", "request");
        LACKS(allm_step(e, NULL, NULL), "invalid_thread", "thread");
        LACKS(allm_chat(e, NULL, NULL), "invalid_thread", "thread");
        LACKS(allm_agent(e, NULL, NULL), "invalid_thread", "thread");
        LACKS(allm_tool_calls(e, 1, NULL, NULL), "invalid_request", "calls");
        LACKS(allm_embed(e, NULL, NULL), "invalid_embedding_request",
              "request");
        LACKS(allm_moderate(e, NULL, NULL), "invalid_moderation_request",
              "request");
        LACKS(allm_image_generate(e, NULL, NULL), "invalid_image_request",
              "request");
        LACKS(allm_session_start(e, NULL, NULL), "invalid_session", "session");
        LACKS(allm_session_continue(e, NULL, NULL, NULL), "invalid_session",
              "session");
        LACKS(allm_session_step(e, NULL, NULL), "invalid_session", "session");
    }
    allm_engine_free(e);
}

static void a_call_that_is_null_is_named(void)
{
    const allm_tool_call *none = NULL;
    allm_engine *e = turns_engine("[]", "", NULL);
    allm_stream *s = e ? allm_tool_calls(e, 1, &none, NULL) : NULL;
    CHECK_INT(allm_stream_wait(s), ALLM_ERR_MISUSE);
    allm_stream_free(s);
    allm_engine_free(e);
}

/* The caller finds it where every other error is. */
static void a_refused_stream_tells_its_error_for_ever(void)
{
    const allm_error why = { .size = sizeof why, .kind = ALLM_ERR_ENGINE,
                             .reason = "missing_model", .message = "no model" };
    allm_stream *s = refused_stream(NULL, &why);
    const allm_event *event = NULL;
    for (int i = 0; i < 2; i++) {
        CHECK_INT(allm_stream_next(s, &event), ALLM_ERR_ENGINE);
        CHECK_ALWAYS(!event);
    }
    CHECK_TEXT(GET(allm_stream_error(s), message), "no model");
    CHECK_ALWAYS(!allm_stream_request_id(s));
    allm_stream_cancel(s);
    allm_stream_free(s);
}

/* It uses the engine's clock, as a hub with that clock requires. */
static void a_refused_stream_is_one_of_the_engine(void)
{
    struct clock_manual manual = { .now_ns = 1 };
    allm_clock clock = play_clock(&manual);
    allm_engine *e =
        allm_engine_new(ALLM(engine_opts, .model = "fake:m", .clock = &clock));
    allm_hub *hub = allm_hub_new(ALLM(hub_opts, .clock = &clock));
    allm_stream *s = allm_generate(e, NULL, NULL);
    CHECK_INT(allm_hub_add(hub, s, NULL), ALLM_OK);
    CHECK(allm_hub_wait(hub, 0, NULL) == s);
    CHECK_INT(allm_stream_next(s, NULL), ALLM_ERR_VALIDATION);
    allm_stream_free(s);
    allm_hub_free(hub);
    allm_engine_free(e);
}

TESTS = {
    TEST(a_refused_stream_is_one_of_the_engine),
    TEST(a_missing_engine_is_named),
    TEST(what_else_is_missing_is_named),
    TEST(a_call_that_is_null_is_named),
    TEST(a_refused_stream_tells_its_error_for_ever),
    TESTS_END,
};
