/* test_error.c - the families of errors: reasons and messages */
#include "data/error.h"

#include "base/status.h"
#include "harness/noun.h"

#include <stdlib.h>

static const allm_status families[] = {
    ALLM_ERR_ENGINE, ALLM_ERR_ADAPTER, ALLM_ERR_STREAM, ALLM_ERR_VALIDATION,
    ALLM_ERR_TOOL,   ALLM_ERR_SESSION, ALLM_ERR_IMAGE,
};
enum { FAMILIES = sizeof families / sizeof *families };

static allm_error *of(allm_status kind, const char *reason)
{
    return allm_error_new(ALLM(error, .kind = kind, .reason = reason));
}

/* -------------------------------------------------------------- reasons --- */

static void each_family_has_its_reasons_in_order(void)
{
    static const struct {
        allm_status kind;
        const char *reasons[20];
    } rows[] = {
        { ALLM_ERR_ENGINE,
          { "missing_adapter", "missing_stream_adapter", "missing_model",
            "missing_key", "unknown_tool", "invalid_engine",
            "unsupported_response_format", "no_image_adapter",
            "pipeline_error", "unexpected_pipeline_result", "policy_failed",
            "budget_exceeded", "max_iterations_reached", "circuit_breaker",
            "empty_stop", "no_embed_adapter",
            "no_moderation_adapter", "no_models_adapter", "cannot_wait" } },
        { ALLM_ERR_ADAPTER,
          { "rate_limited", "authentication_failed", "invalid_request",
            "provider_unavailable", "context_length_exceeded",
            "content_filter", "timeout", "network_error",
            "malformed_response", "unsupported_feature",
            "no_scripted_response", "unknown" } },
        { ALLM_ERR_IMAGE,
          { "rate_limited", "authentication_failed", "invalid_request",
            "provider_unavailable", "context_length_exceeded",
            "content_filter", "timeout", "network_error",
            "malformed_response", "unsupported_feature",
            "no_scripted_response", "unknown", "unsupported_operation" } },
        { ALLM_ERR_STREAM,
          { "adapter_error", "cancelled", "timeout", "malformed_event",
            "truncated", "unknown" } },
        { ALLM_ERR_VALIDATION,
          { "invalid_request", "invalid_message", "invalid_tool",
            "invalid_thread", "invalid_session", "invalid_session_input",
            "unsupported_capability", "vision_not_in_v0_2",
            "invalid_image_request", "invalid_output",
            "invalid_embedding_request", "invalid_moderation_request",
            "invalid_arguments", "invalid_approvals", "invalid_catalog",
            "invalid_rule", "invalid_server", "not_found",
            "unknown_rule" } },
        { ALLM_ERR_TOOL,
          { "handler_raised", "handler_exit", "handler_failed", "timeout",
            "invalid_return", "invalid_arguments", "not_found",
            "encoding_failed", "denied", "sandbox_unavailable",
            "warden_missing" } },
        { ALLM_ERR_SESSION,
          { "session_in_error_state", "invalid_status_for_operation",
            "no_pending_tool_call", "unknown_tool_call_id",
            "session_not_found", "session_exists", "invalid_name",
            "session_locked", "session_lost", "session_read_only",
            "turn_unfinished", "nothing_to_resume", "unsettled_tool_calls",
            "nothing_due", "session_released", "wrong_status" } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const *got = allm_error_reasons(rows[i].kind);
        check_row(allm_status_name(rows[i].kind));
        size_t n = 0;
        for (; rows[i].reasons[n]; n++)
            CHECK_TEXT(got[n], rows[i].reasons[n]);
        CHECK_ALWAYS(!got[n]);
    }
}

static void an_adapter_has_twelve_reasons(void)
{
    size_t n = 0;
    const char *const *got = allm_error_reasons(ALLM_ERR_ADAPTER);
    while (got[n])
        n++;
    CHECK_INT(n, 12);
}

static void other_kinds_have_no_list(void)
{
    static const allm_status kinds[] = { ALLM_OK, ALLM_EVENT, ALLM_AGAIN,
                                         ALLM_ERR_MISUSE, ALLM_ERR_NOMEM,
                                         ALLM_ERR_STORE, (allm_status)-77 };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        CHECK_ALWAYS(!allm_error_reasons(kinds[i]));
}

/* Property: an error that has only a reason prints it. */
static void a_reason_alone_makes_a_message(void)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        const char *const *reason = allm_error_reasons(families[i]);
        for (; *reason; reason++) {
            check_row(*reason);
            allm_error *e = of(families[i], *reason);
            CHECK_ERROR(e, families[i], *reason, *reason);
            CHECK_INT(GET(e, derived), 1);
            allm_error_free(e);
        }
    }
}

