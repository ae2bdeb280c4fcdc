/* test_gemini.c - the dialect, by its folders of fixtures */
#include "provider/gemini.h"

#include "harness/check.h"
#include "harness/fixture.h"
#include "harness/noun.h"
#include "provider/http.h"
#include "unit/provider/sinking.h"
#include "json/json.h"

static void decodes_every_fixture(void)
{
    fixture_decode_all("gemini", &gemini_adapter);
}

static void encodes_every_fixture(void)
{
    fixture_encode_all("gemini", &gemini_adapter);
}

/* The n-th allocation fails, of all fixtures whose names begin like this. */
static void decodes_transcripts(void)
{
    fixture_decode_some("gemini", &gemini_adapter, "gem-");
}

static void decodes_odd_answers(void)
{
    fixture_decode_some("gemini", &gemini_adapter, "q0");
}

static void decodes_odd_streams(void)
{
    fixture_decode_some("gemini", &gemini_adapter, "q1");
}

static void decodes_losses(void)
{
    fixture_decode_some("gemini", &gemini_adapter, "schema");
}

static void encodes_every_request(void)
{
    fixture_encode_some("gemini", &gemini_adapter, "encode-");
}

/* ------------------------------------------------------------------- signs --- */

#define CANDIDATE(c) "{\"candidates\":[{" c "}]}"

/* What is said of the protocol while these frames come. */
static void tells_where_the_protocol_is(void)
{
    const struct {
        const char *why, *data;
        bool idle, settled, ended;
    } rows[] = {
        { "nothing that we know", "{\"x\":1}", true, false, false },
        { "a number of tokens",
          "{\"usageMetadata\":{\"promptTokenCount\":1}}", false, false,
          false },
        { "an end without a word before it",
          CANDIDATE("\"finishReason\":\"STOP\""), false, false, false },
        { "text without an end",
          CANDIDATE("\"content\":{\"parts\":[{\"text\":\"x\"}]}"), false,
          false, false },
        { "the end", CANDIDATE("\"finishReason\":\"STOP\""), false, true,
          false },
        { "which some say in so many words", "[DONE]", false, true, true },
    };
    struct sinking s;
    allm_call call = { .size = sizeof call, .provider = "gemini" };
    sinking_begin(&s);
    void *state = arena_zero(&s.life, gemini_adapter.state_size);
    for (size_t i = 0; state && i < sizeof rows / sizeof *rows; i++) {
        const allm_frame frame = { .size = sizeof frame,
                                   .name = "",
                                   .data = rows[i].data,
                                   .data_len = strlen(rows[i].data) };
        s.sink.idle = false;
        check_row(rows[i].why);
        CHECK(gemini_adapter.decode(state, &call, &frame, &s.sink) == ALLM_OK);
        CHECK(s.sink.idle == rows[i].idle);
        CHECK(s.sink.settled == rows[i].settled);
        CHECK(s.sink.ended == rows[i].ended);
        sinking_take(&s);
    }
    sinking_end(&s);
}

/* --------------------------------------------------------------- round trip --- */

static void hear(struct sinking *s, void *state, const allm_call *call,
                 const char *data, allm_collector *c)
{
    const allm_frame frame = { .size = sizeof frame,
                               .name = "",
                               .data = data,
                               .data_len = strlen(data),
                               .whole = 1 };
    allm_event *event;
    CHECK(gemini_adapter.decode(state, call, &frame, &s->sink) == ALLM_OK);
    while (s->sink.status == ALLM_OK && (event = sink_take(&s->sink)))
        allm_collector_add(c, event);
}

/* The body of a request with this one message. */
static void say(const allm_message *m, const allm_call *how, struct arena *a,
                struct buf *out)
{
    struct allm_sink sink;
    struct allm_http http;
    allm_call call = *how;
    allm_request r = { .size = sizeof r, .message_count = 1, .messages = &m };
    sink_init(&sink, a, NULL);
    http_init(&http, a, &sink);
    call.request = &r;
    gemini_adapter.encode(&call, &http);
    buf_add(out, buf_slice(&http.body));
    CHECK(!http.broken && !http.body.broken && !sink.failure);
}

/* An answer goes back part by part as it came, to its own model only. */
static void sends_back_what_came(void)
{
#define PARTS \
    "[{\"text\":\"why\",\"thought\":true,\"thoughtSignature\":\"czE=\"}," \
    "{\"text\":\"First.\"}," \
    "{\"text\":\"Then.\",\"thoughtSignature\":\"czI=\"}," \
    "{\"functionCall\":{\"id\":\"i7\",\"name\":\"a\",\"args\":{\"n\":1}}," \
    "\"thoughtSignature\":\"czM=\"}," \
    "{\"functionCall\":{\"name\":\"b\",\"args\":{}}}," \
    "{\"executableCode\":{\"language\":\"PYTHON\",\"code\":\"1\"}}," \
    "{\"text\":\"\",\"thoughtSignature\":\"czQ=\"}]"
    struct sinking s;
    struct buf mine, other;
    allm_call call = { .size = sizeof call,
                       .provider = "gemini",
                       .model = "gemini-3-pro",
                       .base_url = "http://x",
                       .adapter_opts = json_empty_object() };
    allm_collector *c = allm_collector_new(NULL);
    sinking_begin(&s);
    buf_init(&mine, &s.log, 65536);
    buf_init(&other, &s.log, 65536);
    void *state = arena_zero(&s.life, gemini_adapter.state_size);
    if (state)
        hear(&s, state, &call,
             "{\"candidates\":[{\"content\":{\"parts\":" PARTS
             "},\"finishReason\":\"STOP\"}]}",
             c);
    allm_response *r = allm_collector_response(c);
    if (r && r->message) {
        say(r->message, &call, &s.events, &mine);
        call.model = "gemini-2.5-pro";
        say(r->message, &call, &s.events, &other);
    }
    CHECK(mine.ptr && strstr(mine.ptr, "\"parts\":" PARTS));
    CHECK(other.ptr && !strstr(other.ptr, "Signature"));
    CHECK(other.ptr && !strstr(other.ptr, "i7"));
    CHECK(other.ptr && strstr(other.ptr, "First.Then."));
    allm_response_free(r);
    allm_collector_free(c);
    sinking_end(&s);
}

TESTS = {
    TEST_ONCE(decodes_every_fixture),
    TEST_ONCE(encodes_every_fixture),
    TEST(decodes_transcripts),
    TEST(decodes_odd_answers),
    TEST(decodes_odd_streams),
    TEST(decodes_losses),
    TEST(encodes_every_request),
    TEST(tells_where_the_protocol_is),
    TEST(sends_back_what_came),
    TESTS_END,
};
