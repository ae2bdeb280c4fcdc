/* test_adapter.c - the dialect, tested with its fixtures */
#include "provider/dialects.h"

#include "harness/check.h"
#include "harness/fixture.h"
#include "harness/noun.h"
#include "unit/provider/talking.h"
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

/* ---------------------------------------------------------------- signs --- */

#define CANDIDATE(c) "{\"candidates\":[{" c "}]}"

/* The state of the protocol after each of these frames. */
static void tells_where_the_protocol_is(void)
{
    static const struct talking_sign rows[] = {
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
    talking_check_signs(&gemini_adapter, rows, sizeof rows / sizeof *rows);
}

/* ----------------------------------------------------------- round trip --- */

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
    const allm_call call = { .size = sizeof call,
                       .provider = "gemini",
                       .model = "gemini-3-pro",
                       .base_url = "http://x",
                       .adapter_opts = json_empty_object() };
    sinking_begin(&s);
    talking_send_back(&gemini_adapter, &s, call, "gemini-2.5-pro",
                      "{\"candidates\":[{\"content\":{\"parts\":" PARTS
                      "},\"finishReason\":\"STOP\"}]}",
                      &mine, &other);
    CHECK(mine.ptr && strstr(mine.ptr, "\"parts\":" PARTS));
    CHECK(other.ptr && !strstr(other.ptr, "Signature"));
    CHECK(other.ptr && !strstr(other.ptr, "i7"));
    CHECK(other.ptr && strstr(other.ptr, "First.Then."));
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
