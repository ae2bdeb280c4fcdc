/* test_request_headers.c - headers that libcurl gets or that are rejected */
#include "net/request_headers.h"

#include "harness/check.h"

#include <string.h>

static void headers_are_listed_in_order(void)
{
    static const char *const given[] = { "X-A", "1", "X-Empty", "",
                                         "content-TYPE", "text/plain" };
    static const struct {
        const char *why;
        size_t count;
        const char *secret, *lines[6];
    } rows[] = {
        { "none", 0, NULL, { "Content-Type:", "Expect:" } },
        { "an empty one", 2, NULL,
          { "Content-Type:", "X-A: 1", "X-Empty;", "Expect:" } },
        { "a type", 3, NULL,
          { "X-A: 1", "X-Empty;", "content-TYPE: text/plain", "Expect:" } },
        { "a key", 1, "k",
          { "Content-Type:", "X-A: 1", "X-Key: k", "Expect:" } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct curl_slist *list;
        allm_http_view view = { .size = sizeof view, .header = given };
        view.header_count = rows[i].count;
        view.secret_name = rows[i].secret ? "X-Key" : NULL;
        view.secret_value = rows[i].secret;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        bool ok = request_headers_list(&a, &view, &list);
        CHECK(ok);
        for (size_t k = 0; ok && rows[i].lines[k]; k++) {
            CHECK_TEXT(list ? list->data : "", rows[i].lines[k]);
            list = list ? list->next : NULL;
        }
        CHECK(!ok || !list);
        arena_release(&a);
    }
}

static void line_breaks_are_rejected(void)
{
    static const char *const names[] = { "X-A\n", "1" };
    static const char *const values[] = { "X-A", "1\r\nX-B: 2" };
    static const char *const good[] = { "X-A", "a\ttab" };
    static const struct {
        const char *why, *url, *secret;
        const char *const *header;
        bool ok;
    } rows[] = {
        { "all is well", "HTTPS://h/", "k", good, true },
        { "another protocol", "ftp://h/", "k", good, false },
        { "an address of two lines", "https://h/\n", "k", good, false },
        { "a name", "https://h/", "k", names, false },
        { "a value", "https://h/", "k", values, false },
        { "a key", "https://h/", "k\n", good, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        allm_http_view view = { .size = sizeof view, .secret_name = "X-Key" };
        view.url = rows[i].url;
        view.secret_value = rows[i].secret;
        view.header = rows[i].header;
        view.header_count = 1;
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        const allm_error *e = request_headers_check(&view, &a);
        CHECK_ALWAYS(!e == rows[i].ok);
        CHECK(!e || !strcmp(e->reason, "invalid_request"));
        arena_release(&a);
    }
}

TESTS = {
    TEST(headers_are_listed_in_order),
    TEST(line_breaks_are_rejected),
    TESTS_END,
};
