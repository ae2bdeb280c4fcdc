/* test_response_head.c - the id of a response, in its headers */
#include "run/response_head.h"

#include "harness/check.h"

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
    TEST(the_names_of_an_id_have_an_order),
    TESTS_END,
};
