/* test_adapter.c - the dialect, tested with its fixtures */
#include "provider/dialects.h"

#include "harness/check.h"
#include "harness/fixture.h"
#include "harness/noun.h"
#include "unit/provider/talking.h"
#include "json/json.h"

#include <stdio.h>

static void decodes_every_fixture(void)
{
    fixture_decode_all("anthropic", &anthropic_adapter);
}

static void encodes_every_fixture(void)
{
    fixture_encode_all("anthropic", &anthropic_adapter);
}

/* The n-th allocation fails, of all fixtures whose names begin like this. */
static void decodes_transcripts(void)
{
    fixture_decode_some("anthropic", &anthropic_adapter, "anth-");
}

static void decodes_odd_answers(void)
{
    fixture_decode_some("anthropic", &anthropic_adapter, "q0");
}

static void decodes_odd_streams(void)
{
    fixture_decode_some("anthropic", &anthropic_adapter, "q1");
}

static void decodes_server_tools(void)
{
    fixture_decode_some("anthropic", &anthropic_adapter, "server-tool");
}

static void encodes_tools_and_images(void)
{
    fixture_encode_some("anthropic", &anthropic_adapter, "encode-a-");
}

static void encodes_the_rest(void)
{
    fixture_encode_some("anthropic", &anthropic_adapter, "encode-");
}

/* ---------------------------------------------------------------- signs --- */

/* The state of the protocol after each of these events. */
static void tells_where_the_protocol_is(void)
{
    static const struct talking_sign rows[] = {
        { "a ping is no content", "{\"type\":\"ping\"}", true, false, false },
        { "a beginning", "{\"type\":\"message_start\",\"message\":{}}", false,
          false, false },
        { "text without an end",
          "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
          "{\"type\":\"text_delta\",\"text\":\"x\"}}",
          false, false, false },
        { "a stop reason that is null",
          "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":null}}",
          false, false, false },
        { "a stop reason: all is there",
          "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\""
          "}}",
          false, true, false },
        { "the end", "{\"type\":\"message_stop\"}", false, true, true },
    };
    talking_check_signs(&anthropic_adapter, rows, sizeof rows / sizeof *rows);
}

/* ----------------------------------------------------------- round trip --- */

/* An answer goes back block by block as it came, to its own model only. */
static void sends_back_what_came(void)
{
#define THOUGHT(t) \
    "{\"type\":\"thinking\",\"thinking\":\"" t "\",\"signature\":\"c2ln\"}"
#define CONTENT_MINE \
    "[" THOUGHT("one") ",{\"type\":\"text\",\"text\":\"First.\"}," \
    "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"a\",\"input\":" \
    "{\"n\":1}}," THOUGHT("") "," \
    "{\"type\":\"redacted_thinking\",\"data\":\"ZW5j\"}," \
    "{\"type\":\"text\",\"text\":\"Then.\"}," \
    "{\"type\":\"tool_use\",\"id\":\"toolu_2\",\"name\":\"b\",\"input\":{}}]"
    struct sinking s;
    struct buf mine, other;
    const allm_call call = { .size = sizeof call,
                       .provider = "anthropic",
                       .model = "m",
                       .base_url = "http://x",
                       .adapter_opts = json_empty_object() };
    sinking_begin(&s);
    talking_send_back(&anthropic_adapter, &s, call, "n",
                      "{\"type\":\"message\",\"content\":" CONTENT_MINE
                      ",\"stop_reason\":\"tool_use\"}",
                      &mine, &other);
    CHECK(mine.ptr && strstr(mine.ptr, "\"content\":" CONTENT_MINE));
    CHECK(other.ptr && !strstr(other.ptr, "c2ln"));
    CHECK(other.ptr && strstr(other.ptr, "First.Then."));
    sinking_end(&s);
}

/* --------------------------------------------------------------- bounds --- */

static void feed(struct sinking *s, void *state, const char *data)
{
    const allm_call call = { .size = sizeof call, .provider = "anthropic" };
    const allm_frame frame = { .size = sizeof frame,
                               .name = "",
                               .data = data,
                               .data_len = strlen(data) };
    anthropic_adapter.decode(state, &call, &frame, &s->sink);
    if (!s->sink.failure)       /* which lies in the same memory */
        sinking_take(s);
}

