/* test_http.c - an HTTP request that a dialect writes */
#include "provider/http.h"

#include "harness/check.h"
#include "provider/sink.h"
#include "json/emit.h"

#include <stdio.h>

struct bench {
    struct arena arena, events;
    struct allm_sink sink;
    struct allm_http http;
    allm_http_view view;
};

static void bench_init(struct bench *b)
{
    arena_init(&b->arena, mem_default());
    arena_init(&b->events, mem_default());
    sink_init(&b->sink, &b->events, NULL);
    http_init(&b->http, &b->arena, &b->sink);
}

static void bench_release(struct bench *b)
{
    arena_release(&b->arena);
    arena_release(&b->events);
}

static void a_request_is_written_and_read(void)
{
    struct bench b;
    char url[] = "http://a", value[] = "v";
    bench_init(&b);
    CHECK(!http_view(&b.http, &b.view));        /* no address yet */
    allm_http_url(&b.http, url);
    allm_http_header(&b.http, "n", value);
    allm_http_body(&b.http, "ab", 2);
    allm_http_body(&b.http, "\0c", 2);
    url[7] = value[0] = '#';                    /* all is copied */
    CHECK(http_view(&b.http, &b.view));
    if (check_whole()) {
        CHECK_INT(b.view.size, sizeof b.view);
        CHECK_TEXT(b.view.method, "POST");
        CHECK_TEXT(b.view.url, "http://a");
        CHECK_INT(b.view.header_count, 1);
        CHECK_TEXT(b.view.header[0], "n");
        CHECK_TEXT(b.view.header[1], "v");
        CHECK(b.view.body_len == 4 && !memcmp(b.view.body, "ab\0c", 4));
        CHECK(!b.view.secret_name && !b.view.secret_value);
    }
    allm_http_method(&b.http, "GET");
    allm_http_url(&b.http, "http://b");         /* the last counts */
    CHECK(http_view(&b.http, &b.view));
    CHECK_TEXT(b.view.method, "GET");
    CHECK_TEXT(b.view.url, "http://b");
    CHECK(!b.http.odd);
    bench_release(&b);
}

static void headers_keep_their_order_however_many(void)
{
    struct bench b;
    char name[16];
    bench_init(&b);
    allm_http_url(&b.http, "http://a");
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "x-%d", i);
        allm_http_header(&b.http, name, "1");
        allm_http_body(&b.http, name, 3);       /* memory in between */
    }
    if (http_view(&b.http, &b.view)) {
        CHECK_INT(b.view.header_count, 50);
        for (int i = 0; i < 50; i++) {
            snprintf(name, sizeof name, "x-%d", i);
            CHECK_TEXT(b.view.header[2 * i], name);
        }
    }
    CHECK_ALWAYS(!http_view(&b.http, &b.view) || !b.http.broken);
    bench_release(&b);
}

static void texts_that_break_out_of_their_line_are_seen(void)
{
    static const struct {
        const char *url, *name, *value;
        bool odd;
    } rows[] = {
        { "http://a", "n", "v", false },
        { "http://a", "n", "a\tb \xC3\xBC", false },
        { "http://a\n", "n", "v", true },
        { "http://a", "n\r", "v", true },
        { "http://a", "n", "v\nx: y", true },
        { "http://a", "n", "\x7f", true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        bench_init(&b);
        allm_http_url(&b.http, rows[i].url);
        allm_http_header(&b.http, rows[i].name, rows[i].value);
        CHECK_INT(b.http.odd, rows[i].odd);
        bench_release(&b);
    }
}

static void a_body_has_a_limit(void)
{
    for (size_t len = 3; len <= 4; len++) {
        struct bench b;
        bench_init(&b);
        allm_http_url(&b.http, "http://a");
        b.http.body.limit = 3;
        allm_http_body(&b.http, "abcd", len);
        CHECK(http_view(&b.http, &b.view) == (len == 3));
        CHECK(b.http.body.over == (len == 4) && !b.http.broken);
        bench_release(&b);
    }
}

/* A transport of the caller sees one body, our own client its pieces. */
static void a_borrowed_body_is_whole(void)
{
    static char lent[] = "[123456789 123456789 123456789 123456789 123456789 "
                         "123456789 123456789 123456789 123456789 123456789 "
                         "123456789 123456789 123456789 123456789]";
    struct bench b;
    struct emit e;
    struct rope rope;
    bench_init(&b);
    allm_http_url(&b.http, "http://a");
    http_emit(&b.http, &e);
    emit_open(&e, '[');
    emit_borrowed(&e, SLICE("1"));      /* short: it is copied */
    emit_borrowed(&e, slice_of(lent));
    emit_borrowed(&e, slice_of(lent));
    emit_close(&e, ']');
    if (http_pieces(&b.http, &b.view, &rope)) {
        CHECK_INT(rope.count, 2);
        CHECK(rope.loan[0].bytes.ptr == lent && !b.view.body);
        CHECK_SLICE(rope.text, SLICE("[1,,]"));
        CHECK_INT(b.view.body_len, rope.len);
    }
    if (http_view(&b.http, &b.view)) {
        CHECK_INT(b.view.body_len, 5 + 2 * (sizeof lent - 1));
        CHECK(!memcmp(b.view.body, "[1,[123", 7));
        CHECK(!memcmp(b.view.body + b.view.body_len - 5, "789]]", 5));
    }
    bench_release(&b);
}

static void a_failure_is_reported_to_the_sink(void)
{
    struct bench b;
    bench_init(&b);
    CHECK_INT(allm_http_fail(&b.http, ALLM(error, .kind = ALLM_ERR_ADAPTER,
                                           .reason = "unsupported_feature")),
              ALLM_ERR_ADAPTER);
    CHECK(b.sink.failure &&
          !strcmp(b.sink.failure->reason, "unsupported_feature"));
    CHECK(b.sink.final);        /* another attempt would not help */
    bench_release(&b);
}

static void nothing_is_accepted(void)
{
    struct bench b;
    bench_init(&b);
    allm_http_method(NULL, "GET");
    allm_http_url(NULL, "http://a");
    allm_http_header(NULL, "n", "v");
    allm_http_body(NULL, "a", 1);
    CHECK_INT(allm_http_fail(NULL, NULL), ALLM_ERR_NOMEM);
    allm_http_method(&b.http, NULL);
    allm_http_url(&b.http, NULL);
    allm_http_header(&b.http, NULL, "v");
    allm_http_header(&b.http, "n", NULL);
    allm_http_body(&b.http, NULL, 0);
    allm_http_url(&b.http, "http://a");
    CHECK(http_view(&b.http, &b.view));
    CHECK_TEXT(b.view.method, "POST");
    CHECK_INT(b.view.header_count, 0);
    CHECK_INT(b.view.body_len, 0);
    bench_release(&b);
}

TESTS = {
    TEST(a_request_is_written_and_read),
    TEST(headers_keep_their_order_however_many),
    TEST(texts_that_break_out_of_their_line_are_seen),
    TEST(a_body_has_a_limit),
    TEST(a_borrowed_body_is_whole),
    TEST(a_failure_is_reported_to_the_sink),
    TEST(nothing_is_accepted),
    TESTS_END,
};
