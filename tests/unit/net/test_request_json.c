/* test_request_json.c - a request as JSON, without secrets */
#include "net/request_json.h"

#include "harness/check.h"
#include "json/parse.h"
#include "json/write.h"

#include <stdio.h>

#define KEY "se/sa\"me-01"

static const char *const headers[] = {
    "Content-Type", "application/json", "X-Mine", "has " KEY " in it",
    "X-API-Key", "abc", "cookie", "a=b", "x-ratelimit-tokens", "7",
    "Authorization", "Bearer " KEY,
};

/* The request with this address and body, as text; "" without memory. */
static const char *tell(const char *url, struct slice body, bool normal)
{
    static char text[2048];
    struct arena a;
    struct buf out;
    struct request_json_secret s;
    const allm_http_view view = { .size = sizeof view,
                                  .method = "post",
                                  .url = url,
                                  .header_count = 6,
                                  .header = headers,
                                  .secret_name = "authorization",
                                  .secret_value = "Bearer " KEY,
                                  .body_len = body.len,
                                  .body = body.ptr };
    text[0] = '\0';
    arena_init(&a, mem_default());
    buf_init(&out, &a, sizeof text - 1);
    if (request_json_secret_of(&a, &view, &s)) {
        const allm_json *v = request_json_of(&a, &a, &view, &s);
        v = v && normal ? request_json_normal(&a, v) : v;
        if (v && json_write(&out, v, 0))
            memcpy(text, out.ptr, out.len + 1);
    }
    arena_release(&a);
    return text;
}

#define HEADERS                                                              \
    "\"headers\":[\"content-type: application/json\","                       \
    "\"x-mine: has [REDACTED] in it\",\"x-api-key: [REDACTED]\","            \
    "\"cookie: [REDACTED]\",\"x-ratelimit-tokens: 7\"],"

static void addresses_are_cleaned(void)
{
    static const struct {
        const char *url, *clean;
    } rows[] = {
        { "https://a/b", "https://a/b" },
        { "", "" },
        { "https://a?key=1&b=2&api_key=3#x", "https://a?key=[REDACTED]&b=2&"
                                             "api_key=[REDACTED]#x" },
        { "https://a/?token=x&tokens=9&X-Sig=z",
          "https://a/?token=[REDACTED]&tokens=9&X-Sig=[REDACTED]" },
        { "https://a/?my.token=1&x.Cookie2=2&a.b=3",
          "https://a/?my.token=[REDACTED]&x.Cookie2=[REDACTED]&a.b=3" },
        { "https://u:p@h:1/b@c", "https://[REDACTED]@h:1/b@c" },
        { "https://u:p@q@h/b", "https://[REDACTED]@h/b" },
        { "https://a/se%2Fsa%22me-01/x", "https://a/[REDACTED]/x" },
        { "https://a/?key", "https://a/?key" },
        { "https://a/?q=sk-abcdefgh", "https://a/?q=[REDACTED]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char want[1024];
        check_row(rows[i].url);
        snprintf(want, sizeof want,
                 "{\"method\":\"post\",\"url\":\"%s\"," HEADERS
                 "\"body_text\":\"\"}",
                 rows[i].clean);
        CHECK_TEXT(tell(rows[i].url, SLICE(""), false), want);
    }
}

/* A header, or NULL without memory. */
static const char *header(struct arena *a, const char *name)
{
    const struct request_json_secret none = { .count = 0 };
    return request_json_header(a, name, "v", &none).ptr;
}

static void headers_are_hidden_by_their_names(void)
{
    static const char *const secret[] = {
        "authorization", "x-auth", "authentication", "set-cookie", "key",
        "x_apikey", "session-token", "accesstoken", "authtoken", "my.secret",
        "password", "passwd", "credential", "credentials", "x-signature",
        "sig", "set-cookie2",
    };
    static const char *const open[] = { "x-author", "tokens", "monkey",
                                        "keys", "cookies", "sign" };
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++) {
        struct arena a;
        arena_init(&a, mem_default());
        check_row(secret[i]);
        const char *line = header(&a, secret[i]);
        CHECK(line && strstr(line, ": [REDACTED]"));
        arena_release(&a);
    }
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        struct arena a;
        arena_init(&a, mem_default());
        check_row(open[i]);
        const char *line = header(&a, open[i]);
        CHECK(line && strstr(line, ": v"));
        arena_release(&a);
    }
}

