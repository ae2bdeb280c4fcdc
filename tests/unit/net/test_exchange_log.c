/* test_exchange_log.c - one exchange, and its text in a recording */
#include "net/exchange_log.h"

#include "harness/check.h"

#include <stdio.h>

#define KEY "sesame-0123456789"

/* An exchange with this body, cut at a place; its text, static. */
static const char *tell(int32_t status, struct slice body, size_t cut)
{
    static char text[4096];
    struct exchange_log t;
    struct arena a;
    struct buf out;
    const allm_http_view view = { .size = sizeof view, .url = "u",
                                  .secret_name = "x-key",
                                  .secret_value = KEY };
    const allm_http_head head = { .size = sizeof head, .status = status };
    text[0] = '\0';
    arena_init(&a, mem_default());
    buf_init(&out, &a, sizeof text - 1);
    exchange_log_init(&t, mem_default());
    exchange_log_request(&t, &view);
    exchange_log_head(&t, &head);
    exchange_log_chunk(&t, (struct slice){ body.ptr, cut }, 3);
    exchange_log_chunk(&t, slice_skip(body, cut), 10);
    exchange_log_end(&t, RECORDING_COMPLETE, 11, NULL, ALLM_OK);
    if (exchange_log_text(&t, &out))
        snprintf(text, sizeof text, "%s", strstr(out.ptr, "{\"ms\""));
    exchange_log_release(&t);
    arena_release(&a);
    return text;
}

static void chunks_keep_their_places(void)
{
    static const struct {
        const char *body;
        size_t cut;
        const char *first, *second;
    } rows[] = {
        { "abcd", 1, "a", "bcd" },
        { "abcd", 0, "", "abcd" },
        { "abcd", 4, "abcd", "" },
        { "a" KEY "b", 1, "a", "[REDACTED]b" },
        { "a" KEY "b", 2, "a[REDACTED]", "b" },
        { "a" KEY "b", 17, "a[REDACTED]", "b" },
        { "a" KEY "b", 18, "a[REDACTED]", "b" },
        { "a" KEY "b", 19, "a[REDACTED]b", "" },
        { "a" KEY, 17, "a[REDACTED]", "" },
        { "a\\u0073esame\\u002d0123456789b", 9, "a[REDACTED]", "b" },
        { KEY KEY, 5, "[REDACTED]", "[REDACTED]" },
        { KEY "-" KEY, 20, "[REDACTED]-[REDACTED]", "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char want[512];
        check_row(rows[i].body);
        snprintf(want, sizeof want,
                 "{\"ms\": 3, \"text\": \"%s\"}\n{\"ms\": 7, \"text\": \"%s\"}"
                 "\n{\"ms\": 1, \"end\": \"complete\"}\n",
                 rows[i].first, rows[i].second);
        CHECK_TEXT(tell(200, slice_of(rows[i].body), rows[i].cut), want);
    }
}

/* Whatever stands around it, in whatever pieces. */
static void no_piece_of_a_key_is_left(void)
{
    struct random r = check_random();
    for (int n = 0; n < 2000; n++) {
        char body[200];
        size_t len = 0;
        while (len < 120) {
            if (random_below(r, 3) == 0) {
                memcpy(body + len, KEY, strlen(KEY));
                len += strlen(KEY);
            } else {
                body[len++] = "s-e\"\xc3.9"[random_below(r, 7)];
            }
        }
        const char *text = tell(random_below(r, 2) ? 200 : 400,
                                (struct slice){ body, len },
                                random_below(r, len + 1));
        CHECK_ALWAYS(!strstr(text, KEY) && !strstr(text, "0123456"));
    }
}

/* Whether the connection was used before is told, if it was. */
static void the_head_tells_of_an_old_connection(void)
{
    for (int i = 0; i < 2; i++) {
        struct exchange_log t;
        struct arena a;
        struct buf out;
        const allm_http_view view = { .size = sizeof view, .url = "u" };
        const allm_http_head head = { .size = sizeof head,
                                      .status = 200,
                                      .reused = i == 1 };
        arena_init(&a, mem_default());
        buf_init(&out, &a, 1000);
        exchange_log_init(&t, mem_default());
        exchange_log_request(&t, &view);
        exchange_log_head(&t, &head);
        if (exchange_log_text(&t, &out))
            CHECK(!strstr(out.ptr, "\"reused\": true") == (i == 0));
        exchange_log_release(&t);
        arena_release(&a);
    }
}

/* In an answer that is no success also what only looks like a key. */
static void failures_are_searched_for_any_key(void)
{
    static const struct {
        int32_t status;
        bool hides;
    } rows[] = { { 200, false }, { 299, false }, { 199, true },
                 { 300, true },  { 401, true },  { 503, true } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = tell(rows[i].status, SLICE("is sk-abcdefgh right"),
                                4);
        CHECK(!*text || !strstr(text, "[REDACTED]") == !rows[i].hides);
        if (check_whole())
            CHECK(*text);
    }
}

/* No more of an error than a recording may hold. */
static void errors_have_a_status_of_http_or_none(void)
{
    static const struct {
        int64_t status, wait_ms;
        const char *told;
    } rows[] = {
        { 999, 0, ", \"status\": 999, \"retry_after_ms\": 0}" },
        { 1000, 7, "\"m\", \"retry_after_ms\": 7}" },
        { -1, -1, "\"m\"}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct exchange_log t;
        struct arena a;
        struct buf out;
        const allm_http_view view = { .size = sizeof view, .url = "u" };
        allm_error e = { .size = sizeof e,
                         .kind = ALLM_ERR_ADAPTER,
                         .reason = "r",
                         .message = "m",
                         .http_status = { rows[i].status, true },
                         .retry_after_ms = { rows[i].wait_ms, true } };
        arena_init(&a, mem_default());
        buf_init(&out, &a, 1000);
        exchange_log_init(&t, mem_default());
        exchange_log_request(&t, &view);
        exchange_log_end(&t, RECORDING_ERROR, 0, &e, ALLM_ERR_ADAPTER);
        if (exchange_log_text(&t, &out))
            CHECK_WHY(strstr(out.ptr, rows[i].told) != NULL, out.ptr);
        exchange_log_release(&t);
        arena_release(&a);
    }
}

/* Too long is told apart from no memory. */
static void a_limit_is_reported(void)
{
    struct exchange_log t;
    struct arena a;
    struct buf out;
    const allm_http_view view = { .size = sizeof view, .url = "u" };
    arena_init(&a, mem_default());
    buf_init(&out, &a, 1000);
    exchange_log_init(&t, mem_default());
    t.body.limit = 10;
    exchange_log_request(&t, &view);
    exchange_log_chunk(&t, SLICE("12345678901"), 0);
    CHECK_ALWAYS(!exchange_log_text(&t, &out));
    CHECK(out.over);
    exchange_log_release(&t);
    arena_release(&a);
}

TESTS = {
    TEST(chunks_keep_their_places),
    TEST_ONCE(no_piece_of_a_key_is_left),
    TEST(the_head_tells_of_an_old_connection),
    TEST(failures_are_searched_for_any_key),
    TEST(errors_have_a_status_of_http_or_none),
    TEST(a_limit_is_reported),
    TESTS_END,
};
