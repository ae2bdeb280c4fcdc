/* test_asked.c - a request as JSON, and nothing secret in it */
#include "net/asked.h"

#include "harness/check.h"
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
    struct asked_secret s;
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
    if (asked_secret_of(&a, &view, &s)) {
        const allm_json *v = asked_json(&a, &a, &view, &s);
        v = v && normal ? asked_normal(&a, v) : v;
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
        { "https://u:p@h:1/b@c", "https://[REDACTED]@h:1/b@c" },
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

TESTS = {
    TEST(addresses_are_cleaned),
    TEST(bodies_are_what_they_are),
    TEST(the_normal_form_forgets_what_changes),
    TESTS_END,
};