/* ------------------------------------------------------------- messages --- */

static void messages_follow_from_the_reason(void)
{
    allm_json *one = noun_json("[['messages','empty']]");
    const struct {
        const char *why;
        allm_error given;
        const char *message;
        uint32_t derived;
    } rows[] = {
        { "engine", { .kind = ALLM_ERR_ENGINE, .reason = "missing_adapter" },
          "engine error: missing_adapter", 1 },
        { "engine, provider does not show",
          { .kind = ALLM_ERR_ENGINE, .reason = "missing_key",
            .provider = "openai" },
          "engine error: missing_key", 1 },
        { "engine, with a message",
          { .kind = ALLM_ERR_ENGINE, .reason = "missing_key",
            .provider = "openai", .message = "OPENAI_API_KEY unset" },
          "OPENAI_API_KEY unset", 0 },
        { "adapter", { .kind = ALLM_ERR_ADAPTER, .reason = "timeout" },
          "adapter error: timeout", 1 },
        { "adapter of a provider",
          { .kind = ALLM_ERR_ADAPTER, .reason = "rate_limited",
            .provider = "openai", .retry_after_ms = ALLM_NUM(500) },
          "adapter error (openai): rate_limited", 1 },
        { "stream", { .kind = ALLM_ERR_STREAM, .reason = "cancelled" },
          "stream error: cancelled", 1 },
        { "stream, at an event",
          { .kind = ALLM_ERR_STREAM, .reason = "adapter_error",
            .event_index = ALLM_NUM(3), .provider = "x" },
          "stream error: adapter_error", 1 },
        { "validation, one fault",
          { .kind = ALLM_ERR_VALIDATION, .reason = "invalid_request",
            .errors = one },
          "validation failed: invalid_request (1 error(s))", 1 },
        { "validation, no list",
          { .kind = ALLM_ERR_VALIDATION, .reason = "invalid_tool" },
          "validation failed: invalid_tool (0 error(s))", 1 },
        { "validation, with a message",
          { .kind = ALLM_ERR_VALIDATION, .reason = "invalid_tool",
            .message = "nothing wrong" },
          "nothing wrong", 0 },
        { "tool", { .kind = ALLM_ERR_TOOL, .reason = "timeout" },
          "tool error: timeout", 1 },
        { "tool with its name",
          { .kind = ALLM_ERR_TOOL, .reason = "denied", .tool_name = "rm" },
          "tool error (rm): denied", 1 },
        { "session",
          { .kind = ALLM_ERR_SESSION, .reason = "session_in_error_state" },
          "session error: session_in_error_state", 1 },
        { "image of a provider",
          { .kind = ALLM_ERR_IMAGE, .reason = "unknown", .provider = "x" },
          "image error (x): unknown", 1 },
        { "store: its reasons are free",
          { .kind = ALLM_ERR_STORE, .reason = "locked" },
          "store error: locked", 1 },
        { "misuse: its reasons are free",
          { .kind = ALLM_ERR_MISUSE, .reason = "odd" },
          "misuse error: odd", 1 },
        { "an empty message is none",
          { .kind = ALLM_ERR_TOOL, .reason = "timeout", .message = "" },
          "tool error: timeout", 1 },
        { "a message that was derived follows what has changed",
          { .kind = ALLM_ERR_TOOL, .reason = "denied", .tool_name = "rm",
            .message = "tool error: denied", .derived = 1 },
          "tool error (rm): denied", 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_error given = rows[i].given;
        given.size = sizeof given;
        allm_error *e = allm_error_new(&given);
        CHECK_ALWAYS(!e || e->message);
        CHECK_INT(GET(e, kind), rows[i].given.kind);
        CHECK_TEXT(GET(e, message), rows[i].message);
        CHECK_INT(GET(e, derived), rows[i].derived);
        allm_error_free(e);
    }
    allm_json_free(one);
}

static void a_message_may_be_long(void)
{
    char provider[10001];
    memset(provider, 'p', sizeof provider);
    provider[sizeof provider - 1] = '\0';
    allm_error *e = allm_error_new(ALLM(error, .kind = ALLM_ERR_ADAPTER,
                                        .reason = "timeout",
                                        .provider = provider));
    CHECK_ERROR(e, ALLM_ERR_ADAPTER, "timeout", "): timeout");
    allm_error_free(e);
}

/* ---------------------------------------------------------- constructor --- */

static void keeps_every_field(void)
{
    allm_json *errors = noun_json("[]"), *cause = noun_json("'why'");
    allm_json *metadata = noun_json("{'tool_call_id':'c0'}");
    allm_json *kept = noun_json("{'x':1}");
    allm_error *e = allm_error_new(
        ALLM(error, .kind = ALLM_ERR_ADAPTER, .reason = "rate_limited",
             .message = "slow down", .provider = "openai", .request_id = "r1",
             .tool_name = "t", .tool_call_id = "c",
             .http_status = ALLM_NUM(429), .retry_after_ms = ALLM_NUM(500),
             .event_index = ALLM_NUM(3), .errors = errors, .cause = cause,
             .metadata = metadata, .kept = kept));
    if (e && check_whole()) {
        CHECK_ERROR(e, ALLM_ERR_ADAPTER, "rate_limited", "slow down");
        CHECK_TEXT(e->provider, "openai");
        CHECK_TEXT(e->request_id, "r1");
        CHECK_TEXT(e->tool_name, "t");
        CHECK_TEXT(e->tool_call_id, "c");
        CHECK(e->http_status.set && e->http_status.value == 429);
        CHECK(e->retry_after_ms.set && e->retry_after_ms.value == 500);
        CHECK(e->event_index.set && e->event_index.value == 3);
        CHECK_VALUE(e->errors, "[]");
        CHECK_VALUE(e->cause, "'why'");
        CHECK_VALUE(e->metadata, "{'tool_call_id':'c0'}");
        CHECK_VALUE(e->kept, "{'x':1}");
    }
    allm_error_free(e);
    allm_json_free(errors);
    allm_json_free(cause);
    allm_json_free(metadata);
    allm_json_free(kept);
}

static void what_is_not_on_the_list_is_misuse(void)
{
    static const struct {
        const char *why;
        allm_status kind;
        const char *reason;
    } rows[] = {
        { "a reason of another family", ALLM_ERR_TOOL, "rate_limited" },
        { "upper case", ALLM_ERR_ADAPTER, "TIMEOUT" },
        { "an empty reason", ALLM_ERR_ADAPTER, "" },
        { "no reason", ALLM_ERR_ADAPTER, NULL },
        { "success is no error", ALLM_OK, "timeout" },
        { "nor is an event", ALLM_EVENT, "timeout" },
        { "a kind that does not exist", (allm_status)-99, "timeout" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_error *e = of(rows[i].kind, rows[i].reason);
        CHECK_MISUSE(e, "unknown_reason", "allm_error_reasons()");
        allm_error_free(e);
    }
    allm_error *none = allm_error_new(NULL);
    CHECK_MISUSE(none, "unknown_reason", "kind and reason");
    allm_error_free(none);
    allm_error_free(NULL);
}

static void what_does_not_fit_is_misuse(void)
{
    allm_json *map = noun_json("{}");
    allm_error *e = allm_error_new(ALLM(error, .kind = ALLM_ERR_VALIDATION,
                                        .reason = "invalid_tool",
                                        .errors = map));
    CHECK_MISUSE(e, "wrong_type", "errors must be a JSON array");
    allm_error_free(e);
    allm_json_free(map);
}

static void sizes(void)
{
    allm_error full = { .kind = ALLM_ERR_TOOL, .reason = "denied",
                        .tool_name = "rm" };
    allm_error *e = allm_error_new(&full);
    CHECK_MISUSE(e, "struct_size", "allm_error: the struct has no size");
    allm_error_free(e);

    static const struct {
        size_t size;
        allm_status kind;
        const char *reason;
    } rows[] = {
        { sizeof(struct shape_head), ALLM_ERR_MISUSE, "missing_field" },
        { offsetof(allm_error, derived), ALLM_ERR_MISUSE, "missing_field" },
        { offsetof(allm_error, reason), ALLM_ERR_MISUSE, "missing_field" },
        { offsetof(allm_error, message), ALLM_ERR_TOOL, "denied" },
        { sizeof full + 8, ALLM_ERR_TOOL, "denied" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        allm_error *given = noun_sized(&full, sizeof full, rows[i].size);
        e = allm_error_new(given);
        CHECK_ERROR(e, rows[i].kind, rows[i].reason, NULL);
        allm_error_free(e);
        free(given);
    }
}

static void has_two_forms(void)
{
    allm_error *e = allm_error_new(ALLM(error, .kind = ALLM_ERR_TOOL,
                                        .reason = "denied", .tool_name = "rm"));
    CHECK_JSON(allm_error_json(e, ALLM_FORM_TAGGED),
               "{'__type__':'ALLM.Error.ToolError','data':{"
               "'reason':'denied','message':null,'tool_name':'rm',"
               "'tool_call_id':null,'cause':null,'metadata':{}}}");
    CHECK_JSON(allm_error_json(e, ALLM_FORM_PLAIN),
               "{'kind':'tool','reason':'denied',"
               "'message':'tool error (rm): denied','tool_name':'rm',"
               "'tool_call_id':null,'cause':null,'metadata':{}}");
    allm_error_free(e);
    CHECK_ALWAYS(!allm_error_json(NULL, ALLM_FORM_PLAIN));
}

/* ----------------------------------------------------- inside the house --- */

static void a_validation_error_counts_its_faults(void)
{
    struct arena a;
    allm_json *two = noun_json("[['a','b'],['c','d']]");
    arena_init(&a, mem_default());
    const allm_error *e = error_validation(&a, "invalid_tool", two);
    CHECK_ERROR(e, ALLM_ERR_VALIDATION, "invalid_tool",
                "validation failed: invalid_tool (2 error(s))");
    CHECK_ALWAYS(e && e->message);
    arena_release(&a);
    allm_json_free(two);
}

static void a_copy_has_all_members(void)
{
    struct allm_home *home = home_new(mem_default(), 0);
    allm_json *errors = noun_json("[['a','b']]");
    allm_error *e = allm_error_new(ALLM(error, .kind = ALLM_ERR_VALIDATION,
                                        .reason = "invalid_tool",
                                        .errors = errors));
    const allm_error *copy = e && home ? error_copy(home, e) : status_nomem();
    allm_error *root = error_root(e);
    allm_error_free(e);
    CHECK_ERROR(copy, ALLM_ERR_VALIDATION, "invalid_tool", "(1 error(s))");
    CHECK_VALUE(GET(copy, errors), "[['a','b']]");
    CHECK_VALUE(GET(root, errors), "[['a','b']]");
    CHECK_ALWAYS(copy);
    allm_error_free(root);
    home_drop(home);
    allm_json_free(errors);
}

static void out_of_memory_needs_no_memory(void)
{
    struct allm_home *home = home_new(mem_default(), 0);
    if (home)
        CHECK_ALWAYS(error_copy(home, status_nomem()) == status_nomem());
    CHECK_ALWAYS(!error_root(status_nomem()));
    CHECK_ALWAYS(!error_root(NULL));
    home_drop(home);
}

static void comes_back_from_json(void)
{
    static const struct {
        const char *why, *as, *json, *want;
    } rows[] = {
        { "a null message is derived", "Error.AdapterError",
          "{'reason':'timeout','message':null,'provider':'x','status':504}",
          "{'kind':'adapter','reason':'timeout',"
          "'message':'adapter error (x): timeout','provider':'x',"
          "'status':504,'retry_after_ms':null,'request_id':null,"
          "'cause':null,'metadata':{}}" },
        { "a stored one stays", "Error.SessionError",
          "{'reason':'unknown_tool_call_id','message':'no such call',"
          "'metadata':{'tool_call_id':'c0'}}",
          "{'kind':'session','reason':'unknown_tool_call_id',"
          "'message':'no such call','provider':null,'cause':null,"
          "'metadata':{'tool_call_id':'c0'}}" },
        { "a reason of a later version", "Error.EngineError",
          "{'reason':'no_speech_adapter'}",
          "{'kind':'engine','reason':'no_speech_adapter',"
          "'message':'engine error: no_speech_adapter','provider':null,"
          "'cause':null,'metadata':{}}" },
        { "no reason", "Error.StreamError", "{}",
          "{'kind':'stream','reason':null,'message':'stream error: unknown',"
          "'provider':null,'event_index':null,'cause':null,'metadata':{}}" },
        { "pairs", "Error.ValidationError",
          "{'reason':'invalid_tool','errors':[['name','empty']]}",
          "{'kind':'validation','reason':'invalid_tool',"
          "'message':'validation failed: invalid_tool (1 error(s))',"
          "'errors':[['name','empty']],'cause':null,'metadata':{}}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        CHECK_TRIP(rows[i].as, rows[i].json, rows[i].want);
    }
}

static void members_find_their_places(void)
{
    allm_codec *c = noun_read("Response", "{'metadata':{'error':{"
                                          "'kind':'tool','reason':'denied',"
                                          "'message':'no','tool_name':'rm'}}}");
    const allm_response *r = allm_codec_value(c, ALLM_TYPE_RESPONSE);
    const allm_error *e = GET(r, error);
    CHECK_ERROR(e, ALLM_ERR_TOOL, "denied", "no");
    CHECK_TEXT(GET(e, tool_name), "rm");
    CHECK(!GET(e, kept));
    allm_codec_free(c);

    /* a value that is not an error is left alone */
    c = noun_read("Response", "{'metadata':{'error':{'kind':'x',"
                              "'reason':'y'}}}");
    r = allm_codec_value(c, ALLM_TYPE_RESPONSE);
    CHECK(!GET(r, error));
    CHECK_VALUE(GET(r, metadata), "{'error':{'kind':'x','reason':'y'}}");
    allm_codec_free(c);
}

TESTS = {
    TEST(each_family_has_its_reasons_in_order),
    TEST(an_adapter_has_twelve_reasons),
    TEST(other_kinds_have_no_list),
    TEST(a_reason_alone_makes_a_message),
    TEST(messages_follow_from_the_reason),
    TEST(a_message_may_be_long),
    TEST(keeps_every_field),
    TEST(what_is_not_on_the_list_is_misuse),
    TEST(what_does_not_fit_is_misuse),
    TEST(sizes),
    TEST(has_two_forms),
    TEST(a_validation_error_counts_its_faults),
    TEST(a_copy_has_all_members),
    TEST(out_of_memory_needs_no_memory),
    TEST(comes_back_from_json),
    TEST(members_find_their_places),
    TESTS_END
};
