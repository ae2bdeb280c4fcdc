/* test_adapter.c - the dialect, tested with its fixtures */
#include "provider/dialects.h"

#include "harness/check.h"
#include "harness/fixture.h"
#include "unit/provider/talking.h"
#include "json/json.h"

static void decodes_every_fixture(void)
{
    fixture_decode_all("ollama", &ollama_adapter);
}

static void encodes_every_fixture(void)
{
    fixture_encode_all("ollama", &ollama_adapter);
}

/* The n-th allocation fails, of all fixtures whose names begin like this. */
static void decodes_transcripts(void)
{
    fixture_decode_some("ollama", &ollama_adapter, "oll-");
}

static void decodes_odd_answers(void)
{
    fixture_decode_some("ollama", &ollama_adapter, "q0");
}

static void decodes_odd_streams(void)
{
    fixture_decode_some("ollama", &ollama_adapter, "q1");
}

static void encodes_tools_and_images(void)
{
    fixture_encode_some("ollama", &ollama_adapter, "encode-a-");
}

static void encodes_the_rest(void)
{
    fixture_encode_some("ollama", &ollama_adapter, "encode-");
}

/* ---------------------------------------------------------------- signs --- */

/* The state of the protocol after each of these lines. */
static void tells_where_the_protocol_is(void)
{
    static const struct talking_sign rows[] = {
        { "a line without text is a sign of life",
          "{\"message\":{\"content\":\"\"},\"done\":false}", false, false,
          false },
        { "text", "{\"message\":{\"content\":\"a\"},\"done\":false}", false,
          false, false },
        { "a line of another kind", "{\"status\":\"pulling\"}", false, false,
          false },
        { "done", "{\"message\":{\"content\":\"\"},\"done\":true}", false,
          false, true },
    };
    talking_check_signs(&ollama_adapter, rows, sizeof rows / sizeof *rows);
}

/* ----------------------------------------------------------- round trip --- */

static allm_response *hear(struct sinking *s, const allm_call *call,
                           const char *data)
{
    const allm_frame frame = { .size = sizeof frame,
                               .name = "",
                               .data = data,
                               .data_len = strlen(data) };
    allm_event *event;
    allm_collector *c = allm_collector_new(NULL);
    void *state = arena_zero(&s->life, ollama_adapter.state_size);
    if (state)
        ollama_adapter.decode(state, call, &frame, &s->sink);
    while (s->sink.status == ALLM_OK && (event = sink_take(&s->sink)))
        allm_collector_add(c, event);
    allm_response *r = allm_collector_response(c);
    allm_collector_free(c);
    return r;
}

/* The body of a request with this one message. */
static const char *say(const allm_message *m, const allm_call *how,
                       struct arena *a)
{
    struct buf body;
    buf_init(&body, a, SIZE_MAX / 2);
    talking_say(&ollama_adapter, m, how, a, &body);
    return body.broken || !body.ptr ? "" : body.ptr;
}

/* Thoughts and calls go back as they came, the thoughts to their own model. */
static void sends_back_what_came(void)
{
#define CALLS \
    "\"tool_calls\":[{\"id\":\"call_7\",\"function\":{\"name\":\"f\"," \
    "\"arguments\":{\"n\":1}}}]"
    struct sinking s;
    allm_call call = { .size = sizeof call,
                       .provider = "ollama",
                       .model = "m",
                       .base_url = "http://x",
                       .adapter_opts = json_empty_object() };
    sinking_begin(&s);
    allm_response *r = hear(&s, &call,
                            "{\"message\":{\"content\":\"a\",\"thinking\":"
                            "\"hm\"," CALLS "},\"done\":true}");
    if (r && r->message) {
        const char *mine = say(r->message, &call, &s.log);
        CHECK(strstr(mine, "{\"role\":\"assistant\",\"content\":\"a\","
                           "\"thinking\":\"hm\"," CALLS "}"));
        call.model = "n";
        const char *other = say(r->message, &call, &s.log);
        CHECK(strstr(other, "\"content\":\"a\"," CALLS "}"));
    } else {
        CHECK(false);
    }
    allm_response_free(r);
    sinking_end(&s);
}

/* A text that must fit a schema cannot become a call: two passes, then. */
static void schema_and_tools_need_two_passes(void)
{
    const allm_tool tool = { .size = sizeof tool, .name = "f" };
    const allm_tool *tools[] = { &tool };
    allm_json *schema = allm_json_parse("{\"type\":\"json_schema\"}",
                                        ALLM_NUL_ENDED, NULL);
    allm_json *object = allm_json_parse("{\"type\":\"json_object\"}",
                                        ALLM_NUL_ENDED, NULL);
    allm_request r = { .size = sizeof r, .response_format = schema };
    CHECK(!ollama_adapter.needs_finalize(&r));
    r.tools = tools;
    r.tool_count = 1;
    CHECK(ollama_adapter.needs_finalize(&r));
    r.response_format = object;
    CHECK(!ollama_adapter.needs_finalize(&r));
    allm_json_free(schema);
    allm_json_free(object);
}

TESTS = {
    TEST_ONCE(decodes_every_fixture),
    TEST_ONCE(encodes_every_fixture),
    TEST(decodes_transcripts),
    TEST(decodes_odd_answers),
    TEST(decodes_odd_streams),
    TEST(encodes_tools_and_images),
    TEST(encodes_the_rest),
    TEST(tells_where_the_protocol_is),
    TEST(sends_back_what_came),
    TEST(schema_and_tools_need_two_passes),
    TESTS_END,
};
