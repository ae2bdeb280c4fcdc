/* test_transport.c - transports that wrap the HTTP client are opened over it */
#include "net/transport.h"

#include "harness/check.h"
#include "harness/drain.h"
#include "harness/scripted.h"

#include <string.h>

/* A transport, and the HTTP client that it may wrap. */
static const allm_transport *wrapping, *client;

static allm_exchange *open_both(void *self, const allm_http_view *view,
                                allm_waker *waker, const allm_error **error)
{
    (void)self;
    return transport_open(wrapping, client, view, waker, error);
}

/* One exchange through it, as by a stream. */
static const char *drain_over(const allm_transport *t,
                              const allm_transport *http)
{
    allm_transport both = *(t ? t : http);
    wrapping = t;
    client = http;
    both.open = open_both;
    return drain_all(&both, &(struct drain){ .url = NULL });
}

static const struct scripted_step answer[] = { STEP_HEAD(200), STEP_BYTES("a"),
                                               STEP_END, STEP_DONE };

static void the_client_itself_is_opened(void)
{
    struct scripted play = { .steps = answer };
    allm_transport http = scripted_transport(&play);
    CHECK(transport_needs_http(NULL));
    CHECK_TEXT(drain_over(NULL, &http), "200 [a] ok");
}

static void a_transport_without_open_over_needs_no_client(void)
{
    struct scripted play = { .steps = answer };
    allm_transport own = scripted_transport(&play);
    CHECK(!transport_needs_http(&own));
    CHECK_TEXT(drain_over(&own, NULL), "200 [a] ok");
}

/* A recorder of a recorder of the client. */
static void recorders_wrap_the_client(void)
{
    struct scripted play = { .steps = answer };
    allm_transport http = scripted_transport(&play);
    allm_recorder *inner = allm_recorder_new(NULL, NULL);
    allm_recorder *outer = allm_recorder_new(
        NULL, ALLM(recorder_opts, .transport = allm_recorder_transport(inner)));
    const allm_transport *t = allm_recorder_transport(outer);
    CHECK(transport_needs_http(t));
    CHECK_TEXT(drain_over(t, &http), "200 [a] ok");
    allm_recorder *both[] = { inner, outer };
    for (int i = 0; i < 2; i++) {
        allm_text *text = allm_recorder_text(both[i]);
        const char *bytes = allm_text_bytes(text, NULL);
        CHECK(bytes && strstr(bytes, "https://a.example/x"));
        allm_text_free(text);
    }
    allm_recorder_free(outer);
    allm_recorder_free(inner);
    CHECK_ALWAYS(play.open_now == 0);
}

/* One that has its own transport never asks for the client. */
static void a_recorder_of_a_transport_needs_no_client(void)
{
    struct scripted play = { .steps = answer };
    allm_transport own = scripted_transport(&play);
    allm_recorder *r =
        allm_recorder_new(NULL, ALLM(recorder_opts, .transport = &own));
    CHECK(r && !transport_needs_http(allm_recorder_transport(r)));
    allm_recorder_free(r);
}

TESTS = {
    TEST(the_client_itself_is_opened),
    TEST(a_transport_without_open_over_needs_no_client),
    TEST(recorders_wrap_the_client),
    TEST(a_recorder_of_a_transport_needs_no_client),
    TESTS_END
};
