/* test_fetch.c - which URLs are fetched, and redirects */
#include "provider/fetch.h"

#include "harness/check.h"
#include "provider/http.h"
#include "provider/sink.h"

static void addresses_have_faults(void)
{
    static const struct {
        const char *url, *fault;
    } rows[] = {
        { "https://x.y", NULL },
        { "HTTPS://x.y/z?q#f", NULL },
        { "http://localhost:80/x", NULL },
        { "http://127.0.0.1/x", NULL },
        { "http://127.9.9.9:1/x", NULL },
        { "http://[::1]/x", NULL },
        { "http://[::1]:8080/x", NULL },
        { "", "invalid_url" },
        { "https://", "invalid_url" },
        { "https:///x", "invalid_url" },
        { "https://:80/x", "invalid_url" },
        { "ftp://x/y", "invalid_url" },
        { "data:image/png;base64,aGk=", "invalid_url" },
        { "https://x/\r\nhost: z", "invalid_url" },
        { "https://u@x/y", "url_with_credentials" },
        { "http://127.0.0.1@evil/y", "url_with_credentials" },
        { "http://x.y/z", "insecure_url" },
        { "http://localhost.evil/z", "insecure_url" },
        { "http://127.0.0.1.evil/z", "insecure_url" },
        { "http://127.0.0.1\\@evil/z", "invalid_url" },
        { "http://[::1].evil/z", "insecure_url" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].url);
        CHECK_TEXT(fetch_fault(rows[i].url), rows[i].fault);
    }
    check_row(NULL);
}

static void redirects_lead_there(void)
{
    static const char *const rows[][3] = {
        { "https://a/b/c", "https://d/e", "https://d/e" },
        { "https://a/b/c", "//d/e", "https://d/e" },
        { "http://a/b/c", "//d/e", "http://d/e" },
        { "https://a/b/c?q=/x", "/e", "https://a/e" },
        { "https://a/b/c?q=/x", "e#f", "https://a/b/e" },
        { "https://a", "e", "https://a/e" },
        { "https://a?x", "e", "https://a/e" },
        { "https://a:1/b", "ftp://x", "https://a:1/ftp://x" },
        { "https://a/b", "", "https://a/" },
    };
    struct arena a;
    arena_init(&a, mem_default());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *is = fetch_follow(&a, rows[i][0], rows[i][1]);
        check_row(rows[i][1]);
        if (is)
            CHECK_TEXT(is, rows[i][2]);
    }
    check_row(NULL);
    arena_release(&a);
}

/* The image is requested by its URL, without other headers. */
static void asks_for_a_picture(void)
{
    struct arena a, events;
    struct allm_sink sink;
    struct allm_http http;
    allm_http_view view;
    const allm_call call = { .size = sizeof call,
                             .base_url = "https://h/a.png?b" };
    arena_init(&a, mem_default());
    arena_init(&events, mem_default());
    sink_init(&sink, &events, NULL);
    http_init(&http, &a, &sink);
    CHECK_INT(fetch_row.adapter->encode(&call, &http), ALLM_OK);
    CHECK(http_view(&http, &view));
    if (check_whole()) {
        CHECK_TEXT(view.method, "GET");
        CHECK_TEXT(view.url, "https://h/a.png?b");
        CHECK_INT(view.body_len, 0);
        CHECK_INT(view.header_count, 2);
        CHECK_TEXT(view.header[0], "accept");
        CHECK_TEXT(view.header[1], "image/*");
        CHECK_TEXT(view.header[2], "accept-encoding");
        CHECK_TEXT(view.header[3], "identity");
    }
    arena_release(&a);
    arena_release(&events);
}

static void secrets_are_not_shown(void)
{
    CHECK_INT((int64_t)fetch_shown("https://a/b?sig=1").len, 11);
    CHECK_INT((int64_t)fetch_shown("https://a/b").len, 11);
}

TESTS = {
    TEST(addresses_have_faults),
    TEST(redirects_lead_there),
    TEST(asks_for_a_picture),
    TEST(secrets_are_not_shown),
    TESTS_END,
};
