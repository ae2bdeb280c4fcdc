/* test_fetch.c - which addresses are asked, and where redirects lead */
#include "provider/fetch.h"

#include "harness/check.h"

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

static void secrets_are_not_shown(void)
{
    CHECK_INT((int64_t)fetch_shown("https://a/b?sig=1").len, 11);
    CHECK_INT((int64_t)fetch_shown("https://a/b").len, 11);
}

TESTS = {
    TEST(addresses_have_faults),
    TEST(redirects_lead_there),
    TEST(secrets_are_not_shown),
    TESTS_END,
};
