/* test_url.c - parts of URLs, and one that is parsed once */
#include "net/url.h"

#include "harness/check.h"

static void keeps_what_it_parsed(void)
{
    static const char one[] = "http://127.0.0.1:1/v1/chat?x=1";
    static const char other[] = "http://127.0.0.1:1/v1/models";
    const struct mem mem = mem_default();
    struct parsed_url u = { 0 };
    char *path = NULL;
    CHECK(!parsed_url_parts(&u, one));
    parsed_url_set(&u, mem, one);
    CURLU *parts = parsed_url_parts(&u, one);
    CHECK(parts != NULL);
    CHECK(!parsed_url_parts(&u, other));
    parsed_url_set(&u, mem, one);
    CHECK(parsed_url_parts(&u, one) == parts);
    parsed_url_set(&u, mem, other);
    CHECK(!parsed_url_parts(&u, one));
    curl_url_get(parsed_url_parts(&u, other), CURLUPART_PATH, &path, 0);
    CHECK_TEXT(path, "/v1/models");
    curl_free(path);
    parsed_url_release(&u, mem);
    CHECK(!parsed_url_parts(&u, other));
}

static void has_nothing_of_what_is_no_url(void)
{
    static const char bad[] = "http://127.0.0.1:99999/";
    struct parsed_url u = { 0 };
    parsed_url_set(&u, mem_default(), "http://127.0.0.1/");
    parsed_url_set(&u, mem_default(), bad);
    CHECK(!parsed_url_parts(&u, bad));
    CHECK(!u.parts && !u.text);
    parsed_url_release(&u, mem_default());
}

static void shows_a_url_without_secrets(void)
{
    static const char base[] = "https://u:p@a.example/x?key=k";
    static const char *const rows[][2] = {
        { "https://me:word@b.example:8/mcp?key=k#part",
          "https://b.example:8/mcp" },
        { "/y?key=k", "https://a.example/y" },
        { "?key=k", "https://a.example/x" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        arena_init(&a, mem_default());
        CHECK_TEXT(url_show(&a, base, rows[i][0]), rows[i][1]);
        arena_release(&a);
    }
}

TESTS = { TEST(keeps_what_it_parsed), TEST(has_nothing_of_what_is_no_url),
          TEST_ONCE(shows_a_url_without_secrets), TESTS_END };