/* However many words stand in front of it. */
static void the_key_is_the_last_word(void)
{
    struct arena a;
    struct request_json_secret s;
    const allm_http_view view = { .size = sizeof view,
                                  .secret_name = "x",
                                  .secret_value = "Made for me k-1" };
    arena_init(&a, mem_default());
    CHECK(request_json_secret_of(&a, &view, &s));
    CHECK(s.count && slice_is(s.spelling[0], "k-1"));
    arena_release(&a);
}

static void bodies_are_what_they_are(void)
{
    const struct {
        struct slice body;
        const char *told;
    } rows[] = {
        { SLICE("{\"a\": 1.0 }"), "\"body\":{\"a\":1.0}}" },
        { SLICE("\"x\""), "\"body\":\"x\"}" },
        { SLICE("{\"a\": \"" "se\\/sa\\u0022me-01" "!\"}"),
          "\"body\":{\"a\":\"[REDACTED]!\"}}" },
        { SLICE("{\"se/sa\\\"me-01\": 1}"), "\"body\":{\"[REDACTED]\":1}}" },
        { SLICE("{\"sk-abcdefgh\": 1}"), "\"body\":{\"sk-abcdefgh\":1}}" },
        { SLICE("a=" KEY), "\"body_text\":\"a=[REDACTED]\"}" },
        { SLICE("{\"a\":1,\"a\":2}"),
          "\"body_text\":\"{\\\"a\\\":1,\\\"a\\\":2}\"}" },
        { SLICE("\xff\x00"), "\"body_base64\":\"/wA=\"}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].told);
        const char *told = tell("u", rows[i].body, false);
        CHECK_WHY(strstr(told, rows[i].told), told);
        CHECK_ALWAYS(!strstr(told, "me-01"));
    }
}

static void the_normal_form_forgets_what_changes(void)
{
    CHECK_TEXT(tell("u", SLICE("[]"), true),
               "{\"method\":\"POST\",\"url\":\"u\",\"headers\":{"
               "\"content-type\":\"application/json\","
               "\"x-mine\":\"has [REDACTED] in it\","
               "\"x-ratelimit-tokens\":\"7\"},\"body\":[]}");
}

/* Each of them, in whatever case. */
static void the_normal_form_has_no_header_that_changes(void)
{
    static const char *const names[] = {
        "Accept-Encoding", "connection", "content-length", "date", "expect",
        "host", "traceparent", "tracestate", "baggage", "user-agent",
        "x-request-id", "request-id", "x-client-request-id", "x-auth-token",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct arena a;
        struct buf text;
        const allm_error *error;
        check_row(names[i]);
        arena_init(&a, mem_default());
        buf_init(&text, &a, 1024);
        buf_format(&text, "{\"headers\":[\"%s: 1\",\"A:  2\"]}", names[i]);
        const allm_json *v = json_parse_loose(&a, buf_slice(&text), &error);
        v = v ? request_json_normal(&a, v) : NULL;
        buf_clear(&text);
        CHECK(v && json_write(&text, v, 0));
        if (v && !text.broken)
            CHECK_TEXT(text.ptr, "{\"headers\":{\"a\":\"2\"}}");
        arena_release(&a);
    }
}

TESTS = {
    TEST(addresses_are_cleaned),
    TEST(headers_are_hidden_by_their_names),
    TEST(the_key_is_the_last_word),
    TEST(bodies_are_what_they_are),
    TEST(the_normal_form_forgets_what_changes),
    TEST(the_normal_form_has_no_header_that_changes),
    TESTS_END,
};
