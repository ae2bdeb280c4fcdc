/* test_null_transport.c - a recorder or player without memory fails cleanly */
#include "net/null_transport.h"

#include "harness/check.h"
#include "harness/drain.h"

static void says_why_nothing_is_opened(void)
{
    CHECK_ALWAYS(strstr(
        drain_all(&null_transport, &(struct drain){ .url = "u" }), "memory"));
}

/* Nobody has such an exchange; whoever asks all the same is told so. */
static void an_exchange_without_an_owner_is_harmless(void)
{
    const allm_transport *t = &null_transport;
    allm_chunk chunk = { .size = sizeof chunk };
    CHECK_INT(t->read(t->self, NULL, &chunk), ALLM_ERR_NOMEM);
    CHECK_ALWAYS(chunk.error && chunk.error->kind == ALLM_ERR_NOMEM);
    CHECK_ALWAYS(!t->head(t->self, NULL));
    t->close(t->self, NULL);
}

TESTS = {
    TEST(says_why_nothing_is_opened),
    TEST(an_exchange_without_an_owner_is_harmless),
    TESTS_END
};
