/* test_explain.c - the errors of HTTP statuses and their bodies */
#include "provider/explain.h"

#include "harness/check.h"
#include "harness/play.h"
#include "provider/sink.h"

static void every_status_has_a_reason(void)
{
    static const struct {
        int32_t status;
        const char *reason;
    } rows[] = {
        { 400, "invalid_request" },      { 401, "authentication_failed" },
        { 402, "rate_limited" },         { 403, "authentication_failed" },
        { 404, "invalid_request" },      { 408, "timeout" },
        { 413, "invalid_request" },      { 422, "invalid_request" },
        { 429, "rate_limited" },         { 498, "provider_unavailable" },
        { 500, "provider_unavailable" }, { 503, "provider_unavailable" },
        { 524, "provider_unavailable" }, { 529, "provider_unavailable" },
        { 302, "unknown" },              { 101, "unknown" },
        { 600, "unknown" },              { 0, "unknown" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_TEXT(explain_status(rows[i].status), rows[i].reason);
}

static void messages_are_found_in_all_shapes(void)
{
    static const struct {
        const char *body, *message;
    } rows[] = {
        { "{'error': {'message': 'm', 'code': 3}}", "m" },
        { "{'error': 'm'}", "m" },
        { "{'message': 'm', 'code': 'c'}", "m" },
        { "{'object': 'error', 'message': 'm'}", "m" },
        { "{'code': 'c', 'error': 'm'}", "m" },
        { "{'error': {'code': 1}, 'message': 'm'}", "m" },
        { "{'error': '', 'message': 'm'}", "m" },
        { "{'detail': 'm'}", "m" },
        { "{'detail': [{'loc': ['a'], 'msg': 'm'}]}", "m" },
        { "[{'error': {'message': 'm'}}]", "m" },
        { "{}", NULL },
        { "[]", NULL },
        { "{'error': null}", NULL },
        { "{'detail': []}", NULL },
        { "3", NULL },
        { "'m'", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].body);
        allm_json *v = play_json(rows[i].body);
        CHECK_TEXT(explain_message(v), rows[i].message);
        allm_json_free(v);
    }
    CHECK(!explain_message(NULL));
}

/* The error of a status and a body. */
static void check_default(int32_t status, const char *body, const char *reason,
                          const char *message)
{
    struct arena a;
    struct allm_sink sink;
    const allm_http_head head = { .size = sizeof head, .status = status };
    arena_init(&a, mem_default());
    sink_init(&sink, &a, NULL);
    allm_status kind = explain_default(&head, body, strlen(body), &sink);
    CHECK_INT(kind, ALLM_ERR_ADAPTER);
    if (sink.failure) {
        CHECK_TEXT(sink.failure->reason, reason);
        CHECK_TEXT(sink.failure->message, message);
        CHECK_INT(sink.failure->http_status.value, status);
    }
    CHECK_ALWAYS(sink.failure || sink.status == ALLM_ERR_NOMEM);
    CHECK_ALWAYS(!sink.final);
    arena_release(&a);
}

static void bodies_of_any_kind_are_explained(void)
{
    static char page[5000], said[5100];
    check_default(429, "{\"error\": \"m\"}", "rate_limited",
                  "HTTP status 429: m");
    check_default(502, "<html>Bad Gateway</html>", "provider_unavailable",
                  "HTTP status 502");
    check_default(500, "", "provider_unavailable", "HTTP status 500");
    check_default(400, "{\"error\": \"cut", "invalid_request",
                  "HTTP status 400");
    memset(page, 'x', sizeof page - 1);
    memcpy(page, "{\"error\": \"", 11);
    memcpy(page + sizeof page - 3, "\"}", 3);
    memcpy(said, "HTTP status 400: ", 17);
    memset(said + 17, 'x', sizeof page - 14);   /* cut later, behind keys */
    check_default(400, page, "invalid_request", said);
}

static void sentences_tell_status_and_words(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    CHECK_TEXT(explain_sentence(&a, 503, "busy"), "HTTP status 503: busy");
    CHECK_TEXT(explain_sentence(&a, 503, NULL), "HTTP status 503");
    CHECK_TEXT(explain_sentence(&a, 0, "busy"), "busy");
    CHECK_TEXT(explain_sentence(&a, 0, NULL),
               "the provider sent an error without a message");
    arena_release(&a);
}

/* The details of an error, behind one that is there already. */
static void check_details(const char *error, const char *want)
{
    static const char *const skip[] = { "message", "error", NULL };
    struct arena a;
    struct build b;
    allm_json *core = play_json(error);
    arena_init(&a, mem_default());
    build_init(&b, &a);
    build_object(&b);
    const allm_json *got = explain_details(&b, core, skip);
    check_row(error);
    CHECK(!!got == !!want);
    if (got && want) {
        allm_text *text = allm_json_write(got, 0);
        CHECK_TEXT(allm_text_bytes(text, NULL), want);
        allm_text_free(text);
    }
    arena_release(&a);
    allm_json_free(core);
}

static void details_leave_out_other_members(void)
{
    check_details("{'message': 'm', 'code': 3, 'param': null}", "{\"code\":3}");
    check_details("{'error': {'x': 1}, 'x': [1]}", "{\"x\":[1]}");
    check_details("{'message': 'm'}", NULL);
    check_details("{}", NULL);
    check_details("'text'", NULL);
    check_details("[1, 2]", NULL);
}

TESTS = {
    TEST(every_status_has_a_reason),
    TEST(messages_are_found_in_all_shapes),
    TEST(bodies_of_any_kind_are_explained),
    TEST(sentences_tell_status_and_words),
    TEST(details_leave_out_other_members),
    TESTS_END,
};
