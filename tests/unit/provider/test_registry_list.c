/* test_registry_list.c - the providers as JSON */
#include "harness/check.h"
#include "provider/registry.h"

static void the_list_tells_every_row(void)
{
    allm_json *list = allm_registry_list();
    const allm_json *first = allm_json_at(list, 0);
    size_t n = 0;
    while (registry_at(n))
        n++;
    CHECK_ALWAYS(allm_json_count(list) == n);
    CHECK_ALWAYS(
        !strcmp(allm_json_text(allm_json_get(first, "name"), NULL), "fake"));
    CHECK_ALWAYS(!allm_json_true(allm_json_get(first, "http")));
    CHECK_ALWAYS(allm_json_true(allm_json_get(first, "keyless")));
    const allm_json *chat = allm_json_at(list, 1);
    CHECK_ALWAYS(!strcmp(allm_json_text(allm_json_get(chat, "dialect"), NULL),
                         "openai_chat"));
    CHECK_ALWAYS(allm_json_true(allm_json_get(chat, "http")));
    CHECK_ALWAYS(
        allm_json_number(allm_json_get(chat, "embed_inputs")) == 2048 &&
        allm_json_number(allm_json_get(chat, "embed_bytes")) == 600000);
    CHECK_ALWAYS(allm_json_number(allm_json_get(first, "embed_inputs")) ==
                     1000 &&
                 allm_json_type_of(allm_json_get(first, "embed_bytes")) ==
                     ALLM_JSON_NULL);
    allm_json_free(list);
}

TESTS = {
    TEST_ONCE(the_list_tells_every_row),
    TESTS_END,
};
