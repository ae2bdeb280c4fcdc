/* test_response_head.c - headers are found by their names */
#include "run/response_head.h"

#include "harness/check.h"

static void finds_a_header_by_its_name(void)
{
    static const char *headers[] = { "Retry-After",  "7",
                                     "X-Request-Id", "r",
                                     "location",     "there",
                                     "Retry-After",  "8" };
    const allm_http_head head = { .size = sizeof head,
                                  .status = 200,
                                  .header_count = 4,
                                  .header = headers };
    static const struct {
        const char *why, *name, *value;
    } rows[] = {
        { "the first of two", "retry-after", "7" },
        { "in lower case", "location", "there" },
        { "a part of a name", "retry", NULL },
        { "a longer name", "locations", NULL },
        { "no name", "", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        CHECK_TEXT(response_head_find(&head, rows[i].name), rows[i].value);
    }
    CHECK_TEXT(response_head_id(&head), "r");
}

static void the_names_of_an_id_have_an_order(void)
{
    static const char *headers[] = { "CF-Ray", "last", "request-id", "first" };
    const allm_http_head head = { .size = sizeof head,
                                  .header_count = 2,
                                  .header = headers };
    const allm_http_head none = { .size = sizeof none };
    CHECK_TEXT(response_head_id(&head), "first");
    CHECK(!response_head_id(&none));
    CHECK(!response_head_id(NULL));
}

TESTS = {
    TEST(finds_a_header_by_its_name),
    TEST(the_names_of_an_id_have_an_order),
    TESTS_END,
};