/* Memory is proportional to the input, not to its square. */
static void unknown_blocks_grow_piece_by_piece(void)
{
    enum { PIECES = 4000 };
    struct sinking s;
    sinking_begin(&s);
    void *state = arena_zero(&s.life, anthropic_adapter.state_size);
    feed(&s, state,
         "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
         "{\"type\":\"novelty\",\"content\":null,\"kept\":\"k\"}}");
    size_t before = check_live_bytes();
    for (int i = 0; i < PIECES; i++)
        feed(&s, state,
             "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
             "{\"type\":\"novelty_delta\",\"content\":\"0123456789\"}}");
    CHECK(check_live_bytes() - before < 20 * PIECES * 10);
    sinking_end(&s);
}

/* The same for counts that come again and again. */
static void counts_take_the_room_of_the_last(void)
{
    enum { TIMES = 1000 };
    struct sinking s;
    sinking_begin(&s);
    void *state = arena_zero(&s.life, anthropic_adapter.state_size);
    for (int i = 0; i < TIMES; i++) {
        char data[128];
        snprintf(data, sizeof data,
                 "{\"type\":\"message_delta\",\"usage\":{\"k%d\":%d,"
                 "\"server_tool_use\":{\"n\":%d}}}",
                 i, i, i);
        feed(&s, state, data);
    }
    CHECK(check_live_bytes() < 2000 * TIMES);
    sinking_end(&s);
}

/* As many blocks as are taken, and one more. */
static void so_many_blocks_are_taken(void)
{
    enum { MOST = 8192 };
    struct sinking s;
    sinking_begin(&s);
    void *state = arena_zero(&s.life, anthropic_adapter.state_size);
    for (int i = 0; i <= MOST; i++) {
        char data[128];
        snprintf(data, sizeof data,
                 "{\"type\":\"content_block_start\",\"index\":%d,"
                 "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}",
                 i);
        CHECK(!s.sink.failure);
        feed(&s, state, data);
    }
    CHECK(s.sink.failure);
    if (s.sink.failure)
        CHECK_TEXT(s.sink.failure->reason, "malformed_response");
    sinking_end(&s);
}

/* Of a document, nothing behind the last that is taken is looked at. */
static void documents_have_so_many_blocks(void)
{
    enum { MANY = 300000 };
    struct sinking s;
    struct buf text;
    const allm_call call = { .size = sizeof call, .provider = "anthropic" };
    sinking_begin(&s);
    void *state = arena_zero(&s.life, anthropic_adapter.state_size);
    buf_init(&text, &s.life, SIZE_MAX / 2);
    buf_text(&text, "{\"content\":[{}");
    for (int i = 0; i < MANY; i++)
        buf_text(&text, ",{}");
    buf_text(&text, "]}");
    const allm_frame frame = { .size = sizeof frame,
                               .name = "",
                               .data = text.ptr,
                               .data_len = text.len,
                               .whole = 1 };
    size_t before = check_live_bytes();
    anthropic_adapter.decode(state, &call, &frame, &s.sink);
    CHECK(s.sink.failure);
    CHECK(check_live_bytes() - before < 40 * 1024 * 1024);
    sinking_end(&s);
}

/* The same for the members of a block that we know nothing of. */
static void unknown_members_have_a_limit(void)
{
    enum { MOST = 256 };
    struct sinking s;
    sinking_begin(&s);
    void *state = arena_zero(&s.life, anthropic_adapter.state_size);
    feed(&s, state,
         "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
         "{\"type\":\"novelty\"}}");
    for (int i = 0; i <= MOST; i++) {
        char data[128];
        snprintf(data, sizeof data,
                 "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
                 "{\"type\":\"novelty_delta\",\"m%d\":1}}",
                 i);
        CHECK(!s.sink.failure);
        feed(&s, state, data);
    }
    CHECK(s.sink.failure);
    sinking_end(&s);
}

TESTS = {
    TEST_ONCE(decodes_every_fixture),
    TEST_ONCE(encodes_every_fixture),
    TEST(decodes_transcripts),
    TEST(decodes_odd_answers),
    TEST(decodes_odd_streams),
    TEST(decodes_server_tools),
    TEST(encodes_tools_and_images),
    TEST(encodes_the_rest),
    TEST(tells_where_the_protocol_is),
    TEST(sends_back_what_came),
    TEST_ONCE(unknown_blocks_grow_piece_by_piece),
    TEST_ONCE(counts_take_the_room_of_the_last),
    TEST_ONCE(so_many_blocks_are_taken),
    TEST_ONCE(unknown_members_have_a_limit),
    TEST_ONCE(documents_have_so_many_blocks),
    TESTS_END,
};
